// The opcodes of Python's pickles (pickletools.py has them all): those that data need, and the
// others by name, to refuse them.
// Constants and pure functions.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace tbtrace::snapshots {

enum class Opcode : std::uint8_t {
  mark = '(',
  stop = '.',
  none = 'N',
  new_true = 0x88,
  new_false = 0x89,
  binint = 'J',
  binint1 = 'K',
  binint2 = 'M',
  long1 = 0x8a,
  binfloat = 'G',
  binunicode = 'X',
  short_binunicode = 0x8c,
  binunicode8 = 0x8d,
  binbytes = 'B',
  short_binbytes = 'C',
  empty_list = ']',
  append = 'a',
  appends = 'e',
  empty_tuple = ')',
  tuple = 't',
  tuple1 = 0x85,
  tuple2 = 0x86,
  tuple3 = 0x87,
  empty_dict = '}',
  setitem = 's',
  setitems = 'u',
  binget = 'h',
  long_binget = 'j',
  binput = 'q',
  long_binput = 'r',
  memoize = 0x94,
  proto = 0x80,
  frame = 0x95,
};

/// `REDUCE`; empty if no opcode has this byte.
std::string_view opcode_name(std::uint8_t byte);

/// Whether it makes Python import or call something.
bool runs_code(std::uint8_t byte);

}  // namespace tbtrace::snapshots
