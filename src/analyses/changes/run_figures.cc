// What is kept of a run to compare it with others.
#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include <tbtrace/analysis_context.h>
#include <tbtrace/diff.h>
#include <tbtrace/flops.h>
#include <tbtrace/gpu.h>
#include <tbtrace/lines.h>
#include <tbtrace/memory.h>
#include <tbtrace/modules.h>
#include <tbtrace/steps.h>

#include "analyses/attribution/forward_operators.h"
#include "analyses/attribution/own_lines.h"
#include "analyses/attribution/owners.h"
#include "analyses/changes/fusions.h"
#include "analyses/changes/instants.h"
#include "analyses/changes/phases.h"
#include "analyses/modules/range_origins.h"
#include "base/bounded_sum.h"
#include "base/share.h"
#include "trace/call_tree.h"
#include "trace/step_names.h"

namespace tbtrace {
namespace {

using analyses::StepInstants;

constexpr std::string_view kNothing = "[nothing ran]";
constexpr std::string_view kNoDeviceWork = "[no device work]";
constexpr std::string_view kNoModule = "[no module]";
constexpr std::string_view kNoLine = "[no line]";
constexpr std::string_view kUnattributed = "[unattributed]";

struct Sum {
  std::int64_t ns = 0;
  std::uint64_t count = 0;
  /// Of kernels: the time by operator and shapes that it came from.
  std::map<std::pair<std::string, std::string>, std::int64_t> origins = {};
};

using KeySums = std::map<std::string, Sum, std::less<>>;

Sum& sum_of(KeySums& sums, std::string_view key) {
  const auto found = sums.find(key);
  return found == sums.end() ? sums.emplace(key, Sum()).first->second : found->second;
}

std::size_t place(DiffBy by) { return static_cast<std::size_t>(by); }

/// Sums of a division by a number that stands for the key in one trace, so that the text of a key
/// is made once.
class SumsById {
 public:
  explicit SumsById(KeySums& sums) : sums_(sums) {}

  template <typename KeyOf>
  Sum& of(std::uint64_t id, const KeyOf& key_of) {
    const auto [known, is_new] = known_.try_emplace(id, nullptr);
    if (is_new) known->second = &sum_of(sums_, key_of());
    return *known->second;
  }

 private:
  KeySums& sums_;
  std::unordered_map<std::uint64_t, Sum*> known_;
};

/// Adds the rows of a trace to those of its run.
class RowsOfTrace {
 public:
  RowsOfTrace(const Trace& trace, const StepBreakdown& breakdown,
              std::array<KeySums, kDiffBys>& sums)
      : trace_(trace),
        context_(trace),
        forward_(trace),
        modules_(trace, forward_),
        lines_(trace, forward_),
        instants_(analyses::step_instants(trace, breakdown)),
        breakdown_(breakdown),
        sums_(sums) {}

  void add() {
    add_instants();
    add_origins();
    add_counts();
  }

 private:
  void add_instants() {
    for (std::size_t row = 0; row < trace_.events().size(); ++row) {
      const std::int64_t ns = instants_.ns[row];
      if (ns == 0) continue;
      const auto event = static_cast<EventId>(row);
      add_bounded(sum_of(sums_[place(DiffBy::part)], step_role_name(instants_.role[row])).ns, ns);
      const EventId op = operator_of(event);
      add_bounded(operator_sum(event, op).ns, ns);
      add_bounded(shape_sum(event, op).ns, ns);
      add_bounded(kernel_sum(event).ns, ns);
      if (op != EventId::none && is_device_work(trace_.kind(event))) {
        const StringId shapes = trace_.argument(Argument::input_dims).text(op);
        add_bounded(origins_[{trace_.events().name(event), trace_.events().name(op), shapes}], ns);
      }
      const EventId owner = owner_of(event);
      add_bounded(module_sum(owner).ns, ns);
      add_bounded(line_sum(event).ns, ns);
    }
    const std::int64_t nothing = instants_.nothing_ns;
    add_bounded(sum_of(sums_[place(DiffBy::part)], step_role_name(StepRole::other)).ns, nothing);
    for (const DiffBy by : {DiffBy::op, DiffBy::shape, DiffBy::module, DiffBy::line}) {
      if (nothing != 0) add_bounded(sum_of(sums_[place(by)], kNothing).ns, nothing);
    }
    if (nothing != 0) add_bounded(sum_of(sums_[place(DiffBy::kernel)], kNoDeviceWork).ns, nothing);
  }

