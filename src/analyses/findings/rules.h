// The rules of findings. To add one: an id and its threshold here and in docs/findings.md, a
// function from FindingFacts to the finding, in a file of its own, and its row in finding_rules().
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <tbtrace/findings.h>
#include <tbtrace/gpu.h>
#include <tbtrace/steps.h>
#include <tbtrace/trace.h>

#include "analyses/findings/step_replay.h"
#include "analyses/gpu/activities.h"

namespace tbtrace::analyses {

/// Kernels of one device, by what tensor cores could do for them.
struct MatrixKernels {
  std::uint64_t kernels = 0;        ///< of any kind
  std::uint64_t under_10_us = 0;    ///< of these
  std::int64_t matrix_ns = 0;       ///< products, convolutions, attention
  std::int64_t tensor_core_ns = 0;  ///< the part on tensor cores
  /// The part that is not, by its name or because all its inputs are single precision. Whether the
  /// rest uses tensor cores is unknown.
  std::int64_t without_ns = 0;
  std::int64_t longest_ns = 0;  ///< of the kernel that took longest without them
  EventId longest = EventId::none;
  std::vector<EventId> without = {};  ///< the kernels of without_ns
};

/// How memory grew from step to step, on the device where it grew most; 0 if it did not grow in
/// every step.
struct MemoryGrowth {
  std::int64_t per_step_bytes = 0;  ///< median
  std::int64_t peak_bytes = 0;
  std::size_t steps = 0;
  std::size_t recorded_steps = 0;  ///< those with records of memory, whether it grew or not
};

/// How memory that the allocator has reserved grew from step to step, on the device where it grew
/// most of those whose allocated memory did not; 0 if there is none.
struct ReservedGrowth {
  std::int64_t first_bytes = 0;             ///< reserved at the end of the first step
  std::int64_t last_bytes = 0;              ///< and of the last one
  std::int64_t allocated_growth_bytes = 0;  ///< between these
  std::int64_t allocated_peak_bytes = 0;
  std::size_t steps = 0;           ///< without the first one
  std::size_t growing_steps = 0;   ///< those that end with more than the one before
  std::size_t recorded_steps = 0;  ///< of any device with reserved memory
  std::int64_t device_bytes = 0;   ///< what the device has, if known

  std::int64_t growth_bytes() const { return last_bytes - first_bytes; }
};

/// What the rules look at, computed once. The device is the one that was busy longest.
struct FindingFacts {
  const Trace& trace;
  const StepBreakdown& steps;
  std::optional<GpuUse> device;  ///< nullopt without device activities
  std::optional<DeviceProperties> properties;
  bool is_compiled = false;  ///< by torch.compile, at least in part
  bool has_ddp = false;      ///< torch's DistributedDataParallel, by its ranges
  bool has_frames = false;   ///< Python functions were recorded
  bool has_foreach_optimizer = false;
  bool has_fused_optimizer = false;
  bool checks_gradients = false;       ///< by torch.autograd.set_detect_anomaly
  bool has_blocking_launches = false;  ///< CUDA_LAUNCH_BLOCKING=1, by what launches do
  bool has_embedding_tables = false;   ///< FBGEMM's, as recommenders have them
  std::size_t devices = 0;             ///< of the trace
  std::size_t streams = 0;             ///< of the device, with work
  /// The device is CUDA's or HIP's, and less than half of its work is launched by graphs.
  bool can_use_graphs = false;
  MatrixKernels kernels;
  MemoryGrowth memory;
  ReservedGrowth reserved;
  Activities activities;  ///< of the device, by start
  std::shared_ptr<StepReplay> replay = {};
};

/// Whether the device idles so much that it is a finding by itself. Time in which it must have done
/// work that the file lacks is not idle.
bool is_idle(const FindingFacts& facts);

/// Whether there is device work with times.
bool has_device(const FindingFacts& facts);

/// `finding` with what it would gain at most: `ns` of all recorded steps, or less if the device
/// idles and the steps, replayed with `changed`, do not get that much shorter.
Finding with_gain(const FindingFacts& facts, Finding finding, std::int64_t ns,
                  const std::string& how, const std::optional<ChangedWork>& changed = {});

/// nullopt with several devices: what is found on one of them is probably on all of them.
std::optional<ChangedWork> of_one_device(const FindingFacts& facts, ChangedWork changed);

/// What a finding has of the time in which the device idles.
enum class IdleTime : std::uint8_t { none, part, all };

struct FindingRule {
  std::string_view looked_for;  ///< in few words, for "No findings"
  /// Whether the trace has what the rule looks at. Only needs the first members of the facts, up to
  /// the properties, and the memory.
  bool (*can_tell)(const FindingFacts& facts);
  IdleTime idle_time;
  /// A finding if the trace carries it.
  std::optional<Finding> (*find)(const FindingFacts& facts);
};

std::span<const FindingRule> finding_rules();

/// Those of idle time, by cause; the one of all idle time is the last.
std::span<const FindingRule> idle_rules();

// Rules with files of their own.

std::optional<Finding> exposed_communication(const FindingFacts& facts);
/// Of traces without a device.
std::optional<Finding> host_communication_of_steps(const FindingFacts& facts);
std::optional<Finding> exposed_copies(const FindingFacts& facts);
std::optional<Finding> layout_conversions(const FindingFacts& facts);
std::optional<Finding> math_attention(const FindingFacts& facts);

bool has_tensor_cores(const FindingFacts& facts);
std::optional<Finding> no_tensor_cores(const FindingFacts& facts);

bool has_memory_of_steps(const FindingFacts& facts);
std::optional<Finding> memory_growth(const FindingFacts& facts);
bool has_reserved_memory(const FindingFacts& facts);
std::optional<Finding> reserved_growth(const FindingFacts& facts);

}  // namespace tbtrace::analyses
