#include "writers/summary/entries.h"

#include <utility>

#include "base/share.h"
#include "report/optional_cell.h"
#include "writers/summary/pages.h"

namespace tbtrace::writers {
namespace {

using report::optional_cell;
using report::text_cell;

using Members = std::vector<SummaryMember>;

/// Adds the entries of one trace to a part.
class EntriesOf {
 public:
  EntriesOf(SummaryPart& part, std::size_t trace, const TraceSummary& summary)
      : part_(part), trace_(trace), rank_(summary.run.identity.rank) {}

  void add(Cell name, Members members) {
    part_.entries.push_back({trace_, rank_, std::move(name), std::move(members)});
  }

 private:
  SummaryPart& part_;
  std::size_t trace_;
  std::optional<std::int64_t> rank_;
};

InnerList device_list(const RecordedRun& run) {
  InnerList list;
  for (const DeviceProperties& device : run.devices) {
    list.push_back({{"id", device.id},
                    {"name", device.name},
                    {"memory_bytes", optional_cell(device.memory_bytes)},
                    {"compute_major", optional_cell(device.compute_major)},
                    {"compute_minor", optional_cell(device.compute_minor)},
                    {"multiprocessors", optional_cell(device.multiprocessors)}});
  }
  return list;
}

InnerList recorded_list(const RecordedRun& run) {
  InnerList list;
  for (const RecordedOptionState& state : run.recorded) {
    std::vector<std::string> unlocks(state.unlocks.begin(), state.unlocks.end());
    list.push_back({{"option", std::string(state.name)},
                    {"data", std::string(state.data)},
                    {"was_on", state.was_on ? Cell(*state.was_on) : Cell()},
                    {"has_data", state.has_data},
                    {"is_missing", state.is_missing()},
                    {"unlocks", std::move(unlocks)}});
  }
  return list;
}

void add_recovered(const TraceSummary& summary, EntriesOf entries) {
  if (!summary.recovered) return;
  const RecoveredRecording& recovered = *summary.recovered;
  InnerList threads;
  for (const UnfinishedThread& thread : recovered.threads) {
    threads.push_back({{"thread", thread.thread},
                       {"ranges", thread.ranges},
                       {"ranges_left_out", thread.ranges_left_out},
                       {"start_ns", thread.start_ns},
                       {"open_ns", thread.open_ns}});
  }
  const std::optional<bool>& open = recovered.window_was_open;
  entries.add({}, {{"sentence", recovered_sentence(recovered)},
                   {"process_id", optional_cell(recovered.process_id)},
                   {"host", text_cell(recovered.host)},
                   {"last_sign_of_life_ns", optional_cell(recovered.last_sign_of_life_ns)},
                   {"last_sign_after_start_ns", optional_cell(recovered.last_sign_after_start_ns)},
                   {"window_was_open", open ? Cell(*open) : Cell()},
                   {"lost_records", recovered.lost_records},
                   {"unfinished_ranges", recovered.unfinished_ranges},
                   {"threads", std::move(threads)},
                   {"threads_left_out", recovered.threads_left_out}});
}

void add_run(const TraceSummary& summary, EntriesOf entries) {
  const RecordedRun& run = summary.run;
  if (summary.is_of_partial) {  // the rest is unknown
    entries.add({}, {{"input", run.input},
                     {"world_size", optional_cell(run.identity.world_size)},
                     {"host", run.identity.host},
                     {"process", run.identity.process},
                     {"window_ns", run.window_ns},
                     {"looked_for", summary.looked_for}});
    return;
  }
  Members members = {{"input", run.input},
                     {"world_size", optional_cell(run.identity.world_size)},
                     {"host", run.identity.host},
                     {"process", run.identity.process},
                     {"window_ns", run.window_ns},
                     {"ranges", run.ranges},
                     {"device_activities", run.device_activities},
                     {"options", run.options},
                     {"looked_for", summary.looked_for},
                     {"recorded", recorded_list(run)},
                     {"devices", device_list(run)}};
  if (run.steps) {
    members.push_back({"first_step", run.steps->first});
    members.push_back({"last_step", run.steps->last});
  }
  entries.add({}, std::move(members));
}

InnerList unfinished_list(const StepBreakdown& steps) {
  InnerList list;
  for (const UnfinishedStep& step : steps.unfinished_steps) {
    list.push_back(
        {{"name", step.name}, {"step", step.number}, {"duration_ns", step.duration_ns()}});
  }
  return list;
}

void add_steps(const TraceSummary& summary, EntriesOf entries) {
  const StepBreakdown& steps = summary.steps;
  if (steps.steps.empty()) return;
  const std::uint64_t count = steps.has_steps() ? steps.steps.size() : 0;
  if (summary.is_of_partial) {
    entries.add({}, {{"steps", count},
                     {"duration_ns", steps.mean_duration_ns()},
                     {"host_duration_ns", steps.mean_host_duration_ns()}});
    return;
  }
  Members members = {{"steps", count}, {"duration_ns", steps.mean_duration_ns()}};
  for (std::size_t role = 0; role < kStepRoles; ++role) {
    const auto which = static_cast<StepRole>(role);
    members.push_back({std::string(step_role_name(which)) + "_ns", steps.mean_ns(which)});
  }
  members.push_back({"host_duration_ns", steps.mean_host_duration_ns()});
  for (std::size_t phase = 0; phase < kStepPhases; ++phase) {
    const auto which = static_cast<StepPhase>(phase);
    members.push_back({std::string(step_phase_name(which)) + "_ns", steps.mean_ns(which)});
  }
  members.push_back({"unphased_ns", steps.mean_unphased_ns()});
  members.push_back({"dropped_steps", static_cast<std::uint64_t>(steps.dropped_steps)});
  if (!steps.unfinished_steps.empty()) members.push_back({"unfinished", unfinished_list(steps)});
  entries.add({}, std::move(members));
}

void add_slowest_step(const TraceSummary& summary, EntriesOf entries) {
  if (!summary.slowest_step) return;
  const SlowestStep& step = *summary.slowest_step;
  Members members = {{"name", step.name},
                     {"step", step.number},
                     {"duration_ns", step.duration_ns},
                     {"median_ns", step.median_ns},
                     {"part", text_cell(step.part)},
                     {"part_more_ns", step.part_more_ns},
                     {"range", text_cell(step.range)},
                     {"range_more_ns", step.range_more_ns},
                     {"compilation_ns", step.compilation_ns},
                     {"mean_of_others_ns", step.mean_of_others_ns}};
  if (!step.kind.empty()) members.push_back({"kind", step.kind});
  entries.add(step.name, std::move(members));
}

void add_operators(const TraceSummary& summary, EntriesOf entries) {
  for (const OperatorShare& row : summary.operators) {
    entries.add(row.name, {{"key", row.name},
                           {"count", row.count},
                           {"self_cpu_time_total_ns", row.self_cpu_time_total_ns},
                           {"self_device_time_total_ns", row.self_device_time_total_ns}});
  }
}

void add_kernels(const TraceSummary& summary, EntriesOf entries) {
  for (std::size_t at = 0; at < summary.kernels.groups.size(); ++at) {
    const KernelGroup& row = summary.kernels.groups[at];
    const KernelOrigin& origin = summary.kernel_origins[at];
    entries.add(row.short_name, {{"name", row.name},
                                 {"short_name", row.short_name},
                                 {"family", std::string(kernel_family_name(row.family))},
                                 {"count", row.count},
                                 {"total_ns", row.total_ns},
                                 {"mean_ns", row.mean_ns},
                                 {"operator", text_cell(origin.op)},
                                 {"input_shapes", text_cell(origin.input_shapes)},
                                 {"source_line", text_cell(origin.line)},
                                 {"module", text_cell(origin.module)},
                                 {"origin_count", origin.count},
                                 {"origin_ns", origin.total_ns}});
  }
}

void add_modules(const TraceSummary& summary, EntriesOf entries) {
  for (const ModuleShare& row : summary.modules) {
    entries.add(row.path, {{"path", row.path},
                           {"modules", row.modules},
                           {"calls", optional_cell(row.calls)},
                           {"device_time_total_ns", row.device_time_total_ns},
                           {"self_device_time_ns", row.self_device_time_ns},
                           {"backward_device_time_ns", row.backward_device_time_ns},
                           {"cpu_time_total_ns", row.cpu_time_total_ns},
                           {"self_cpu_time_ns", row.self_cpu_time_ns},
                           {"backward_cpu_time_ns", row.backward_cpu_time_ns}});
  }
}

void add_gpus(const TraceSummary& summary, EntriesOf entries) {
  for (const GpuUse& use : summary.gpus) {
    InnerList causes;
    for (const IdlePart& part : use.idle_causes) {
      causes.push_back({{"cause", std::string(idle_cause_name(part.cause))},
                        {"ns", part.ns},
                        {"share", share(part.ns, use.idle_ns)}});
    }
    entries.add(use.device, {{"device", use.device},
                             {"window_ns", use.window_ns},
                             {"busy_ns", use.busy_ns},
                             {"computation_ns", use.computation_ns},
                             {"exposed_communication_ns", use.exposed_communication_ns},
                             {"exposed_memory_ns", use.exposed_memory_ns},
                             {"idle_ns", use.idle_ns},
                             {"idle_causes", std::move(causes)},
                             {"idle_host_wait_ns", use.idle_host_wait_ns},
                             {"idle_kernel_wait_ns", use.idle_kernel_wait_ns},
                             {"idle_other_ns", use.idle_other_ns}});
  }
}

void add_memory(const TraceSummary& summary, EntriesOf entries) {
  for (const DevicePeak& device : summary.memory) {
    if (summary.is_of_partial) {
      entries.add(device.device, {{"device", report::device_cell(device.device)},
                                  {"device_name", device.device},
                                  {"peak_bytes", device.peak_bytes}});
      continue;
    }
    InnerList alive;
    for (const MemoryHolder& holder : device.alive) {
      alive.push_back({{"operator", holder.source.op},
                       {"module", holder.source.module},
                       {"bytes", holder.bytes}});
    }
    entries.add(device.device,
                {{"device", report::device_cell(device.device)},
                 {"device_name", device.device},
                 {"peak_bytes", device.peak_bytes},
                 {"peak_reserved_bytes", optional_cell(device.peak_reserved_bytes)},
                 {"growth_per_step_bytes", optional_cell(device.growth_per_step_bytes)},
                 {"alive", std::move(alive)}});
  }
}

void add_communication(const TraceSummary& summary, EntriesOf entries) {
  for (const GpuUse& use : summary.gpus) {
    if (use.communication_ns == 0) continue;
    entries.add(use.device, {{"device", use.device},
                             {"communication_ns", use.communication_ns},
                             {"overlap_ns", use.overlap_ns},
                             {"exposed_communication_ns", use.exposed_communication_ns}});
  }
}

void add_checks(const TraceSummary& summary, EntriesOf entries) {
  for (const CheckFinding& check : summary.checks) {
    entries.add(check.id, {{"id", check.id},
                           {"severity", std::string(check_severity_name(check.severity))},
                           {"count", check.count},
                           {"example", text_cell(check.example)},
                           {"cause", check.cause},
                           {"remedy", text_cell(check.remedy)}});
  }
}

SummaryPart findings_part(const std::vector<TraceSummary>& summaries) {
  SummaryPart part = {"findings", {}};
  for (const SharedFinding& shared : shared_findings(summaries)) {
    const Finding& finding = *shared.worst;
    InnerList evidence;
    for (const Evidence& each : finding.evidence) {
      evidence.push_back({{"what", each.what},
                          {"value", each.value},
                          {"unit", text_cell(each.unit)},
                          {"event", text_cell(each.event)},
                          {"start_ns", optional_cell(each.start_ns)},
                          {"end_ns", optional_cell(each.end_ns)}});
    }
    EntriesOf(part, shared.worst_summary, summaries[shared.worst_summary])
        .add(finding.id,
             {{"id", finding.id},
              {"severity", std::string(finding.severity())},
              {"title", finding.title},
              {"share", finding.comes_first ? Cell() : Cell(finding.share)},
              {"share_of", text_cell(finding.comes_first ? std::string_view()
                                                         : share_of_name(finding.share_of))},
              {"gain_ns", optional_cell(finding.gain_ns)},
              {"gain_per", text_cell(!finding.gain_ns           ? ""
                                     : finding.is_gain_per_step ? "step"
                                                                : "recording")},
              {"gain_how", text_cell(finding.gain_how)},
              {"part_of", text_cell(finding.part_of)},
              {"causes", finding.causes.empty() ? Cell() : Cell(finding.causes)},
              {"traces", static_cast<std::uint64_t>(shared.count)},
              {"evidence", std::move(evidence)},
              {"remedy", finding.remedy}});
  }
  return part;
}

void add_phases(const TraceSummary& summary, EntriesOf entries) {
  for (const ServingPhase& phase : summary.phases) {
    entries.add(phase.kind, {{"kind", phase.kind},
                             {"steps", phase.steps},
                             {"duration_ns", phase.duration_ns},
                             {"duration_median_ns", phase.duration_median_ns},
                             {"duration_p90_ns", phase.duration_p90_ns},
                             {"duration_p99_ns", phase.duration_p99_ns},
                             {"tokens", optional_cell(phase.tokens)},
                             {"tokens_per_s", optional_cell(phase.tokens_per_s())},
                             {"gpu_utilization", phase.gpu_utilization()},
                             {"gap_median_ns", optional_cell(phase.gap_median_ns)},
                             {"host_median_ns", phase.host_median_ns}});
  }
}

struct PartRule {
  std::string_view name;
  void (*add)(const TraceSummary& summary, EntriesOf entries);
};

// To add a part, add its rule here and describe it in docs/formats/summary.md.
constexpr PartRule kParts[] = {
    {"recovered", add_recovered},
    {"run", add_run},
    {"checks", add_checks},
    {"steps", add_steps},
    {"slowest_step", add_slowest_step},
    {"serving", add_phases},
    {"operators", add_operators},
    {"kernels", add_kernels},
    {"modules", add_modules},
    {"gpu", add_gpus},
    {"memory", add_memory},
    {"communication", add_communication},
};

}  // namespace

std::vector<SummaryPart> summary_entries(const std::vector<TraceSummary>& summaries) {
  std::vector<SummaryPart> parts;
  for (const PartRule& rule : kParts) {
    SummaryPart& part = parts.emplace_back(SummaryPart{rule.name, {}});
    for (std::size_t trace = 0; trace < summaries.size(); ++trace) {
      rule.add(summaries[trace], EntriesOf(part, trace, summaries[trace]));
    }
    if (part.name == "recovered" && part.entries.empty()) parts.pop_back();
  }
  parts.push_back(findings_part(summaries));
  return parts;
}

}  // namespace tbtrace::writers
