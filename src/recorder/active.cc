#include "recorder/active.h"

#include <array>
#include <mutex>
#include <new>
#include <utility>

#include <pthread.h>

namespace tbtrace::recorder {

std::atomic<std::uint64_t (*)()> logical_thread_id = nullptr;

namespace active_detail {

std::atomic<std::uint64_t> current[kSlots];
thread_local constinit Seat seats[kSlots] = {};

namespace {

struct Active {
  std::mutex mutex;
  std::uint64_t last_number = 0;
  std::array<std::shared_ptr<Recording>, kSlots> recordings;
};

Active& active();

/// Of a forked child nobody knows what the recordings' mutexes are like and who would export:
/// nothing is recorded there that was not begun there, and the parent's are never destroyed.
void forget_after_fork() {
  for (std::atomic<std::uint64_t>& number : current) number.store(0);
  for (std::shared_ptr<Recording>& recording : active().recordings) {
    new (&recording) std::shared_ptr<Recording>;
  }
}

/// Never destroyed: threads may record while the program ends.
Active& active() {
  static Active& one = []() -> Active& {
    ::pthread_atfork([] { active().mutex.lock(); }, [] { active().mutex.unlock(); },
                     [] {
                       forget_after_fork();
                       active().mutex.unlock();
                     });
    return *new Active;
  }();
  return one;
}

/// Keeps the logs that the thread writes to. After its end the thread records nothing more.
struct Owner {
  ~Owner() {
    ended = true;
    for (Seat& seat : seats) seat = {};
  }

  std::array<std::shared_ptr<ThreadLog>, kSlots> logs;
  static thread_local constinit bool ended;
};
thread_local constinit bool Owner::ended = false;
thread_local Owner owner;

}  // namespace

ThreadLog* take_seat(std::size_t slot) {
  if (Owner::ended) return nullptr;
  std::shared_ptr<Recording> recording;
  std::uint64_t number = 0;
  {
    const std::lock_guard lock(active().mutex);
    number = current[slot].load();
    if (number != 0) recording = active().recordings[slot];
  }
  std::shared_ptr<ThreadLog> log;
  if (recording != nullptr) {
    ThreadIdentity identity = this_thread_identity();
    if (auto* id = logical_thread_id.load()) identity.logical_id = id();
    log = recording->add_thread(std::move(identity));
  }
  seats[slot] = {number, log.get()};
  owner.logs[slot] = std::move(log);
  return seats[slot].log;
}

}  // namespace active_detail

std::optional<std::size_t> activate(std::shared_ptr<Recording> recording) {
  using namespace active_detail;
  const std::lock_guard lock(active().mutex);
  for (std::size_t slot = 0; slot < kSlots; ++slot) {
    if (current[slot].load() != 0) continue;
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
  }
  if (recording != nullptr) recording->close();
}

}  // namespace tbtrace::recorder
