// Readable C++ names.
// Pure functions, safe from any thread. Names that come from files may be crafted to expand to an
// enormous length; those are left alone.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

namespace tbtrace {

/// The C++ ABI's demangled form of a symbol or of a type's encoding (`Pf` is `float*`); nullopt if
/// it is neither, if the form is longer than `limit` bytes, or if making it may take more than
/// 16 MiB and `limit`.
///
/// Encodings refer back to their own parts, so each reference can double the length: 230 characters
/// can stand for 10 GB. Names whose bound (demangled_size.h) is too large are refused. The bound of
/// real kernels, whose forms have 12,000 characters at most, can be millions.
std::optional<std::string> demangle(const std::string& name, std::size_t limit);

/// Of a name from this process's own code, which need not be bounded; itself if it has no such
/// form.
std::string demangled_own_name(const std::string& name);

}  // namespace tbtrace
