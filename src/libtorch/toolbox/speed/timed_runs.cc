#include "libtorch/toolbox/speed/timed_runs.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <optional>
#include <stdexcept>

#include <c10/core/Device.h>
#include <c10/core/Event.h>
#include <c10/core/impl/VirtualGuardImpl.h>
#include <torch/cuda.h>

namespace tbtrace::libtorch {
namespace {

using Clock = std::chrono::steady_clock;

double ns_between(Clock::time_point begin, Clock::time_point end) {
  return static_cast<double>(
      std::chrono::duration_cast<std::chrono::nanoseconds>(end - begin).count());
}

/// Two events of the current stream; only newer LibTorch tells the time between events.
template <typename Event>
class EventPair {
 public:
  static constexpr bool kCanTell = requires(const Event& begin, const Event& end) {
    begin.elapsedTime(end);
  };

  void begin() {
    if constexpr (kCanTell) record(begin_);
  }
  void end() {
    if constexpr (kCanTell) record(end_);
  }
  /// After both have happened.
  std::optional<double> ns() const {
    if constexpr (kCanTell) return begin_->elapsedTime(*end_) * 1e6;
    return std::nullopt;
  }

 private:
  static void record(std::optional<Event>& event) {
    if (!event) event.emplace(c10::DeviceType::CUDA, c10::EventFlag::BACKEND_DEFAULT);
    const c10::impl::VirtualGuardImpl guard(c10::DeviceType::CUDA);
    event->record(guard.getStream(guard.getDevice()));
  }

  std::optional<Event> begin_;
  std::optional<Event> end_;
};

double spread_of(std::vector<double> times) {
  const auto quartile = [&](std::size_t part) {
    const auto at = times.begin() + static_cast<std::ptrdiff_t>(part * (times.size() - 1) / 4);
    std::nth_element(times.begin(), at, times.end());
    return *at;
  };
  const double median = quartile(2);
  return median > 0 ? (quartile(3) - quartile(1)) / median : 0;
}

/// When enough is measured.
class StoppingRule {
 public:
  explicit StoppingRule(const BenchmarkOptions& options) : options_(options) {}

  bool is_enough(const std::vector<double>& times, double elapsed_s) {
    if (times.size() >= kMostRuns) return true;
    if (times.size() < static_cast<std::size_t>(options_.runs)) return false;
    if (elapsed_s < options_.min_time_s) return false;
    if (options_.max_spread <= 0 || elapsed_s >= options_.max_time_s) return true;
    if (times.size() < std::max(next_look_, kEnoughForSpread)) return false;
    next_look_ = times.size() + times.size() / 4 + 1;
    return spread_of(times) <= options_.max_spread;
  }

 private:
  static constexpr std::size_t kMostRuns = 1'000'000;
  static constexpr std::size_t kEnoughForSpread = 8;

  const BenchmarkOptions& options_;
  std::size_t next_look_ = 0;
};

}  // namespace

void wait_for_devices() {
  if (torch::cuda::is_available()) torch::cuda::synchronize();
}

RunTimes timed_runs(const toolbox_detail::TimedCall& call, const BenchmarkOptions& options,
                    bool on_cuda) {
  for (int warmup = 0; warmup < options.warmup; ++warmup) call();
  if (on_cuda) wait_for_devices();
  RunTimes times;
  times.host_ns.reserve(static_cast<std::size_t>(std::max(options.runs, 4096)));
  StoppingRule rule(options);
  EventPair<c10::Event> events;
  const Clock::time_point start = Clock::now();
  double elapsed_s = 0;
  while (!rule.is_enough(times.host_ns, elapsed_s)) {
    if (on_cuda) events.begin();
    const Clock::time_point begin = Clock::now();
    call();
    if (on_cuda) {
      events.end();
      wait_for_devices();
    }
    const Clock::time_point end = Clock::now();
    times.host_ns.push_back(ns_between(begin, end));
    if (on_cuda) {
      if (const auto ns = events.ns()) times.device_ns.push_back(*ns);
    }
    elapsed_s = ns_between(start, end) * 1e-9;
  }
  return times;
}

double harness_ns() {
  auto nothing = [] {};
  BenchmarkOptions options;
  options.runs = 1000;
  options.min_time_s = 0;
  options.max_spread = 0;
  return latency_statistics(timed_runs(toolbox_detail::TimedCall(nothing), options, false).host_ns)
      .p50_ns;
}

double time_of_call(const std::function<void()>& call) {
  const Clock::time_point begin = Clock::now();
  call();
  wait_for_devices();
  return ns_between(begin, Clock::now());
}

void check_options(const BenchmarkOptions& options) {
  if (options.runs < 1) throw std::invalid_argument("runs must be 1 or more");
  if (options.warmup < 0) throw std::invalid_argument("warmup must be 0 or more");
  const auto is_time = [](double seconds) { return std::isfinite(seconds) && seconds >= 0; };
  if (!is_time(options.min_time_s) || !is_time(options.max_time_s)) {
    throw std::invalid_argument("min_time_s and max_time_s must be 0 or more");
  }
  if (options.max_time_s < options.min_time_s) {
    throw std::invalid_argument("max_time_s must not be less than min_time_s");
  }
  if (options.peak_flops_per_s && !(*options.peak_flops_per_s > 0)) {
    throw std::invalid_argument("peak_flops_per_s must be above 0");
  }
}

}  // namespace tbtrace::libtorch
