// How busy each device was, with what, and why it was idle.
// Results own all their data; plain values that any number of threads may read.
// Times are whole nanoseconds. Device activities are kernels, memcpys and memsets.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <tbtrace/export.h>
#include <tbtrace/report.h>
#include <tbtrace/status.h>
#include <tbtrace/trace.h>

namespace TBTRACE_EXPORT tbtrace {

struct GpuOptions {
  bool by_stream = false;  ///< a row per stream instead of per device
  /// The window is the time of these steps, from the start of the first to the end of the last,
  /// both widened as in step_breakdown(). Without it: from the first start of an activity on the
  /// device to the last end.
  std::optional<StepRange> steps = {};
  /// Gaps shorter than this, before activities that were launched in time, are the device's own
  /// delay between two activities. HolisticTraceAnalysis uses the same 30 us.
  std::int64_t kernel_wait_limit_ns = 30'000;
};

/// A device, or a stream of it.
/// computation + exposed communication + exposed memory = busy; busy + idle = window; the three
/// kinds of idle time add up to it.
struct GpuUse {
  std::int64_t device = 0;  ///< its number, the process id of its streams
  std::string stream;       ///< the thread id of its row in the file; empty for a whole device
  std::int64_t window_ns = 0;
  std::int64_t busy_ns = 0;                   ///< at least one activity ran
  std::int64_t computation_ns = 0;            ///< at least one kernel ran that does not communicate
  std::int64_t communication_ns = 0;          ///< at least one communication kernel ran
  std::int64_t memory_ns = 0;                 ///< at least one memcpy or memset ran
  std::int64_t overlap_ns = 0;                ///< computation and communication at once
  std::int64_t exposed_communication_ns = 0;  ///< communication without computation
  std::int64_t exposed_memory_ns = 0;         ///< memory without computation and communication
  std::int64_t idle_ns = 0;

  // Idle time by the activity that ended it; of several with the same start, by the one that was
  // launched first.
  std::int64_t idle_host_wait_ns = 0;    ///< launched when the gap had already begun
  std::int64_t idle_kernel_wait_ns = 0;  ///< launched before, and the gap was short
  std::int64_t idle_other_ns = 0;        ///< longer gaps, unknown launches, the window's edges

  /// Activities that were launched and had not started: the mean over the window, and the most at
  /// once. Only activities whose launch is known.
  double queue_length_mean = 0;
  std::uint64_t queue_length_max = 0;

  std::uint64_t activities = 0;
  std::uint64_t launches = 0;  ///< calls that launched them; a CUDA graph's call launches many
  /// Kernels that were the only activity of their launch call and took less time than the call.
  std::uint64_t short_kernels = 0;

  std::int64_t copied_bytes = 0;  ///< by memcpys and memsets whose size is known
  std::int64_t copy_ns = 0;       ///< the sum of the durations of these

  /// Share of the window in which the device was busy, 0 to 1.
  double busy_share() const;
};

/// One row per device, by number, or per stream, by device and first start; empty without device
/// activities. Fails if `steps` names no step of the trace. Takes O(n log n) time and O(n) memory.
/// Needs ArgumentGroup::copies for `copied_bytes`.
Result<std::vector<GpuUse>> gpu_use(const Trace& trace, const GpuOptions& options = {});

/// The same as rows of `tbtrace.gpu/1`. compat.h has those of torch-tb-profiler.
Result<AnalysisReport> gpu_report(const Trace& trace, const GpuOptions& options = {});

}  // namespace tbtrace
