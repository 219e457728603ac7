// What this process is to everything that it holds once: locks, hooks in LibTorch, threads. Only
// here are handlers for forks and for the program's end, and only here is the library kept from
// being unloaded.
// Any thread. Nothing here is ever destroyed, since threads may record while the program ends.
#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <string_view>

#include "recorder/process/never_destroyed.h"

namespace tbtrace::recorder {

/// What a process holds once. A fork takes their locks in this order, and so may anybody: whoever
/// holds the lock of one may take that of a later one. The program's end goes through them in this
/// order, too.
enum class PartOrder : std::uint8_t {
  profilers,   ///< those that are running
  observers,   ///< callbacks in LibTorch
  names,       ///< of LibTorch's operators
  memory,      ///< LibTorch's allocator
  collector,   ///< the thread that takes CUPTI's records
  recordings,  ///< those that are active, by slot
  blocks,      ///< of memory that is watched
  unwinders,   ///< that walk stacks
  pictures,    ///< that exports draw
  warnings,    ///< who gets them
  signals,     ///< that the program is asked to end by
  journals,    ///< that recordings are kept in
  chunks,      ///< of memory that is recorded into
};
inline constexpr std::size_t kPartOrders = 13;

/// To add something that a process holds once, name its place in PartOrder and hand these functions
/// to an AddedPart beside it. A function with nothing to do is null. None takes arguments: the
/// part's object is never destroyed. lock() makes it, and AddedPart calls lock() once before
/// main(): a fork must not allocate, since it may have locked the allocator already.
struct ProcessPart {
  PartOrder order;
  void (*lock)() = nullptr;    ///< before a fork, so that the child finds the part whole
  void (*unlock)() = nullptr;  ///< after it, in both processes
  /// In the child, before unlock(). There is one thread, and it must not allocate: a sanitizer's
  /// allocator may be locked for ever.
  void (*begin_anew)() = nullptr;
  /// The program ends by exit() or by a return from main(), maybe in a forked child.
  void (*end)() = nullptr;
};

/// A part from before main() on, so of static storage only: one that is added while another thread
/// forks is not locked for the fork, and the child may find it locked for ever. One of each order.
class AddedPart {
 public:
  explicit AddedPart(const ProcessPart& part) noexcept;
};

template <PartOrder kOrder, void (*kBeginAnew)() = nullptr, void (*kEnd)() = nullptr>
std::mutex& process_mutex();

template <PartOrder kOrder, void (*kBeginAnew)(), void (*kEnd)()>
constexpr ProcessPart kPartOfMutex = {
    .order = kOrder,
    .lock = [] { process_mutex<kOrder, kBeginAnew, kEnd>().lock(); },
    .unlock = [] { process_mutex<kOrder, kBeginAnew, kEnd>().unlock(); },
    .begin_anew = kBeginAnew,
    .end = kEnd};

template <PartOrder kOrder, void (*kBeginAnew)(), void (*kEnd)()>
inline const AddedPart kAddedMutex(kPartOfMutex<kOrder, kBeginAnew, kEnd>);

/// A mutex that is a part, with what else the part does.
template <PartOrder kOrder, void (*kBeginAnew)(), void (*kEnd)()>
std::mutex& process_mutex() {
  static_cast<void>(&kAddedMutex<kOrder, kBeginAnew, kEnd>);
  static NeverDestroyed<std::mutex> one;
  return *one;
}

/// Keeps the library loaded, and has the program's end go through the parts. For whoever begins to
/// hold something, with the lock of its part.
void stay_until_the_end();

/// Makes end_process() run before the destructors of everything that exists now, such as what
/// LibTorch creates on first use. To be called when a recording begins.
void end_before_all_that_was_made();

/// Whether the program's end has begun: nothing new is recorded.
bool is_ending();

/// Goes through the parts as the program's end does; a second call does nothing.
void end_process();

/// Why nothing can be recorded here, as a sentence: another copy of this library in this process
/// records, or the process is ending. Empty if recording is possible.
std::string_view why_nothing_is_recorded();

}  // namespace tbtrace::recorder
