// Which of several traces a summary shows in detail.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include <tbtrace/summary.h>

namespace tbtrace::analyses {

enum class DetailReason : std::uint8_t {
  died,       ///< the only one whose window was open when its process died
  straggler,  ///< its rank holds up the job
  pause,      ///< its rank held up the job once
  first,      ///< none of them is known to matter more than the others
};

struct DetailedSummary {
  std::size_t at = 0;
  DetailReason reason = DetailReason::first;
};

/// The first summary of a rank.
std::optional<std::size_t> summary_of_rank(std::span<const TraceSummary> summaries,
                                           std::int64_t rank);

/// `stragglers`: of the job whose ranks the traces are, if they were compared. There is at least
/// one summary.
DetailedSummary detailed_summary(std::span<const TraceSummary> summaries,
                                 const std::optional<StragglerResult>& stragglers);

}  // namespace tbtrace::analyses
