#include <algorithm>
#include <array>
#include <cstddef>
#include <functional>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include <tbtrace/findings.h>
#include <tbtrace/recovered.h>

#include "analyses/attribution/graph_labels.h"
#include "analyses/attribution/runtime_calls.h"
#include "analyses/attribution/work_times.h"
#include "analyses/findings/rules.h"
#include "analyses/gpu/activities.h"
#include "analyses/gpu/gaps.h"
#include "analyses/gpu/idle_account.h"
#include "analyses/kernels/families.h"
#include "analyses/recording/sliced.h"
#include "base/bounded_sum.h"

namespace tbtrace {
namespace {

using analyses::FindingFacts;
using analyses::MatrixKernels;
using analyses::MemoryGrowth;
using analyses::ReservedGrowth;

constexpr std::int64_t kSmallKernel = 10'000;  // ns

/// The device that was busy longest.
std::optional<GpuUse> busiest_device(const std::vector<GpuUse>& devices) {
  const auto most = std::max_element(
      devices.begin(), devices.end(),
      [](const GpuUse& one, const GpuUse& two) { return one.busy_ns < two.busy_ns; });
  return most == devices.end() ? std::nullopt : std::optional(*most);
}

/// nullopt for a device that starts nothing in the part of the trace.
std::optional<analyses::DeviceActivities> activities_of(const Trace& trace, std::int64_t device) {
  std::vector<analyses::DeviceActivities> devices = *analyses::device_activities(trace, {});
  const auto found = std::ranges::find(devices, device, &analyses::DeviceActivities::device);
  if (found == devices.end()) return std::nullopt;
  return std::move(*found);
}

/// What a kernel's name says; names repeat, so it is looked up once for each.
struct KernelName {
  bool is_known = false;
  bool is_matrix = false;
  std::optional<bool> uses_tensor_cores;
};

/// Whether the inputs of operators are of single precision, and of none that tensor cores are for;
/// asked once for each list of types.
class SinglePrecision {
 public:
  explicit SinglePrecision(const Trace& trace)
      : trace_(trace), types_(trace.argument(Argument::input_types)) {}

  bool is_of(EventId op) {
    if (op == EventId::none) return false;
    const StringId types = types_.text(op);
    const auto [found, is_new] = answers_.try_emplace(types, false);
    if (is_new) found->second = is_single(trace_.string(types));
    return found->second;
  }

 private:
  static bool is_single(std::string_view types) {
    constexpr std::array<std::string_view, 5> kReduced = {"Half", "BFloat16", "Float8", "Float4",
                                                          "char"};
    const auto has = [&](std::string_view type) {
      return types.find(type) != std::string_view::npos;
    };
    return has("\"float\"") && std::ranges::none_of(kReduced, has);
  }

