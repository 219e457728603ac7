#include "analyses/gpu/queue_length.h"

#include <algorithm>
#include <cstddef>

namespace tbtrace::analyses {

void QueueLength::add(TimeRange wait) {
  const std::int64_t start = std::max(wait.start, window_.start);
  const std::int64_t end = std::min(wait.end, window_.end);
  if (start >= end) return;
  launches_.push_back(start);
  starts_.push_back(end);
}

double QueueLength::mean() const {
  if (window_.end <= window_.start) return 0;
  long double waited = 0;
  for (std::size_t row = 0; row < launches_.size(); ++row) {
    waited += static_cast<long double>(starts_[row] - launches_[row]);
  }
  return static_cast<double>(waited / static_cast<long double>(window_.end - window_.start));
}

std::uint64_t QueueLength::max() const {
  std::vector<std::int64_t> launches = launches_;
  std::vector<std::int64_t> starts = starts_;
  std::sort(launches.begin(), launches.end());
  std::sort(starts.begin(), starts.end());
  std::uint64_t most = 0;
  std::size_t started = 0;
  for (std::size_t launched = 0; launched < launches.size(); ++launched) {
    while (starts[started] <= launches[launched]) ++started;
    most = std::max(most, static_cast<std::uint64_t>(launched + 1 - started));
  }
  return most;
}

}  // namespace tbtrace::analyses
