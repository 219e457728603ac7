// What the page shows of a job of many ranks: who is slow, who waits for whom, collectives, clocks,
// and steps of several ranks beside each other. docs/formats/ranks.md describes the document.
// Immutable; results own all their data.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <tbtrace/export.h>
#include <tbtrace/job_analysis.h>
#include <tbtrace/views.h>

namespace TBTRACE_EXPORT tbtrace {

/// `ranks`, which is a view of a job and not one of views().
const ViewDescription& ranks_view();

/// How much of a job the document has at most. What is left out is counted in it.
struct RanksLimits {
  std::size_t rows = 20'000;         ///< of each table
  std::size_t cells = 60'000;        ///< of the heat map: ranks times steps
  std::size_t matrix_ranks = 64;     ///< that are shown as waiting for each other
  std::size_t collectives = 50;      ///< shown one by one: those that cost most
  std::size_t members = 64;          ///< of each of these
  std::size_t timeline_ranks = 64;   ///< whose steps are drawn beside each other
  std::size_t timeline_parts = 400;  ///< collectives of each of these in a step: the longest
  std::size_t matches = 8'000;       ///< members of collectives that timelines mark together
  std::size_t characters = 500;      ///< of each text

  bool operator==(const RanksLimits&) const = default;
};

/// Half of them, as far as they are not at the least.
RanksLimits fewer(const RanksLimits& limits);

/// What people should know of the inputs: job_remarks() and the like.
using JobRemarks = std::vector<std::string>;

/// A job as the document shows it. Takes O(n log n) time for n parts of collectives.
class RanksView {
 public:
  explicit RanksView(JobAnalysis job, JobRemarks remarks = {});
  RanksView(RanksView&&) noexcept;
  RanksView& operator=(RanksView&&) noexcept;
  ~RanksView();

  /// `tbtrace.ranks/1`
  std::string document(const RanksLimits& limits = {}) const;

  /// The ranks in the order in which they are worth looking at: those that hold up the job, a usual
  /// one, then those that need most time themselves.
  const std::vector<std::int64_t>& ranks_by_interest() const;

 private:
  struct Contents;
  std::unique_ptr<Contents> contents_;
};

}  // namespace tbtrace
