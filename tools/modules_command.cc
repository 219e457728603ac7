#include <optional>
#include <string>
#include <utility>

#include <tbtrace/compat.h>
#include <tbtrace/recorded_options.h>

#include "analysis_command.h"
#include "command.h"
#include "options.h"

namespace tbtrace::tools {
namespace {

constexpr const char* kAbout =
    "What the modules of a model cost, as a tree: calls, time on CPU and GPU, memory, "
    "multiply-adds "
    "and\n"
    "parameters. Backward passes count for the modules whose gradients they compute, and have\n"
    "columns of their own. Rows without the modules inside (self), and the row [unattributed], add "
    "up\n"
    "to the total.\n";

int run(const OptionParser& parser) {
  ModuleReportOptions options;
  const std::string& group_by = parser.text("group-by");
  if (group_by == "type") options.group_by = ModuleGrouping::type;
  if (group_by == "layer") options.group_by = ModuleGrouping::layer;
  const Result<std::optional<StepRange>> steps = chosen_steps(parser);
  if (!steps.ok()) return parser.wrong(steps.status().message());
  options.steps = *steps;
  if (parser.given("depth")) {
    const auto depth = whole_number(parser.text("depth"));
    if (!depth || *depth < 0) return parser.wrong("--depth takes a number from 0");
    options.depth = static_cast<std::size_t>(*depth);
  }
  if (parser.given("compat")) {
    for (const char* option : {"group-by", "depth", "steps", "sum-inputs"}) {
      if (!parser.given(option)) continue;
      return parser.wrong("--compat plugin and --" + std::string(option) + " exclude each other");
    }
    return run_analysis(
        {.name = "modules",
         .arguments = {ArgumentGroup::python},
         .nothing = "torch-tb-profiler shows no modules of the trace; docs/parity.md says when",
         .analyse = [](const Trace& trace) { return module_report(trace, Figures::plugin); }},
        parser);
  }
  return run_analysis(
      {.name = "modules",
       .arguments = kModuleArguments | kRecordedOptionArguments,
       .nothing = "the trace has no modules",
       .analyse = [&](const Trace& trace) { return module_report(trace, options); },
       .why_nothing = missing_modules_text,
       .remedy = "record with with_stack=True, or in C++ with attach()",
       .of_partial = [&](const Partial& partial) { return module_report(partial, options); },
       .sums = &PartialParts::modules,
       .steps = *steps},
      parser);
}

}  // namespace

Command modules_command() {
  std::vector<Option> rows = {
      {.name = "group-by",
       .value = "WHAT",
       .help = "module: the tree; type: classes; layer: repeated layers in one row",
       .otherwise = "module",
       .choices = {"module", "type", "layer"}},
      {.name = "depth", .value = "N", .help = "only N levels below the outermost modules"},
      sum_option(),
      steps_option(),
      compat_option("modules", "TOOL",
                    "plugin: the rows of torch-tb-profiler's Module or Lightning view")};
  return {
      .name = "modules",
      .summary = "what each module of the model cost, forward and backward",
      .usage = "[OPTIONS] INPUT...",
      .about = kAbout,
      .options = analysis_options(
          std::move(rows), {"device_time_total_ns", "self_device_time_ns", "cpu_time_total_ns",
                            "self_cpu_time_ns", "parameters", "macs"}),
      .examples = {{"tbtrace modules trace.json.gz",
                    "the model as a tree, with what each part cost"},
                   {"tbtrace modules trace.json.gz --depth 1 --row-limit -1", "its large parts"},
                   {"tbtrace modules trace.json.gz --group-by layer",
                    "repeated layers side by side: the fastest, the slowest"},
                   {"tbtrace modules trace.json.gz --sort-by self_device_time_ns",
                    "the modules that used the GPU most themselves"},
                   {"tbtrace modules trace.json.gz --steps 3-5 --format csv -o modules.csv",
                    "three steps, for a spreadsheet"}},
      .run = run,
  };
}

}  // namespace tbtrace::tools
