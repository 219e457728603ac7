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
constexpr double kDataLoader = 0.05;
constexpr double kCommunication = 0.10;
constexpr double kCopies = 0.05;
constexpr double kLaunches = 0.15;
constexpr double kIdle = 0.25;
constexpr double kWithoutTensorCores = 0.15;
constexpr double kTensorCoresUsed = 0.01;          // of the time of matrix kernels
constexpr std::int64_t kTensorCoreGeneration = 7;  // of the compute capability: Volta
constexpr std::int64_t kAmpere = 8;                // bfloat16 and TF32 from here on
constexpr double kGrowth = 0.01;
constexpr std::int64_t kGrowthBytes = std::int64_t{1} << 20;
constexpr std::size_t kStepsForGrowth = 3;

/// A gap, all of it: when it began, what the host did, and what ended it.
Evidence gap_evidence(const Trace& trace, const char* what, TimeRange gap, const std::string& host,
                      EventId ended_by) {
  const std::int64_t start_ns = since_start(trace, gap.start);
  std::string text = "at " + time_text(start_ns);
  if (!host.empty()) text += ", " + host;
  if (ended_by != EventId::none) text += ", before " + event_name(trace, ended_by);
  return {what, gap.end - gap.start, "ns", std::move(text), start_ns, since_start(trace, gap.end)};
}

/// The evidence of idle time: how much, and the gap with the largest part of it.
std::vector<Evidence> idle_evidence(const FindingFacts& facts, std::string_view what,
                                    const IdlePart& part) {
  return {{std::string(what), part.ns, "ns", ""},
          gap_evidence(facts.trace, "longest gap, all of it", part.longest_gap, "", part.ended_by)};
}

/// What a finding would gain at most: `ns` of all recorded steps.
Finding with_gain(const FindingFacts& facts, Finding finding, std::int64_t ns, const char* how) {
  const bool has_steps = facts.steps.has_steps();
  const std::size_t steps = has_steps ? facts.steps.steps.size() : 1;
  finding.gain_ns = ns / static_cast<std::int64_t>(steps);
  finding.gain_how = std::string(how) + (has_steps ? ", per step" : ", in the whole recording");
  finding.is_gain_per_step = has_steps;
  return finding;
}

/// On a CPU the loader's share of the steps counts, on a GPU only what leaves the GPU idle.
std::optional<Finding> data_loader_bound(const FindingFacts& facts) {
  Finding finding = {.id = "data_loader_bound",
                     .title = "The program waits for its data loader",
                     .remedy =
                         "use more workers (num_workers), pin_memory=True and "
                         "persistent_workers=True, or make the transforms cheaper",
                     .evidence = {}};
  if (facts.device) {
    finding.share = share(facts.idle.data.ns, facts.device->window_ns);
    finding = with_gain(facts, std::move(finding), facts.idle.data.ns, "GPU idle meanwhile");
    finding.evidence =
        idle_evidence(facts, "GPU idle while the host waited for data", facts.idle.data);
  } else {
    std::int64_t waited = 0;
    std::int64_t all = 0;
    for (const StepTime& step : facts.steps.steps) {
      add_bounded(waited, step.ns(StepRole::data_loader));
      add_bounded(all, step.duration_ns());
    }
    finding.share = share(waited, all);
    finding = with_gain(facts, std::move(finding), waited, "the time of these waits");
    finding.evidence = {{"time in the data loader, in all steps", waited, "ns", ""}};
  }
  return finding.share >= kDataLoader ? std::optional(std::move(finding)) : std::nullopt;
}

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

/// Also the time of copies for which the host waited, if nothing else ran.
std::optional<Finding> blocking_copies(const FindingFacts& facts) {
  if (!facts.device || facts.idle.blocking_copies == 0) return std::nullopt;
  const double part = share(facts.idle.copies.pattern_ns(), facts.device->window_ns);
  if (part < kCopies) return std::nullopt;
  Finding finding = {
      .id = "blocking_copies",
      .title = "The host waits for copies, and the GPU then waits for the host",
      .remedy =
          "avoid .item(), .cpu() and print() of tensors in the loop; copy with "
          "non_blocking=True from pinned memory",
      .evidence = idle_evidence(facts, "GPU idle after such a copy", facts.idle.copies),
      .share = part};
  finding.evidence.push_back(
      {"copies that the host waited for", facts.idle.blocking_copies, "", ""});
  return with_gain(facts, std::move(finding), facts.idle.copies.pattern_ns(),
                   "GPU idle after the copies");
}

bool has_small_kernels(const FindingFacts& facts) {
  return facts.kernels.kernels > 0 && facts.kernels.under_10_us * 2 >= facts.kernels.kernels;
}

