// Bounds the text length of an encoded C++ name without writing the text.
// Pure function, any thread. Any bytes are accepted.
#pragma once

#include <string_view>

namespace tbtrace {

/// An upper bound for the length of a symbol's or a type encoding's text; infinity if it would
/// exceed `limit`, or if the library might not terminate. Bytes that are not an encoding have a
/// bound, too.
///
/// Encodings refer back to their own parts and to template arguments, so 230 characters can expand
/// to 10 GB. The bound follows the grammar of the Itanium C++ ABI as printed by libiberty's
/// demangler, which is libstdc++'s. Identifiers count by their length. From the first place that
/// this reader does not understand (expressions, for instance), every character counts as the
/// longest text it could expand to.
double demangled_size_bound(std::string_view name, double limit);

}  // namespace tbtrace