  const Trace& trace_;
  const ArgumentColumn& types_;
  std::unordered_map<StringId, bool> answers_;
};

KernelName named(std::string_view name) {
  return {true, analyses::gains_from_tensor_cores(name), analyses::uses_tensor_cores(name)};
}

MatrixKernels matrix_kernels(const Trace& trace, const analyses::Activities& activities) {
  MatrixKernels kernels;
  std::vector<KernelName> names;
  SinglePrecision single_precision(trace);
  for (const DeviceLink* link : activities) {
    if (trace.kind(link->activity) != EventKind::kernel) continue;
    const std::size_t name = index(trace.events().name(link->activity));
    if (name >= names.size()) names.resize(name + 1);
    if (!names[name].is_known) names[name] = named(trace.name(link->activity));
    const std::int64_t duration = trace.events().duration_ns(link->activity);
    ++kernels.kernels;
    kernels.under_10_us += duration < kSmallKernel ? 1U : 0U;
    if (!names[name].is_matrix) continue;
    add_bounded(kernels.matrix_ns, duration);
    const std::optional<bool> uses = names[name].uses_tensor_cores;
    if (uses == true) add_bounded(kernels.tensor_core_ns, duration);
    if (uses == true || (!uses && !single_precision.is_of(link->op))) continue;
    add_bounded(kernels.without_ns, duration);
    kernels.without.push_back(link->activity);
    if (duration <= kernels.longest_ns) continue;
    kernels.longest_ns = duration;
    kernels.longest = link->activity;
  }
  return kernels;
}

/// The device whose memory grew most per step, of those where it grew in every step.
MemoryGrowth memory_growth(const MemoryUse& memory) {
  MemoryGrowth most;
  std::size_t recorded_steps = 0;
  for (const DeviceMemory& device : memory.devices) {
    const std::vector<std::int64_t>& ends = device.step_end_bytes;
    recorded_steps = std::max(recorded_steps, ends.size());
    const bool always =
        std::adjacent_find(ends.begin(), ends.end(), std::greater_equal<>()) == ends.end();
    const std::int64_t growth = device.growth_per_step_bytes.value_or(0);
    if (!always || growth <= most.per_step_bytes) continue;
    most = {growth, device.peak_bytes, ends.size()};
  }
  most.recorded_steps = recorded_steps;
  return most;
}

/// Of one device, without its first step, which may warm up.
ReservedGrowth reserved_growth(const DeviceMemory& device) {
  ReservedGrowth growth;
  std::optional<std::int64_t> last;
  std::int64_t first_allocated = 0;
  for (std::size_t step = 0; step < device.step_end_reserved_bytes.size(); ++step) {
    const std::optional<std::int64_t>& bytes = device.step_end_reserved_bytes[step];
    if (!bytes) continue;
    const std::int64_t allocated = device.step_end_bytes[step];
    if (!last) first_allocated = allocated;
    growth.allocated_growth_bytes = allocated - first_allocated;
    ++growth.recorded_steps;
    if (!last) {
      growth.first_bytes = *bytes;
    } else {
      ++growth.steps;
      if (*bytes > *last) ++growth.growing_steps;
    }
    last = bytes;
  }
  growth.last_bytes = last.value_or(0);
  growth.allocated_peak_bytes = device.peak_bytes;
  return growth;
}

/// Of the device whose reserved memory grew most.
ReservedGrowth reserved_growth(const Trace& trace, const MemoryUse& memory) {
  ReservedGrowth most;
  std::string name;
  std::size_t recorded_steps = 0;
  for (const DeviceMemory& device : memory.devices) {
    const ReservedGrowth growth = reserved_growth(device);
    recorded_steps = std::max(recorded_steps, growth.recorded_steps);
    if (growth.growth_bytes() <= most.growth_bytes()) continue;
    most = growth;
    name = device.device;
  }
  most.recorded_steps = recorded_steps;
  for (const DeviceProperties& device : trace.device_properties()) {
    if (name.ends_with(":" + std::to_string(device.id))) {
      most.device_bytes = device.memory_bytes.value_or(0);
    }
  }
  return most;
}

/// What rules need to know whether they can tell anything.
FindingFacts basic_facts(const Trace& trace, const StepBreakdown& steps,
                         const std::vector<GpuUse>& gpus, const MemoryUse& memory) {
  FindingFacts facts = {
      .trace = trace,
      .steps = steps,
      .device = analyses::lacks_durations(trace) ? std::nullopt : busiest_device(gpus),
      .properties = {},
      .kernels = {},
      .memory = memory_growth(memory),
      .reserved = reserved_growth(trace, memory),
      .activities = {}};
  facts.devices = gpus.size();
  if (!facts.device) return facts;
  for (DeviceProperties& device : trace.device_properties()) {
    if (device.id == facts.device->device) facts.properties = std::move(device);
  }
  return facts;
}

/// No program can use the time that a clock jumped, so no finding is about it.
void leave_out_clock_jumps(const Trace& trace, const analyses::StepRules& rules,
                           std::vector<analyses::DeviceGap>& gaps, GpuUse& device) {
  const std::vector<analyses::ClockJump> jumps = analyses::clock_jumps(trace);
  if (jumps.empty()) return;
  const std::vector<analyses::DeviceActivities> devices = *analyses::device_activities(trace, {});
  std::vector<TimeRange> times;
  times.reserve(jumps.size());
  for (const analyses::ClockJump& jump : jumps) times.push_back(jump.time);
  for (const analyses::IdleAccount& account : analyses::idle_accounts(trace, rules, devices)) {
    if (account.device != device.device) continue;
    const auto found =
        std::ranges::find(devices, device.device, &analyses::DeviceActivities::device);
    analyses::add_idle_causes(trace, account, found->window.time, device, times);
  }
  std::erase_if(gaps, [&](const analyses::DeviceGap& gap) {
    const bool is_jump = std::ranges::any_of(jumps, [&](const analyses::ClockJump& jump) {
      return gap.time.start <= jump.time.start && jump.time.end <= gap.time.end;
    });
    if (is_jump) {
      const std::int64_t length = gap.time.end - gap.time.start;
      device.idle_ns -= length;
      device.window_ns -= length;
    }
    return is_jump;
  });
}

/// What need not be advised.
void find_what_is_done(const analyses::Activities& activities, FindingFacts& facts) {
  const Trace& trace = facts.trace;
  std::vector<bool> is_known;
  for (const EventId event : trace.by_start()) {
    const std::size_t text = index(trace.events().name(event));
    if (text >= is_known.size()) is_known.resize(std::max(text + 1, is_known.size() * 2));
    if (is_known[text]) continue;
    is_known[text] = true;
    const std::string_view name = trace.name(event);
    facts.is_compiled = facts.is_compiled || name.find("Torch-Compiled Region") == 0 ||
                        name.find("CompiledFunction") != std::string_view::npos ||
                        name == "TorchDynamo Cache Lookup" || name.starts_with("triton_");
    facts.has_frames = facts.has_frames || trace.events().is_python_frame(event);
    facts.has_foreach_optimizer =
        facts.has_foreach_optimizer || name.starts_with("aten::_foreach_");
    facts.has_fused_optimizer = facts.has_fused_optimizer || name.starts_with("aten::_fused_");
    // The engine's own operator for it: at::isnan(gradient)._is_any_true().item().
    facts.checks_gradients = facts.checks_gradients || name == "aten::_is_any_true";
    facts.has_embedding_tables =
        facts.has_embedding_tables || name.find("split_embedding") != std::string_view::npos;
    facts.has_ddp = facts.has_ddp || name.find("DistributedDataParallel") != std::string_view::npos;
  }
  facts.has_blocking_launches = !analyses::blocking_launches(trace).empty();
  std::vector<TrackId> streams;
  for (const DeviceLink* const link : activities) {
    const TrackId stream = trace.events().track(link->activity);
    if (std::ranges::find(streams, stream) == streams.end()) streams.push_back(stream);
  }
  facts.streams = streams.size();
  std::size_t launched = 0;
  std::size_t by_graphs = 0;
  for (const DeviceLink* const link : activities) {
    if (link->launch == EventId::none) continue;
    const std::string_view call = trace.name(link->launch);
    if (!call.starts_with("cu") && !call.starts_with("hip")) continue;
    ++launched;
    if (analyses::is_graph_launch(call)) ++by_graphs;
  }
  facts.can_use_graphs = launched > 0 && by_graphs * 2 < launched;
}

FindingFacts facts_of(const Trace& trace, const StepBreakdown& steps,
                      const std::vector<GpuUse>& gpus, const MemoryUse& memory) {
  FindingFacts facts = basic_facts(trace, steps, gpus, memory);
  if (!facts.device) return facts;
  std::optional<analyses::DeviceActivities> device = activities_of(trace, facts.device->device);
  if (!device) {
    facts.device.reset();
    return facts;
  }
  const analyses::StepRules rules(trace, analyses::exact_step_policy());
  std::vector<analyses::DeviceGap> gaps = analyses::device_gaps(
      trace, device->activities, device->window.time, GpuOptions().kernel_wait_limit_ns);
  leave_out_clock_jumps(trace, rules, gaps, *facts.device);
  find_what_is_done(device->activities, facts);
  facts.kernels = matrix_kernels(trace, device->activities);
  facts.activities = std::move(device->activities);
  facts.replay = std::make_shared<analyses::StepReplay>(trace);
  return facts;
}

/// What the threads of a process that died were doing at its last sign of life.
std::optional<Finding> recovered_finding(const Trace& trace) {
  const std::optional<RecoveredRecording> recovered = recovered_recording(trace);
  if (!recovered) return std::nullopt;
  Finding finding = {.id = "recovered_trace",
                     .title = recovered_sentence(*recovered),
                     .remedy = recovered_remedy(*recovered),
                     .evidence = {},
                     .comes_first = true};
  for (const UnfinishedThread& thread : recovered->threads) {
    finding.evidence.push_back({"open for at least", thread.open_ns, "ns",
                                thread.thread + ": " + unfinished_chain(thread)});
  }
  const auto add = [&](const char* what, std::uint64_t count) {
    if (count > 0) finding.evidence.push_back({what, count, "", ""});
  };
  add("more threads with unfinished ranges", recovered->threads_left_out);
  add("unfinished ranges", recovered->unfinished_ranges);
  add("lost records", recovered->lost_records);
  return finding;
}

/// A part of a trace without some rows does not show why a GPU was idle, or that it was.
bool can_explain(const Trace& trace, const analyses::FindingRule& rule) {
  if (rule.idle_time == analyses::IdleTime::none) return true;
  const std::optional<analyses::SlicedPart> part = analyses::sliced_part(trace);
  return !part || part->is_whole();
}

}  // namespace

std::string_view share_of_name(ShareOf share_of) {
  constexpr std::array<std::string_view, 4> kNames = {"gpu_time", "step_time", "recording",
                                                      "peak_memory"};
  return kNames[static_cast<std::size_t>(share_of)];
}

std::string_view share_of_text(ShareOf share_of) {
  constexpr std::array<std::string_view, 4> kTexts = {" of the GPU's time", " of the steps",
                                                      " of the recording", " of the peak memory"};
  return kTexts[static_cast<std::size_t>(share_of)];
}

std::vector<Finding> findings(const Trace& trace, const StepBreakdown& steps,
                              const std::vector<GpuUse>& gpus, const MemoryUse& memory) {
  const FindingFacts facts = facts_of(trace, steps, gpus, memory);
  std::vector<Finding> found;
  double explained = 0;             // of the idle time
  std::vector<std::string> causes;  // what explains it
  for (const auto rules : {analyses::finding_rules(), analyses::idle_rules()}) {
    for (const analyses::FindingRule& rule : rules) {
      if (!can_explain(trace, rule)) continue;
      std::optional<Finding> finding = rule.find(facts);
      if (!finding) continue;
      const bool is_part = rule.idle_time == analyses::IdleTime::part;
      const bool is_all = rule.idle_time == analyses::IdleTime::all;
      if (is_part) {
        explained += finding->share;
        causes.push_back(finding->id);
        if (analyses::is_idle(facts)) finding->part_of = "low_gpu_utilization";
      }
      if (is_all) finding->causes = causes;
      // A rule may say itself how much of its share can be had.
      if (finding->own_share == 0) finding->own_share = finding->share;
      if (is_all) finding->own_share -= explained;
      found.push_back(*std::move(finding));
    }
  }
  if (std::optional<Finding> recovered = recovered_finding(trace)) {
    found.push_back(*std::move(recovered));
  }
  std::ranges::stable_sort(
      found, [](const Finding& one, const Finding& other) { return one.is_before(other); });
  return found;
}

std::vector<std::string> findings_looked_for(const Trace& trace, const StepBreakdown& steps,
                                             const std::vector<GpuUse>& gpus,
                                             const MemoryUse& memory) {
  const FindingFacts facts = basic_facts(trace, steps, gpus, memory);
  std::vector<std::string> all;
  for (const auto rules : {analyses::idle_rules(), analyses::finding_rules()}) {
    for (const analyses::FindingRule& rule : rules) {
      if (can_explain(trace, rule) && rule.can_tell(facts)) all.emplace_back(rule.looked_for);
    }
  }
  return all;
}

std::vector<Finding> findings(const Trace& trace) {
  return findings(trace, step_breakdown(trace), *gpu_use(trace), *memory_use(trace));
}

}  // namespace tbtrace
