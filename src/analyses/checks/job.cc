// Checks of several traces together. All findings are warnings.
#include <algorithm>
#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <tbtrace/checks.h>

#include "base/bounded_sum.h"

namespace tbtrace {
namespace {

using Ranks = std::map<std::int64_t, std::vector<const CheckedTrace*>>;

bool overlap(const CheckedTrace& a, const CheckedTrace& b) {
  return a.start_ns < b.end_ns && b.start_ns < a.end_ns;
}

/// A rank may have several recordings, but they follow each other in one process.
bool contradict(const CheckedTrace& a, const CheckedTrace& b) {
  const bool one_process =
      a.identity.host == b.identity.host && a.identity.process == b.identity.process;
  return !one_process || overlap(a, b);
}

void find_repeated_ranks(const Ranks& ranks, std::vector<CheckFinding>& findings) {
  CheckFinding finding{
      .id = "repeated_ranks",
      .severity = CheckSeverity::warning,
      .cause = "traces of one rank come from different processes or overlap in time",
      .remedy = "give each rank's trace once, and check how ranks are set up"};
  for (const auto& entry : ranks) {
    const std::vector<const CheckedTrace*>& traces = entry.second;
    for (std::size_t second = 1; second < traces.size(); ++second) {
      const auto earlier = traces.begin() + static_cast<std::ptrdiff_t>(second);
      const bool bad = std::any_of(traces.begin(), earlier, [&](const CheckedTrace* first) {
        return contradict(*first, *traces[second]);
      });
      if (!bad) continue;
      if (finding.count++ == 0) {
        finding.example = "rank " + std::to_string(entry.first) + ": " + traces[second]->input;
      }
    }
  }
  if (finding.count > 0) findings.push_back(std::move(finding));
}

void find_missing_ranks(const Ranks& ranks, std::int64_t world_size,
                        std::vector<CheckFinding>& findings) {
  CheckFinding finding{.id = "missing_ranks",
                       .severity = CheckSeverity::warning,
                       .cause = "the job has ranks without a trace",
                       .remedy = "add their traces, or do not compare ranks"};
  std::int64_t present = 0;
  std::optional<std::int64_t> first;
  std::int64_t expected = 0;
  for (const auto& [rank, traces] : ranks) {
    if (rank < 0 || rank >= world_size) continue;
    ++present;
    if (rank != expected && !first) first = expected;
    if (rank == expected) ++expected;
  }
  if (present >= world_size) return;
  finding.count = static_cast<std::uint64_t>(world_size - present);
  finding.example = "rank " + std::to_string(first.value_or(expected));
  findings.push_back(std::move(finding));
}

}  // namespace

CheckedTrace checked_trace(const std::string& input, const Trace& trace) {
  return {.input = input,
          .identity = trace.identity(),
          .start_ns = bounded_sum(trace.base_time_ns(), trace.window_start_ns()),
          .end_ns = bounded_sum(trace.base_time_ns(), trace.window_end_ns())};
}

std::vector<CheckFinding> job_checks(std::span<const CheckedTrace> traces) {
  std::vector<CheckFinding> findings;
  if (traces.size() < 2) return findings;
  Ranks ranks;
  std::set<std::int64_t> sizes;
  for (const CheckedTrace& trace : traces) {
    if (trace.identity.rank) ranks[*trace.identity.rank].push_back(&trace);
    if (trace.identity.world_size) sizes.insert(*trace.identity.world_size);
  }
  find_repeated_ranks(ranks, findings);
  if (sizes.size() > 1) {
    findings.push_back(
        {.id = "different_world_sizes",
         .severity = CheckSeverity::warning,
         .count = sizes.size(),
         .example = std::to_string(*sizes.begin()) + " and " + std::to_string(*sizes.rbegin()),
         .cause = "the traces have different world sizes",
         .remedy = "give the traces of one job"});
  }
  if (sizes.size() == 1) find_missing_ranks(ranks, *sizes.begin(), findings);
  return findings;
}

}  // namespace tbtrace
