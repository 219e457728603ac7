// What stands where in a journal's files; docs/formats/journal.md explains it.
// Plain values in memory that is mapped from files: the writer's process may end between any two
// stores, and a reader finds all stores up to there, in their order.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "recorder/log/chunk.h"
#include "recorder/log/ticks.h"

namespace tbtrace::recorder::journal {

inline constexpr std::array<char, 8> kHeadMagic = {'T', 'B', 'T', 'J', 'R', 'N', 'L', '\n'};
inline constexpr std::array<char, 8> kSegmentMagic = {'T', 'B', 'T', 'S', 'E', 'G', 'M', '\n'};
inline constexpr std::uint32_t kVersion = 1;
inline constexpr std::uint32_t kByteOrder = 0x01020304;

inline constexpr const char* kHeadName = "head.tbj";
inline constexpr const char* kSegmentStart = "segment-";  // and six digits
inline constexpr const char* kSuffix = ".tbj";

/// When the process was alive. Of the two that there are, the valid one with the larger number.
struct Heartbeat {
  ClockSample sample = {};
  std::uint64_t number = 0;
  std::uint64_t checksum = 0;  ///< CRC-32C of what stands before it
};

/// Records of a window that there was no room for.
struct Losses {
  std::atomic<std::uint64_t> window = 0;  ///< 0: unused
  std::atomic<std::uint64_t> records = 0;
};

/// The file `head.tbj`.
struct Head {
  std::array<char, 8> magic = {};
  std::uint32_t version = 0;
  std::uint32_t byte_order = 0;
  std::int64_t process = 0;
  ClockSample first_sample = {};
  std::array<char, 64> boot = {};           ///< the system's id of its start, ending in a zero
  std::array<char, 256> host = {};          ///< likewise
  std::uint64_t checksum = 0;               ///< of all before it
  std::atomic<std::uint64_t> is_begun = 0;  ///< 0: the process ended before all before it was there
  std::array<Heartbeat, 2> heartbeats = {};
  std::array<Losses, 64> losses = {};
};
inline constexpr std::size_t kHeadBytes = 4096;
static_assert(sizeof(Head) <= kHeadBytes);

/// The first page of a file of slots, which have all the same size.
struct SegmentHead {
  std::array<char, 8> magic = {};
  std::uint32_t version = 0;
  std::uint32_t byte_order = 0;
  std::uint64_t slot_bytes = 0;
  std::atomic<std::uint64_t> slots = 0;  ///< 0: the process ended before all before it was there
};
inline constexpr std::size_t kSegmentHeadBytes = 4096;

/// So much of a slot was whole at some time. Of the two that there are, the longest valid one.
struct SlotMark {
  std::uint64_t words = 0;
  std::uint32_t words_checksum = 0;  ///< CRC-32C of the words
  std::uint32_t checksum = 0;        ///< of what stands before it
};

/// What a slot begins with; its words are kSlotHeadBytes behind its start.
struct SlotHead {
  std::atomic<std::uint64_t> window = 0;  ///< whose it is; 0: nobody's
  std::uint64_t log = 0;                  ///< of the window; kDefinitions
  std::uint64_t sequence = 0;             ///< among the log's, from 0 on
  std::uint64_t words_at = 0;             ///< address of the words in the writer's process
  std::atomic<std::uint64_t> end = 0;     ///< address behind what is written, likewise
  std::array<SlotMark, 2> marks = {};
  std::uint64_t owner = 0;  ///< the writer's own
};
inline constexpr std::size_t kSlotHeadBytes = 256;
static_assert(sizeof(SlotHead) + sizeof(Chunk) <= kSlotHeadBytes);

inline constexpr std::uint64_t kDefinitions = ~std::uint64_t{0};  ///< the log of definitions
inline constexpr std::uint64_t kDevices = kDefinitions - 1;       ///< of rows of devices
inline constexpr std::uint64_t kDeviceMemory = kDefinitions - 2;  ///< of device memory events
inline constexpr std::uint64_t kProcessWindow = 1;  ///< of definitions that all windows share

inline Chunk* chunk_of(SlotHead* slot) {
  return reinterpret_cast<Chunk*>(reinterpret_cast<char*>(slot) + kSlotHeadBytes - sizeof(Chunk));
}
inline SlotHead* slot_of(Chunk* chunk) {
  return reinterpret_cast<SlotHead*>(reinterpret_cast<char*>(chunk) + sizeof(Chunk) -
                                     kSlotHeadBytes);
}

}  // namespace tbtrace::recorder::journal
