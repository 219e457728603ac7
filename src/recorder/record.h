// The records of a log, as words of 64 bits, and how they are written and read back.
// Records point to names, which the log or the recording owns. A writer is the recorded thread.
// Logs are our own memory, so that reading them checks nothing.
//
//   word 0            kind << 56 | ticks
//   begin of a range  1: name | scope << 48 | flags << 56   2: its key
//                     then as flags say: sequence number; forward thread; module; TorchScript's
//                     stack; TorchScript's modules; bytes of the inputs and their words; number of
//                     the stack's frames and the frames; number of the storages and their addresses
//   end of a range    1: its key | is_async << 56
//   memory            1: address   2: bytes
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>

#include "recorder/name_table.h"
#include "recorder/thread_log.h"
#include "recorder/ticks.h"

namespace tbtrace::recorder {

enum class RecordKind : std::uint8_t { begin = 1, end, memory };

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
  const Name* name = nullptr;
  /// Tells ranges that are open at a time apart, such as an address. At most 56 bits.
  std::uint64_t key = 0;
  Scope scope = Scope::function;
  std::int64_t sequence_number = -1;  ///< negative: none
  std::uint64_t forward_thread = 0;   ///< torch's number; 0: none
  /// Inputs as recorder/inputs.h encodes them; null: not recorded.
  const char* inputs = nullptr;
  std::uint32_t inputs_size = 0;
  /// Of a module's forward, the module. Of an operator, a ModuleTensor of the recording's modules
  /// that it takes.
  const void* module = nullptr;
  /// TorchScript's frames around it, each as `file(line): function;`, innermost first.
  const Name* script_stack = nullptr;
  /// TorchScript's modules around it, as torch writes them.
  const Name* script_modules = nullptr;
  std::span<void* const> stack = {};  ///< return addresses, innermost first
  /// Of each tensor among the inputs, in their order: the storage_key() of its data, or 0.
  std::span<const std::uint64_t> storages = {};
};

struct EndRecord {
  std::uint64_t ticks = 0;
  std::uint64_t key = 0;  ///< at most 56 bits, as the begin has it
  bool is_async = false;
};

/// Of an allocator. In logs there are those of the CPU's; how much there is in all follows from the
/// events themselves.
struct MemoryEvent {
  std::uint64_t ticks = 0;
  std::uint64_t address = 0;  ///< as storage_key() has it
  std::int64_t bytes = 0;     ///< negative: freed
};

/// The range around a node's run in a backward has this before the node's name.
inline constexpr std::string_view kEvaluatesNode = "autograd::engine::evaluate_function: ";

inline bool is_of_backward(const BeginRecord& record) {
  return record.scope == Scope::backward_function ||
         (record.scope == Scope::function && record.name->text.starts_with(kEvaluatesNode));
}

namespace record_detail {
inline constexpr std::uint64_t kLow48 = (std::uint64_t{1} << 48) - 1;
inline constexpr std::uint64_t kLow56 = (std::uint64_t{1} << 56) - 1;
inline constexpr std::uint64_t kHasSequence = 1;
inline constexpr std::uint64_t kHasForwardThread = 2;
inline constexpr std::uint64_t kHasInputs = 4;
inline constexpr std::uint64_t kHasStack = 8;
inline constexpr std::uint64_t kHasModule = 16;
inline constexpr std::uint64_t kHasScriptStack = 32;
inline constexpr std::uint64_t kHasScriptModules = 64;
inline constexpr std::uint64_t kHasStorages = 128;

inline std::uint64_t head(RecordKind kind, std::uint64_t ticks) {
  return static_cast<std::uint64_t>(kind) << kTickBits | ticks;  // which never are that many
}
}  // namespace record_detail

// Addresses fit into 48 bits on the processors that are supported, x86-64 and Arm without tags.

inline void write(ThreadLog& log, const BeginRecord& record) {
  using namespace record_detail;
  const std::size_t input_words = (record.inputs_size + 7) / 8;
  std::uint64_t* const start =
      log.room(11 + input_words + record.stack.size() + record.storages.size());
  if (start == nullptr) return;
  std::uint64_t flags = 0;
  std::uint64_t* at = start + 3;
  if (record.sequence_number >= 0) {
    flags |= kHasSequence;
    *at++ = static_cast<std::uint64_t>(record.sequence_number);
  }
  if (record.forward_thread != 0) {
    flags |= kHasForwardThread;
    *at++ = record.forward_thread;
  }
  const auto pointer = [&](const void* target, std::uint64_t flag) {
    if (target == nullptr) return;
    flags |= flag;
    *at++ = reinterpret_cast<std::uintptr_t>(target);
  };
  pointer(record.module, kHasModule);
  pointer(record.script_stack, kHasScriptStack);
  pointer(record.script_modules, kHasScriptModules);
  if (record.inputs != nullptr) {
    flags |= kHasInputs;
    *at++ = record.inputs_size;
    std::memcpy(at, record.inputs, record.inputs_size);
    at += input_words;
  }
  if (!record.stack.empty()) {
    flags |= kHasStack;
    *at++ = record.stack.size();
    std::memcpy(at, record.stack.data(), record.stack.size_bytes());
    at += record.stack.size();
  }
  if (!record.storages.empty()) {
    flags |= kHasStorages;
    *at++ = record.storages.size();
    std::memcpy(at, record.storages.data(), record.storages.size_bytes());
    at += record.storages.size();
  }
  start[0] = head(RecordKind::begin, record.ticks);
  start[1] = reinterpret_cast<std::uintptr_t>(record.name) |
             static_cast<std::uint64_t>(record.scope) << 48 | flags << 56;
  start[2] = record.key;
  log.commit(at);
}

