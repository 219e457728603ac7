#include "recorder/process/end_signals.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstddef>
#include <string>
#include <system_error>
#include <thread>

#include <fcntl.h>
#include <unistd.h>

#include "recorder/process/process.h"
#include "recorder/process/running_profilers.h"

namespace tbtrace::recorder {

namespace {

constexpr std::array kSignals = {SIGTERM, SIGINT, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGXCPU};

struct Watch {
  int write_end = -1;  // of the pipe that the handler writes the signal's number to
  int read_end = -1;
  pid_t process = 0;  // not fork_count(): a child before exec() may have no handlers for forks
  std::atomic<std::int64_t> timeout_ms = 0;
  std::atomic<bool> is_closing = false;
  // By kSignals. What stood before is written before its signal can arrive.
  std::array<struct sigaction, kSignals.size()> before = {};
  std::array<std::atomic<bool>, kSignals.size()> is_watched = {};
};

/// The one of this process or of a parent; never destroyed.
constinit std::atomic<Watch*> watch = nullptr;

std::size_t place_of(int signal) {
  return static_cast<std::size_t>(std::ranges::find(kSignals, signal) - kSignals.begin());
}

void do_what_it_did_before(const Watch& of, int signal) {
  ::sigaction(signal, &of.before[place_of(signal)], nullptr);
  ::kill(::getpid(), signal);
}

void on_signal(int signal) {
  const int error = errno;
  Watch* const here = watch.load();
  if (here == nullptr) return;
  const bool is_impatient = signal == SIGINT && here->is_closing.load();
  if (here->process != ::getpid() || is_impatient) {
    do_what_it_did_before(*here, signal);
  } else {
    here->is_closing.store(true);
    const auto word = static_cast<unsigned char>(signal);
    static_cast<void>(!::write(here->write_end, &word, 1));
  }
  errno = error;
}

void wait_for_signal(Watch& here) noexcept {
  unsigned char word = 0;
  while (::read(here.read_end, &word, 1) != 1) {
    if (errno != EINTR) return;
  }
  close_profilers_in_time(std::chrono::milliseconds(here.timeout_ms.load()));
  for (std::size_t at = 0; at < kSignals.size(); ++at) {
    if (here.is_watched[at].load()) ::sigaction(kSignals[at], &here.before[at], nullptr);
  }
  watch.store(nullptr);  // whoever asks again begins anew
  ::kill(::getpid(), word);
  // Others that arrived meanwhile.
  static_cast<void>(::fcntl(here.read_end, F_SETFL, O_NONBLOCK));
  const int first = word;
  while (::read(here.read_end, &word, 1) == 1) {
    if (word != first) ::kill(::getpid(), word);
  }
}

Status failure(const std::string& what) {
  return {StatusCode::check_failed, "a window is lost if a signal ends the program: " + what +
                                        "; call stop() before the end"};
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
  // A child of a fork that asks again has its parent's handlers.
  if (const Watch* const parents = watch.load(); parents != nullptr) {
    made->before = parents->before;
  }
  try {
    std::thread([made] { wait_for_signal(*made); }).detach();
  } catch (const std::system_error& error) {
    return failure(std::string("cannot start a thread: ") + error.what());
  }
  watch.store(made);
  return {};
}

Status watch_for(Watch& here, int signal) {
  const std::size_t at = place_of(signal);
  if (here.is_watched[at].load()) return {};
  struct sigaction before = {};
  ::sigaction(signal, nullptr, &before);
  const bool is_ours = (before.sa_flags & SA_SIGINFO) == 0 && before.sa_handler == on_signal;
  if ((before.sa_flags & SA_SIGINFO) == 0 && before.sa_handler == SIG_IGN) return {};
  if (!is_ours) here.before[at] = before;
  struct sigaction action = {};
  action.sa_handler = on_signal;
  action.sa_flags = SA_RESTART;
  sigemptyset(&action.sa_mask);
  here.is_watched[at].store(true);
  if (::sigaction(signal, &action, nullptr) != 0) {
    here.is_watched[at].store(false);
    return failure(std::generic_category().message(errno));
  }
  return {};
}

}  // namespace

Status close_on_signals(std::span<const int> signals, std::chrono::milliseconds timeout) {
  if (signals.empty()) return {};
  for (const int signal : signals) {
    if (place_of(signal) < kSignals.size()) continue;
    return {StatusCode::invalid_argument,
            "close_on has signal " + std::to_string(signal) +
                ", which is not one that a program can wait for; SIGTERM, SIGINT, SIGHUP, SIGQUIT, "
                "SIGUSR1, SIGUSR2 and SIGXCPU are"};
  }
  const std::lock_guard lock(process_mutex<PartOrder::signals>());
  stay_until_the_end();
  Watch* here = watch.load();
  if (here == nullptr || here->process != ::getpid()) {
    if (Status made = make_watch(timeout); !made.ok()) return made;
    here = watch.load();
  }
  here->timeout_ms = std::max<std::int64_t>(here->timeout_ms, timeout.count());
  for (const int signal : signals) {
    if (Status watched = watch_for(*here, signal); !watched.ok()) return watched;
  }
  return {};
}

}  // namespace tbtrace::recorder
