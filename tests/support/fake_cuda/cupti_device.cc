#include "support/fake_cuda/cupti_device.h"

#include <algorithm>
#include <ctime>
#include <thread>

namespace tbtrace::fake_cuda {

std::uint64_t Clock::now() const {
  if (const Function function = function_) return function();
  std::timespec time = {};
  ::clock_gettime(CLOCK_REALTIME, &time);
  return static_cast<std::uint64_t>(time.tv_sec) * 1'000'000'000U +
         static_cast<std::uint64_t>(time.tv_nsec);
}

std::uint64_t Clock::done_until() const { return std::max(now(), finished_.load()); }

void Clock::finish_until(std::uint64_t end) {
  std::uint64_t known = finished_;
  while (known < end && !finished_.compare_exchange_weak(known, end)) {
  }
}

void Clock::set_function(Function function) {
  function_ = function;
  finished_ = 0;
}

void Clock::reset() {
  function_ = nullptr;
  finished_ = 0;
}

Timeline::Work Timeline::schedule(const Stream& stream, const Span& span, std::uint64_t now) {
  const std::lock_guard lock(mutex_);
  End& end = ends_[{stream.device, stream.stream}];
  const std::uint64_t start = std::max(end.ns, now + span.latency_ns);
  end.ns = start + span.duration_ns;
  end.steady = std::chrono::steady_clock::now() + std::chrono::nanoseconds(end.ns - now);
  return {start, end.ns};
}

std::uint64_t Timeline::end_of(const Stream& stream) {
  const std::lock_guard lock(mutex_);
  return ends_[{stream.device, stream.stream}].ns;
}

void Timeline::set_end(const Stream& stream, std::uint64_t end, std::uint64_t now) {
  const std::chrono::nanoseconds rest(end > now ? end - now : 0);
  const std::lock_guard lock(mutex_);
  ends_[{stream.device, stream.stream}] = {end, std::chrono::steady_clock::now() + rest};
}

void Timeline::clock_changed(std::uint64_t from, std::uint64_t to) {
  const std::lock_guard lock(mutex_);
  for (auto& [stream, end] : ends_) end.ns = to + (end.ns > from ? end.ns - from : 0);
}

void Timeline::wait(const Stream& stream) {
  End end;
  {
    const std::lock_guard lock(mutex_);
    end = ends_[{stream.device, stream.stream}];
  }
  wait_until(end);
}

void Timeline::wait_for_device(int device) {
  End latest;
  {
    const std::lock_guard lock(mutex_);
    for (const auto& [stream, end] : ends_) {
      if (device >= 0 && stream.first != static_cast<std::uint32_t>(device)) continue;
      latest.ns = std::max(latest.ns, end.ns);
      latest.steady = std::max(latest.steady, end.steady);
    }
  }
  wait_until(latest);
}

void Timeline::wait_until(const End& end) {
  if (!skip_) std::this_thread::sleep_until(end.steady);
  clock_.finish_until(end.ns);
}

void Timeline::reset() {
  skip_ = false;
  const std::lock_guard lock(mutex_);
  ends_.clear();
}

}  // namespace tbtrace::fake_cuda
