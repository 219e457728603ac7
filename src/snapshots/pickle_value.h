// A value in a pickle of a memory snapshot: a scalar, or the number of what was made of an object.
// Plain values.
#pragma once

#include <cstdint>

namespace tbtrace::snapshots {

enum class Kind : std::uint8_t {
  none,
  boolean,
  integer,
  huge,  ///< a whole number from 2^63 on
  real,
  text,
  pair,  ///< of whole numbers

  // Rows of the snapshot.
  frame,
  entry,
  block,
  segment,
  annotation,
  history,

  plain,  ///< a dict of scalars
  stack,  ///< a list of frames
  list,   ///< of rows, texts or lists
  other,  ///< something of which nothing is kept

  // What is not finished yet.
  open_dict,  ///< bits: its place in the memo
  open_list,
  unset,  ///< a place of the memo that has no value
};

struct Value {
  Kind kind = Kind::none;
  std::uint64_t bits = 0;

  bool is_whole() const { return kind == Kind::integer || kind == Kind::huge; }
  bool operator==(const Value&) const = default;
};

}  // namespace tbtrace::snapshots
