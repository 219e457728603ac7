#include "recorder/process/running_profilers.h"

#include <algorithm>
#include <condition_variable>
#include <exception>
#include <memory>
#include <mutex>
#include <new>
#include <thread>
#include <vector>

#include "recorder/process/never_destroyed.h"
#include "recorder/process/process.h"

namespace tbtrace::recorder {

namespace {

struct Listeners {
  std::mutex closing;  // one thread closes; taken before the other one

  std::mutex mutex;  // what follows
  std::vector<ProcessListener*> all;
  ProcessListener* being_closed = nullptr;
  std::thread::id closer;
  std::condition_variable closed;
};

Listeners& listeners();

void begin_anew() {
  Listeners& here = listeners();
  new (&here.closing) std::mutex;
  new (&here.closed) std::condition_variable;
  here.being_closed = nullptr;
  here.closer = {};
  for (ProcessListener* listener : here.all) listener->begin_anew();
}

constexpr ProcessPart kProfilersPart = {.order = PartOrder::profilers,
                                        .lock = [] { listeners().mutex.lock(); },
                                        .unlock = [] { listeners().mutex.unlock(); },
                                        .begin_anew = begin_anew,
                                        .end = [] { close_profilers(std::nullopt); }};
const AddedPart kProfilersAdded(kProfilersPart);

Listeners& listeners() {
  static NeverDestroyed<Listeners> one;
  return *one;
}

}  // namespace

void add_listener(ProcessListener& listener) {
  Listeners& here = listeners();
  const std::lock_guard lock(here.mutex);
  stay_until_the_end();
  here.all.push_back(&listener);
}

void remove_listener(ProcessListener& listener) noexcept {
  Listeners& here = listeners();
  std::unique_lock lock(here.mutex);
  here.closed.wait(lock, [&] {
    return here.being_closed != &listener || here.closer == std::this_thread::get_id();
  });
  std::erase(here.all, &listener);
}

void close_profilers(Deadline deadline) noexcept {
  Listeners& here = listeners();
  {
    const std::lock_guard lock(here.mutex);
    if (here.closer == std::this_thread::get_id()) return;  // a handler ends the program
  }
  const std::lock_guard closing(here.closing);
  std::unique_lock lock(here.mutex);
  here.closer = std::this_thread::get_id();
  // By index, not from a copy of the list: a profiler that left it meanwhile must not be closed.
  for (std::size_t left = here.all.size(); left > 0; left = std::min(left - 1, here.all.size())) {
    here.being_closed = here.all[left - 1];
    lock.unlock();
    here.being_closed->close(deadline);
    lock.lock();
    here.being_closed = nullptr;
    here.closed.notify_all();
  }
  here.closer = {};
}

void close_profilers_in_time(std::chrono::milliseconds timeout) noexcept {
  struct Closing {
    std::mutex mutex;  // what follows
    std::condition_variable changed;
    bool is_done = false;
  };
  {
    Listeners& here = listeners();
    const std::lock_guard lock(here.mutex);
    if (here.closer == std::this_thread::get_id()) return;
  }
  const auto deadline = std::chrono::steady_clock::now() + timeout;
  const auto earlier = deadline - timeout / 10;  // time to warn of what is lost
  try {
    // Of both threads: the one that closes may go on for longer.
    const auto closing = std::make_shared<Closing>();
    std::thread([closing, earlier] {
      close_profilers(earlier);
      const std::lock_guard lock(closing->mutex);
      closing->is_done = true;
      closing->changed.notify_all();
    }).detach();
    std::unique_lock lock(closing->mutex);
    closing->changed.wait_until(lock, deadline, [&] { return closing->is_done; });
  } catch (const std::exception&) {  // there is no thread or no memory for it
    close_profilers(earlier);
  }
}

}  // namespace tbtrace::recorder
