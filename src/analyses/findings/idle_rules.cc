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
#include "analyses/findings/idle_remedies.h"
#include "analyses/findings/rules.h"
#include "analyses/gpu/idle_account.h"
#include "base/bounded_sum.h"
#include "base/share.h"
#include "report/duration.h"
#include "trace/times.h"

namespace tbtrace::analyses {
namespace {

// Thresholds, as shares of the time.
constexpr double kDataLoader = 0.05;
constexpr double kLaunches = 0.15;
constexpr double kIdle = 0.25;
constexpr double kSmallCause = 0.01;  // of the idle time: not named one by one
constexpr double kLongGap = 0.1;      // of the longest one: shorter gaps are not shown

constexpr const char* kWaitsForData = "The program waits for its data loader";
constexpr const char* kSmallKernels = "Most kernels are too short to keep the GPU busy";

/// `cudaFree in aten::empty, train.py(46): forward`; with its time if there was more than that.
std::string place_text(const IdleGap& gap) {
  constexpr double kNearlyAll = 0.9;
  constexpr double kNotable = 0.25;
  if (gap.cause == IdleCause::unknown) return {};
  std::string text = name_text(gap.call);
  if (!gap.op.empty() && gap.op != gap.call) text += " in " + name_text(gap.op);
  if (!gap.line.empty() && gap.line != gap.call) {
    text += (text.empty() ? "" : ", ") + name_text(gap.line);
  }
  if (text.empty()) return text;
  if (!is_after_wait(gap.cause)) {
    const bool is_all = share(gap.call_ns, gap.ns) >= kNearlyAll;
    return is_all ? text : report::duration_text(gap.call_ns) + " in " + text;
  }
  if (share(gap.host_ns, gap.ns) < kNotable) return text;
  return text + ", then " + report::duration_text(gap.host_ns) + " in " + name_text(gap.host);
}

/// A gap: when it began since the window's start, how long it was if that is more than the part
/// with the cause, what the host did, and what ended it.
Evidence gap_evidence(const Trace& trace, std::string what, const IdleGap& gap, std::int64_t ns,
                      const std::string& host) {
  const std::int64_t length = gap.gap_end_ns - gap.gap_start_ns;
  std::string text = "at " + time_text(gap.gap_start_ns);
  if (ns < length) text += ", in a gap of " + report::duration_text(length);
  if (!host.empty()) text += ", " + host;
  if (gap.ended_by != EventId::none) text += ", before " + event_name(trace, gap.ended_by);
  return {std::move(what), ns, "ns", std::move(text), gap.gap_start_ns, gap.gap_end_ns};
}

/// Where the host was, by share.
void add_ranges(std::vector<Evidence>& evidence, const IdlePart& part) {
  const std::string where = is_after_wait(part.cause) ? "after " : "in ";
  for (const IdlePart::Range& range : part.ranges) {
    evidence.push_back({where + name_text(range.name), range.ns, "ns", ""});
  }
}

/// Causes that the program does not have again: what they cost says nothing about the rest.
bool is_once(IdleCause cause) {
  return cause == IdleCause::cold_start || cause == IdleCause::profiler;
}

/// Idle time that the program does not have again.
std::int64_t once_ns(const GpuUse& device) {
  return device.idle(IdleCause::cold_start).ns + device.idle(IdleCause::profiler).ns;
}

/// Whether a time that comes again costs so much of the window without what does not, and a notable
/// part of all of it.
bool costs(const GpuUse& device, std::int64_t ns, double threshold) {
  constexpr double kLeast = 0.05;
  return share(ns, device.window_ns - once_ns(device)) >= threshold &&
         share(ns, device.window_ns) >= std::min(threshold, kLeast);
}

/// The idle time that comes again, without the time in which the device must have worked.
std::int64_t usual_idle_ns(const GpuUse& device) {
  return device.idle_ns - once_ns(device) - device.idle(IdleCause::unrecorded_work).ns;
}

/// How much of the idle time, where the host was, and the gap with the largest part of it.
std::vector<Evidence> idle_evidence(const FindingFacts& facts, const IdlePart& part) {
  std::vector<Evidence> evidence = {
      {"GPU idle " + std::string(idle_cause_text(part.cause)), part.ns, "ns", ""}};
  add_ranges(evidence, part);
  const char* what = "most in one gap";
  if (share(part.largest.ns, part.ns) < kLongGap) {
    evidence.push_back({"gaps", part.gaps, "", ""});
    what = "for example";
  }
  evidence.push_back(
      gap_evidence(facts.trace, what, part.largest, part.largest.ns, place_text(part.largest)));
  return evidence;
}

/// The cause, and what it costs. `remedy`: if the trace says nothing that idle_remedy() has a
/// better one for. `counted`: what its calls are; empty if their number says nothing.
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
    {IdleCause::cold_start, "cold_start", 0.1,
     "The GPU waits for the cold start: what the program does only once",
     "warm up before the recording (schedule(wait=..., warmup=...)), and tune nothing by this part "
     "of it: loading and first calls do not come again",
     "calls", false},
    {IdleCause::profiler, "profiler_overhead", 0.05, "The GPU waits for the profiler",
     "record more steps at once and fewer options (with_stack, profile_memory); the program "
     "without a profiler does not have this time",
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
     "copy with non_blocking=True, from or to pinned memory, and wait later, with an event",
     "copies that the host waited for", true},
    {IdleCause::synchronization, "device_synchronization", 0.05,
     "The host waits for the GPU, and the GPU then waits for the host",
     "take synchronizations out of the loop: torch.cuda.synchronize(), timers that call it, "
     "CUDA_LAUNCH_BLOCKING; measure with events instead",
     "calls that waited", true},
    {IdleCause::code, "host_code", 0.15, "The GPU waits while the host is outside of operators",
     "do that work while the GPU is busy: on another thread or process, or after the launches of "
     "this step",
     "", true},
    {IdleCause::other_device, "gpus_take_turns", 0.25,
     "The GPUs of the process work one after the other",
     "split the batch into micro batches so that the parts of the model work at once, or use "
     "tensor parallelism or one process per GPU",
     "", true},
    {IdleCause::unrecorded_work, "unrecorded_device_work", 0.1,
     "The host waits for work of the GPU that the recording lacks",
     "do not trust idle times of this recording: work of graphs with loops or conditions, of other "
     "processes and of lost buffers is not in it",
     "", false},
});

