#include "analyses/findings/rules.h"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <utility>

#include "analyses/findings/event_text.h"
#include "base/bounded_sum.h"
#include "base/share.h"
#include "trace/times.h"

namespace tbtrace::analyses {
namespace {

// Thresholds, as shares of the time; docs/findings.md says why.
constexpr double kCommunication = 0.10;
constexpr double kWithoutTensorCores = 0.15;
constexpr double kTensorCoresUsed = 0.01;          // of the time of matrix kernels
constexpr std::int64_t kTensorCoreGeneration = 7;  // of the compute capability: Volta
constexpr std::int64_t kAmpere = 8;                // bfloat16 and TF32 from here on
constexpr double kGrowth = 0.01;
constexpr std::int64_t kGrowthBytes = std::int64_t{1} << 20;
constexpr std::size_t kStepsForGrowth = 3;

std::optional<Finding> exposed_communication(const FindingFacts& facts) {
  if (!facts.device) return std::nullopt;
  const GpuUse& device = *facts.device;
  const double part = share(device.exposed_communication_ns, device.window_ns);
  if (part < kCommunication) return std::nullopt;
  Finding finding = {
      .id = "exposed_communication",
      .title = "Communication runs while no computation does",
      .remedy =
          "overlap it with the backward pass (DDP's buckets, FSDP's prefetch), send less "
          "(16 bits, larger gradient accumulation), or look for a slow rank",
      .evidence = {{"communication without computation", device.exposed_communication_ns, "ns", ""},
                   {"all communication", device.communication_ns, "ns", ""}},
      .share = part};
  return with_gain(facts, std::move(finding), device.exposed_communication_ns,
                   "if all of it ran beside computation");
}

/// AMD numbers its devices in another way, and the GTX 16 series has no tensor cores.
bool has_nvidia_numbers(std::string_view name) {
  return name.find("AMD") == std::string_view::npos &&
         name.find("GTX 16") == std::string_view::npos;
}

/// Whether the device is known to have tensor cores.
bool has_tensor_cores(const FindingFacts& facts) {
  return facts.device && facts.properties && facts.properties->compute_major &&
         *facts.properties->compute_major >= kTensorCoreGeneration &&
         has_nvidia_numbers(facts.properties->name);
}

std::optional<Finding> no_tensor_cores(const FindingFacts& facts) {
  if (!has_tensor_cores(facts)) return std::nullopt;
  const MatrixKernels& kernels = facts.kernels;
  const double part = share(kernels.without_ns, facts.device->window_ns);
  const bool used = share(kernels.tensor_core_ns, kernels.matrix_ns) >= kTensorCoresUsed;
  if (used || part < kWithoutTensorCores) return std::nullopt;
  Finding finding = {
      .id = "no_tensor_cores",
      .title = "Matrix products and convolutions do not use tensor cores",
      .remedy = *facts.properties->compute_major >= kAmpere
                    ? "use autocast with bfloat16 or float16, or allow TF32 "
                      "(torch.set_float32_matmul_precision(\"high\")); keep sizes multiples of 8"
                    : "use autocast with float16; keep sizes multiples of 8",
      .evidence = {{"matrix kernels without tensor cores", kernels.without_ns, "ns",
                    event_text(facts.trace, kernels.longest)},
                   {"matrix kernels with tensor cores", kernels.tensor_core_ns, "ns", ""}},
      .share = part};
  if (kernels.longest != EventId::none) {
    const Events& events = facts.trace.events();
    finding.evidence[0].start_ns = since_start(facts.trace, events.start_ns(kernels.longest));
    finding.evidence[0].end_ns = since_start(facts.trace, events.end_ns(kernels.longest));
  }
  return with_gain(facts, std::move(finding), kernels.without_ns, "if these kernels took no time");
}

std::optional<Finding> memory_growth(const FindingFacts& facts) {
  const MemoryGrowth& memory = facts.memory;
  const double part = share(memory.per_step_bytes, memory.peak_bytes);
  const bool grows =
      memory.steps >= kStepsForGrowth && memory.per_step_bytes >= kGrowthBytes && part >= kGrowth;
  if (!grows) return std::nullopt;
  return Finding{.id = "memory_growth",
                 .title = "Every step ends with more memory than the one before",
                 .remedy =
                     "look for tensors that outlive their step: a loss summed up with its "
                     "graph (use loss.item() or detach()), growing lists, hooks",
                 .evidence = {{"growth per step", memory.per_step_bytes, "bytes", ""},
                              {"peak", memory.peak_bytes, "bytes", ""},
                              {"steps", static_cast<std::uint64_t>(memory.steps), "", ""}},
                 .share = part,
                 .share_of = ShareOf::peak_memory};
}

bool has_memory_of_steps(const FindingFacts& facts) {
  return facts.memory.recorded_steps >= kStepsForGrowth;
}

constexpr auto kFindingRules = std::to_array<FindingRule>({
    {"exposed communication", has_device, IdleTime::none, exposed_communication},
    {"products without tensor cores", has_tensor_cores, IdleTime::none, no_tensor_cores},
    {"growing memory", has_memory_of_steps, IdleTime::none, memory_growth},
});

}  // namespace

bool has_device(const FindingFacts& facts) { return facts.device.has_value(); }

Finding with_gain(const FindingFacts& facts, Finding finding, std::int64_t ns, const char* how) {
  const bool has_steps = facts.steps.has_steps();
  const std::size_t steps = has_steps ? facts.steps.steps.size() : 1;
  finding.gain_ns = ns / static_cast<std::int64_t>(steps);
  finding.gain_how = std::string(how) + (has_steps ? ", per step" : ", in the whole recording");
  finding.is_gain_per_step = has_steps;
  return finding;
}

std::span<const FindingRule> finding_rules() { return kFindingRules; }

}  // namespace tbtrace::analyses
