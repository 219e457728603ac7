// How the clocks of a job's ranks differ, from collectives that end on all ranks at the same time.
// Plain values; pure functions that any number of threads may call. Times are whole nanoseconds of
// a rank's own clock; nothing is corrected in a trace or in figures of one rank.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include <tbtrace/collectives.h>
#include <tbtrace/export.h>

namespace TBTRACE_EXPORT tbtrace {

/// A rank's clock against that of its reference: what it shows is what the reference shows at the
/// same instant, plus offset and drift. The first rank of a set of ranks that collectives connect
/// is the reference of all of them.
struct RankClock {
  std::int64_t rank = 0;
  std::int64_t reference = 0;     ///< a rank; the rank itself: its clock is the measure, or unknown
  bool is_known = false;          ///< of a reference: another rank is compared with it
  std::uint64_t collectives = 0;  ///< that were compared; on the way to the reference the fewest
  std::int64_t middle_ns = 0;     ///< on the rank's own clock: when the offset was as below
  double offset_ns = 0;           ///< positive: ahead of the reference
  double drift_ppm = 0;           ///< positive: faster than the reference
  /// Half of the 95 % interval of the offset at the middle: what chance leaves open, and one
  /// standard deviation of the ends' scatter, since the ends of one rank may be late each time.
  double error_ns = 0;
  /// Half of the 95 % interval of the drift; likewise wider by the scatter over the recording.
  double drift_error_ppm = 0;

  /// The time of the reference at a time of the rank; its own time if it is the reference or
  /// unknown.
  std::int64_t aligned_ns(std::int64_t own_ns) const;
  /// Half of the 95 % interval of aligned_ns().
  double error_at_ns(std::int64_t own_ns) const;
};

/// By JobCollectives::ranks. Removes matches that were made by order alone if the times show that
/// they cannot be: the ranks did not run them at the same time. Needs five collectives that end
/// together on two ranks, or five messages in each direction between them; with fewer a clock is
/// unknown. Takes O(n log n) time for n parts of
/// collectives.
std::vector<RankClock> align_clocks(JobCollectives& job);

/// Half of the 95 % interval of the difference of two ranks' aligned times; nullopt if nothing
/// connects their clocks.
std::optional<double> clock_error_ns(const RankClock& one, std::int64_t one_ns,
                                     const RankClock& other, std::int64_t other_ns);

}  // namespace tbtrace
