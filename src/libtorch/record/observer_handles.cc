#include "libtorch/record/observer_handles.h"

#include <algorithm>
#include <mutex>
#include <thread>
#include <vector>

#include "base/forks.h"
#include "recorder/log/active.h"
#include "recorder/process/never_destroyed.h"
#include "recorder/process/process.h"

namespace tbtrace::libtorch {

namespace {

struct Installed {
  ObserverHandle handle = 0;
  std::size_t slot = 0;
  bool all_threads = false;
  std::thread::id thread = {};  // that has it, if it is not of all
  std::uint64_t process = 0;    // by its number of forks
  bool is_left = false;         // its recording has ended
};

struct Handles {
  std::mutex mutex;
  std::vector<Installed> installed;
};

Handles& handles();

/// In a forked child: what its only thread has of callbacks is still there, and for that thread to
/// remove; other threads and what they had are not.
void leave_to_child();

constexpr recorder::ProcessPart kHandlesPart = {.order = recorder::PartOrder::observers,
                                                .lock = [] { handles().mutex.lock(); },
                                                .unlock = [] { handles().mutex.unlock(); },
                                                .begin_anew = leave_to_child};
const recorder::AddedPart kHandlesAdded(kHandlesPart);

Handles& handles() {
  static recorder::NeverDestroyed<Handles> one;
  return *one;
}

void leave_to_child() {
  const auto self = std::this_thread::get_id();
  for (const Installed& one : handles().installed) recorder::release_slot(one.slot);
  std::erase_if(handles().installed,
                [&](const Installed& one) { return !one.all_threads && one.thread != self; });
  for (Installed& one : handles().installed) {
    if (one.all_threads) continue;  // whoever begins first removes it
    one.process = fork_count();
    one.is_left = true;
    recorder::set_slot_aside(one.slot);
  }
}

bool is_on_this_thread(ObserverHandle handle) {
  const auto& here = at::get_record_function_tls_().sorted_tls_callbacks_;
  return std::any_of(here.begin(), here.end(),
                     [&](const auto& entry) { return entry.handle_ == handle; });
}

/// torch warns of handles that the thread does not have.
void remove_from_torch(const Installed& one) {
  if (one.all_threads || is_on_this_thread(one.handle)) at::removeCallback(one.handle);
}

/// Requires the lock.
void sweep(Handles& all) {
  const std::uint64_t process = fork_count();
  const auto self = std::this_thread::get_id();
  std::erase_if(all.installed, [&](const Installed& one) {
    const bool is_inherited = one.process != process;
    const bool is_here = one.thread == self;
    if (!is_inherited && !(one.is_left && is_here)) return false;
    remove_from_torch(one);
    if (!is_inherited) recorder::release_slot(one.slot);
    return true;
  });
}

/// What a thread has of callbacks ends with it.
struct ThreadEnd {
  ~ThreadEnd() {
    Handles& all = handles();
    const std::lock_guard lock(all.mutex);
    const auto self = std::this_thread::get_id();
    for (Installed& one : all.installed) {
      if (one.all_threads || one.thread != self) continue;
      // Another thread may get this one's number.
      one.thread = {};
      if (one.is_left && one.process == fork_count()) {
        recorder::release_slot(one.slot);
      }
    }
    std::erase_if(all.installed, [](const Installed& one) {
      return one.is_left && !one.all_threads && one.thread == std::thread::id();
    });
  }
};

}  // namespace

void remove_left_callbacks() {
  Handles& all = handles();
  const std::lock_guard lock(all.mutex);
  sweep(all);
}

ObserverHandle add_callback(std::size_t slot, at::RecordFunctionCallback callback,
                            bool all_threads) {
  if (!all_threads) {
    static thread_local ThreadEnd end;
    static_cast<void>(&end);
  }
  Handles& all = handles();
  const std::lock_guard lock(all.mutex);
  sweep(all);
  Installed one = {.slot = slot,
                   .all_threads = all_threads,
                   .thread = all_threads ? std::thread::id() : std::this_thread::get_id(),
                   .process = fork_count()};
  all.installed.reserve(all.installed.size() + 1);  // before torch has it
  one.handle = all_threads ? at::addGlobalCallback(callback) : at::addThreadLocalCallback(callback);
  all.installed.push_back(one);
  return one.handle;
}

void remove_callback(ObserverHandle handle) {
  Handles& all = handles();
  const std::lock_guard lock(all.mutex);
  sweep(all);
  const auto found = std::find_if(all.installed.begin(), all.installed.end(),
                                  [&](const Installed& one) { return one.handle == handle; });
  if (found == all.installed.end()) return;  // a parent's, or its thread has ended
  const bool is_gone = !found->all_threads && found->thread == std::thread::id();
  if (found->all_threads || is_gone || found->thread == std::this_thread::get_id()) {
    if (!is_gone) remove_from_torch(*found);
    all.installed.erase(found);
    return;
  }
  found->is_left = true;
  recorder::set_slot_aside(found->slot);
}

}  // namespace tbtrace::libtorch