bool always(const FindingFacts& /*facts*/) { return true; }

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
  if (ns == 0) return std::nullopt;
  const double its_share = share(ns, facts.device->window_ns);
  const bool is_enough =
      kIts.has_gain ? costs(*facts.device, ns, kIts.threshold) : its_share >= kIts.threshold;
  if (!is_enough) return std::nullopt;
  Finding finding = {.id = kIts.id,
                     .title = kIts.title,
                     .remedy = idle_remedy(facts, part, kIts.remedy),
                     .evidence = idle_evidence(facts, part),
                     .share = its_share};
  if (!kIts.has_gain) {
    finding.evidence.push_back({"all idle time of the GPU", facts.device->idle_ns, "ns", ""});
  }
  if (*kIts.counted != '\0') finding.evidence.push_back({kIts.counted, part.calls, "", ""});
  if (!kIts.has_gain) return finding;
  return with_gain(facts, std::move(finding), ns, "this idle time of the GPU");
}

/// On a CPU the loader's share of the steps counts, on a GPU only what leaves the GPU idle.
std::optional<Finding> data_loader_bound(const FindingFacts& facts) {
  Finding finding = {.id = "data_loader_bound",
                     .title = kWaitsForData,
                     .remedy =
                         "use more workers (num_workers), pin_memory=True and "
                         "persistent_workers=True, or make the transforms cheaper",
                     .evidence = {}};
  if (facts.device) {
    const IdlePart part = facts.device->idle(IdleCause::data);
    finding.share = share(part.ns, facts.device->window_ns);
    if (!costs(*facts.device, part.ns, kDataLoader)) return std::nullopt;
    finding.evidence = idle_evidence(facts, part);
    finding.remedy = idle_remedy(facts, part, finding.remedy);
    return with_gain(facts, std::move(finding), part.ns, "GPU idle meanwhile",
                     ChangedWork{.changes = {{.kind = ChangeKind::data_loader, .factor = 0}}});
  }
  std::int64_t waited = 0;
  std::int64_t all = 0;
  for (const StepTime& step : facts.steps.steps) {
    add_bounded(waited, step.ns(StepRole::data_loader));
    add_bounded(all, step.duration_ns());
  }
  finding.share = share(waited, all);
  finding.share_of = facts.steps.has_steps() ? ShareOf::step_time : ShareOf::recording;
  if (finding.share < kDataLoader) return std::nullopt;
  finding.evidence = {{"time in the data loader", waited, "ns", ""}};
  return with_gain(facts, std::move(finding), waited, "the time of these waits");
}

