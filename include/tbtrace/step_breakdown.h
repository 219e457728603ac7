// What the time of each step went to: kernels, copies, communication, the host, nothing.
// Results own all they hold; plain values that any number of threads may read.
// Times are whole nanoseconds since Trace::base_time_ns(). Nothing here fails: a trace in which
// nothing is known of steps gives a breakdown without any.
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
#include <tbtrace/trace.h>

namespace TBTRACE_EXPORT tbtrace {

/// What an instant of a step counts as, the first that applies.
/// Source: ProfileRole of torch-tb-profiler (kineto tb_plugin, profiler/event_parser.py).
enum class StepRole : std::uint8_t {
  kernel,         ///< a kernel runs on any device
  memcpy,         ///< a device copies
  memset,         ///< a device fills
  communication,  ///< a collective, on the host or as a kernel
  runtime,        ///< a call of a device's runtime or driver
  data_loader,    ///< an operator, or as torch writes it today an annotation, that is named
                  ///< `enumerate(DataLoader)#...__next__` or `enumerate(DataPipe)#...`
  cpu_op,         ///< any other operator or annotation of the host
  other,          ///< nothing of these
};
inline constexpr std::size_t kStepRoles = 8;

/// `kernel`, `memcpy`, ...; the plugin shows `CPU Exec` for cpu_op.
std::string_view step_role_name(StepRole role);

/// Whose figures to compute. Both are integers and cut steps alike.
enum class StepFigures : std::uint8_t {
  /// Parts add up to the step. Driver calls are launches, kernels of every device type are
  /// kernels, every collective of c10d is communication, and so are kernels whose operator is one
  /// or that NCCL or RCCL named; annotations on devices are neither host time
  /// nor steps.
  exact,
  /// What torch-tb-profiler shows: its times, which are rounded to doubles, its lists of
  /// categories and names, and its flaw: where a role leaves no instant of the steps free, the
  /// later roles are counted as if nothing had been taken, so parts can add up to more.
  plugin,
};

struct StepBreakdownOptions {
  StepFigures figures = StepFigures::exact;
  /// The plugin leaves out the steps after the last one that launched device work, and that
  /// one too if it launched less than 0.8 times as much as the one before: their kernels may be
  /// missing. Says to keep them.
  bool keep_tail_steps = false;
  /// Where a trace has no `ProfilerStep#N`, annotations such as `Iteration 7` are the steps.
  bool infer_steps = false;
};

/// One step.
struct StepTime {
  std::string name;         ///< `ProfilerStep#5`; `[all]` where the trace has no steps
  std::int64_t number = 0;  ///< 5
  /// The step's range on the host, widened: it starts no earlier than the one before ends, and ends
  /// no earlier than the device work that was launched in it. Where no step launched any, the
  /// range on the host, as it is.
  std::int64_t start_ns = 0;
  std::int64_t end_ns = 0;
  std::array<std::int64_t, kStepRoles> role_ns = {};  ///< by StepRole
  std::uint64_t launched = 0;  ///< kernels, memcpys and memsets whose launch lies in its host range
  /// Time in which at least one kernel ran, by StepBreakdown::devices.
  std::vector<std::int64_t> busy_ns;
  /// The most that was allocated at any record of memory from its start to before its end, by
  /// StepBreakdown::memory_devices; nothing where there is no such record.
  std::vector<std::optional<std::int64_t>> peak_memory_bytes;

  std::int64_t length_ns() const { return end_ns - start_ns; }
  std::int64_t ns(StepRole role) const { return role_ns[static_cast<std::size_t>(role)]; }
  /// Share of the step in which a kernel ran, 0 to 1. `device`: a place in StepBreakdown::devices.
  double utilization(std::size_t device) const;
};

/// Where memory is: c10::DeviceType's number, and the device's own, -1 if it has none.
struct StepMemoryDevice {
  std::int16_t type = 0;
  std::int16_t id = -1;

  bool operator==(const StepMemoryDevice&) const = default;
};

struct StepBreakdown {
  std::vector<StepTime> steps;    ///< by start
  std::size_t dropped_steps = 0;  ///< at the end, see StepBreakdownOptions::keep_tail_steps

  /// Devices that a breakdown shows of those that ran kernels, and of those with memory.
  static constexpr std::size_t kMostDevices = 64;

  /// Devices that ran kernels, by number (the process that their streams belong to), the first 64.
  std::vector<std::int64_t> devices;
  std::size_t devices_left_out = 0;
  /// By device: time in which a kernel ran from the first step's start to the last one's end.
  std::vector<std::int64_t> busy_ns;
  /// Devices with records of the allocator's total, the first 64.
  std::vector<StepMemoryDevice> memory_devices;
  std::size_t memory_devices_left_out = 0;

  /// Means over the steps; 0 without any.
  double mean_ns(StepRole role) const;
  double mean_length_ns() const;
  /// The plugin's `GPU Utilization`: busy_ns as a share of the time from the first step's start to
  /// the last one's end, 0 to 1.
  double utilization(std::size_t device) const;

  /// A row a step, then `[average]`: times in ns, utilizations 0 to 1, and the highest of peaks.
  Table table() const;
};

/// Steps are `ProfilerStep#N` ranges; without any there is one, `[all]`, from the first operator's
/// start to the last one's end, and none without operators. Pure; takes time n log n and memory n
/// in the events. Source of the definition: torch-tb-profiler, event_parser.py and
/// overall_parser.py of its last source version.
StepBreakdown step_breakdown(const Trace& trace, const StepBreakdownOptions& options = {});

}  // namespace tbtrace
