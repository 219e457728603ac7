// How long the text of an encoded C++ name can be, found without writing the text.
// Pure function, any thread. Any bytes are a name.
#pragma once

#include <string_view>

namespace tbtrace {

/// A number that the text of a symbol or of a type's encoding does not exceed; infinity where it
/// would exceed `limit`, or where the library might not come to an end. What is not an encoding has
/// a bound as well.
///
/// Encodings refer back to their own parts and to template arguments, so 230 characters can stand
/// for 10 GB. The bound is of the grammar of the C++ ABI for Itanium, as libiberty's demangler,
/// which is libstdc++'s, prints it. Names of identifiers count by their length; from the first
/// place on that this reader does not know (expressions, for instance), every character counts as
/// whatever it could stand for.
double demangled_size_bound(std::string_view name, double limit);

}  // namespace tbtrace
