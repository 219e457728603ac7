// What each step's time was spent on: kernels, memcpys, communication, the host, nothing.
// Results own all their data; plain values that any number of threads may read.
// Times are whole nanoseconds since Trace::base_time_ns(). Nothing here fails: a trace without any
// information about steps gives a breakdown without steps.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <tbtrace/device.h>
#include <tbtrace/export.h>
#include <tbtrace/report.h>
#include <tbtrace/status.h>
#include <tbtrace/trace.h>

namespace TBTRACE_EXPORT tbtrace {

/// What an instant of a step counts as: the first role that applies.
/// Source: ProfileRole of torch-tb-profiler (kineto tb_plugin, profiler/event_parser.py).
enum class StepRole : std::uint8_t {
  kernel,         ///< a kernel runs on any device
  memcpy,         ///< a memcpy runs on any device
  memset,         ///< a memset runs on any device
  communication,  ///< a collective, on the host or as a kernel
  runtime,        ///< a call of the device runtime or driver
  data_loader,    ///< an operator, or in current torch an annotation, named
                  ///< `enumerate(DataLoader)#...__next__` or `enumerate(DataPipe)#...`, on a
                  ///< thread of the steps (the plugin: any thread)
  cpu_op,         ///< any other operator or annotation of the host
  other,          ///< none of these
};
inline constexpr std::size_t kStepRoles = 8;

/// `kernel`, `memcpy`, ...; the plugin shows `CPU Exec` for cpu_op.
std::string_view step_role_name(StepRole role);

/// What the host did in a step. Every instant is of one phase or of none.
enum class StepPhase : std::uint8_t {
  forward,    ///< operators on the step's thread that belong to no other phase
  backward,   ///< nodes of autograd's graph, on any thread
  optimizer,  ///< `Optimizer.step#...`, or operators with gradients off after the backward pass
  data,       ///< waiting for the data loader
};
inline constexpr std::size_t kStepPhases = 4;

/// `forward`, `backward`, `optimizer`, `data`.
std::string_view step_phase_name(StepPhase phase);

struct StepBreakdownOptions {
  /// Keeps the steps that the plugin leaves out because some of their kernels may be missing: the
  /// steps after the last one that launched device activity, and that one too if it launched less
  /// than 0.8 times as much as the one before. Steps that did not end are left out all the same.
  bool keep_tail_steps = false;
  /// If a trace has no `ProfilerStep#N`, annotations such as `Iteration 7` are the steps; if there
  /// are none either, the iterations of inference engines (docs/formats/steps.md lists the names).
  bool infer_steps = false;
  /// Only these, of which there may be none.
  std::optional<StepRange> steps = {};
};

struct StepTime {
  std::string name;         ///< `ProfilerStep#5`; `[all]` where the trace has no steps
  std::int64_t number = 0;  ///< 5; 0 where the trace has no steps
  /// The step's range on the host, widened: it starts no earlier than the previous step ends, and
  /// ends no earlier than the device activity that was launched in it. If no step launched any, it
  /// is the range on the host, unchanged.
  std::int64_t start_ns = 0;
  std::int64_t end_ns = 0;
  /// The step's range on the host, unchanged.
  std::int64_t host_start_ns = 0;
  std::int64_t host_end_ns = 0;
  std::array<std::int64_t, kStepRoles> role_ns = {};    ///< by StepRole, of the widened range
  std::array<std::int64_t, kStepPhases> phase_ns = {};  ///< by StepPhase, of the range on the host
  std::uint64_t launched = 0;  ///< kernels, memcpys and memsets whose launch lies in its host range
  /// Time during which at least one kernel ran, in the order of StepBreakdown::devices.
  std::vector<std::int64_t> busy_ns;
  /// The highest total that a memory record shows from the step's start to before its end, in the
  /// order of StepBreakdown::memory_devices; nullopt if there is no such record.
  std::vector<std::optional<std::int64_t>> peak_memory_bytes;

  /// Whether it stands for a whole trace without steps, and so has no number.
  bool is_whole_trace() const { return name == "[all]"; }
  std::int64_t duration_ns() const { return end_ns - start_ns; }
  std::int64_t ns(StepRole role) const { return role_ns[static_cast<std::size_t>(role)]; }
  std::int64_t ns(StepPhase phase) const { return phase_ns[static_cast<std::size_t>(phase)]; }
  std::int64_t host_duration_ns() const { return host_end_ns - host_start_ns; }
  /// The rest of the range on the host: no phase is known.
  std::int64_t unphased_ns() const;
  /// Share of the step during which a kernel ran, 0 to 1. `device`: an index in
  /// StepBreakdown::devices.
  double utilization(std::size_t device) const;
};

/// A device with memory, and its index, -1 if it has none.
struct StepMemoryDevice {
  DeviceType type = DeviceType::cpu;
  std::int16_t id = -1;

  bool operator==(const StepMemoryDevice&) const = default;
};

/// A step that was open when the recording or the process ended.
struct UnfinishedStep {
  std::string name;         ///< `ProfilerStep#5`
  std::int64_t number = 0;  ///< 5
  std::int64_t start_ns = 0;
  std::int64_t end_ns = 0;  ///< the last that is known of it

