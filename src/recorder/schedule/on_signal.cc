#include "recorder/schedule/on_signal.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstddef>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <string>
#include <system_error>

#include <fmt/format.h>

#include "recorder/process/messages.h"
#include "recorder/process/process.h"

namespace tbtrace {
namespace {

/// What the handler reads and writes: nothing but atomics that need no lock.
struct Watched {
  std::atomic<std::uint32_t> requests = 0;
  // What stood there before, which is called too; null: nothing but the system's own action.
  std::atomic<void (*)(int)> handler = nullptr;
  std::atomic<void (*)(int, siginfo_t*, void*)> detailed_handler = nullptr;
};
static_assert(std::atomic<std::uint32_t>::is_always_lock_free &&
              std::atomic<void (*)(int)>::is_always_lock_free);

constexpr int kSignals = 65;  // Linux has 1 to 64
constinit std::array<Watched, kSignals> watched = {};

void count_request(int signal, siginfo_t* info, void* context) {
  Watched& of = watched[static_cast<std::size_t>(signal)];
  of.requests.fetch_add(1, std::memory_order_relaxed);
  if (auto* const before = of.detailed_handler.load()) {
    before(signal, info, context);
  } else if (auto* const plain = of.handler.load()) {
    plain(signal);
  }
}

void watch(int signal) {
  const bool is_for_programs = signal == SIGUSR1 || signal == SIGUSR2 || signal == SIGHUP ||
                               (signal >= SIGRTMIN && signal <= SIGRTMAX);
  if (!is_for_programs || signal >= kSignals) {
    throw std::invalid_argument(
        fmt::format("signal {} cannot ask for a recording, since it has another meaning; use "
                    "SIGUSR1, SIGUSR2, SIGHUP or a real-time signal",
                    signal));
  }
  const std::lock_guard lock(recorder::process_mutex<recorder::PartOrder::signals>());
  recorder::stay_until_the_end();  // the handler is in this library
  struct sigaction before = {};
  ::sigaction(signal, nullptr, &before);
  const bool has_details = (before.sa_flags & SA_SIGINFO) != 0;
  if (has_details && before.sa_sigaction == count_request) return;
  Watched& of = watched[static_cast<std::size_t>(signal)];
  const bool is_function =
      has_details || (before.sa_handler != SIG_DFL && before.sa_handler != SIG_IGN);
  of.handler = is_function && !has_details ? before.sa_handler : nullptr;
  of.detailed_handler = has_details ? before.sa_sigaction : nullptr;
  struct sigaction action = {};
  action.sa_sigaction = count_request;
  action.sa_flags = SA_SIGINFO | SA_RESTART;
  sigemptyset(&action.sa_mask);
  if (::sigaction(signal, &action, nullptr) != 0) {
    throw std::invalid_argument(fmt::format("signal {} cannot be handled: {}", signal,
                                            std::generic_category().message(errno)));
  }
}

/// Each copy waits for itself.
class SignalSchedule {
 public:
  SignalSchedule(int signal, const SignalOptions& options)
      : signal_(signal), options_(options), seen_(requests()) {}

  ProfilerAction operator()(std::int64_t step) {
    const std::int64_t length = options_.warmup + options_.active;
    // A forked child counts its steps anew.
    if (first_ && (step < *first_ || step - *first_ >= length)) {
      first_.reset();
      seen_ = requests();  // the recording has answered those that came meanwhile
    }
    if (!first_) {
      const std::uint32_t now = requests();
      if (now == seen_) return ProfilerAction::none;
      seen_ = now;
      first_ = step;
    }
    const std::int64_t at = step - *first_;
    if (at < options_.warmup) return ProfilerAction::warmup;
    return at + 1 < length ? ProfilerAction::record : ProfilerAction::record_and_save;
  }

 private:
  std::uint32_t requests() const { return recorder::requests(signal_); }

  int signal_;
  SignalOptions options_;
  std::uint32_t seen_;
  std::optional<std::int64_t> first_;  // step of the cycle that goes on
};

}  // namespace

Schedule on_signal(int signal, const SignalOptions& options) {
  constexpr std::int64_t kMost = std::int64_t{1} << 62;
  if (options.warmup < 0 || options.active <= 0 ||
      std::max(options.warmup, options.active) > kMost) {
    throw std::invalid_argument(
        fmt::format("on_signal() got warmup={} (need >= 0), active={} (need > 0)", options.warmup,
                    options.active));
  }
  watch(signal);
  if (options.warmup == 0) recorder::warn(recorder::kNoWarmup);
  return SignalSchedule(signal, options);
}

void recorder::count_requests(int signal) { watch(signal); }

std::uint32_t recorder::requests(int signal) {
  return watched[static_cast<std::size_t>(signal)].requests.load(std::memory_order_relaxed);
}

bool recorder::waits_for_signal(const Schedule& schedule) {
  return schedule.target<SignalSchedule>() != nullptr;
}

}  // namespace tbtrace
