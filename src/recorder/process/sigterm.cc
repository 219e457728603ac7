#include "recorder/process/sigterm.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <condition_variable>
#include <csignal>
#include <exception>
#include <mutex>
#include <string>
#include <system_error>
#include <thread>

#include <fcntl.h>
#include <unistd.h>

#include "recorder/process/process.h"
#include "recorder/process/running_profilers.h"

namespace tbtrace::recorder {

namespace {

struct Watch {
  int write_end = -1;  // of the pipe that the signal handler writes to
  int read_end = -1;
  pid_t process = 0;  // not fork_count(): a child before exec() may have no handlers for forks
  std::atomic<std::int64_t> timeout_ms = 0;
  struct sigaction before = {};

  std::mutex mutex;  // what follows
  std::condition_variable changed;
  bool is_closed = false;
};

/// The one of this process or of a parent; never destroyed.
constinit std::atomic<Watch*> watch = nullptr;

void do_what_it_did_before(const Watch& of) {
  ::sigaction(SIGTERM, &of.before, nullptr);
  ::kill(::getpid(), SIGTERM);
}

void on_sigterm(int) {
  const int error = errno;
  const Watch* const watching = watch.load();
  if (watching == nullptr) return;
  const Watch& here = *watching;
  if (here.process != ::getpid()) {
    do_what_it_did_before(here);
  } else {
    const char word = 't';
    static_cast<void>(!::write(here.write_end, &word, 1));
  }
  errno = error;
}

void close_all(Watch& here, std::chrono::steady_clock::time_point deadline) {
  close_profilers(deadline);
  const std::lock_guard lock(here.mutex);
  here.is_closed = true;
  here.changed.notify_all();
}

/// Closing has a thread of its own, since a device that is waited for may never be done.
void close_in_time(Watch& here) noexcept {
  const std::chrono::milliseconds timeout(here.timeout_ms.load());
  const auto deadline = std::chrono::steady_clock::now() + timeout;
  const auto earlier = deadline - timeout / 10;  // time to warn of what is lost
  try {
    std::thread([&here, earlier] { close_all(here, earlier); }).detach();
  } catch (const std::system_error&) {
    close_all(here, earlier);
  }
  std::unique_lock lock(here.mutex);
  here.changed.wait_until(lock, deadline, [&] { return here.is_closed; });
}

void wait_for_signal(Watch& here) noexcept {
  char word = 0;
  while (::read(here.read_end, &word, 1) != 1) {
    if (errno != EINTR) return;
  }
  close_in_time(here);
  ::sigaction(SIGTERM, &here.before, nullptr);
  watch.store(nullptr);  // whoever asks again begins anew
  ::kill(::getpid(), SIGTERM);
}

Status failure(const std::string& what) {
  return {StatusCode::check_failed,
          "a window is lost if SIGTERM ends the program: " + what + "; call stop() before the end"};
}

Status make_watch(std::chrono::milliseconds timeout) {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC | O_NONBLOCK) != 0) {
    return failure("cannot create a pipe: " + std::generic_category().message(errno));
  }
  static_cast<void>(::fcntl(ends[0], F_SETFL, 0));  // the thread waits there
  auto* const made = new Watch;
  made->read_end = ends[0];
  made->write_end = ends[1];
  made->process = ::getpid();
  made->timeout_ms = timeout.count();
  try {
    std::thread([made] { wait_for_signal(*made); }).detach();
  } catch (const std::system_error& error) {
    return failure(std::string("cannot start a thread: ") + error.what());
  }
  ::sigaction(SIGTERM, nullptr, &made->before);
  // A child of a fork that asks again has its parent's handler.
  if (const Watch* const parents = watch.load();
      parents != nullptr && made->before.sa_handler == on_sigterm) {
    made->before = parents->before;
  }
  watch.store(made);
  struct sigaction action = {};
  action.sa_handler = on_sigterm;
  action.sa_flags = SA_RESTART;
  sigemptyset(&action.sa_mask);
  if (::sigaction(SIGTERM, &action, nullptr) != 0) {
    return failure(std::generic_category().message(errno));
  }
  return {};
}

}  // namespace

Status close_on_sigterm(std::chrono::milliseconds timeout) {
  const std::lock_guard lock(process_mutex<PartOrder::signals>());
  stay_until_the_end();
  Watch* const here = watch.load();
  if (here == nullptr || here->process != ::getpid()) return make_watch(timeout);
  here->timeout_ms = std::max<std::int64_t>(here->timeout_ms, timeout.count());
  return {};
}

}  // namespace tbtrace::recorder