  std::int64_t duration_ns() const { return end_ns - start_ns; }
};

/// A sentence for people that says so.
std::string unfinished_step_text(const UnfinishedStep& step);

struct StepBreakdown {
  std::vector<StepTime> steps;  ///< by start
  /// Steps that did not end, by start. They are never among `steps`, so that no mean, median or
  /// other figure of steps has them; how long they would have been, nobody knows.
  std::vector<UnfinishedStep> unfinished_steps;
  /// Why there are no steps, or how to get them: a sentence for people. Empty if there are steps.
  std::string why_no_steps;
  std::size_t dropped_steps = 0;  ///< cut at the end: see StepBreakdownOptions::keep_tail_steps

  /// How many of the devices that ran kernels, and of those with memory records, a breakdown shows.
  static constexpr std::size_t kMostDevices = 64;

  /// Devices that ran kernels, by number (the process id of their streams), the first 64.
  std::vector<std::int64_t> devices;
  std::size_t devices_left_out = 0;
  /// By device: time during which a kernel ran, from the first step's start to the last one's end.
  std::vector<std::int64_t> busy_ns;
  /// Devices for which the allocator's total was recorded, the first 64.
  std::vector<StepMemoryDevice> memory_devices;
  std::size_t memory_devices_left_out = 0;

  /// False also where `steps` has the whole trace instead (`[all]`).
  bool has_steps() const { return !steps.empty() && !steps.front().is_whole_trace(); }

  /// Mean over the steps; 0 if there are none.
  double mean_ns(StepRole role) const;
  double mean_ns(StepPhase phase) const;
  double mean_duration_ns() const;
  double mean_host_duration_ns() const;
  double mean_unphased_ns() const;
  /// The plugin's `GPU Utilization`: busy_ns as a share of the time from the first step's start to
  /// the last one's end, 0 to 1.
  double utilization(std::size_t device) const;
};

/// Steps are `ProfilerStep#N` ranges. Without such ranges there is one step, `[all]`, from the
/// first operator's start to the last one's end, or none without operators. Pure; takes O(n log n)
/// time and O(n) memory for n events. Driver calls count as launches, kernels of every device type
/// as kernels, every c10d collective as communication, and so do kernels whose operator is a
/// collective or whose name is one of NCCL's or RCCL's. Annotations on devices are neither host
/// time nor steps. compat.h has the breakdown of torch-tb-profiler, whose definition of roles and
/// steps this is.
StepBreakdown step_breakdown(const Trace& trace, const StepBreakdownOptions& options = {});

/// What ran in chosen steps, as a trace: the host ranges that were open from the start of the first
/// step to the end of the last one, without what of them lies outside; and the device activities
/// that started in the time of these steps, which is widened as in step_breakdown(). An activity
/// whose launch is outside has no operator. The window and the clock stay those of `trace`, so that
/// times can be compared. Fails if the trace has none of the steps. Takes O(n log n) time.
Result<Trace> trace_of_steps(const Trace& trace, const StepRange& steps);

/// `step 3`, `steps 3 to 5`.
std::string steps_text(const StepRange& steps);

/// How many steps are left out at the end, and why, as a sentence; empty if none is.
std::string dropped_steps_text(const StepBreakdown& breakdown);

/// The step that took longest, with its device activities, as in the table of steps, and what took
/// longer in it than in the others. Of an inference engine, only steps of the most frequent kind
/// and number of requests are compared.
struct SlowestStep {
  std::string kind;              ///< of these: `decode`; empty: all steps are compared
  std::string name;              ///< `ProfilerStep#5`
  std::int64_t number = 0;       ///< 5
  std::int64_t duration_ns = 0;  ///< StepTime::duration_ns(), with its device activities
  std::int64_t median_ns = 0;    ///< of all steps
  /// The role whose time in the step is longest above its own median: `kernel`; empty if none is.
  std::string part;
  std::int64_t part_more_ns = 0;  ///< above the median
  /// The same of self times on the host by name, of the ranges that ran mostly in a step:
  /// `aten::copy_`; empty if that is less than half of what the step is longer than the median.
  std::string range;
  std::int64_t range_more_ns = 0;
  /// How long its host compiled or autotuned, which later steps do not do again.
  std::int64_t compilation_ns = 0;
  double mean_of_others_ns = 0;  ///< mean duration of the other steps
};

/// nullopt with fewer than three steps. Takes O(n log n) time.
std::optional<SlowestStep> slowest_step(const Trace& trace, const StepBreakdown& breakdown);

/// The steps of a breakdown of `trace` as rows of `tbtrace.steps/1`; only those of `steps`, if
/// given; fails if there are none of these. `start_ns` counts from the start of the window. A step
/// is an outlier if it is longer than the median by more than 10 % and by more than four times the
/// median deviation; of less than five steps none is.
Result<AnalysisReport> steps_report(const Trace& trace, const StepBreakdown& breakdown,
                                    const std::optional<StepRange>& steps = std::nullopt);

}  // namespace tbtrace
