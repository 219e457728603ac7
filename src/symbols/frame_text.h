// Frames of call stacks as people read them: `file(line): function`, without the machinery between
// the program's code and the operator.
// Pure functions, any thread. Any text is a name.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "symbols/code_places.h"

namespace tbtrace::symbols {

/// A function's name without return type, template arguments of its own, parameters and qualifiers:
/// `at::Tensor Net<4>::forward<int>(int) const` is `Net<4>::forward`.
std::string_view function_name(std::string_view function);

/// A frame; nothing if it is machinery: LibTorch but for its modules, optimizers and data loaders,
/// the standard library, the C library, tbtrace itself; or nobody's code. A frame holds no `;`,
/// which parts frames. Without a file it names the object and line 0, without a function the offset
/// in the object.
std::optional<std::string> frame_text(const CodePlace& place);

/// Whether it is in one of LibTorch's libraries.
bool is_libtorch(const CodePlace& place);

}  // namespace tbtrace::symbols
