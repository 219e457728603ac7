#include <string>
#include <utility>

#include <tbtrace/compat.h>

#include "analysis_command.h"
#include "command.h"
#include "options.h"

namespace tbtrace::tools {
namespace {

constexpr const char* kAbout =
    "How busy each GPU was in the recording, with what, and why it was idle. All times are parts "
    "of\n"
    "the window, which begins with the first activity on the device and ends with the last one:\n"
    "computation + exposed communication + exposed memory + idle = window.\n";

int run(const OptionParser& parser) {
  GpuUseOptions options;
  options.by_stream = parser.text("group-by") == "stream";
  const Result<std::optional<StepRange>> steps = chosen_steps(parser);
  if (!steps.ok()) return parser.wrong(steps.status().message());
  options.steps = *steps;
  const Figures figures = chosen_figures(parser, "gpu");
  const auto limit = whole_number(parser.text("kernel-wait-limit"));
  if (!limit || *limit < 0)
    return parser.wrong("--kernel-wait-limit takes a number of nanoseconds");
  options.kernel_wait_limit_ns = *limit;
  return run_analysis(
      {.name = "gpu",
       .arguments = {ArgumentGroup::copies, ArgumentGroup::launches, ArgumentGroup::placement},
       .nothing = "the trace has no kernels, memcpys or memsets",
       .analyse = [&](const Trace& trace) { return gpu_report(trace, figures, options); },
       .why_nothing = missing_device_text,
       .remedy = kRecordDevices,
       .of_partial = in_figures(
           figures, [&](const Partial& partial) { return gpu_report(partial, options); }),
       .steps = *steps},
      parser);
}

}  // namespace

Command gpu_command() {
  std::vector<Option> rows = {
      {.name = "group-by",
       .value = "WHAT",
       .help = "a row per device or per stream",
       .otherwise = "device",
       .choices = {"device", "stream"}},
      steps_option(),
      {.name = "kernel-wait-limit",
       .value = "NS",
       .help = "longest gap that counts as the device's own delay",
       .otherwise = "30000",
       .takes_others = true},
      compat_option("gpu", "TOOL",
                    "count as torch-tb-profiler (plugin) or HolisticTraceAnalysis (hta)")};
  return {
      .name = "gpu",
      .summary = "how busy each GPU was, with what, and why it was idle",
      .usage = "[OPTIONS] INPUT...",
      .about = kAbout,
      .options = analysis_options(
          std::move(rows), {"window_ns", "busy_ns", "idle_ns", "idle_host_wait_ns", "launches"}),
      .examples = {{"tbtrace gpu trace.json.gz", "each device of a trace"},
                   {"tbtrace gpu trace.json.gz --group-by stream --steps 3-5",
                    "each stream, in the time of three steps"},
                   {"tbtrace gpu trace.json.gz --compat hta --group-by stream",
                    "idle time and queues as HolisticTraceAnalysis has them"},
                   {"tbtrace gpu traces/ --sort-by idle_ns", "all ranks, the idlest first"},
                   {"tbtrace gpu traces/ --format csv -o gpu.csv", "for a spreadsheet"}},
      .run = run,
  };
}

}  // namespace tbtrace::tools
