#include <string>
#include <utility>

#include <tbtrace/compat.h>

#include "analysis_command.h"
#include "command.h"
#include "options.h"

namespace tbtrace::tools {
namespace {

constexpr const char* kAbout =
    "What each step's time was spent on: by device (kernel, memcpy, communication, ...) and by "
    "phase\n"
    "of the host (forward, backward, optimizer, data). The parts by device add up to the step, "
    "which\n"
    "lasts until what it launched is done; the phases add up to its duration on the host.\n"
    "Steps are the ProfilerStep#N ranges of the recording; JSON and CSV have all parts.\n";

int run(const OptionParser& parser) {
  StepBreakdownOptions options;
  options.infer_steps = parser.flag("infer-steps");
  options.keep_tail_steps = parser.flag("keep-tail-steps");
  const Figures figures = chosen_figures(parser, "steps");
  const Result<std::optional<StepRange>> steps = chosen_steps(parser);
  if (!steps.ok()) return parser.wrong(steps.status().message());
  return run_analysis(
      {.name = "steps",
       .arguments = {ArgumentGroup::autograd},
       .nothing = "the trace has neither steps nor operators",
       .analyse = [&](const Trace& trace) -> Result<AnalysisReport> {
         StepBreakdown breakdown = *step_breakdown(trace, figures, options);
         const bool has_hint = !options.infer_steps && !breakdown.why_no_steps.empty();
         if (has_hint) breakdown.why_no_steps += " Add --infer-steps.";
         return steps_report(trace, breakdown, *steps);
       },
       .of_partial = [&](const Partial& partial) -> Result<AnalysisReport> {
         for (const char* const option : {"steps", "infer-steps", "keep-tail-steps", "compat"}) {
           if (!parser.given(option)) continue;
           return Status(StatusCode::invalid_argument,
                         "a partial has all steps of whole recordings; --" + std::string(option) +
                             " goes with traces");
         }
         return steps_report(partial);
       },
       .steps = *steps},
      parser);
}

}  // namespace

Command steps_command() {
  std::vector<Option> rows = {
      steps_option(),
      {.name = "infer-steps",
       .help =
           "take annotations such as `Iteration 7` and the iterations of vLLM, SGLang and other "
           "engines for steps if there are no others"},
      {.name = "keep-tail-steps", .help = "keep steps at the end whose kernels may be missing"},
      compat_option("steps", "WHO", "count as torch-tb-profiler (plugin)")};
  return {
      .name = "steps",
      .summary = "what each step's time was spent on",
      .usage = "[OPTIONS] INPUT...",
      .about = kAbout,
      .options = analysis_options(std::move(rows), {"duration_ns", "kernel_ns", "communication_ns",
                                                    "data_ns", "gpu_utilization", "number"}),
      .examples = {{"tbtrace steps trace.json.gz", "each step of a trace"},
                   {"tbtrace steps trace.json.gz --sort-by duration_ns --row-limit 5",
                    "the longest steps"},
                   {"tbtrace steps traces/ --steps 10-20 --format csv -o steps.csv",
                    "the same steps of all ranks, for a spreadsheet"},
                   {"tbtrace steps trace.json --infer-steps",
                    "steps that the program marked itself"}},
      .run = run,
  };
}

}  // namespace tbtrace::tools
