// What an encoded C++ name consists of, as far as the length of its text depends on it.
// Results own what they hold; pure function. Any bytes are a name.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace tbtrace {

struct EncodedName {
  enum class Kind : std::uint8_t {
    text,
    repeated_name,   ///< of a class, by its constructor
    substitution,    ///< what an earlier part says, which is there
    prefix,          ///< the same, or nothing: where a prefix is not there the library goes on
    parameter,       ///< what a template argument says
    expansion,       ///< of a pack: what follows is there once for each element
    member,          ///< pointer to one, of what may be a function: that stands there twice
    repetition_end,  ///< of the latest of these two
    // What stands in brackets comes before the bracket's close.
    open,
    arguments,
    own_arguments,  ///< those in the name of a symbol, to which its parameters refer
    close,
    // Parts of a bracket.
    part,      ///< begins after the one before
    part_end,  ///< ends here, or goes on with arguments and then ends again
    rest,      ///< parts are not known from here on
  };
  struct Piece {
    Kind kind = Kind::text;
    double size = 0;         ///< of text: no less than it has
    std::size_t number = 0;  ///< of the part
  };

  std::vector<Piece> pieces;
  std::size_t parameters = 0;
  std::size_t most_elements = 1;  ///< of a pack
  std::size_t longest_name = 32;  ///< of classes
  /// How many parameters one can lead to: its argument may hold symbols with parameters of their
  /// own. 0: there is no such number, since arguments hold parameters themselves, or stand behind
  /// what refers to them.
  std::size_t depth = 1;
  /// All arguments to which parameters refer are pieces.
  bool has_all_arguments = true;
  /// The library might never come to an end.
  bool may_hang = false;
};

/// Takes a symbol or a type's encoding apart as libiberty's demangler does, which is libstdc++'s.
/// Identifiers count by their length. Where the meaning of a character is not certain (expressions,
/// for instance), every character from there on counts as all that it could stand for.
/// Source: the C++ ABI for Itanium, 5.1; libiberty/cp-demangle.c.
EncodedName read_encoded_name(std::string_view name);

}  // namespace tbtrace
