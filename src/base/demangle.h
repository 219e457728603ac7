// Readable C++ names.
// Pure function, safe from any thread. Names come from files, so a name crafted to expand to an
// enormous length is left alone.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

namespace tbtrace {

/// The C++ ABI's demangled form of a symbol or of a type's encoding (`Pf` is `float*`); nullopt if
/// it is neither, or if the result may exceed `limit` bytes.
///
/// Encodings refer back to their own parts, so each reference can double the length: 230 characters
/// can stand for 10 GB. Names whose bound (demangled_size.h) exceeds the limit are refused.
std::optional<std::string> demangle(const std::string& name, std::size_t limit);

}  // namespace tbtrace