  void add_origins() {
    for (const auto& [origin, ns] : origins_) {
      const auto& [kernel, op, shapes] = origin;
      Sum& sum = sum_of(sums_[place(DiffBy::kernel)], trace_.string(kernel));
      add_bounded(sum.origins[{std::string(trace_.string(op)), std::string(trace_.string(shapes))}],
                  ns);
    }
  }

  /// Operators and annotations that began in a step, and device work that was launched in one.
  void add_counts() {
    find_linked_streams();
    for (const EventId event : trace_.by_start()) {
      const EventKind kind = trace_.kind(event);
      if (is_device_work(kind)) {
        if (was_launched_in_step(event)) ++kernel_sum(event).count;
        continue;
      }
      const bool is_counted = kind == EventKind::cpu_op || kind == EventKind::user_annotation;
      if (!is_counted || is_step_range(trace_.name(event)) || !begins_in_step(event)) continue;
      ++operator_sum(event, event).count;
      ++shape_sum(event, event).count;
      if (kind != EventKind::cpu_op) continue;
      ++module_sum(event).count;
      ++line_sum(event).count;
    }
  }

  /// Work whose launch is not known counts where it began. But at the start of a stream it is what
  /// was launched before the recording.
  bool was_launched_in_step(EventId work) {
    const DeviceLink* const link = context_.device_link(work);
    const TrackId stream = trace_.events().track(work);
    if (link != nullptr && link->launch != EventId::none) {
      seen_launches_.insert(stream);
      return begins_in_step(link->launch);
    }
    if (linked_streams_.contains(stream) && !seen_launches_.contains(stream)) return false;
    const std::int64_t start = trace_.events().start_ns(work);
    return std::ranges::any_of(breakdown_.steps, [start](const StepTime& step) {
      return step.start_ns <= start && start < step.end_ns;
    });
  }

  /// Streams with work whose launch is known.
  void find_linked_streams() {
    for (const EventId event : trace_.by_start()) {
      if (!is_device_work(trace_.kind(event))) continue;
      const DeviceLink* const link = context_.device_link(event);
      if (link == nullptr || link->launch == EventId::none) continue;
      linked_streams_.insert(trace_.events().track(event));
    }
  }

  bool begins_in_step(EventId event) const {
    const std::vector<StepTime>& steps = breakdown_.steps;
    const std::int64_t start = trace_.events().start_ns(event);
    const auto after = std::ranges::upper_bound(steps, start, {}, &StepTime::host_start_ns);
    return after != steps.begin() && start < std::prev(after)->host_end_ns;
  }

  EventId operator_of(EventId event) const { return context_.operator_of(event); }

  /// The host range that an event belongs to, for its module and line.
  EventId owner_of(EventId event) const {
    const DeviceLink* const link = context_.device_link(event);
    if (link == nullptr) return is_device_work(trace_.kind(event)) ? EventId::none : event;
    return analyses::owner_of_work(call_tree_of(trace_), *link);
  }

  static std::uint64_t id_of(StringId text) { return static_cast<std::uint64_t>(text) + 1; }

  /// 0: GPU work without a known operator.
  std::uint64_t operator_id(EventId event, EventId op) const {
    if (op != EventId::none) return id_of(trace_.events().name(op));
    return is_device_work(trace_.kind(event)) ? 0 : id_of(trace_.events().name(event));
  }