inline void write(ThreadLog& log, const EndRecord& record) {
  using namespace record_detail;
  std::uint64_t* const at = log.room(2);
  if (at == nullptr) return;
  at[0] = head(RecordKind::end, record.ticks);
  at[1] = record.key | static_cast<std::uint64_t>(record.is_async) << 56;
  log.commit(at + 2);
}

inline void write(ThreadLog& log, const MemoryEvent& record) {
  using namespace record_detail;
  std::uint64_t* const at = log.room(3);
  if (at == nullptr) return;
  at[0] = head(RecordKind::memory, record.ticks);
  at[1] = record.address;
  at[2] = static_cast<std::uint64_t>(record.bytes);
  log.commit(at + 3);
}

/// The record of a begin from its first word on; `next` is set to the word behind it.
inline BeginRecord begin_record(const std::uint64_t* at, const std::uint64_t*& next) {
  using namespace record_detail;
  BeginRecord record;
  record.ticks = *at++ & kLow56;
  // NOLINTNEXTLINE(performance-no-int-to-ptr): it was a pointer when it was written
  record.name = reinterpret_cast<const Name*>(*at & kLow48);
  record.scope = static_cast<Scope>(*at >> 48 & 0xff);
  const std::uint64_t flags = *at++ >> 56;
  record.key = *at++;
  if ((flags & kHasSequence) != 0) record.sequence_number = static_cast<std::int64_t>(*at++);
  if ((flags & kHasForwardThread) != 0) record.forward_thread = *at++;
  // NOLINTBEGIN(performance-no-int-to-ptr): they were pointers when they were written
  if ((flags & kHasModule) != 0) record.module = reinterpret_cast<const void*>(*at++);
  if ((flags & kHasScriptStack) != 0) record.script_stack = reinterpret_cast<const Name*>(*at++);
  if ((flags & kHasScriptModules) != 0) {
    record.script_modules = reinterpret_cast<const Name*>(*at++);
  }
  // NOLINTEND(performance-no-int-to-ptr)
  if ((flags & kHasInputs) != 0) {
    record.inputs_size = static_cast<std::uint32_t>(*at++);
    record.inputs = reinterpret_cast<const char*>(at);
    at += (record.inputs_size + 7) / 8;
  }
  if ((flags & kHasStack) != 0) {
    const std::size_t frames = *at++;
    record.stack = {reinterpret_cast<void* const*>(at), frames};
    at += frames;
  }
  if ((flags & kHasStorages) != 0) {
    const std::size_t storages = *at++;
    record.storages = {at, storages};
    at += storages;
  }
  next = at;
  return record;
}
inline BeginRecord begin_record(const std::uint64_t* at) {
  const std::uint64_t* next = nullptr;
  return begin_record(at, next);
}

/// Calls `visitor(BeginRecord, its first word)`, `visitor(EndRecord)` and `visitor(MemoryEvent)`
/// in the order of writing. What they point to lasts as long as the log's chunks. Requires a closed
/// log.
template <typename Visitor>
void read_records(const ThreadLog& log, Visitor&& visitor) {
  using namespace record_detail;
  log.for_each_chunk([&](const std::uint64_t* at, std::size_t count) {
    const std::uint64_t* const end = at + count;
    while (at < end) {
      const std::uint64_t ticks = *at & kLow56;
      switch (static_cast<RecordKind>(*at >> kTickBits)) {
        case RecordKind::begin: {
          const std::uint64_t* const first = at;
          visitor(begin_record(first, at), first);
          break;
        }
        case RecordKind::end:
          visitor(EndRecord{.ticks = ticks, .key = at[1] & kLow56, .is_async = at[1] >> 56 != 0});
          at += 2;
          break;
        case RecordKind::memory:
          visitor(MemoryEvent{
              .ticks = ticks, .address = at[1], .bytes = static_cast<std::int64_t>(at[2])});
          at += 3;
          break;
      }
    }
  });
}

}  // namespace tbtrace::recorder
