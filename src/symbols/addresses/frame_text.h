// Call stack frames for people: `file(line): function`, without the library code between the
// program's code and the operator.
// Pure functions, any thread. Any text is accepted as a name.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "symbols/addresses/code_places.h"

namespace tbtrace::symbols {

/// A function's name without return type, its own template arguments, parameters and qualifiers:
/// `at::Tensor Net<4>::forward<int>(int) const` is `Net<4>::forward`.
std::string_view function_name(std::string_view function);

/// The text of a frame; nullopt if it is library code (LibTorch except its modules, optimizers and
/// data loaders, the standard library, the C library, tbtrace itself) or unknown. The text holds no
/// `;`, which separates frames. Without a file it has the object and line 0; without a function,
/// the offset in the object.
std::optional<std::string> frame_text(const CodePlace& place);

/// Whether the code is in one of LibTorch's libraries.
bool is_libtorch(const CodePlace& place);

}  // namespace tbtrace::symbols
