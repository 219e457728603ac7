// What the operators of a trace computed: multiply-adds, operations and bytes, how fast, and how
// close to what their device can do; and the roofline, over how many operations per byte.
// Results own all their data; plain values that any number of threads may read.
// Times are whole nanoseconds, rates are per second. docs/formats/flops.md has the rules.
#pragma once

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

struct RooflinePoint {
  std::string name;
  std::string details;  ///< more lines for a tooltip, such as input shapes; may be empty
  std::string precision;
  std::uint64_t count = 0;
  std::int64_t time_ns = 0;
  double flops_per_byte = 0;
  double flops_per_s = 0;
  std::optional<double> roof_flops_per_s;  ///< what flops_per_byte allows
  std::optional<bool> is_memory_bound;
};

/// The peak rate of some precisions.
struct RooflinePeak {
  std::string precisions;  ///< `float16, bfloat16`; may be empty
  double flops_per_s = 0;
};

struct Roofline {
  std::vector<RooflinePoint> points;
  std::vector<RooflinePeak> peaks;  ///< highest first
  std::optional<double> bytes_per_s;
  std::int64_t total_time_ns = 0;  ///< also of what is not in `points`
  std::string time = "device time";
  std::string device;  ///< its name and where its peaks are from; may be empty
};

struct RooflineSvgOptions {
  std::string title = "Roofline";
  std::string subtitle = {};  ///< such as the name of the file
  int width = 1000;           ///< px, from 400 to 20,000
  int height = 640;           ///< px, from 300 to 20,000
};

/// An SVG picture: a dot per point, whose area is its time, under the lines of the peaks and of the
/// memory. Names are whole in the tooltips. Fails for a size out of range.
Result<std::string> roofline_svg(const Roofline& roofline, const RooflineSvgOptions& options = {});

/// Whether the work of an operator is known.
enum class WorkState : std::uint8_t {
  counted,
  inside,         ///< what it computes is counted in operators inside it; its own time only
  unknown_sizes,  ///< there is a rule, but the file does not have the sizes
  no_rule,        ///< no rule for this operator, or no operator at all
};

/// `counted`, `inside`, `unknown_sizes`, `no_rule`.
std::string_view work_state_name(WorkState state);

/// In what numbers an operator computed, as far as that decides the device's peak.
enum class Precision : std::uint8_t {
  unknown,
  float64,
  float64_matrix,  ///< on tensor or matrix cores, like the next two
  float32,
  float32_matrix,
  tf32,  ///< float32 inputs, rounded by the tensor cores of NVIDIA GPUs
  float16,
  bfloat16,
  float8,
  int8,
};

/// `float32`, `tf32`, ...; empty if unknown.
std::string_view precision_name(Precision precision);

struct FlopsOptions {
  bool by_input_shape = false;
  std::optional<StepRange> steps = {};  ///< only what these steps started
  /// Instead of the table of devices: the peak of all precisions, and of the memory.
  std::optional<double> peak_flops_per_s = {};
  std::optional<double> peak_bytes_per_s = {};
  /// Said to people after `The peak of ... is not known.`
  std::string how_to_set_peaks = "Set the peaks to see shares of them.";
};

/// The operators of a name, state, place and precision. Nested operators are in the row of the one
/// that counts.
struct OperatorWork {
  static constexpr const char* kUnattributed = "[unattributed]";

  std::string name;  ///< kUnattributed: device work of no operator
  std::string input_shapes;
  WorkState state = WorkState::no_rule;
  bool on_device = false;  ///< it launched device work, or something inside it did
  Precision precision = Precision::unknown;
  std::uint64_t count = 0;
  // These have no value unless the state is `counted`. They saturate.
  std::optional<std::uint64_t> macs;
  std::optional<std::uint64_t> flops;
  std::optional<std::uint64_t> traffic_bytes;  ///< also nullopt if one operator's is unknown
  std::uint64_t torch_flops = 0;               ///< torch's own estimates; wraps as torch's
  std::int64_t device_time_ns = 0;         ///< of what was launched in it, also by what is inside
  std::int64_t communication_time_ns = 0;  ///< the part of device_time_ns in collectives
  std::int64_t cpu_time_ns = 0;            ///< in it, apart from what has another row
  std::optional<double> flops_per_s;       ///< by the device time; on the host by the CPU time
  std::optional<double> bytes_per_s;       ///< likewise
  std::optional<double> peak_flops_per_s;
  std::optional<double> flops_per_byte;
  /// What flops_per_byte allows: the lower one of the peak and of the memory's rate.
  std::optional<double> roof_flops_per_s;
  std::optional<bool> is_memory_bound;  ///< the memory's rate is the lower one
};

struct OperatorWorkSummary {
  std::vector<OperatorWork> rows;  ///< longest device time first, then CPU time, then name
  /// All rows together; its rate and peak have no value.
  OperatorWork all;
  std::uint64_t forward_macs = 0;
  std::uint64_t backward_macs = 0;
  std::uint64_t recomputed_macs = 0;  ///< forward operators again, in the backward pass
  /// What the first layer of each chosen step took, all steps together; nullopt if that is unknown,
  /// also where a step has several batches.
  std::optional<std::uint64_t> samples;
  /// The first layer of a step ran again after a backward pass, as where gradients are accumulated.
  bool has_several_batches = false;
  std::uint64_t steps = 0;
  std::uint64_t forward_macs_in_steps = 0;
  std::uint64_t backward_macs_in_steps = 0;
  std::uint64_t recomputed_macs_in_steps = 0;
  std::uint64_t flops_in_steps = 0;
  /// Of the chosen steps, else of the recording; once for each device that worked.
  std::int64_t window_ns = 0;
  /// Time that the products of forward and backward pass would take at the peak, and those that
  /// were recomputed; nullopt if a peak is not known.
  std::optional<std::int64_t> model_peak_time_ns;
  std::optional<std::int64_t> recomputed_peak_time_ns;
  std::string device;       ///< its name, if only one kind of device worked
  std::string peak_source;  ///< where the peaks are from; empty: not known
  std::optional<double> peak_bytes_per_s;
  bool has_shapes = false;  ///< the file has inputs of operators
  bool has_device_work = false;

  /// Whether sums of 0 say that nothing was computed. False where no operator counts and some have
  /// no rule or no sizes, or where operators of the host take less than half of the time: what ran
  /// outside of them, such as compiled code, is not in the trace.
  bool knows_operations() const;
  /// Likewise of the multiply-adds alone.
  bool knows_macs() const;
};

/// Fails if `steps` names no step of the trace. Takes O(n log n) time. Needs
/// ArgumentGroup::inputs and ArgumentGroup::autograd.
Result<OperatorWorkSummary> operator_work(const Trace& trace, const FlopsOptions& options = {});

/// The same as rows of `tbtrace.flops/1`.
Result<AnalysisReport> flops_report(const Trace& trace, const FlopsOptions& options = {});

/// The rows that have a rate and an intensity; those on the device, if one worked.
Roofline roofline(const OperatorWorkSummary& summary);

}  // namespace tbtrace
