#include "snapshots/opcodes.h"

#include <algorithm>
#include <array>
#include <utility>

namespace tbtrace::snapshots {
namespace {

struct Name {
  std::uint8_t byte;
  std::string_view name;
  bool runs_code = false;
};

// pickletools.py of Python 3.14.
constexpr auto kNames = std::to_array<Name>({
    {'c', "GLOBAL", true},
    {0x93, "STACK_GLOBAL", true},
    {'R', "REDUCE", true},
    {'b', "BUILD", true},
    {'i', "INST", true},
    {'o', "OBJ", true},
    {0x81, "NEWOBJ", true},
    {0x92, "NEWOBJ_EX", true},
    {'P', "PERSID", true},
    {'Q', "BINPERSID", true},
    {0x82, "EXT1", true},
    {0x83, "EXT2", true},
    {0x84, "EXT4", true},
    {'I', "INT"},
    {'L', "LONG"},
    {0x8b, "LONG4"},
    {'S', "STRING"},
    {'T', "BINSTRING"},
    {'U', "SHORT_BINSTRING"},
    {'V', "UNICODE"},
    {0x8e, "BINBYTES8"},
    {0x96, "BYTEARRAY8"},
    {0x97, "NEXT_BUFFER"},
    {0x98, "READONLY_BUFFER"},
    {'F', "FLOAT"},
    {'l', "LIST"},
    {'d', "DICT"},
    {0x8f, "EMPTY_SET"},
    {0x90, "ADDITEMS"},
    {0x91, "FROZENSET"},
    {'0', "POP"},
    {'1', "POP_MARK"},
    {'2', "DUP"},
    {'g', "GET"},
    {'p', "PUT"},
});

const Name* found(std::uint8_t byte) {
  const auto* const name = std::ranges::find(kNames, byte, &Name::byte);
  return name == kNames.end() ? nullptr : name;
}

}  // namespace

std::string_view opcode_name(std::uint8_t byte) {
  const Name* const name = found(byte);
  return name == nullptr ? std::string_view() : name->name;
}

bool runs_code(std::uint8_t byte) {
  const Name* const name = found(byte);
  return name != nullptr && name->runs_code;
}

}  // namespace tbtrace::snapshots
