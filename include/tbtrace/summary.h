// The first page about a trace, or about the traces of a job: what ran, what the time went to, and
// what to do about it. Results own their texts; plain values.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <tbtrace/analysis_context.h>
#include <tbtrace/checks.h>
#include <tbtrace/export.h>
#include <tbtrace/findings.h>
#include <tbtrace/gpu.h>
#include <tbtrace/kernels.h>
#include <tbtrace/memory.h>
#include <tbtrace/modules.h>
#include <tbtrace/operators.h>
#include <tbtrace/recovered.h>
#include <tbtrace/report.h>
#include <tbtrace/serving.h>
#include <tbtrace/steps.h>
#include <tbtrace/stragglers.h>
#include <tbtrace/trace.h>

namespace TBTRACE_EXPORT tbtrace {

/// What was recorded, as far as the file says.
struct RecordedRun {
  std::string input;  ///< how the caller names the trace; may be empty
  TraceIdentity identity;
  std::vector<DeviceProperties>
      devices;                       ///< those with activities; all that are listed without any
  std::vector<std::string> options;  ///< `record_shapes`, `profile_memory`, ... that were on
  /// Whether the data came, and what they are good for.
  std::array<RecordedOptionState, kRecordedOptions> recorded;
  std::optional<DeviceType>
      device_type;  ///< of what ran the activities, as far as the file says it
  std::int64_t window_ns = 0;
  std::uint64_t ranges = 0;
  std::uint64_t device_activities = 0;
  std::optional<StepRange> steps;  ///< that were chosen: all other figures are of them
};

/// An operator with what it and no operator inside it spent; exact figures.
struct OperatorShare {
  std::string name;
  std::uint64_t count = 0;
  std::int64_t self_cpu_time_total_ns = 0;
  std::int64_t self_device_time_total_ns = 0;
};

/// What most of the time of a kernel came from: one operator with its inputs, called in one place.
struct KernelOrigin {
  std::string op;            ///< empty: none is known
  std::string input_shapes;  ///< as recorded, `[[32, 64], [64, 10]]`; empty if not
  std::string line;    ///< of the user's own code, `train.py(46): forward`; empty without stacks
  std::string module;  ///< a path, with `*` for repeated layers; empty without modules
  std::uint64_t count = 0;    ///< kernels of it
  std::int64_t total_ns = 0;  ///< of these
};

/// The most that a device had allocated, and the sources of the largest part of it.
struct DevicePeak {
  std::string device;  ///< `cpu`, `cuda:0`
  std::int64_t peak_bytes = 0;
  std::optional<std::int64_t> peak_reserved_bytes;
  std::optional<std::int64_t> growth_per_step_bytes;
  std::vector<MemoryHolder> alive;
};

/// A module, or repeated layers of one (`net.layers.*.fc1`).
struct ModuleShare : ModuleCost {
  std::string path;
  std::uint64_t modules = 1;
  std::optional<std::uint64_t> calls;
};

struct TraceSummary {
  /// Made from a partial, which has the sums of all its traces, not the page of each. Known are
  /// `input`, `identity` and `window_ns` of `run`, the names and durations of steps, `gpus`, the
  /// peaks of `memory`, `checks`, findings about the job, and `source`.
  bool is_of_partial = false;
  RecordedRun run;
  std::optional<RecoveredRecording> recovered;  ///< of a trace recovered from a journal
  StepBreakdown steps;
  std::optional<SlowestStep> slowest_step;
  std::vector<ServingPhase> phases;         ///< of an inference engine, by kind
  std::vector<OperatorShare> operators;     ///< by device time, if there is any, else by CPU time
  std::int64_t self_cpu_time_total_ns = 0;  ///< of all operators
  std::int64_t self_device_time_total_ns = 0;  ///< of the whole trace
  std::int64_t unowned_device_time_ns = 0;     ///< the part that no operator launched
  KernelSummary kernels;
  std::vector<KernelOrigin> kernel_origins;  ///< of each of kernels.groups
  std::vector<ModuleShare> modules;          ///< by their own time, on the device, if there is any
  ModuleCost all_modules;                    ///< of the whole trace
  std::vector<GpuUse> gpus;
  std::vector<DevicePeak> memory;
  std::string unknown_memory;  ///< unknown_memory_text()
  /// Errors and warnings of trace_checks(), errors first: what the figures above cannot be trusted
  /// in. Of a partial, which has no `recovered`, also that a trace was recovered from a journal.
  std::vector<CheckFinding> checks;
  std::vector<Finding> findings;
  std::vector<std::string> looked_for;  ///< what findings() looked for, `exposed communication`
  SourceReport source;
};

struct TraceSummaryOptions {
  std::size_t operators = 5;  ///< how many of the largest
  std::size_t kernels = 5;
  std::size_t modules = 5;
  std::size_t memory_holders = 3;
  /// Number of threads, on which no result depends; 0: one per core.
  int threads = 0;
};

/// The arguments that trace_summary() reads.
inline constexpr ArgumentSet kSummaryArguments =
    ArgumentSet{ArgumentGroup::autograd,    ArgumentGroup::copies, ArgumentGroup::modules,
                ArgumentGroup::allocations, ArgumentGroup::graphs, ArgumentGroup::synchronization} |
    ArgumentSet{Argument::input_types} | kRecordedOptionArguments;

/// Takes O(n log n) time.
TraceSummary trace_summary(const Trace& trace, const std::string& input = {},
                           const TraceSummaryOptions& options = {});

/// The same of chosen steps, as trace_of_steps() and the `steps` of the tables choose them. Fails
/// if the trace has none of them.
Result<TraceSummary> summary_of_steps(const Trace& trace, const StepRange& steps,
                                      const std::string& input = {},
                                      const TraceSummaryOptions& options = {});

/// Adds the stragglers of the job as findings (`straggler`) to the summaries of their ranks.
void add_straggler_findings(std::vector<TraceSummary>& summaries, const StragglerResult& result);

struct SummaryTextOptions {
  /// Characters of a line, which tables are cut to. 0: no limit.
  std::size_t width = 0;
  /// Follows the number of columns that are left out for that.
  std::string how_to_show_all_columns = {};
  /// Of the job whose ranks the traces are, if they were compared.
  std::optional<StragglerResult> stragglers = {};
};

/// One or several traces as the first page for people: of several a line each, their findings, and
/// the page of one: the only one whose window was open when its process died, else of the rank that
/// holds up the job, else the first. Empty without traces.
std::string summary_text(const std::vector<TraceSummary>& summaries,
                         const SummaryTextOptions& options = {});

/// The same as one JSON object, `tbtrace.summary/1`. `stragglers`: of the job whose ranks the
/// traces are, if they were compared.
std::string summary_json(const std::vector<TraceSummary>& summaries,
                         const std::optional<StragglerResult>& stragglers = {});

/// The same as rows with the columns `part`, `trace`, `rank`, `name`, `quantity` and `value`, one
/// per figure, for table_csv() and table_markdown(). docs/formats/summary.md describes them.
Table summary_table(const std::vector<TraceSummary>& summaries,
                    const std::optional<StragglerResult>& stragglers = {});

}  // namespace tbtrace
