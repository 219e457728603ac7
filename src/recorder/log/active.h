// Which recordings are running, and where the calling thread writes for each of them. Shares the
// ownership of active recordings. All functions may be called from any thread. A slot is a number
// that callbacks without state of their own can carry.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>

#include "recorder/log/recording.h"
#include "recorder/log/thread_log.h"

namespace tbtrace::recorder {

/// Whether a recording is of one thread or of all. Each kind has its own slots, so that a callback
/// that stayed on one thread never writes into a recording of all threads.
enum class Reach : std::uint8_t { some_threads, all_threads };

/// How many recordings of each kind can run at a time in one process.
inline constexpr std::size_t kSlotsOfReach = 16;
inline constexpr std::size_t kSlots = 2 * kSlotsOfReach;

/// Gives the recording a slot; nothing if all are taken.
std::optional<std::size_t> activate(std::shared_ptr<Recording> recording,
                                    Reach reach = Reach::some_threads);

/// Ends the recording of the slot: threads that come later find nothing. It is closed, then.
void deactivate(std::size_t slot);

/// Starts another recording in the slot, which must have one, and ends that one. Each record that
/// a thread writes is in one of the two: a thread changes over with its next record.
void replace(std::size_t slot, std::shared_ptr<Recording> next);

/// Bytes of the blocks that are watched and alive, whichever recording counted them.
std::int64_t alive_bytes();

/// Keeps the slot from being used again, even after its recording has ended, until it is released:
/// a callback may still write into it. Takes no lock. A forked child keeps what its parent kept.
void set_slot_aside(std::size_t slot);
void release_slot(std::size_t slot);

/// torch's own number of the calling thread, for new logs; set before anything is recorded.
extern std::atomic<std::uint64_t (*)()> logical_thread_id;

namespace active_detail {
/// Numbers of the recordings in the slots; 0: none. Each recording has another one.
extern std::atomic<std::uint64_t> current[kSlots];

struct ThreadSlot {
  std::uint64_t number;
  ThreadLog* log;
};
extern constinit ThreadSlot no_thread_slots[kSlots];
/// One pointer: a library may have that much of a thread's static memory even if it is loaded late.
extern thread_local constinit ThreadSlot* thread_slots [[gnu::tls_model("initial-exec")]];

ThreadLog* join_recording(std::size_t slot);
}  // namespace active_detail

/// The calling thread's log in the recording of the slot, null if there is none.
inline ThreadLog* this_thread_log(std::size_t slot) {
  using namespace active_detail;
  const ThreadSlot& own = thread_slots[slot];
  if (own.number == current[slot].load(std::memory_order_acquire)) [[likely]]
    return own.log;
  return join_recording(slot);
}

}  // namespace tbtrace::recorder