  std::string_view operator_key(EventId event, EventId op) const {
    if (op != EventId::none) return trace_.name(op);
    return is_device_work(trace_.kind(event)) ? kUnattributed : trace_.name(event);
  }

  Sum& operator_sum(EventId event, EventId op) {
    return operators_.of(operator_id(event, op), [&] { return operator_key(event, op); });
  }

  Sum& shape_sum(EventId event, EventId op) {
    const StringId shapes =
        op == EventId::none ? StringId::empty : trace_.argument(Argument::input_dims).text(op);
    return shapes_.of(operator_id(event, op) << 32 | static_cast<std::uint64_t>(shapes), [&] {
      std::string key(operator_key(event, op));
      if (shapes != StringId::empty) key += " " + std::string(trace_.string(shapes));
      return key;
    });
  }

  Sum& kernel_sum(EventId event) {
    const bool is_work = is_device_work(trace_.kind(event));
    return kernels_.of(is_work ? id_of(trace_.events().name(event)) : 0,
                       [&] { return is_work ? trace_.name(event) : kNoDeviceWork; });
  }

  Sum& module_sum(EventId owner) {
    const std::string_view module = modules_.of(owner);
    // A path of a module is the same text for all of its ranges.
    return module_sums_.of(reinterpret_cast<std::uintptr_t>(module.data()),
                           [&] { return module.empty() ? kNoModule : module; });
  }

  Sum& line_sum(EventId event) {
    const DeviceLink* const link = context_.device_link(event);
    const auto line = link != nullptr                      ? lines_.of_work(*link)
                      : is_device_work(trace_.kind(event)) ? 0
                                                           : lines_.of(event);
    return line_sums_.of(static_cast<std::uint64_t>(line),
                         [&] { return line == 0 ? std::string(kNoLine) : lines_.text(line); });
  }

