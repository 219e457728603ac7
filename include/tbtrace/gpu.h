// How busy each device was, with what, and why it was idle.
// Results own all their data; plain values that any number of threads may read.
// Times are whole nanoseconds. Device activities are kernels, memcpys and memsets.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <tbtrace/export.h>
#include <tbtrace/report.h>
#include <tbtrace/status.h>
#include <tbtrace/trace.h>

namespace TBTRACE_EXPORT tbtrace {

struct GpuOptions {
  bool by_stream = false;  ///< a row per stream instead of per device
  /// A row per device and step, in the times of the table of steps; not with `by_stream`. Without
  /// steps there are no rows.
  bool by_step = false;
  /// The window is the time of these steps, from the start of the first to the end of the last,
  /// both widened as in step_breakdown(). Without it: from the first start of an activity on the
  /// device to the last end.
  std::optional<StepRange> steps = {};
  /// Gaps shorter than this, before activities that were launched in time, are the device's own
  /// delay between two activities. HolisticTraceAnalysis uses the same 30 us.
  std::int64_t kernel_wait_limit_ns = 30'000;
};

/// Why a device was idle. Each nanosecond in which it runs nothing has one cause; docs/findings.md
/// has the rules.
enum class IdleCause : std::uint8_t {
  data,        ///< the host waited for its data loader
  cold_start,  ///< the host did what happens once: it loaded code, or called for the first time
  profiler,    ///< the profiler worked
  garbage_collection,  ///< Python collected garbage
  compiler,            ///< torch.compile checked guards, compiled, or tried configurations
  host_communication,  ///< the host waited for another process: gloo, MPI, a barrier, a store
  allocation,          ///< the host allocated or freed memory of the device
  copies,              ///< the host waited for a copy, and was late afterwards
  synchronization,     ///< the host waited for the device, and was late afterwards
  launches,            ///< the host ran operators or launched, too slowly
  code,                ///< the host ran Python functions, or ranges that the program named
  other_device,        ///< another device of the process worked
  device,            ///< launched in time: another stream, another rank, or the device's own delay
  unrecorded_work,   ///< the host waited for device activity that is not in the file
  nothing_recorded,  ///< nothing was recorded on the host
  unknown,           ///< the launch is unknown
};
inline constexpr std::size_t kIdleCauses = 16;

/// `data`, `cold_start`, ...
std::string_view idle_cause_name(IdleCause cause);
/// For people, after "idle": `while the host waited for its data loader`.
std::string_view idle_cause_text(IdleCause cause);
/// The same in one or two words: `data loader`.
std::string_view idle_cause_label(IdleCause cause);

/// A gap, and the part of it that has one cause. Times count from the start of the trace's window.
struct IdleGap {
  IdleCause cause = IdleCause::unknown;
  std::int64_t ns = 0;        ///< the part
  std::int64_t start_ns = 0;  ///< where it begins
  std::int64_t gap_start_ns = 0;
  std::int64_t gap_end_ns = 0;
  EventId ended_by = EventId::none;  ///< the activity that ended the gap
  std::string call;                  ///< the range of the host with most of the part; may be empty
  std::int64_t call_ns = 0;          ///< how much of the part it has
  std::string host;  ///< after a wait: the range that the host was in for most of the part
  std::int64_t host_ns = 0;
  std::string op;    ///< the operator around it; may be empty
  std::string line;  ///< the Python function around it, `train.py(46): forward`; may be empty
};

/// The idle time of a device that has one cause.
struct IdlePart {
  IdleCause cause = IdleCause::unknown;
  std::int64_t ns = 0;
  std::uint64_t gaps = 0;  ///< that have a part of it
  /// Calls or ranges of the host that are the cause; of copies, the copies. 0 for causes that are
  /// no calls: from IdleCause::launches on.
  std::uint64_t calls = 0;

  /// Of launches: the time in operators that compute on the CPU, for 100 us or more.
  std::int64_t cpu_operators_ns = 0;
  std::int64_t short_gaps_ns = 0;  ///< the part of `ns` in gaps that are shorter than 200 us
  /// Of launches: the time in views and empty tensors (aten::slice, aten::empty) that take 100 us
  /// or more, though they compute nothing.
  std::int64_t long_views_ns = 0;
  /// Of allocations: the time in calls outside of any operator.
  std::int64_t outside_operators_ns = 0;
  IdleGap largest;  ///< the gap with the largest part

  /// A range of the host, by name.
  struct Range {
    std::string name;
    std::int64_t ns = 0;
  };
  std::vector<Range> ranges;  ///< in which the host was, the three with most of the time
};

/// A device, or a stream of it.
/// computation + exposed communication + exposed memory = busy; busy + idle = window; the three
/// kinds of idle time add up to it.
struct GpuUse {
  std::int64_t device = 0;  ///< its number, the process id of its streams
  std::string stream;       ///< the thread id of its row in the file; empty for a whole device
  std::optional<std::int64_t> step = {};  ///< the step's number, of rows by step
  std::int64_t window_ns = 0;
  std::int64_t busy_ns = 0;                   ///< at least one activity ran
  std::int64_t computation_ns = 0;            ///< at least one kernel ran that does not communicate
  std::int64_t communication_ns = 0;          ///< at least one communication kernel ran
  std::int64_t memory_ns = 0;                 ///< at least one memcpy or memset ran
  std::int64_t overlap_ns = 0;                ///< computation and communication at once
  std::int64_t exposed_communication_ns = 0;  ///< communication without computation
  std::int64_t exposed_memory_ns = 0;         ///< memory without computation and communication
  std::int64_t idle_ns = 0;
  /// Why it was idle, the largest part first; they add up to `idle_ns`. None for a stream: what
  /// leaves one idle is mostly another.
  std::vector<IdlePart> idle_causes;
  /// The five longest gaps that an activity ended, the longest first, each with the cause of most
  /// of it. None for a stream.
  std::vector<IdleGap> longest_gaps;

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
  /// The part of the idle time with a cause; one without time if there is none.
  IdlePart idle(IdleCause cause) const;
};

/// One row per device, by number, per stream, by device and first start, or per step of each
/// device; empty without device
/// activities. Fails if `steps` names no step of the trace. Takes O(n log n) time and O(n) memory.
/// Needs ArgumentGroup::copies for `copied_bytes`.
Result<std::vector<GpuUse>> gpu_use(const Trace& trace, const GpuOptions& options = {});

/// The same as rows of `tbtrace.gpu/1`. compat.h has those of torch-tb-profiler.
Result<AnalysisReport> gpu_report(const Trace& trace, const GpuOptions& options = {});

}  // namespace tbtrace
