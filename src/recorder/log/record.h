// The records of a log, as words of 64 bits, and how they are written and read back.
// Records hold numbers only: names stand in tables, so that a log can be read without the process
// that wrote it. A writer is the recorded thread.
//
//   word 0            kind | ticks << 8: the low 56 bits of the clock
//   begin of a range  1: key | scope << 48 | flags << 56   2: name | bytes of the inputs << 32
//                     then as flags say: sequence number; forward thread; module; names of
//                     TorchScript's stack and, << 32, of its modules; the inputs; number of the
//                     stack's frames and the frames; number of the storages and their keys; number
//                     of the arguments' bytes and the bytes
//   end of a range    1: its key | is_async << 56
//   end of the range  nothing more: it is the one of the last begin, with no end between
//     that began last
//   memory            1: address   2: bytes
//   instant           1: name | bytes of its arguments << 32   then the bytes
//   counter           1: name   2: bits of the value, a double
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>

#include "recorder/log/name_table.h"
#include "recorder/log/thread_log.h"
#include "recorder/log/ticks.h"

namespace tbtrace::recorder {

enum class RecordKind : std::uint8_t { begin = 1, end, end_of_last, memory, instant, counter };

/// Where a range comes from, as at::RecordScope numbers it.
enum class Scope : std::uint8_t {
  function = 0,
  backward_function = 1,
  torchscript_function = 2,
  user = 7,
  module = 64,  ///< ours: a module's forward; the range's name is the class, mangled
};

struct BeginRecord {
  std::uint64_t ticks = 0;
  NameNumber name = NameNumber::none;
  /// Tells ranges that are open at a time apart, such as an address. At most 48 bits.
  std::uint64_t key = 0;
  Scope scope = Scope::function;
  std::int64_t sequence_number = -1;  ///< negative: none
  std::uint64_t forward_thread = 0;   ///< torch's number; 0: none
  /// Inputs as recorder/log/inputs.h encodes them; null: not recorded.
  const char* inputs = nullptr;
  std::uint32_t inputs_size = 0;
  /// Of a module's forward, the module's address. Of an operator, the number of a ModuleTensor of
  /// the recording's modules that it takes. Of a function of TorchScript, one more than the row of
  /// the module that it is a method of. 0: none.
  std::uint64_t module = 0;
  /// TorchScript's frames around it, each as `file(line): function;`, innermost first.
  NameNumber script_stack = NameNumber::none;
  /// TorchScript's modules around it, as torch writes them.
  NameNumber script_modules = NameNumber::none;
  std::span<void* const> stack = {};  ///< return addresses, innermost first
  /// Of each tensor among the inputs, in their order: the storage_key() of its data, or 0.
  std::span<const std::uint64_t> storages = {};
  /// What the program says of it, as recorder/log/range_arguments.h has it.
  std::string_view arguments = {};
};

struct EndRecord {
  std::uint64_t ticks = 0;
  std::uint64_t key = 0;  ///< at most 48 bits, as the begin has it
  bool is_async = false;
};

/// Of an allocator. In logs there are those of the CPU's; how much there is in all follows from the
/// events themselves.
struct MemoryEvent {
  std::uint64_t ticks = 0;
  std::uint64_t address = 0;  ///< as storage_key() has it
  std::int64_t bytes = 0;     ///< negative: freed
};

/// Something that happened, with what the program says of it.
struct InstantRecord {
  std::uint64_t ticks = 0;
  NameNumber name = NameNumber::none;
  std::string_view arguments = {};
};

/// What the value of something is from then on.
struct CounterRecord {
  std::uint64_t ticks = 0;
  NameNumber name = NameNumber::none;
  double value = 0;
};

/// The range around a node's run in a backward has this before the node's name.
inline constexpr std::string_view kEvaluatesNode = "autograd::engine::evaluate_function: ";

/// `name` is the record's.
inline bool is_of_backward(const BeginRecord& record, const Name& name) {
  return record.scope == Scope::backward_function ||
         (record.scope == Scope::function && name.text.starts_with(kEvaluatesNode));
}

namespace record_detail {
inline constexpr std::uint64_t kLow32 = (std::uint64_t{1} << 32) - 1;
inline constexpr std::uint64_t kLow48 = (std::uint64_t{1} << 48) - 1;
inline constexpr std::uint64_t kHasSequence = 1;
inline constexpr std::uint64_t kHasForwardThread = 2;
inline constexpr std::uint64_t kHasInputs = 4;
inline constexpr std::uint64_t kHasStack = 8;
inline constexpr std::uint64_t kHasModule = 16;
inline constexpr std::uint64_t kHasScript = 32;
inline constexpr std::uint64_t kHasStorages = 64;
inline constexpr std::uint64_t kHasArguments = 128;

inline constexpr int kKindBits = 64 - kTickBits;

inline std::size_t words_of(std::string_view bytes) { return (bytes.size() + 7) / 8; }

/// The word behind them.
inline std::uint64_t* put_bytes(std::uint64_t* at, std::string_view bytes) {
  if (!bytes.empty()) std::memcpy(at, bytes.data(), bytes.size());
  return at + words_of(bytes);
}

/// Records have the size of what a program says of something in 32 bits.
inline std::string_view if_it_fits(std::string_view arguments) {
  return arguments.size() <= kLow32 ? arguments : std::string_view();
}

inline std::uint64_t head(RecordKind kind, std::uint64_t ticks) {
  return ticks << kKindBits | static_cast<std::uint64_t>(kind);
}

/// What all begins have, and the numbers that many of them have.
struct BeginWords {
  std::uint64_t key;
  NameNumber name;
  Scope scope;
  std::int64_t sequence_number;
  std::uint64_t forward_thread;

