// The first page for people: at most a screen for one trace.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <tbtrace/report.h>
#include <tbtrace/summary.h>

#include "analyses/summary/detailed_summary.h"
#include "base/bounded_sum.h"
#include "base/share.h"
#include "base/utf8.h"
#include "report/device_word.h"
#include "report/optional_cell.h"
#include "writers/summary/findings_text.h"
#include "writers/summary/pages.h"
#include "writers/tables/report_table.h"

namespace tbtrace {
namespace {

constexpr std::size_t kMostRanks = 20;

std::string cell(std::string_view column, const Cell& value) {
  return writers::shown_cell(column, value);
}

/// Rows of a part of a page: a name, then values. The columns are aligned.
class Part {
 public:
  Part(std::size_t width, std::vector<std::string> columns) : width_(width) {
    table_.columns = std::move(columns);
  }

  void add(std::vector<Cell> row) { table_.rows.push_back(std::move(row)); }

  /// Empty without rows. `below`: by row, lines that follow it.
  std::string text(std::span<const std::string> below = {}) const {
    return writers::report_table(table_, table_.columns, {.width = width_}, nullptr, below);
  }

 private:
  std::size_t width_;
  Table table_;
};

void add_part(std::string& page, const std::string& text) {
  if (!text.empty()) page += "\n" + text;
}

std::string joined(const std::vector<std::string>& texts) {
  std::string all;
  for (const std::string& text : texts) all += (all.empty() ? "" : ", ") + text;
  return all;
}

/// What a column of times is ordered by: `operators by GPU time`.
std::string by_time(const char* what, const TraceSummary& summary, bool by_device,
                    const char* own) {
  const std::string_view word =
      by_device ? report::device_word(summary.run.device_type) : std::string_view("CPU");
  return std::string(what) + " by " + own + std::string(word) + " time";
}

/// `GPU 0`, `MTIA 9`.
std::string numbered_device(std::optional<DeviceType> type, const std::string& number) {
  return std::string(report::device_word(type)) + " " + number;
}

std::string device_text(const DeviceProperties& device, std::optional<DeviceType> type) {
  std::string text =
      device.name.empty() ? numbered_device(type, std::to_string(device.id)) : device.name;
  if (device.memory_bytes) text += " (" + cell("memory_bytes", *device.memory_bytes) + ")";
  return text;
}

bool lost_all_kernels(const TraceSummary& summary) {
  return summary.run.device_activities == 0 &&
         std::ranges::find(summary.checks, "launches_without_kernels", &CheckFinding::id) !=
             summary.checks.end();
}

std::string heading(const TraceSummary& summary) {
  const RecordedRun& run = summary.run;
  std::vector<std::string> facts;
  if (run.identity.rank) {
    std::string rank = "rank " + std::to_string(*run.identity.rank);
    if (run.identity.world_size) rank += " of " + std::to_string(*run.identity.world_size);
    facts.push_back(std::move(rank));
  }
  if (!run.identity.host.empty()) facts.push_back("host " + run.identity.host);
  if (run.device_activities > 0) {
    for (const DeviceProperties& device : run.devices)
      facts.push_back(device_text(device, run.device_type));
  } else {
    facts.emplace_back(lost_all_kernels(summary) ? "GPU activities were lost"
                                                 : "no GPU activities");
  }
  facts.push_back(cell("window_ns", run.window_ns) + " recorded");
  if (run.steps) facts.push_back("here only " + steps_text(*run.steps));
  if (!run.options.empty()) facts.push_back("with " + joined(run.options));
  const std::string input = run.input.empty() ? "" : run.input + ": ";
  return cell("text", input + joined(facts)) + "\n";
}

std::string recorded_part(const RecordedRun& run) {
  std::string text;
  for (const std::string& line : recorded_lines(run.recorded)) text += line + "\n";
  return text;
}

/// The mean step by phase, with the part of each.
std::string steps_part(const StepBreakdown& steps, std::size_t width) {
  if (steps.steps.empty()) return {};
  const double whole = steps.mean_host_duration_ns();
  const std::size_t all = steps.steps.size() + steps.dropped_steps;
  std::string first = "no steps: all operators";
  if (steps.has_steps()) {
    first = "mean of " + std::to_string(steps.steps.size());
    if (steps.dropped_steps > 0) first += " of " + std::to_string(all);
    first += all == 1 ? " step" : " steps";
  }
  Part part(width, {first, "time_ns", "share"});
  part.add({std::string("on the host"), whole, {}});
  const double with_gpu = steps.mean_duration_ns();
  if (with_gpu != whole) part.add({std::string("with its GPU activities"), with_gpu, {}});
  for (std::size_t phase = 0; phase < kStepPhases; ++phase) {
    const double mean = steps.mean_ns(static_cast<StepPhase>(phase));
    if (mean == 0) continue;
    part.add({std::string(step_phase_name(static_cast<StepPhase>(phase))), mean, mean / whole});
  }
  const double unphased = steps.mean_unphased_ns();
  if (unphased >= 1) part.add({std::string("no phase"), unphased, unphased / whole});
  return part.text();
}

/// Prefill and decode of an inference engine.
std::string phases_part(const std::vector<ServingPhase>& phases, std::size_t width) {
  Part part(width, {"kind of step", "steps", "duration_median_ns", "duration_p99_ns",
                    "tokens_per_s", "gpu_utilization", "gap_median_ns"});
  for (const ServingPhase& phase : phases) {
    part.add({phase.kind, phase.steps, phase.duration_median_ns, phase.duration_p99_ns,
              report::optional_cell(phase.tokens_per_s()), phase.gpu_utilization(),
              report::optional_cell(phase.gap_median_ns)});
  }
  return part.text();
}

std::string left_out_steps_part(const StepBreakdown& steps) {
  constexpr std::size_t kMost = 3;
  std::string text;
  if (steps.dropped_steps > 0) text += cell("text", dropped_steps_text(steps)) + "\n";
  for (const UnfinishedStep& step : steps.unfinished_steps) {
    if (&step - steps.unfinished_steps.data() == kMost) break;
    text += cell("text", unfinished_step_text(step)) + "\n";
  }
  return text;
}

std::string slowest_step_part(const TraceSummary& summary) {
  if (!summary.slowest_step) return {};
  const SlowestStep& step = *summary.slowest_step;
  const double more =
      share(step.duration_ns - step.median_ns, std::max<std::int64_t>(step.median_ns, 1));
  constexpr double kNotable = 0.10;  // below this, it is normal variation
  if (more < kNotable) return {};
  std::string text = "slowest " + (step.kind.empty() ? "" : step.kind + " ") +
                     "step: " + std::to_string(step.number) + ", " +
                     cell("time_ns", step.duration_ns) + ", " + cell("share", more) +
                     " above the median of " + cell("time_ns", step.median_ns);
  const double compiling = share(step.compilation_ns, std::max<std::int64_t>(step.duration_ns, 1));
  // At least half of what it is longer than the median.
  if (step.compilation_ns >= (step.duration_ns - step.median_ns + 1) / 2) {
    text += "; " + cell("share", compiling) + " of it is compilation and autotuning";
  } else if (!step.part.empty()) {
    text += "; above their own medians: the time of " + step.part + " by " +
            cell("time_ns", step.part_more_ns);
    if (!step.range.empty()) {
      text += ", the self time of " + step.range + " by " + cell("time_ns", step.range_more_ns);
    }
  }
  constexpr double kDominates = 1;  // twice the median
  if (more >= kDominates) {
    text += "; the mean of the other steps is " + cell("time_ns", step.mean_of_others_ns);
  }
  return cell("text", text) + "\n";
}

std::string gpu_part(const TraceSummary& summary, std::size_t width) {
  if (summary.gpus.empty()) return {};
  const GpuUse all = writers::all_devices(summary);
  const std::string first =
      summary.gpus.size() == 1
          ? numbered_device(summary.run.device_type, std::to_string(summary.gpus.front().device))
          : std::to_string(summary.gpus.size()) + " " +
                std::string(report::device_word(summary.run.device_type)) + "s";
  Part part(width, {first, "time_ns", "share"});
  const auto add = [&](const char* name, std::int64_t ns, bool always) {
    if (always || ns > 0) {
      part.add({std::string(name), ns, share(ns, all.window_ns)});
    }
  };
  add("computation", all.computation_ns, true);
  add("exposed communication", all.exposed_communication_ns, false);
  add("exposed memory", all.exposed_memory_ns, false);
  if (all.idle_causes.empty()) add("idle", all.idle_ns, false);
  std::int64_t small = 0;
  std::size_t small_causes = 0;
  for (const IdlePart& cause : all.idle_causes) {
    constexpr double kSmall = 0.005;
    const std::string name = "idle: " + std::string(idle_cause_label(cause.cause));
    if (share(cause.ns, all.window_ns) >= kSmall || &cause == &all.idle_causes.front()) {
      add(name.c_str(), cause.ns, false);
    } else {
      add_bounded(small, cause.ns);
      ++small_causes;
    }
  }
  if (small_causes > 0) add("idle: other causes", small, false);
  return part.text();
}

std::string operators_part(const TraceSummary& summary, std::size_t width) {
  const bool by_device = summary.self_device_time_total_ns > 0;
  const std::int64_t all =
      by_device ? summary.self_device_time_total_ns : summary.self_cpu_time_total_ns;
  Part part(width, {by_time("operators", summary, by_device, by_device ? "" : "self "), "count",
                    by_device ? "self_device_ns" : "self_cpu_ns", "share"});
  for (const OperatorShare& row : summary.operators) {
    const std::int64_t ns = by_device ? row.self_device_time_total_ns : row.self_cpu_time_total_ns;
    part.add({row.name, row.count, ns, share(ns, all)});
  }
  if (by_device && summary.unowned_device_time_ns > 0) {
    part.add({std::string("[no operator]"),
              {},
              summary.unowned_device_time_ns,
              share(summary.unowned_device_time_ns, all)});
  }
  return part.text();
}

/// `aten::mm [[32, 64], [64, 10]], train.py(46): forward, in net.fc`; empty if nothing is known.
std::string origin_text(const KernelOrigin& origin, std::int64_t total_ns) {
  constexpr std::size_t kMostShapes = 60;
  if (origin.op.empty() && origin.line.empty() && origin.module.empty()) return {};
  std::string text = cell("share", share(origin.total_ns, total_ns)) + " from " +
                     (origin.op.empty() ? "no known operator" : origin.op);
  if (!origin.input_shapes.empty()) {
    text += " " + std::string(utf8_prefix(origin.input_shapes, kMostShapes));
    if (origin.input_shapes.size() > kMostShapes) text += "...";
  }
  if (!origin.line.empty()) text += ", " + origin.line;
  if (!origin.module.empty()) text += ", in " + origin.module;
  return cell("text", "    " + text) + "\n";
}

/// A row for each kernel, and below it a line for where most of its time came from.
std::string kernels_part(const TraceSummary& summary, std::size_t width) {
  const KernelSummary& kernels = summary.kernels;
  Part part(width, {"kernels", "count", "total_ns", "share", "mean_ns"});
  std::vector<std::string> origins;
  for (std::size_t at = 0; at < kernels.groups.size(); ++at) {
    const KernelGroup& group = kernels.groups[at];
    part.add({group.short_name, group.count, group.total_ns,
              share(group.total_ns, kernels.all.total_ns), group.mean_ns});
    origins.push_back(origin_text(summary.kernel_origins[at], group.total_ns));
  }
  return part.text(origins);
}

std::string modules_part(const TraceSummary& summary, std::size_t width) {
  const ModuleCost& all = summary.all_modules;
  const bool by_device = all.device_time_total_ns > 0;
  Part part(width, {by_time("modules", summary, by_device, "their own "), "modules",
                    by_device ? "self_device_ns" : "self_cpu_ns", "share"});
  for (const ModuleShare& row : summary.modules) {
    const std::int64_t ns = by_device ? row.self_device_time_ns : row.self_cpu_time_ns;
    part.add({row.path, row.modules, ns,
              share(ns, by_device ? all.device_time_total_ns : all.cpu_time_total_ns)});
  }
  return part.text();
}

std::string memory_part(const TraceSummary& summary, std::size_t width) {
  Part part(width, {"memory peak, and who held it", "size_bytes", "share"});
  for (const DevicePeak& device : summary.memory) {
    part.add({device.device, device.peak_bytes, {}});
    for (const MemoryHolder& holder : device.alive) {
      if (holder.bytes == 0) continue;
      part.add({"  " + holder.source.op, holder.bytes, share(holder.bytes, device.peak_bytes)});
    }
  }
  const std::string& why = summary.unknown_memory;
  return part.text() + (why.empty() ? "" : cell("text", why) + "\n");
}

/// `, in 3 of 8 traces`; empty for one trace.
std::string in_traces(std::string_view check, const std::vector<TraceSummary>& summaries) {
  if (summaries.size() == 1) return {};
  const auto with = std::ranges::count_if(summaries, [&](const TraceSummary& summary) {
    return std::ranges::find(summary.checks, check, &CheckFinding::id) != summary.checks.end();
  });
  return ", in " + std::to_string(with) + " of " + std::to_string(summaries.size()) + " traces";
}

/// What a process that died was doing then; empty for another trace.
std::string recovered_text(const TraceSummary& summary, const std::string& name) {
  if (summary.recovered) {
    const RecoveredRecording& recovered = *summary.recovered;
    std::string text = cell("text", name + recovered_sentence(recovered) + " [recovered_trace].");
    const bool are_known = recovered.lost_records == 0;
    text += recovered.threads.empty() ? "\n"
            : are_known               ? " What it was doing then:\n"
                                      : " Ranges without an end:\n";
    for (const UnfinishedThread& thread : recovered.threads) {
      text += cell("text", "    " + thread.thread + ": " + unfinished_chain(thread) +
                               " (open for at least " + cell("open_ns", thread.open_ns) + ")") +
              "\n";
    }
    if (const std::uint64_t more = recovered.threads_left_out; more > 0) {
      text +=
          "    and " + std::to_string(more) + (more == 1 ? " more thread\n" : " more threads\n");
    }
    return text + cell("text", "    -> " + recovered_remedy(recovered)) + "\n\n";
  }
  const auto check = std::ranges::find(summary.checks, kRecoveredTrace, &CheckFinding::id);
  if (check == summary.checks.end()) return {};
  std::string text = cell("text", name + check->cause + " [recovered_trace].");
  text += check->example.empty() ? "\n" : " What it was doing then:\n    ";
  if (!check->example.empty()) text += cell("text", check->example) + "\n";
  return text + cell("text", "    -> " + check->remedy) + "\n\n";
}

/// Of those traces whose processes died.
std::string recovered_part(const std::vector<TraceSummary>& summaries) {
  constexpr std::size_t kMost = 5;
  const std::vector<std::string> names = writers::names_of(summaries);
  std::string text;
  std::size_t all = 0;
  for (std::size_t at = 0; at < summaries.size(); ++at) {
    std::string one = recovered_text(summaries[at], summaries.size() > 1 ? names[at] + ": " : "");
    if (!one.empty() && ++all <= kMost) text += one;
  }
  if (all > kMost) {
    text += "And " + std::to_string(all - kMost) + " more of the traces were recovered.\n\n";
  }
  return text;
}

/// A line for each, and one for what to do. Those of several traces are shown once.
std::string checks_part(const std::vector<TraceSummary>& summaries) {
  std::string text;
  std::set<std::string_view> shown;
  for (const CheckSeverity severity : {CheckSeverity::error, CheckSeverity::warning}) {
    for (const TraceSummary& summary : summaries) {
      for (const CheckFinding& check : summary.checks) {
        if (check.severity != severity || !shown.insert(check.id).second) continue;
        std::string line = std::string(check_severity_name(severity)) + ": ";
        line += check.cause + " [" + check.id + ", " + std::to_string(check.count) + " x" +
                in_traces(check.id, summaries) + "]";
        text += cell("text", line) + "\n";
        if (!check.remedy.empty()) text += cell("text", "    -> " + check.remedy) + "\n";
      }
    }
  }
  return text;
}

std::vector<Cell> line_of(const TraceSummary& summary, const std::string& name) {
  const GpuUse gpu = writers::all_devices(summary);
  const auto of_window = [&](std::int64_t ns) {
    return summary.gpus.empty() ? Cell() : Cell(share(ns, gpu.window_ns));
  };
  std::int64_t peak = 0;
  for (const DevicePeak& device : summary.memory) peak = std::max(peak, device.peak_bytes);
  const bool has_steps = summary.steps.has_steps();
  const Cell mean = has_steps ? Cell(summary.steps.mean_duration_ns()) : Cell();
  return {name,
          static_cast<std::uint64_t>(has_steps ? summary.steps.steps.size() : 0),
          mean,
          of_window(gpu.busy_ns),
          peak == 0 ? Cell() : Cell(peak),
          summary.findings.empty() ? Cell() : Cell(summary.findings.front().id),
          of_window(gpu.idle_ns),
          of_window(gpu.exposed_communication_ns)};
}

/// A line each, in the order of the inputs: who is slow in a job whose steps wait for each other,
/// the mean step does not say.
std::string lines_of(const std::vector<TraceSummary>& summaries,
                     const SummaryTextOptions& options) {
  const std::vector<std::string> names = writers::names_of(summaries);
  Table table;
  table.columns = {"trace",
                   "steps",
                   "mean_step_ns",
                   "gpu_busy_share",
                   "memory_peak_bytes",
                   "first finding",
                   "idle_share",
                   "exposed_communication_share"};
  for (std::size_t at = 0; at < std::min(summaries.size(), kMostRanks); ++at) {
    table.rows.push_back(line_of(summaries[at], names[at]));
  }
  return writers::report_table(table, table.columns,
                               {.width = options.width,
                                .hidden_rows = summaries.size() - table.rows.size(),
                                .column_hint = options.how_to_show_all_columns});
}

/// Which trace the rest of the page is about, and why.
std::string detail_heading(const std::vector<TraceSummary>& summaries,
                           const analyses::DetailedSummary& detailed) {
  const std::string name = writers::names_of(summaries)[detailed.at];
  const char* why = ", the first trace";
  if (detailed.reason == analyses::DetailReason::straggler) why = ", which holds up the job";
  if (detailed.reason == analyses::DetailReason::pause) why = ", which held up the job once";
  if (detailed.reason == analyses::DetailReason::died) {
    why = ", which was being recorded when the process ended";
  }
  return cell("text", "In detail: " + name + why) + "\n\n";
}

/// Of inputs that are all partials.
std::string partial_page(const std::vector<TraceSummary>& summaries) {
  std::string page;
  if (summaries.size() == 1) {
    const RecordedRun& run = summaries.front().run;
    page +=
        cell("text", run.input + ": " + cell("window_ns", run.window_ns) + " recorded") + "\n\n";
  }
  page +=
      "From partials, which do not have the page of each trace: `tbtrace summary TRACE` makes "
      "it.\n";
  add_part(page, checks_part(summaries));
  return page + writers::findings_text(summaries);
}

}  // namespace

std::string summary_text(const std::vector<TraceSummary>& summaries,
                         const SummaryTextOptions& options) {
  if (summaries.empty()) return {};
  const analyses::DetailedSummary detailed =
      analyses::detailed_summary(summaries, options.stragglers);
  const TraceSummary& summary = summaries[detailed.at];
  const std::size_t width = options.width;
  std::string page = recovered_part(summaries);
  if (summaries.size() > 1) {
    page += lines_of(summaries, options) + "\n";
    if (options.stragglers) {
      for (const std::string& line : straggler_lines(*options.stragglers)) page += line + "\n";
      const std::string bubbles = bubble_text(options.stragglers->waits);
      if (!bubbles.empty()) page += bubbles + "\n";
      page += "\n";
    }
    if (!summary.is_of_partial) page += detail_heading(summaries, detailed);
  }
  if (summary.is_of_partial) return wrapped_text(page + partial_page(summaries), width);
  page += heading(summary) + recorded_part(summary.run);
  add_part(page, checks_part(summaries));
  add_part(page, steps_part(summary.steps, width));
  add_part(page, left_out_steps_part(summary.steps));
  add_part(page, phases_part(summary.phases, width));
  add_part(page, slowest_step_part(summary));
  add_part(page, gpu_part(summary, width));
  add_part(page, operators_part(summary, width));
  add_part(page, kernels_part(summary, width));
  add_part(page, modules_part(summary, width));
  add_part(page, memory_part(summary, width));
  return wrapped_text(page + writers::findings_text(summaries), width);
}

}  // namespace tbtrace