std::optional<Finding> launches(const FindingFacts& facts, Finding finding) {
  const IdlePart& idle = facts.idle.launches;
  finding.share = share(idle.ns, facts.device->window_ns);
  // One gap that long is a single event, such as the loading of a library.
  const bool is_one_gap = idle.longest_ns > idle.ns / 4;
  if (finding.share < kLaunches || is_one_gap) return std::nullopt;
  finding.evidence =
      idle_evidence(facts, "GPU idle while the host ran operators", facts.idle.launches);
  finding.evidence.push_back({"kernels", facts.kernels.kernels, "", ""});
  finding.evidence.push_back({"kernels under 10 us", facts.kernels.under_10_us, "", ""});
  return with_gain(facts, std::move(finding), idle.ns, "GPU idle meanwhile");
}

std::optional<Finding> small_kernels(const FindingFacts& facts) {
  if (!facts.device || !has_small_kernels(facts)) return std::nullopt;
  return launches(facts, {.id = "small_kernels",
                          .title = "Most kernels are too short to keep the GPU busy",
                          .remedy = "use larger batches, fuse operators (torch.compile, fused "
                                    "optimizers), or CUDA graphs",
                          .evidence = {}});
}

std::optional<Finding> launch_bound(const FindingFacts& facts) {
  if (!facts.device || has_small_kernels(facts)) return std::nullopt;
  return launches(facts, {.id = "launch_bound",
                          .title = "The host launches kernels too late",
                          .remedy = "take work off the launching thread: less Python between "
                                    "operators, torch.compile, CUDA graphs",
                          .evidence = {}});
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

/// All idle time, whatever the cause; other rules have parts of it.
std::optional<Finding> low_gpu_utilization(const FindingFacts& facts) {
  if (!is_idle(facts)) return std::nullopt;
  const GpuUse& device = *facts.device;
  const IdleCauses& idle = facts.idle;
  Finding finding = {.id = "low_gpu_utilization",
                     .title = "The GPU is idle",
                     .remedy = "look at what the host does in the longest gaps",
                     .evidence = {{"GPU idle", device.idle_ns, "ns", ""}},
                     .share = share(device.idle_ns, device.window_ns)};
  const auto add = [&](const char* what, const IdlePart& part) {
    if (part.ns > 0) finding.evidence.push_back({what, part.ns, "ns", ""});
  };
  add("while the host waited for data", idle.data);
  add("while the host made streams or loaded code", idle.setup);
  add("after copies that the host waited for", idle.copies);
  add("while the host ran operators or launched", idle.launches);
  add("waiting for what was launched before", idle.device);
  add("while nothing recorded ran on the host", idle.other);
  for (const IdleGap& gap : facts.longest_gaps) {
    const std::string host =
        gap.host.empty() ? "mostly nothing recorded on the host" : "host in " + gap.host;
    finding.evidence.push_back(gap_evidence(facts.trace, "gap", gap.time, host, gap.ended_by));
  }
  const bool is_unexplained = idle.other.ns > device.idle_ns / 2;
  if (is_unexplained && !facts.has_python_frames && !facts.trace.is_set("with_stack")) {
    finding.remedy += "; record with Python stacks (with_stack=True) to see its functions";
  }
  return with_gain(facts, std::move(finding), device.idle_ns, "all idle time of the GPU");
}

bool always(const FindingFacts& /*facts*/) { return true; }
bool has_device(const FindingFacts& facts) { return facts.device.has_value(); }
bool has_memory_of_steps(const FindingFacts& facts) {
  return facts.memory.recorded_steps >= kStepsForGrowth;
}

constexpr auto kFindingRules = std::to_array<FindingRule>({
    {"waits for the data loader", always, IdleTime::part, data_loader_bound},
    {"exposed communication", has_device, IdleTime::none, exposed_communication},
    {"blocking copies", has_device, IdleTime::part, blocking_copies},
    {"small kernels", has_device, IdleTime::part, small_kernels},
    {"late launches", has_device, IdleTime::part, launch_bound},
    {"products without tensor cores", has_tensor_cores, IdleTime::none, no_tensor_cores},
    {"growing memory", has_memory_of_steps, IdleTime::none, memory_growth},
    {"an idle GPU", has_device, IdleTime::all, low_gpu_utilization},
});

}  // namespace

bool is_idle(const FindingFacts& facts) {
  return facts.device && share(facts.device->idle_ns, facts.device->window_ns) >= kIdle;
}

std::span<const FindingRule> finding_rules() { return kFindingRules; }

}  // namespace tbtrace::analyses