  static constexpr std::size_t kMost = 5;

  bool has_sequence() const { return sequence_number >= 0; }
  /// The word behind them.
  [[gnu::always_inline]] std::uint64_t* put(std::uint64_t* start, std::uint64_t ticks,
                                            std::uint64_t flags, std::uint64_t inputs_size) const {
    // Written in any case, and kept if it is there.
    start[3] = static_cast<std::uint64_t>(sequence_number);
    flags |= has_sequence() ? kHasSequence : 0;
    std::uint64_t* at = start + 3 + (has_sequence() ? 1 : 0);
    if (forward_thread != 0) [[unlikely]] {
      flags |= kHasForwardThread;
      *at++ = forward_thread;
    }
    start[0] = head(RecordKind::begin, ticks);
    start[1] = key | (static_cast<std::uint64_t>(scope) | flags << 8) << 48;
    start[2] = static_cast<std::uint64_t>(name) | inputs_size << 32;
    return at;
  }
  /// What is known only after the inputs were written, where put() had zeros.
  [[gnu::always_inline]] void complete(std::uint64_t* start, std::uint64_t ticks,
                                       std::uint64_t inputs_size) const {
    start[0] = head(RecordKind::begin, ticks);
    start[2] = static_cast<std::uint64_t>(name) | inputs_size << 32;
  }
};
}  // namespace record_detail

// Keys are addresses, which fit into 48 bits on the processors that are supported: x86-64, and Arm
// without tags.

inline void write(ThreadLog& log, const BeginRecord& record) {
  using namespace record_detail;
  const std::size_t input_words = (std::size_t{record.inputs_size} + 7) / 8;
  std::uint64_t* const start = log.room(BeginWords::kMost + 5 + input_words + record.stack.size() +
                                        record.storages.size() + words_of(record.arguments));
  if (start == nullptr) return;
  const bool has_script =
      record.script_stack != NameNumber::none || record.script_modules != NameNumber::none;
  const std::uint64_t flags =
      (record.module != 0 ? kHasModule : 0) | (has_script ? kHasScript : 0) |
      (record.inputs != nullptr ? kHasInputs : 0) | (!record.stack.empty() ? kHasStack : 0) |
      (!record.storages.empty() ? kHasStorages : 0) |
      (!record.arguments.empty() ? kHasArguments : 0);
  const BeginWords words{.key = record.key,
                         .name = record.name,
                         .scope = record.scope,
                         .sequence_number = record.sequence_number,
                         .forward_thread = record.forward_thread};
  std::uint64_t* at = words.put(start, record.ticks, flags,
                                record.inputs != nullptr ? record.inputs_size : std::uint64_t{0});
  if (record.module != 0) *at++ = record.module;
  if (has_script) {
    *at++ = static_cast<std::uint64_t>(record.script_stack) |
            static_cast<std::uint64_t>(record.script_modules) << 32;
  }
  if (record.inputs != nullptr) {
    std::memcpy(at, record.inputs, record.inputs_size);
    at += input_words;
  }
  if (!record.stack.empty()) {
    *at++ = record.stack.size();
    std::memcpy(at, record.stack.data(), record.stack.size_bytes());
    at += record.stack.size();
  }
  if (!record.storages.empty()) {
    *at++ = record.storages.size();
    std::memcpy(at, record.storages.data(), record.storages.size_bytes());
    at += record.storages.size();
  }
  if (!record.arguments.empty()) {
    *at++ = record.arguments.size();
    at = put_bytes(at, record.arguments);
  }
  log.set_last_begin(record.key);
  log.commit(at);
}

namespace record_detail {
/// A begin without anything but the numbers, where there is room.
[[gnu::always_inline]] inline void put(ThreadLog& log, std::uint64_t* at, std::uint64_t ticks,
                                       const BeginWords& words) {
  std::uint64_t* const end = words.put(at, ticks, 0, 0);
  log.set_last_begin(words.key);
  log.commit(end);
}
inline constexpr std::size_t kEndWords = 2;
[[gnu::always_inline]] inline void put(ThreadLog& log, std::uint64_t* at, const EndRecord& record) {
  // Most ranges have none within them.
  const bool is_last = log.take_last_begin() == record.key && !record.is_async;
  at[0] = head(is_last ? RecordKind::end_of_last : RecordKind::end, record.ticks);
  at[1] = record.key | static_cast<std::uint64_t>(record.is_async) << 56;
  log.commit(at + (is_last ? 1 : kEndWords));
}
}  // namespace record_detail

inline void write(ThreadLog& log, const EndRecord& record) {
  std::uint64_t* const at = log.room(record_detail::kEndWords);
  if (at == nullptr) {
    log.take_last_begin();
    return;
  }
  record_detail::put(log, at, record);
}

[[gnu::always_inline]] inline void write(ThreadLog& log, const MemoryEvent& record) {
  using namespace record_detail;
  std::uint64_t* const at = log.room(3);
  if (at == nullptr) [[unlikely]]
    return;
  at[0] = head(RecordKind::memory, record.ticks);
  at[1] = record.address;
  at[2] = static_cast<std::uint64_t>(record.bytes);
  log.commit(at + 3);
}

inline void write(ThreadLog& log, const InstantRecord& record) {
  using namespace record_detail;
  const std::string_view arguments = if_it_fits(record.arguments);
  std::uint64_t* const at = log.room(2 + words_of(arguments));
  if (at == nullptr) return;
  at[0] = head(RecordKind::instant, record.ticks);
  at[1] = static_cast<std::uint64_t>(record.name) | std::uint64_t{arguments.size()} << 32;
  log.commit(put_bytes(at + 2, arguments));
}

inline void write(ThreadLog& log, const CounterRecord& record) {
  using namespace record_detail;
  std::uint64_t* const at = log.room(3);
  if (at == nullptr) return;
  at[0] = head(RecordKind::counter, record.ticks);
  at[1] = static_cast<std::uint64_t>(record.name);
  at[2] = std::bit_cast<std::uint64_t>(record.value);
  log.commit(at + 3);
}

/// The record of a begin from its first word on, its ticks the low 56 bits of them. `next` is set
/// to the word after it, or to null where the record is longer than `words`.
BeginRecord begin_record(const std::uint64_t* at, std::size_t words, const std::uint64_t*& next);
/// Of a record that read_records() found.
BeginRecord begin_record(const std::uint64_t* at);

/// Calls `visitor(BeginRecord, its first word)` and `visitor(...)` of each other kind of record in
/// the order of writing. What they point to lasts as long as the log's chunks. Requires a closed
/// log. Returns how many chunks hold something that is not a record; the rest of these is left out.
/// Ticks are whole: of the instants with a record's 56 bits, the one nearest to the record before,
/// and to the log's beginning for the first.
template <typename Visitor>
std::size_t read_records(const ThreadLog& log, Visitor&& visitor) {
  using namespace record_detail;
  constexpr std::uint64_t kNone = ~std::uint64_t{0};
  std::uint64_t near = log.began();
  std::uint64_t last_begin = kNone;
  const auto read_chunk = [&](const std::uint64_t* at, const std::uint64_t* end) {
    while (at < end) {
      near = nearest_ticks(*at >> kKindBits, near);
      const auto left = static_cast<std::size_t>(end - at);
      switch (static_cast<RecordKind>(*at & 0xff)) {
        case RecordKind::begin: {
          const std::uint64_t* const first = at;
          BeginRecord record = begin_record(first, left, at);
          if (at == nullptr) return false;
          record.ticks = near;
          last_begin = record.key;
          visitor(record, first);
          break;
        }
        case RecordKind::end:
          if (left < 2) return false;
          last_begin = kNone;
          visitor(EndRecord{.ticks = near, .key = at[1] & kLow48, .is_async = at[1] >> 56 != 0});
          at += 2;
          break;
        case RecordKind::end_of_last:
          if (last_begin == kNone) return false;
          visitor(EndRecord{.ticks = near, .key = last_begin});
          last_begin = kNone;
          at += 1;
          break;
        case RecordKind::memory:
          if (left < 3) return false;
          visitor(MemoryEvent{
              .ticks = near, .address = at[1], .bytes = static_cast<std::int64_t>(at[2])});
          at += 3;
          break;
        case RecordKind::instant: {
          if (left < 2) return false;
          const std::string_view arguments(reinterpret_cast<const char*>(at + 2), at[1] >> 32);
          if (left - 2 < words_of(arguments)) return false;
          visitor(InstantRecord{.ticks = near,
                                .name = static_cast<NameNumber>(at[1] & kLow32),
                                .arguments = arguments});
          at += 2 + words_of(arguments);
          break;
        }
        case RecordKind::counter:
          if (left < 3) return false;
          visitor(CounterRecord{.ticks = near,
                                .name = static_cast<NameNumber>(at[1] & kLow32),
                                .value = std::bit_cast<double>(at[2])});
          at += 3;
          break;
        default:
          return false;
      }
    }
    return true;
  };
  std::size_t unreadable = 0;
  log.for_each_chunk([&](const std::uint64_t* words, std::size_t count) {
    if (!read_chunk(words, words + count)) ++unreadable;
  });
  return unreadable;
}

}  // namespace tbtrace::recorder
