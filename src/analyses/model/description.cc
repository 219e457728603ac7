// The table `model`: what it is, and the figures as its rows.
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include <tbtrace/model.h>
#include <tbtrace/tables.h>

#include "analyses/flops/peak_option.h"
#include "report/optional_cell.h"
#include "report/source_report.h"
#include "report/table_list.h"

namespace tbtrace {
namespace {

/// A sentence for each reason why figures are not recorded.
std::vector<std::string> reasons_of(const std::vector<ModelFigure>& figures) {
  std::vector<std::pair<std::string, std::string>> names_of;  // by reason
  for (const ModelFigure& figure : figures) {
    if (figure.how != FigureOrigin::not_recorded) continue;
    auto found =
        std::ranges::find(names_of, figure.note, &std::pair<std::string, std::string>::first);
    if (found == names_of.end()) found = names_of.insert(found, {figure.note, {}});
    std::string& names = found->second;
    // Of several devices once.
    if (!names.ends_with(figure.name)) names += (names.empty() ? "" : ", ") + figure.name;
  }
  std::vector<std::string> reasons;
  reasons.reserve(names_of.size());
  for (const auto& [reason, names] : names_of) {
    reasons.push_back("not recorded: " + names + ": " + reason);
  }
  return reasons;
}

}  // namespace

const TableDescription& analyses::model_table() {
  static const TableDescription kTable = {
      .name = "model",
      .schema = "tbtrace.model/1",
      .summary = "the model: parameters, operations, memory, latency, throughput, MFU",
      .about =
          R"(What the model costs, as far as the trace knows: parameters and size, multiply-adds and FLOPs of
a step, memory, latency, throughput and how much of the device's peak it reaches. Each figure says
whether it was measured, counted or estimated; one that was not recorded says what to turn on.
)",
      .columns = columns_in(R"(
rank | integer or null | from `distributedInfo`
figure | text | which one, with its unit as in column names: `latency_mean_ns`, `model_bytes`
device | integer or null | of memory: the device's number; null for the host
device_name | text or null | of memory: `cuda:0`
value | number or null | null if it is not recorded
how | text | `measured`, `counted`, `estimated` or `not_recorded`
note | text or null | where it comes from, what it leaves out, or what to record
)"),
      .totals = columns_in(R"(
recorded | integer | rows with a value
)"),
      .arguments = kModelArguments,
      .options =
          {steps_option(),
           {.name = "samples_per_step",
            .spelling = "samples-per-step",
            .type = OptionType::whole,
            .help = "samples of a step, such as its images (default: what its first layer takes)",
            .value = "N"},
           analyses::peak_flops_option()},
      .examples = {{"tbtrace model trace.json.gz", "what the model costs"},
                   {"tbtrace model trace.json.gz --samples-per-step 256",
                    "throughput with 256 images a step"},
                   {"tbtrace model trace.json.gz --format json", "for a script"}},
      .no_rows = {"the trace has no figures"},
      .make = [](const Trace& trace, const OptionValues& values) {
        return model_report(
            trace,
            {.steps = values.steps(),
             .samples_per_step = values.whole("samples_per_step"),
             .peak_flops_per_s = values.number("peak_flops_per_s"),
             .how_to_set_the_peak = values.of_command_line ? "give it as --peak-tflops"
                                                           : "give it as peak_flops_per_s",
             .how_to_set_the_samples = values.of_command_line ? "give it as --samples-per-step"
                                                              : "give it as samples_per_step"});
      }};
  return kTable;
}

Result<AnalysisReport> model_report(const Trace& trace, const ModelOptions& options) {
  const TableDescription& table = analyses::model_table();
  if (Status read = trace.check_read(table.arguments, table.name); !read.ok()) return read;
  Result<std::vector<ModelFigure>> figures = model_figures(trace, options);
  if (!figures.ok()) return figures.status();
  AnalysisReport report;
  report.schema = table.schema;
  report.table.columns = table.column_names();
  report.shown = {"rank", "figure", "device_name", "value", "how", "note"};
  report.named_values = {.name = "figure", .value = "value"};
  const Cell rank = report::optional_cell(trace.identity().rank);
  for (const ModelFigure& figure : *figures) {
    report.table.rows.push_back({rank, figure.name, report::device_cell(figure.device),
                                 report::text_cell(figure.device), figure.value,
                                 std::string(figure_origin_name(figure.how)),
                                 report::text_cell(figure.note)});
  }
  report.totals = {{"recorded", static_cast<std::uint64_t>(
                                    std::ranges::count_if(*figures, [](const ModelFigure& figure) {
                                      return figure.how != FigureOrigin::not_recorded;
                                    }))}};
  report.notes = reasons_of(*figures);
  report.source = report::source_report(trace);
  return report;
}

}  // namespace tbtrace
