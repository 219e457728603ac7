// Where a thread stands still while another one works for it: autograd's threads.
// Results are plain values. Pure function.
#pragma once

#include <cstdint>
#include <vector>

#include <tbtrace/trace.h>

#include "analyses/path/busy_threads.h"

namespace tbtrace::analyses {

inline constexpr std::int64_t kNeverResumes = INT64_MAX;

/// A thread stops at `stops` and goes on at `resumes`; the other one works from `begins` to `ends`,
/// which lie between the two.
struct HandOver {
  TrackId from = {};
  TrackId to = {};
  std::int64_t stops = 0;
  std::int64_t begins = 0;
  std::int64_t ends = 0;
  std::int64_t resumes = 0;  ///< or kNeverResumes: it does nothing afterwards
};

/// The backward passes that autograd runs on threads of its own, by their start: all that such a
/// thread does lies in a time in which the thread of the steps runs no operator and no call of the
/// runtime.
std::vector<HandOver> find_hand_overs(const BusyThreads& threads);

}  // namespace tbtrace::analyses
