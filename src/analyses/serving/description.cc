// What the table `serving` is, and its rows.
#include <utility>

#include <tbtrace/serving.h>
#include <tbtrace/tables.h>

#include "analyses/attribution/work_times.h"
#include "analyses/steps/breakdown.h"
#include "base/share.h"
#include "report/source_report.h"
#include "report/table_list.h"
#include "report/typed_columns.h"

namespace tbtrace {
namespace {

struct PhaseRow : ServingPhase {
  std::optional<std::int64_t> rank;
};

double per_step(const PhaseRow& row, double value) {
  return value / static_cast<double>(std::max<std::uint64_t>(row.steps, 1));
}

double launches_per_step(const PhaseRow& row) {
  return per_step(row, static_cast<double>(row.launches));
}

double communication_per_step(const PhaseRow& row) {
  return per_step(row, static_cast<double>(row.communication_ns));
}

std::optional<double> launch_mean_ns(const PhaseRow& row) {
  if (row.launches == 0) return std::nullopt;
  return static_cast<double>(row.launch_ns) / static_cast<double>(row.launches);
}

std::optional<std::string> kernel_of(const PhaseRow& row) {
  return row.kernel.empty() ? std::nullopt : std::optional(row.kernel);
}

std::optional<double> kernel_share_of(const PhaseRow& row) {
  if (row.kernels_total_ns == 0) return std::nullopt;
  return share(row.kernel_total_ns, row.kernels_total_ns);
}

using PhaseColumn = report::TypedColumn<PhaseRow>;
constexpr PhaseColumn kColumns[] = {
    PhaseColumn::of<&PhaseRow::rank>("rank", "from `distributedInfo`", 1),
    PhaseColumn::of<&ServingPhase::kind>(
        "kind",
        "`prefill`: all requests read their prompts; `decode`: all make tokens; `mixed`: some do "
        "the one, some the other; `draft`: the draft model of speculative decoding; `diffusion`; "
        "`idle`: a batch without requests; `unknown`: the "
        "step's name does not say it",
        2),
    PhaseColumn::of<&ServingPhase::requests>(
        "requests", "of each step, without padding; null by kind, and if the names do not say it",
        3),
    PhaseColumn::of<&ServingPhase::padded_requests>(
        "padded_requests", "the most that a step was padded to for its CUDA graph"),
    PhaseColumn::of<&ServingPhase::steps>("steps", "how many", 4),
    PhaseColumn::of<&ServingPhase::duration_ns>(
        "duration_ns",
        "of all of them; a step begins when the one before has ended on the device, and lasts "
        "until its own work there has ended"),
    PhaseColumn::of<&ServingPhase::duration_median_ns>(
        "duration_median_ns",
        "of a step; medians are, of an even number, the lower one of the two in the middle", 5),
    PhaseColumn::of<&ServingPhase::duration_p90_ns>("duration_p90_ns", "as numpy.percentile()"),
    PhaseColumn::of<&ServingPhase::duration_p99_ns>("duration_p99_ns", "the same", 6),
    PhaseColumn::of<&ServingPhase::tokens>(
        "tokens",
        "that the model processed in them, of speculative decoding also those that were rejected; "
        "null unless the names of all these steps say it"),
    PhaseColumn::of<&ServingPhase::tokens_per_s>(
        "tokens_per_s", "`tokens` by `duration_ns` and the gaps before these steps", 7),
    PhaseColumn::of<&ServingPhase::gpu_utilization>(
        "gpu_utilization",
        "share of the steps in which a kernel ran, 0 to 1; of several devices "
        "their mean",
        8),
    PhaseColumn::of<&ServingPhase::gap_median_ns>(
        "gap_median_ns",
        "from the end of the step before, of any kind; null if there is none before these", 9),
    PhaseColumn::of<&ServingPhase::host_median_ns>("host_median_ns",
                                                   "of the step's range on the host", 10),
    PhaseColumn::of<launches_per_step>(
        "launches_per_step", "calls that launched work; a CUDA graph is launched by one call", 11),
    PhaseColumn::of<launch_mean_ns>("launch_mean_ns", "of such a call", 12),
    PhaseColumn::of<communication_per_step>(
        "exposed_communication_ns",
        "a step: communication ran, and no other kernel and no memcpy; with waiting for other "
        "ranks",
        13),
    PhaseColumn::of<kernel_of>("kernel", "with the most time in these steps, by its short name",
                               14),
    PhaseColumn::of<kernel_share_of>("kernel_share", "its share of the time of all their kernels",
                                     15),
};

using PhaseTotal = report::TypedTotal<PhaseRow>;
constexpr PhaseTotal kTotals[] = {
    PhaseTotal::sum_of<[](const PhaseRow& row) { return static_cast<std::int64_t>(row.steps); }>(
        "steps", "of all rows"),
    PhaseTotal::sum_of<&ServingPhase::duration_ns>("duration_ns", "of all rows"),
};

std::string steady_text(const ServingPhases& phases) {
  if (!phases.steady) {
    return "No steady state was found: the batches of six steps in a row are never nearly as large "
           "as the largest. All steps are shown.";
  }
  return "Steady state: steps " + std::to_string(phases.steady->first) + " to " +
         std::to_string(phases.steady->last) + ", " +
         std::to_string(phases.steady->last - phases.steady->first + 1) + " of " +
         std::to_string(phases.steps) +
         " steps, the longest run whose batches are nearly as large as the largest.";
}

/// Kernels that communicate spin until the last rank has arrived.
std::string waiting_text(const std::vector<PhaseRow>& rows) {
  constexpr double kNotable = 0.1;
  std::string kinds;
  for (const PhaseRow& row : rows) {
    const bool is_notable = share(row.communication_ns, row.duration_ns) >= kNotable;
    if (is_notable && kinds.find(row.kind) == std::string::npos) {
      kinds += (kinds.empty() ? "" : ", ") + row.kind;
    }
  }
  if (kinds.empty()) return {};
  return "A tenth of the time or more is exposed communication (" + kinds +
         "), which lasts until the last rank has arrived; `tbtrace collectives` with the traces of "
         "all ranks says how much of it is waiting, and for whom.";
}

Result<AnalysisReport> serving_report(const Trace& trace, const OptionValues& values) {
  if (Status read = trace.check_read(analyses::serving_table().arguments, "serving"); !read.ok()) {
    return read;
  }
  const bool only_steady = values.text("window") == "steady";
  const StepBreakdown breakdown = step_breakdown(trace);
  const ServingPhases phases = serving_phases(trace, breakdown,
                                              {.by_batch = values.text("group_by") != "kind",
                                               .only_steady = only_steady,
                                               .steps = values.steps()});
  if (values.steps() && phases.phases.empty()) {
    // The reason is the same as for the table of steps.
    if (Result<AnalysisReport> steps = steps_report(trace, breakdown, values.steps());
        !steps.ok()) {
      return steps.status();
    }
  }
  AnalysisReport report;
  report.schema = analyses::serving_table().schema;
  std::vector<PhaseRow> rows;
  for (const ServingPhase& phase : phases.phases) rows.push_back({phase, trace.identity().rank});
  report::set_rows(report, kColumns, rows);
  report::set_totals<kTotals>(report, rows);
  report.notes = analyses::work_time_notes(trace);
  if (!rows.empty()) {
    if (only_steady) report.notes.push_back(steady_text(phases));
    for (std::string& text : analyses::left_out_steps_texts(breakdown)) {
      report.notes.push_back(std::move(text));
    }
    if (std::string text = waiting_text(rows); !text.empty()) {
      report.notes.push_back(std::move(text));
    }
    report.notes.emplace_back(
        "A trace has steps, not requests: the time to first token and the latency of a request "
        "are not in it.");
  }
  report.source = report::source_report(trace);
  return report;
}

}  // namespace

const TableDescription& analyses::serving_table() {
  static const TableDescription kTable = {
      .name = "serving",
      .schema = "tbtrace.serving/1",
      .summary = "prefill and decode of an inference engine: how long, and on what",
      .about =
          R"(What the steps of an inference engine did, by kind (prefill, decode, mixed) and batch size: how
long they took, tokens a second, how busy the GPU was, the gap before them, their launches, and
their largest kernel. Steps and kinds are known by the names that vLLM, SGLang, ATOM and
TensorRT-LLM give to their iterations.
)",
      .columns = report::described(kColumns),
      .totals = report::described(kTotals),
      .arguments = {ArgumentGroup::autograd},
      .options = {{.name = "group_by",
                   .spelling = "group-by",
                   .type = OptionType::choice,
                   .help = "a row per kind and number of requests, or per kind",
                   .value = "WHAT",
                   .otherwise = "batch",
                   .choices = {"batch", "kind"},
                   .is_first = true},
                  {.name = "window",
                   .spelling = "window",
                   .type = OptionType::choice,
                   .help = "all steps, or the longest run of large batches",
                   .value = "STEPS",
                   .otherwise = "all",
                   .choices = {"all", "steady"}},
                  steps_option()},
      .sort_keys = {"duration_ns", "duration_median_ns", "steps", "requests"},
      .examples = {{"tbtrace serving trace.json.gz", "each batch size of prefill and decode"},
                   {"tbtrace serving trace.json.gz --group-by kind", "prefill against decode"},
                   {"tbtrace serving traces/ --window steady --format csv -o serving.csv",
                    "the steady state of all ranks, for a spreadsheet"}},
      .no_rows = {"the trace has no iterations of vLLM, SGLang, ATOM or TensorRT-LLM that ran one "
                  "after the other on one thread, and ended"},
      .in_partials = InPartials::no,
      .make = serving_report};
  return kTable;
}

}  // namespace tbtrace
