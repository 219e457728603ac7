// One timeline of the ranks of a job, for Perfetto, chrome://tracing and other readers of Chrome
// traces. docs/formats/merged_trace.md describes the file and how to take it apart again.
// Each file is read once and in pieces: memory does not grow with their size.
// Blocks until the file is there. Any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <tbtrace/export.h>
#include <tbtrace/jobs.h>
#include <tbtrace/report.h>
#include <tbtrace/status.h>
#include <tbtrace/trace.h>

namespace TBTRACE_EXPORT tbtrace {

/// The member at the top of a merged timeline that keeps the members of its parts.
inline constexpr const char* kMergedMetadata = "mergedMetadata";

/// What to add to the times of a recording to get those of the job:
/// offset_ns + drift_ppm * (time - at_ns) / 10^6.
struct ClockCorrection {
  std::int64_t offset_ns = 0;
  double drift_ppm = 0;
  std::int64_t error_ns = 0;  ///< how far off corrected times may be
  std::int64_t at_ns = 0;     ///< in ns since 1970, as recorded: where the offset is offset_ns
};

/// A recording to merge.
struct MergePart {
  JobFile file;
  /// Nothing: times stay as the clock of the rank's host gave them.
  std::optional<ClockCorrection> clock = {};
};

enum class MergeKeep : std::uint8_t {
  all,
  gpu,  ///< activities of devices, without the flow events that lead to them
  cpu,  ///< everything else
};

struct MergeOptions {
  MergeKeep keep = MergeKeep::all;
  /// Only what runs during these steps (`ProfilerStep#N`) of each rank, and the device activities
  /// launched then. Each file is read twice for it.
  std::optional<StepRange> steps = {};
  bool overwrite = false;
  /// Treats any issue of an input as a failure.
  bool strict = false;
  int threads = 0;  ///< 0: one per core
  /// Called now and then with the bytes of input read so far and their total, 0 if unknown. If it
  /// returns false, merging ends with StatusCode::cancelled.
  std::function<bool(std::uint64_t done, std::uint64_t total)> on_progress = {};
};

/// What became of a part.
struct MergedPart {
  std::string path;
  std::optional<std::int64_t> rank;
  /// Its number in the merged file: the rank, if all parts have one and none is there twice, else
  /// its place among the parts.
  std::int64_t number = 0;
  Status failure;  ///< why nothing of it could be merged
  std::uint64_t events = 0;
  std::uint64_t left_out = 0;  ///< events that were not asked for
  std::vector<Issue> issues;
  bool has_wall_clock = true;  ///< its times count from 1970, so they can be compared with others
};

struct MergeReport {
  std::vector<MergedPart> parts;
  bool are_clocks_aligned = false;  ///< all parts had a ClockCorrection
};

/// Writes the parts into one file, one after the other; `-` is standard output. A name that ends in
/// `.gz` gives a gzip file. A part that cannot be read is left out (MergedPart::failure); if none
/// can be read, that is the failure.
Result<MergeReport> merge_traces(const std::vector<MergePart>& parts, const std::string& output,
                                 const MergeOptions& options = {});

}  // namespace tbtrace
