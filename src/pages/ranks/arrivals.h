// When ranks arrived at a collective, on one clock.
// Pure functions; results are plain values.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include <tbtrace/job_analysis.h>

namespace tbtrace::pages {

/// The clocks of all these members are known and have one reference.
bool are_aligned(const JobAnalysis& job, const MatchedCollective& one);

/// By the collective's members, since the first one; empty if it cannot be known.
std::vector<std::int64_t> arrivals_ns(const JobAnalysis& job, std::size_t number);

/// When the first collective of the job began, on the reference's clock; 0 without any.
std::int64_t first_start_ns(const JobAnalysis& job);

}  // namespace tbtrace::pages
