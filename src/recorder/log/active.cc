#include "recorder/log/active.h"

#include <array>
#include <bit>
#include <memory>
#include <mutex>
#include <new>
#include <utility>

#include "recorder/process/never_destroyed.h"
#include "recorder/process/process.h"

namespace tbtrace::recorder {

std::atomic<std::uint64_t (*)()> logical_thread_id = nullptr;

namespace active_detail {

std::atomic<std::uint64_t> current[kSlots];
constinit ThreadSlot no_thread_slots[kSlots] = {};
thread_local constinit ThreadSlot* thread_slots [[gnu::tls_model("initial-exec")]] =
    no_thread_slots;

namespace {

struct Active {
  std::mutex mutex;
  std::uint64_t last_number = 0;
  std::array<std::shared_ptr<Recording>, kSlots> recordings;
};

Active& active();

/// In a forked child, the mutexes of the parent's recordings may be locked, and nobody exports
/// them. So a child records only what it began itself, and never destroys its parent's recordings.
void forget_after_fork() {
  for (std::atomic<std::uint64_t>& number : current) number.store(0);
  for (std::shared_ptr<Recording>& recording : active().recordings) {
    new (&recording) std::shared_ptr<Recording>;
  }
}

constexpr ProcessPart kPart = {.order = PartOrder::recordings,
                               .lock = [] { active().mutex.lock(); },
                               .unlock = [] { active().mutex.unlock(); },
                               .begin_anew = forget_after_fork};
const AddedPart kAdded(kPart);

Active& active() {
  static NeverDestroyed<Active> one;
  return *one;
}

/// Keeps the logs that the thread writes to. After its end the thread records nothing more. Little
/// of it is the thread's static memory, of which a library that is loaded late gets 512 bytes.
struct Owner {
  struct Held {
    ThreadSlot thread_slots[kSlots] = {};
    std::array<std::shared_ptr<ThreadLog>, kSlots> logs;
  };

  ~Owner() {
    ended = true;
    thread_slots = no_thread_slots;
  }

  std::unique_ptr<Held> held;
  static thread_local constinit bool ended;
};
thread_local constinit bool Owner::ended = false;
thread_local Owner owner;

}  // namespace

ThreadLog* join_recording(std::size_t slot) {
  if (Owner::ended) return nullptr;
  std::shared_ptr<ThreadLog> log;
  std::uint64_t number = 0;
  do {
    std::shared_ptr<Recording> recording;
    {
      const std::lock_guard lock(active().mutex);
      number = current[slot].load();
      if (number != 0) recording = active().recordings[slot];
    }
    if (recording == nullptr) break;
    ThreadIdentity identity = this_thread_identity();
    if (auto* id = logical_thread_id.load()) identity.logical_id = id();
    log = recording->add_thread(std::move(identity));
    // Without one, the recording has ended; maybe because another one took its place.
  } while (log == nullptr && number != current[slot].load());
  if (owner.held == nullptr) owner.held = std::make_unique<Owner::Held>();
  owner.held->thread_slots[slot] = {number, log.get()};
  owner.held->logs[slot] = std::move(log);
  thread_slots = owner.held->thread_slots;
  return thread_slots[slot].log;
}

}  // namespace active_detail

namespace {
constinit std::atomic<std::uint32_t> activations = 0;
constinit std::atomic<std::uint32_t> aside = 0;  // slots, a bit each

std::uint32_t bit_of(std::size_t slot) { return std::uint32_t{1} << slot; }
static_assert(kSlots <= 32);

}  // namespace

std::optional<std::size_t> activate(std::shared_ptr<Recording> recording, Reach reach) {
  using namespace active_detail;
  // Now and then: LibTorch may have made more until now. There is a limit to how often.
  if (std::has_single_bit(++activations)) end_before_all_that_was_made();
  const std::size_t first = reach == Reach::some_threads ? 0 : kSlotsOfReach;
  const std::lock_guard lock(active().mutex);
  stay_until_the_end();
  for (std::size_t slot = first; slot < first + kSlotsOfReach; ++slot) {
    if (current[slot].load() != 0 || (aside.load() & bit_of(slot)) != 0) continue;
    active().recordings[slot] = std::move(recording);
    current[slot].store(++active().last_number, std::memory_order_release);
    return slot;
  }
  return std::nullopt;
}

void deactivate(std::size_t slot) {
  using namespace active_detail;
  std::shared_ptr<Recording> recording;
  {
    const std::lock_guard lock(active().mutex);
    current[slot].store(0, std::memory_order_release);
    recording = std::exchange(active().recordings[slot], nullptr);
    // Under the lock, so that alive_bytes() finds its bytes in one place.
    if (recording != nullptr) recording->close();
  }
}

namespace {
/// Requires the lock.
std::int64_t bytes_of_all() {
  std::int64_t bytes = watched_bytes.load();
  for (const std::shared_ptr<Recording>& recording : active_detail::active().recordings) {
    if (recording != nullptr) bytes += recording->memory_bytes();
  }
  return bytes;
}
}  // namespace

void replace(std::size_t slot, std::shared_ptr<Recording> next) {
  using namespace active_detail;
  const std::lock_guard lock(active().mutex);
  // Before the first record that a thread writes into it; threads wait for the lock until then.
  next->start(bytes_of_all());
  std::swap(active().recordings[slot], next);
  current[slot].store(++active().last_number, std::memory_order_release);
  next->end_for_next();
}

std::int64_t alive_bytes() {
  const std::lock_guard lock(active_detail::active().mutex);
  return bytes_of_all();
}

void set_slot_aside(std::size_t slot) { aside.fetch_or(bit_of(slot)); }
void release_slot(std::size_t slot) { aside.fetch_and(~bit_of(slot)); }

}  // namespace tbtrace::recorder
