#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <tbtrace/compat.h>

#include "analysis_command.h"
#include "command.h"
#include "options.h"

namespace tbtrace::tools {
namespace {

constexpr const char* kAbout =
    "Kernels by name, launch configuration, operator, family or label: how many ran, for how "
    "long,\n"
    "and how long after the call that launched them. Rows add up to the time of all kernels.\n"
    "Memcpys and memsets are not kernels; the totals have their time. A label is what the program\n"
    "called a part of a CUDA graph (torch.cuda.graph_annotations.mark_kernels).\n";

/// `name`, or a list such as `family,device`. nullopt if a part is unknown or two of the first five
/// are given.
std::optional<KernelsOptions> grouping(std::string_view text) {
  KernelsOptions options;
  int kinds = 0;
  while (true) {
    const std::size_t comma = text.find(',');
    const std::string_view part = text.substr(0, comma);
    if (part == "device") {
      options.by_device = true;
    } else if (part == "stream") {
      options.by_stream = true;
    } else {
      ++kinds;
      if (part == "launch") {
        options.group_by = KernelGrouping::launch;
      } else if (part == "operator") {
        options.group_by = KernelGrouping::op;
      } else if (part == "family") {
        options.group_by = KernelGrouping::family;
      } else if (part == "label") {
        options.group_by = KernelGrouping::label;
      } else if (part != "name") {
        return std::nullopt;
      }
    }
    if (comma == std::string_view::npos) break;
    text.remove_prefix(comma + 1);
  }
  return kinds <= 1 ? std::optional(options) : std::nullopt;
}

int run(const OptionParser& parser) {
  std::optional<KernelsOptions> options = grouping(parser.text("group-by"));
  if (!options) {
    return parser.wrong(
        "--group-by takes name, launch, operator, family or label, and after a comma device or "
        "stream");
  }
  const Result<std::optional<StepRange>> steps = chosen_steps(parser);
  if (!steps.ok()) return parser.wrong(steps.status().message());
  options->steps = *steps;
  const Figures figures = chosen_figures(parser, "kernels");
  const bool per_event = parser.flag("per-event");
  if (per_event && figures == Figures::plugin) {
    return parser.wrong("--per-event and --compat plugin exclude each other");
  }
  if (parser.flag("sum-inputs") && (per_event || parser.given("compat"))) {
    return parser.wrong("--sum-inputs goes without --per-event and --compat");
  }
  if (per_event && parser.given("group-by")) {
    return parser.wrong("--per-event and --group-by exclude each other");
  }
  return run_analysis(
      {.name = "kernels",
       .arguments = {ArgumentGroup::launches, ArgumentGroup::placement, ArgumentGroup::graphs},
       .nothing = per_event ? "the trace has no kernels with a launch" : "the trace has no kernels",
       .analyse =
           [&](const Trace& trace) {
             return per_event ? kernel_launch_report(trace, figures, *options)
                              : kernel_report(trace, figures, *options);
           },
       .why_nothing = missing_device_text,
       .remedy = kRecordDevices,
       .of_partial =
           [&](const Partial& partial) {
             if (per_event) return Result<AnalysisReport>(no_events_in_partial());
             return in_figures(figures, [&](const Partial& exact) {
               return kernel_report(exact, *options);
             })(partial);
           },
       .sums = &PartialParts::kernels,
       .steps = *steps},
      parser);
}

}  // namespace

Command kernels_command() {
  std::vector<Option> rows = {
      {.name = "group-by",
       .value = "WHAT",
       .help = "what a row is of; `,device` or `,stream` after it splits rows further",
       .otherwise = "name",
       .choices = {"name", "launch", "operator", "family", "label"},
       .takes_others = true},
      {.name = "per-event", .help = "one row per kernel, with the call that launched it"},
      sum_option(),
      steps_option(),
      compat_option("kernels", "TOOL",
                    "count as torch-tb-profiler (plugin) or HolisticTraceAnalysis (hta)")};
  return {
      .name = "kernels",
      .summary = "kernels: how many, how long, how long after their launch",
      .usage = "[OPTIONS] INPUT...",
      .about = kAbout,
      .options = analysis_options(
          std::move(rows), {"total_ns", "count", "mean_ns", "max_ns", "launch_delay_mean_ns"}),
      .examples = {{"tbtrace kernels trace.json.gz", "the kernels that took longest"},
                   {"tbtrace kernels trace.json.gz --group-by family", "what kind of work they do"},
                   {"tbtrace kernels trace.json.gz --group-by launch --steps 3-5",
                    "by launch configuration and operator, in three steps"},
                   {"tbtrace kernels trace.json.gz --per-event --sort-by launch_delay_ns",
                    "the kernels that waited longest after their launch"},
                   {"tbtrace kernels ranks/ --sum-inputs", "the kernels of all ranks together"},
                   {"tbtrace kernels trace.json.gz --format csv -o kernels.csv",
                    "for a spreadsheet, with whole names"}},
      .run = run,
  };
}

}  // namespace tbtrace::tools
