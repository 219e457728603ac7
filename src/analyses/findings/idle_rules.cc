// The rules about idle time: one for each cause that has a remedy, and the one of all idle time.
// To add a cause, add its row to kCauseRules; docs/findings.md says why the thresholds are what
// they are.
#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "analyses/findings/event_text.h"
#include "analyses/findings/rules.h"
#include "base/bounded_sum.h"
#include "base/share.h"
#include "trace/times.h"

namespace tbtrace::analyses {
namespace {

// Thresholds, as shares of the time.
constexpr double kDataLoader = 0.05;
constexpr double kLaunches = 0.15;
constexpr double kIdle = 0.25;
constexpr double kSmallCause = 0.01;  // of the idle time: not named one by one
constexpr double kLargeCause = 0.2;   // of the idle time: with where the host was

/// A gap, all of it: when it began since the window's start, what the host did, and what ended it.
Evidence gap_evidence(const Trace& trace, std::string what, TimeRange gap, const std::string& host,
                      EventId ended_by) {
  std::string text = "at " + time_text(gap.start);
  if (!host.empty()) text += ", " + host;
  if (ended_by != EventId::none) text += ", before " + event_name(trace, ended_by);
  return {std::move(what), gap.end - gap.start, "ns", std::move(text), gap.start, gap.end};
}

/// `cudaFree in aten::empty, train.py(46): forward`.
std::string place_text(const IdlePart::Largest& largest) {
  std::string text = name_text(largest.call);
  if (!largest.op.empty() && largest.op != largest.call) text += " in " + name_text(largest.op);
  if (!largest.line.empty() && largest.line != largest.call) {
    text += (text.empty() ? "" : ", ") + name_text(largest.line);
  }
  return text;
}

/// Where the host was, by share.
void add_ranges(std::vector<Evidence>& evidence, const IdlePart& part) {
  for (const IdlePart::Range& range : part.ranges) {
    evidence.push_back({"in " + name_text(range.name), range.ns, "ns", ""});
  }
}

/// How much of the idle time, where the host was, and the gap with the largest part of it.
std::vector<Evidence> idle_evidence(const FindingFacts& facts, const IdlePart& part) {
  std::vector<Evidence> evidence = {
      {"GPU idle " + std::string(idle_cause_text(part.cause)), part.ns, "ns", ""}};
  add_ranges(evidence, part);
  evidence.push_back(gap_evidence(facts.trace, "longest gap, all of it",
                                  {part.largest.gap_start_ns, part.largest.gap_end_ns},
                                  place_text(part.largest), part.largest.ended_by));
  return evidence;
}

/// The cause, and what it costs. `counted`: what its calls are; empty if their number says nothing.
struct CauseRule {
  IdleCause cause;
  const char* id;
  double threshold;
  const char* title;
  const char* remedy;
  const char* counted;
  bool has_gain;  ///< mending it makes the program faster
};

constexpr auto kCauseRules = std::to_array<CauseRule>({
    {IdleCause::cold_start, "cold_start", 0.1, "The GPU waits for what the program does only once",
     "warm up before the recording (schedule(wait=..., warmup=...)), and tune nothing by this part "
     "of it: loading and first calls do not come again",
     "calls", false},
    {IdleCause::profiler, "profiler_overhead", 0.05, "The GPU waits for the profiler",
     "record more steps at once and fewer options (with_stack, profile_memory); the program "
     "without "
     "a profiler does not have this time",
     "calls", false},
    {IdleCause::garbage_collection, "garbage_collection", 0.05,
     "The GPU waits while Python collects garbage",
     "call gc.freeze() after the start, or gc.disable() with a gc.collect() every so many steps; "
     "make fewer objects that refer to each other",
     "collections", true},
    {IdleCause::compiler, "compiler_overhead", 0.1,
     "The GPU waits for torch.compile: guards, compilation or autotuning",
     "keep shapes and modes the same (mark dynamic dimensions), look for recompilation with "
     "TORCH_LOGS=recompiles,guards, and compile fewer and larger regions",
     "calls", true},
    {IdleCause::host_communication, "host_communication", 0.1,
     "The GPU waits while the host waits for other processes",
     "take barriers, stores and collectives of objects or of gloo out of the loop, or do them on "
     "another thread",
     "calls", true},
    {IdleCause::allocation, "allocator_calls", 0.05,
     "The GPU waits while the host allocates or frees memory",
     "the caching allocator runs out of memory: use a smaller batch or "
     "PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True, and no torch.cuda.empty_cache() in the "
     "loop",
     "calls", true},
    {IdleCause::copies, "blocking_copies", 0.05,
     "The host waits for copies, and the GPU then waits for the host",
     "avoid .item(), .cpu() and print() of tensors in the loop; copy with non_blocking=True from "
     "pinned memory",
     "copies that the host waited for", true},
    {IdleCause::synchronization, "device_synchronization", 0.05,
     "The host waits for the GPU, and the GPU then waits for the host",
     "take synchronizations out of the loop: torch.cuda.synchronize(), timers that call it, "
     "CUDA_LAUNCH_BLOCKING; measure with events instead",
     "calls that waited", true},
    {IdleCause::code, "host_code", 0.15, "The GPU waits for code of the host outside of operators",
     "make that code cheaper, or do its work for the next step while the GPU is busy: on another "
     "thread or process, or after the launches of this step",
     "", true},
    {IdleCause::other_device, "gpus_take_turns", 0.25,
     "The GPUs of the process work one after the other",
     "split the batch into micro batches so that the parts of the model work at once, or use "
     "tensor "
     "parallelism or one process per GPU",
     "", true},
    {IdleCause::unrecorded_work, "unrecorded_device_work", 0.1,
     "The host waits for work of the GPU that the recording lacks",
     "do not trust idle times of this recording: work of graphs with loops or conditions, of other "
     "processes and of lost buffers is not in it",
     "", false},
});

bool always(const FindingFacts& /*facts*/) { return true; }

/// Most of it is for page-locked memory, which the caching allocator of the device has no part in.
bool is_of_host_memory(const IdlePart& part) {
  return !part.ranges.empty() && part.ranges.front().name.find("Host") != std::string::npos;
}

/// Without the largest part, if that is longer than the others together and there are three others:
/// it is a single event, such as what a library does once.
std::int64_t pattern_ns(const IdlePart& part) {
  const bool is_one_event = part.gaps >= 4 && part.largest.ns > part.ns - part.largest.ns;
  return is_one_event ? part.ns - part.largest.ns : part.ns;
}

template <std::size_t kRule>
std::optional<Finding> found(const FindingFacts& facts) {
  constexpr const CauseRule& kIts = kCauseRules[kRule];
  if (!facts.device) return std::nullopt;
  const IdlePart part = facts.device->idle(kIts.cause);
  // What happens once may be a single event; what is to be mended should happen again.
  const std::int64_t ns = kIts.cause == IdleCause::copies ? pattern_ns(part) : part.ns;
  const double its_share = share(ns, facts.device->window_ns);
  if (ns == 0 || its_share < kIts.threshold) return std::nullopt;
  Finding finding = {.id = kIts.id,
                     .title = kIts.title,
                     .remedy = kIts.remedy,
                     .evidence = idle_evidence(facts, part),
                     .share = its_share};
  if (kIts.cause == IdleCause::allocation && is_of_host_memory(part)) {
    finding.remedy =
        "keep page-locked memory instead of allocating it again: pin_memory=True of the data "
        "loader, or a buffer of your own that copies use again";
  }
  if (*kIts.counted != '\0') finding.evidence.push_back({kIts.counted, part.calls, "", ""});
  if (!kIts.has_gain) return finding;
  return with_gain(facts, std::move(finding), ns, "this idle time of the GPU");
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
    const IdlePart part = facts.device->idle(IdleCause::data);
    finding.share = share(part.ns, facts.device->window_ns);
    finding = with_gain(facts, std::move(finding), part.ns, "GPU idle meanwhile");
    if (part.ns > 0) finding.evidence = idle_evidence(facts, part);
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

bool has_small_kernels(const FindingFacts& facts) {
  return facts.kernels.kernels > 0 && facts.kernels.under_10_us * 2 >= facts.kernels.kernels;
}

/// A compiled program need not be told to compile, nor one with graphs to use graphs.
std::string without_what_is_done(const FindingFacts& facts, std::string_view first) {
  std::string remedy(first);
  if (!facts.is_compiled) remedy += ", torch.compile";
  if (facts.can_use_graphs) remedy += ", CUDA graphs";
  return remedy;
}

std::optional<Finding> launches(const FindingFacts& facts, Finding finding) {
  const IdlePart part = facts.device->idle(IdleCause::launches);
  finding.share = share(part.ns, facts.device->window_ns);
  // One gap that long is a single event.
  const bool is_one_gap = part.largest.ns > part.ns / 4;
  if (finding.share < kLaunches || is_one_gap) return std::nullopt;
  finding.evidence = idle_evidence(facts, part);
  finding.evidence.push_back({"kernels", facts.kernels.kernels, "", ""});
  finding.evidence.push_back({"kernels under 10 us", facts.kernels.under_10_us, "", ""});
  return with_gain(facts, std::move(finding), part.ns, "GPU idle meanwhile");
}

std::optional<Finding> small_kernels(const FindingFacts& facts) {
  if (!facts.device || !has_small_kernels(facts)) return std::nullopt;
  return launches(facts, {.id = "small_kernels",
                          .title = "Most kernels are too short to keep the GPU busy",
                          .remedy = without_what_is_done(
                              facts, "use larger batches, fused operators and optimizers"),
                          .evidence = {}});
}

std::optional<Finding> launch_bound(const FindingFacts& facts) {
  if (!facts.device || has_small_kernels(facts)) return std::nullopt;
  return launches(facts,
                  {.id = "launch_bound",
                   .title = "The host launches kernels too late",
                   .remedy = without_what_is_done(
                       facts, "take work off the launching thread: less Python between operators"),
                   .evidence = {}});
}

/// HolisticTraceAnalysis calls gaps below 30 us the device's own delay.
bool is_short_delay(const IdlePart& part) {
  return part.ns < GpuOptions().kernel_wait_limit_ns * static_cast<std::int64_t>(part.gaps);
}

/// For most of the idle time; what has a finding of its own is mended there.
std::string idle_remedy(const FindingFacts& facts) {
  const bool has_stacks = facts.trace.is_set("with_stack");
  switch (facts.device->idle_causes.front().cause) {
    case IdleCause::nothing_recorded:
      return has_stacks
                 ? "look at what the host does in the longest gaps: the recording has no "
                   "range there, not even a Python function"
                 : "record with Python stacks (with_stack=True) to see what the host does in "
                   "the longest gaps";
    case IdleCause::unknown:
      return "see tbtrace check: without the launches nothing says why the GPU waits";
    case IdleCause::device:
      if (is_short_delay(facts.device->idle_causes.front())) {
        return "the host is in time, but the GPU takes a while to begin each of its short "
               "kernels: " +
               without_what_is_done(facts, "use larger batches, fused operators");
      }
      return "the host is in time: look for what its streams wait for, such as events, other "
             "streams and other ranks";
    case IdleCause::launches:
      return "look at what the host does in the longest gaps";
    default:
      return "mend its causes, the largest first";
  }
}

/// All idle time, whatever the cause; other rules have parts of it.
std::optional<Finding> low_gpu_utilization(const FindingFacts& facts) {
  if (!is_idle(facts)) return std::nullopt;
  const GpuUse& device = *facts.device;
  const std::int64_t idle_ns = device.idle_ns - device.idle(IdleCause::unrecorded_work).ns;
  Finding finding = {.id = "low_gpu_utilization",
                     .title = "The GPU is idle",
                     .remedy = idle_remedy(facts),
                     .evidence = {{"GPU idle", idle_ns, "ns", ""}},
                     .share = share(idle_ns, device.window_ns)};
  std::int64_t small = 0;
  for (const IdlePart& part : device.idle_causes) {
    if (part.cause == IdleCause::unrecorded_work) continue;
    if (share(part.ns, idle_ns) < kSmallCause) {
      small += part.ns;
      continue;
    }
    // Where the host was; of a small part that says little.
    std::string text;
    const bool is_large = share(part.ns, idle_ns) >= kLargeCause;
    if (is_large && part.cause != IdleCause::unknown && !part.ranges.empty()) {
      text = "most in " + name_text(part.ranges.front().name);
    }
    finding.evidence.push_back(
        {std::string(idle_cause_text(part.cause)), part.ns, "ns", std::move(text)});
  }
  if (small > 0) {
    finding.evidence.push_back({"for other causes", small, "ns", ""});
  }
  for (const IdleGap& gap : facts.longest_gaps) {
    const std::string host =
        gap.host.empty() ? "mostly nothing recorded on the host" : "host in " + gap.host;
    const TimeRange time = {since_start(facts.trace, gap.time.start),
                            since_start(facts.trace, gap.time.end)};
    finding.evidence.push_back(gap_evidence(facts.trace, "gap", time, host, gap.ended_by));
  }
  const std::int64_t gained =
      idle_ns - device.idle(IdleCause::cold_start).ns - device.idle(IdleCause::profiler).ns;
  return with_gain(
      facts, std::move(finding), gained,
      gained == idle_ns ? "all idle time of the GPU" : "its idle time, without what happens once");
}

constexpr auto kIdleRules = std::to_array<FindingRule>({
    {"waits for the data loader", always, IdleTime::part, data_loader_bound},
    {"a cold start", has_device, IdleTime::part, found<0>},
    {"the profiler's own time", has_device, IdleTime::part, found<1>},
    {"garbage collection", has_device, IdleTime::part, found<2>},
    {"guards and compilation", has_device, IdleTime::part, found<3>},
    {"waits for other processes", has_device, IdleTime::part, found<4>},
    {"allocator calls", has_device, IdleTime::part, found<5>},
    {"blocking copies", has_device, IdleTime::part, found<6>},
    {"synchronizations", has_device, IdleTime::part, found<7>},
    {"code outside of operators", has_device, IdleTime::part, found<8>},
    {"GPUs that take turns", has_device, IdleTime::part, found<9>},
    {"unrecorded work", has_device, IdleTime::none, found<10>},
    {"small kernels", has_device, IdleTime::part, small_kernels},
    {"late launches", has_device, IdleTime::part, launch_bound},
    {"an idle GPU", has_device, IdleTime::all, low_gpu_utilization},
});
static_assert(kCauseRules.size() == 11);

}  // namespace

bool is_idle(const FindingFacts& facts) {
  if (!facts.device) return false;
  const std::int64_t idle_ns =
      facts.device->idle_ns - facts.device->idle(IdleCause::unrecorded_work).ns;
  return share(idle_ns, facts.device->window_ns) >= kIdle;
}

std::span<const FindingRule> idle_rules() { return kIdleRules; }

}  // namespace tbtrace::analyses