  const Trace& trace_;
  AnalysisContext context_;
  analyses::ForwardOperators forward_;
  analyses::ModulesOfRanges modules_;
  analyses::OwnLines lines_;
  StepInstants instants_;
  const StepBreakdown& breakdown_;
  std::set<TrackId> linked_streams_;
  std::set<TrackId> seen_launches_;  // those of them so far, in the order of starts
  /// Of kernels: the time by kernel, operator and shapes.
  std::map<std::tuple<StringId, StringId, StringId>, std::int64_t> origins_;
  std::array<KeySums, kDiffBys>& sums_;
  SumsById operators_{sums_[place(DiffBy::op)]};
  SumsById shapes_{sums_[place(DiffBy::shape)]};
  SumsById kernels_{sums_[place(DiffBy::kernel)]};
  SumsById module_sums_{sums_[place(DiffBy::module)]};
  SumsById line_sums_{sums_[place(DiffBy::line)]};
};

/// Quantities of a trace, per step where that makes sense.
struct Quantities {
  std::map<std::string_view, double> sums;  // over ranks
  std::map<std::string_view, double> most;  // the largest of any rank
};

Status add_quantities(const Trace& trace, const StepBreakdown& breakdown, Quantities& all) {
  const auto steps = static_cast<double>(std::max<std::size_t>(1, breakdown.steps.size()));
  GpuOptions options;
  if (!trace.steps().empty() && !breakdown.steps.empty()) {
    const auto [least, most] = std::ranges::minmax_element(breakdown.steps, {}, &StepTime::number);
    options.steps = StepRange{least->number, most->number};
  }
  const Result<std::vector<GpuUse>> use = gpu_use(trace, options);
  if (!use.ok()) return use.status();
  for (const GpuUse& gpu : *use) {
    if (!options.steps) break;  // the window of the devices is not that of the step
    const auto add = [&](std::string_view name, std::int64_t ns) {
      all.sums[name] += static_cast<double>(ns) / steps;
    };
    add("gpu_busy_ns", gpu.busy_ns);
    add("gpu_idle_ns", gpu.idle_ns);
    add("gpu_idle_host_wait_ns", gpu.idle_host_wait_ns);
    add("gpu_idle_kernel_wait_ns", gpu.idle_kernel_wait_ns);
    add("gpu_idle_other_ns", gpu.idle_other_ns);
    add("communication_ns", gpu.communication_ns);
    add("exposed_communication_ns", gpu.exposed_communication_ns);
    add("gpu_activities", static_cast<std::int64_t>(gpu.activities));
    add("gpu_launches", static_cast<std::int64_t>(gpu.launches));
  }
  FlopsOptions counted;
  counted.steps = options.steps;
  const Result<OperatorWorkSummary> work = operator_work(trace, counted);
  if (!work.ok()) return work.status();
  if (options.steps && work->has_shapes) {
    if (work->knows_operations()) {
      all.sums["flops"] += static_cast<double>(work->flops_in_steps) / steps;
    }
    if (work->samples) all.sums["samples"] += static_cast<double>(*work->samples) / steps;
  }
  if (trace.memory().empty()) return {};
  const Result<MemoryUse> memory = memory_use(trace);
  if (!memory.ok()) return memory.status();
  for (const DeviceMemory& device : memory->devices) {
    const std::string_view name =
        device.device == "cpu" ? "cpu_memory_peak_bytes" : "gpu_memory_peak_bytes";
    double& peak = all.most[name];
    peak = std::max(peak, static_cast<double>(device.peak_bytes));
  }
  return {};
}

void add_circumstances(const Trace& trace, RunFigures& run, std::set<std::string>& devices) {
  std::set<std::int64_t> worked;
  for (const EventId event : trace.by_start()) {
    if (!is_device_work(trace.kind(event))) continue;
    run.has_device_work = true;
    worked.insert(device_number(trace.track(trace.events().track(event))));
  }
  for (const DeviceProperties& device : trace.device_properties()) {
    if (worked.contains(device.id) && !device.name.empty()) devices.insert(device.name);
  }
  const TraceIdentity identity = trace.identity();
  if (identity.world_size) run.world_size = identity.world_size;
  if (identity.start_ns)
    run.start_ns = std::min(*identity.start_ns, run.start_ns.value_or(INT64_MAX));
  for (const RecordedOptionState& option : recorded_options(trace)) {
    const std::string name(option.name);
    const bool is_new = std::ranges::find(run.options, name) == run.options.end();
    if ((option.was_on.value_or(false) || option.has_data) && is_new) run.options.push_back(name);
  }
  const bool is_damaged = std::ranges::any_of(
      trace.issues(), [](const Issue& issue) { return issue.severity == Severity::data_loss; });
  if (is_damaged) ++run.damaged;
}

std::array<std::vector<RunRow>, kDiffBys> rows_of(const std::array<KeySums, kDiffBys>& sums) {
  std::array<std::vector<RunRow>, kDiffBys> rows;
  for (std::size_t by = 0; by < kDiffBys; ++by) {
    for (const auto& [key, sum] : sums[by]) {
      RunRow& row = rows[by].emplace_back(RunRow{key, sum.ns, sum.count});
      std::int64_t most = -1;
      for (const auto& [origin, ns] : sum.origins) {
        if (ns <= most) continue;
        most = ns;
        std::tie(row.op, row.shapes) = origin;
      }
    }
  }
  return rows;
}

/// Where the work of a step still runs when the next step begins, its time counts for the next one,
/// so that no instant counts twice.
void cut_overlaps(std::vector<StepTime>& steps) {
  for (std::size_t step = 1; step < steps.size(); ++step) {
    StepTime& before = steps[step - 1];
    before.end_ns = std::max(before.start_ns, std::min(before.end_ns, steps[step].start_ns));
  }
}

}  // namespace

std::string_view diff_by_name(DiffBy by) {
  constexpr std::array<std::string_view, kDiffBys> kNames = {"part",   "operator", "shape",
                                                             "kernel", "module",   "line"};
  return kNames[place(by)];
}

std::optional<DiffBy> diff_by_named(std::string_view name) {
  for (std::size_t by = 0; by < kDiffBys; ++by) {
    if (diff_by_name(static_cast<DiffBy>(by)) == name) return static_cast<DiffBy>(by);
  }
  return std::nullopt;
}

double RunFigures::mean_step_ns() const {
  WideInteger sum = 0;
  for (const std::int64_t ns : step_ns) sum += ns;
  return mean_of_sum(sum, step_ns.size());
}

ArgumentSet diff_arguments() {
  return kOperatorArguments | kModuleArguments | kLineArguments | kRecordedOptionArguments |
         ArgumentSet{ArgumentGroup::placement, ArgumentGroup::copies, ArgumentGroup::allocations};
}

namespace {

struct PhaseSums {
  std::vector<std::int64_t> step_ns;
  std::array<KeySums, kDiffBys> rows;
  std::vector<RunPhaseRank> ranks;
};

}  // namespace

struct RunSum::Sums {
  RunFigures run;
  std::map<std::string, PhaseSums> phases;
  std::array<KeySums, kDiffBys> rows;
  Quantities quantities;
  std::set<std::string> devices;
};

RunSum::RunSum(std::string name) : sums_(std::make_unique<Sums>()) {
  sums_->run.name = std::move(name);
  sums_->run.has_steps = true;
}
RunSum::RunSum(RunSum&&) noexcept = default;
RunSum& RunSum::operator=(RunSum&&) noexcept = default;
RunSum::~RunSum() = default;

Status RunSum::add(const Trace& rank) {
  if (Status read = rank.check_read(diff_arguments(), "diff"); !read.ok()) return read;
  StepBreakdown breakdown = step_breakdown(rank, {.infer_steps = true});
  cut_overlaps(breakdown.steps);
  if (Status added = add_quantities(rank, breakdown, sums_->quantities); !added.ok()) return added;
  ++sums_->run.traces;
  for (const StepTime& step : breakdown.steps) {
    sums_->run.step_ns.push_back(step.duration_ns());
    if (step.is_whole_trace()) sums_->run.has_steps = false;
  }
  RowsOfTrace(rank, breakdown, sums_->rows).add();
  for (analyses::StepsOfPhase& phase : analyses::steps_of_phases(rank, breakdown)) {
    PhaseSums& sums = sums_->phases[phase.key];
    StepBreakdown of_phase = breakdown;
    of_phase.steps = std::move(phase.steps);
    for (const StepTime& step : of_phase.steps) sums.step_ns.push_back(step.duration_ns());
    RowsOfTrace(rank, of_phase, sums.rows).add();
    const TraceIdentity identity = rank.identity();
    phase.sums.rank = identity.rank.value_or(static_cast<std::int64_t>(sums_->run.traces) - 1);
    phase.sums.host = identity.host;
    sums.ranks.push_back(std::move(phase.sums));
  }
  add_circumstances(rank, sums_->run, sums_->devices);
  return {};
}

RunFigures RunSum::figures() const {
  RunFigures run = sums_->run;
  run.devices.assign(sums_->devices.begin(), sums_->devices.end());
  run.rows = rows_of(sums_->rows);
  for (const auto& [key, phase] : sums_->phases) {
    run.phases.push_back({key, phase.step_ns, rows_of(phase.rows), phase.ranks});
  }
  // In compiled code the first layer is not an operator of its own.
  const bool has_samples = !analyses::is_compiled(run);
  const auto ranks = static_cast<double>(std::max<std::size_t>(1, run.traces));
  for (const auto& [name, value] : sums_->quantities.sums) {
    if (name == "samples" && !has_samples) continue;
    run.quantities.push_back({name, value / ranks});
  }
  for (const auto& [name, value] : sums_->quantities.most) run.quantities.push_back({name, value});
  return run;
}

}  // namespace tbtrace
