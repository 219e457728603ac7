// The parts of an encoded C++ name that determine the length of its text.
// Results own their data; pure function. Any bytes are accepted.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace tbtrace {

struct EncodedName {
  enum class Kind : std::uint8_t {
    text,
    repeated_name,   ///< a class's, repeated by its constructor
    substitution,    ///< the text of an earlier part, which exists
    prefix,          ///< the same, or nothing: the library continues if there is no such prefix
    parameter,       ///< the text of a template argument
    expansion,       ///< of a pack: what follows is repeated for each element
    member,          ///< pointer to a member of what may be a function, which is written twice
    repetition_end,  ///< ends the latest expansion or member
    // The contents of a bracket come before its close.
    open,
    arguments,
    own_arguments,  ///< those in the name of a symbol, to which its parameters refer
    close,
    // Parts of a bracket.
    part,      ///< begins after the one before
    part_end,  ///< ends here, or continues with arguments and then ends again
    rest,      ///< parts are unknown from here on
  };
  struct Piece {
    Kind kind = Kind::text;
    double size = 0;         ///< of text: an upper bound
    std::size_t number = 0;  ///< of the part referred to
  };

  std::vector<Piece> pieces;
  std::size_t parameters = 0;
  std::size_t most_elements = 1;  ///< of a pack
  std::size_t longest_name = 32;  ///< of classes
  /// How many parameters one parameter can lead to: its argument may hold symbols with parameters
  /// of their own. 0: unbounded, because arguments hold parameters themselves, or come after what
  /// refers to them.
  std::size_t depth = 1;
  /// All arguments that parameters refer to are among the pieces.
  bool has_all_arguments = true;
  /// The library might never terminate.
  bool may_hang = false;
};

/// Parses a symbol or a type's encoding as libiberty's demangler does, which is libstdc++'s.
/// Identifiers count by their length. From the first character whose meaning is uncertain
/// (expressions, for instance), every character counts as everything it could be.
/// Source: the Itanium C++ ABI, 5.1; libiberty/cp-demangle.c.
EncodedName read_encoded_name(std::string_view name);

}  // namespace tbtrace
