// Parts of the names of C++ functions, as compilers and demanglers print them.
// Any bytes are accepted; results are views into the name.
#pragma once

#include <string_view>

namespace tbtrace {

/// Without a leading `void` and without the parameter list at the end.
std::string_view without_signature(std::string_view name);

/// After the last `::` before the first template argument list. Unlike last_part() in
/// class_name.h, this looks into parentheses.
std::string_view without_namespaces(std::string_view name);

/// Before the first `<` that opens template arguments.
std::string_view without_template_arguments(std::string_view name);

/// What stands between the first `<` and its `>`; empty if there are no template arguments.
std::string_view template_arguments(std::string_view name);

}  // namespace tbtrace