std::optional<Finding> host_communication(const FindingFacts& facts) {
  return facts.device ? found<4>(facts) : host_communication_of_steps(facts);
}

bool has_small_kernels(const FindingFacts& facts) {
  if (computes_on_cpu(facts.device->idle(IdleCause::launches))) return false;
  return facts.kernels.kernels > 0 && facts.kernels.under_10_us * 2 >= facts.kernels.kernels;
}

/// Whether launches are late as a rule: one long gap is a single event.
bool are_late(const GpuUse& device, const IdlePart& launches) {
  return costs(device, launches.ns, kLaunches) && launches.largest.ns <= launches.ns / 2;
}

std::optional<Finding> launches(const FindingFacts& facts, Finding finding) {
  const IdlePart part = facts.device->idle(IdleCause::launches);
  if (!are_late(*facts.device, part)) return std::nullopt;
  finding.share = share(part.ns, facts.device->window_ns);
  finding.evidence = idle_evidence(facts, part);
  finding.evidence.push_back({"kernels", facts.kernels.kernels, "", ""});
  finding.evidence.push_back({"kernels under 10 us", facts.kernels.under_10_us, "", ""});
  return with_gain(facts, std::move(finding), part.ns, "GPU idle meanwhile");
}

std::optional<Finding> small_kernels(const FindingFacts& facts) {
  if (!facts.device || !has_small_kernels(facts)) return std::nullopt;
  return launches(facts, {.id = "small_kernels",
                          .title = kSmallKernels,
                          .remedy = without_what_is_done(
                              facts, "use larger batches, fused operators and optimizers"),
                          .evidence = {}});
}

const char* late_title(const IdlePart& launches) {
  return computes_on_cpu(launches) ? "The GPU waits while operators compute on the CPU"
                                   : "The host launches kernels too late";
}

std::optional<Finding> launch_bound(const FindingFacts& facts) {
  if (!facts.device || has_small_kernels(facts)) return std::nullopt;
  const IdlePart part = facts.device->idle(IdleCause::launches);
  return launches(facts, {.id = "launch_bound",
                          .title = late_title(part),
                          .remedy = launch_remedy(facts, part),
                          .evidence = {}});
}

/// A finding is named by its title, which all outputs have.
std::string begin_with(const char* title) {
  return "begin with its cause \"" + std::string(title) + "\"";
}

/// For most of the idle time that comes again; what has a finding of its own is mended there.
std::string remedy_of_all(const FindingFacts& facts) {
  const GpuUse& device = *facts.device;
  const auto most = std::ranges::find_if(device.idle_causes, [](const IdlePart& part) {
    return !is_once(part.cause) && part.cause != IdleCause::unrecorded_work;
  });
  switch (most->cause) {
    case IdleCause::nothing_recorded:
      if (facts.has_frames) {
        return "look at the longest gaps: the recording has no range there, not even a Python "
               "function";
      }
      // The longest ones say little then.
      return are_many_and_short(*most)
                 ? "most of it is in many short gaps between operators: " +
                       without_what_is_done(facts, "larger batches, fused operators") +
                       "; Python stacks (with_stack=True) show what the host does there"
                 : "record with Python stacks (with_stack=True) to see what the host does in "
                   "the longest gaps";
    case IdleCause::unknown:
      return "see tbtrace check: without the launches nothing says why the GPU waits";
    case IdleCause::device:
      return device_remedy(facts, *most);
    case IdleCause::launches:
      if (!are_late(device, *most)) return launch_remedy(facts, *most);
      return begin_with(has_small_kernels(facts) ? kSmallKernels : late_title(*most));
    case IdleCause::data:
      return begin_with(kWaitsForData);
    default:
      break;
  }
  const auto rule = std::ranges::find(kCauseRules, most->cause, &CauseRule::cause);
  return costs(device, most->ns, rule->threshold) ? begin_with(rule->title)
                                                  : idle_remedy(facts, *most, rule->remedy);
}

