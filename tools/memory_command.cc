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
    "How much memory each device had allocated, what held it at the peak, and how it grew. Needs "
    "a\n"
    "trace that was recorded with profile_memory. Views:\n"
    "  peak         a row per device: the peak, the reserved memory, the growth per step\n"
    "  alive        what was allocated at the peak, by operator, module and line; the bytes add "
    "up\n"
    "               to the peak, and the categories are estimated\n"
    "  curve        a row per allocation or free: the allocated and reserved bytes after it\n"
    "  allocations  a row per allocation: who allocated it, and when it was freed\n"
    "With --compat plugin, alive and peak show the statistics of torch-tb-profiler's memory view,\n"
    "curve and allocations its curve and its events.\n";

MemoryView view_named(const std::string& name) {
  if (name == "alive") return MemoryView::alive;
  if (name == "curve") return MemoryView::curve;
  if (name == "allocations") return MemoryView::allocations;
  return MemoryView::peak;
}

int run(const OptionParser& parser) {
  MemoryReportOptions options;
  options.view = view_named(parser.text("view"));
  const Figures figures = chosen_figures(parser, "memory");
  const Result<std::optional<StepRange>> steps = chosen_steps(parser);
  if (!steps.ok()) return parser.wrong(std::string(steps.status().message()));
  options.steps = *steps;
  return run_analysis(
      {.name = "memory",
       .arguments = {ArgumentGroup::allocations, ArgumentGroup::call_stacks},
       .nothing = "the trace has no allocations",
       .analyse = [&](const Trace& trace) { return memory_report(trace, figures, options); },
       .why_nothing =
           [](const Trace& trace) {
             return missing_data_text(trace, RecordedOption::profile_memory);
           },
       .remedy = "record with profile_memory=True",
       .of_partial = in_figures(
           figures, [&](const Partial& partial) { return memory_report(partial, options); }),
       .steps = *steps},
      parser);
}

}  // namespace

Command memory_command() {
  std::vector<Option> rows = {{.name = "view",
                               .value = "WHAT",
                               .help = "what a row is",
                               .otherwise = "peak",
                               .choices = {"peak", "alive", "curve", "allocations"}},
                              {.name = "compat",
                               .value = "WHO",
                               .help = "exact, or count as torch-tb-profiler (plugin)",
                               .otherwise = "exact",
                               .choices = {"exact", "plugin"}},
                              steps_option()};
  return {
      .name = "memory",
      .summary = "memory that each device had allocated, and what held it at the peak",
      .usage = "[OPTIONS] INPUT...",
      .about = kAbout,
      .options = analysis_options(std::move(rows),
                                  {"peak_bytes", "growth_per_step_bytes", "largest_bytes"}),
      .examples = {{"tbtrace memory trace.json.gz", "the peak of each device"},
                   {"tbtrace memory trace.json.gz --view alive", "what held the memory then"},
                   {"tbtrace memory trace.json.gz --view allocations --sort-by held_ns",
                    "what was held longest"},
                   {"tbtrace memory trace.json.gz --view curve --format csv -o curve.csv",
                    "for a plot"}},
      .run = run,
  };
}

}  // namespace tbtrace::tools