/// The longest gaps, those that are alike once.
void add_longest_gaps(const FindingFacts& facts, std::vector<Evidence>& evidence) {
  const std::vector<IdleGap>& gaps = facts.device->longest_gaps;
  const auto length = [](const IdleGap& gap) { return gap.gap_end_ns - gap.gap_start_ns; };
  const auto are_alike = [&](const IdleGap& one, const IdleGap& other) {
    return one.cause == other.cause && one.call == other.call && one.op == other.op &&
           one.line == other.line &&
           event_name(facts.trace, one.ended_by) == event_name(facts.trace, other.ended_by);
  };
  for (auto gap = gaps.begin(); gap != gaps.end(); ++gap) {
    const auto is_like = [&](const IdleGap& other) { return are_alike(*gap, other); };
    const bool is_known = std::any_of(gaps.begin(), gap, is_like);
    if (is_known || gap->cause == IdleCause::unrecorded_work) continue;
    if (share(length(*gap), length(gaps.front())) < kLongGap) continue;
    std::string host = gap->ns < length(*gap) ? report::duration_text(gap->ns) + " " : "";
    host += idle_cause_text(gap->cause);
    if (const std::string place = place_text(*gap); !place.empty()) host += ": " + place;
    evidence.push_back(gap_evidence(facts.trace, "gap", *gap, length(*gap), host));
    const auto more = std::count_if(gap + 1, gaps.end(), is_like);
    if (more > 0) evidence.back().event += "; " + std::to_string(more) + " more like it";
  }
}

/// All idle time, whatever the cause; other rules have parts of it.
std::optional<Finding> low_gpu_utilization(const FindingFacts& facts) {
  if (!is_idle(facts)) return std::nullopt;
  const GpuUse& device = *facts.device;
  const std::int64_t idle_ns = device.idle_ns - device.idle(IdleCause::unrecorded_work).ns;
  Finding finding = {.id = "low_gpu_utilization",
                     .title = facts.devices > 1
                                  ? "GPU " + std::to_string(device.device) + " is idle"
                                  : "The GPU is idle",
                     .remedy = remedy_of_all(facts),
                     .evidence = {{"GPU idle", idle_ns, "ns", ""}},
                     .share = share(idle_ns, device.window_ns)};
  std::int64_t small = 0;
  for (const IdlePart& part : device.idle_causes) {
    if (part.cause == IdleCause::unrecorded_work) continue;
    if (share(part.ns, idle_ns) < kSmallCause) {
      small += part.ns;
      continue;
    }
    finding.evidence.push_back({std::string(idle_cause_text(part.cause)), part.ns, "ns", ""});
  }
  if (small > 0) {
    finding.evidence.push_back({"for other causes", small, "ns", ""});
  }
  add_longest_gaps(facts, finding.evidence);
  const std::int64_t gained = usual_idle_ns(device);
  return with_gain(facts, std::move(finding), gained,
                   gained == idle_ns ? "all idle time of the GPU"
                                     : "its idle time without cold start and profiler");
}

constexpr auto kIdleRules = std::to_array<FindingRule>({
    {"waits for the data loader", always, IdleTime::part, data_loader_bound},
    {"a cold start", has_device, IdleTime::part, found<0>},
    {"the profiler's own time", has_device, IdleTime::part, found<1>},
    {"garbage collection", has_device, IdleTime::part, found<2>},
    {"guards and compilation", has_device, IdleTime::part, found<3>},
    {"waits for other processes", always, IdleTime::part, host_communication},
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
  return costs(*facts.device, usual_idle_ns(*facts.device), kIdle);
}

std::span<const FindingRule> idle_rules() { return kIdleRules; }

}  // namespace tbtrace::analyses
