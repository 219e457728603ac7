#include <charconv>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include <unistd.h>

#include <tbtrace/operator_work.h>
#include <tbtrace/writers.h>

#include "analysis_command.h"
#include "command.h"
#include "inputs.h"
#include "options.h"
#include "rank_choice.h"
#include "terminal.h"

namespace tbtrace::tools {
namespace {

constexpr const char* kAbout =
    "What operators computed: multiply-adds (MACs), floating point operations, bytes, and how "
    "close\n"
    "that is to the device's peak. Needs a trace that was recorded with record_shapes. Each piece "
    "of\n"
    "work is in one row; operators without a rule, and those whose sizes are unknown, have rows "
    "too.\n"
    "With --format svg: a roofline picture.\n";

constexpr ArgumentSet kArguments = {ArgumentGroup::inputs, ArgumentGroup::autograd};

/// nullopt if the text is not a number above 0.
std::optional<double> positive_number(std::string_view text) {
  constexpr double kLeast = 1e-6;
  constexpr double kMost = 1e12;
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool is_number = error == std::errc() && end == text.data() + text.size();
  return is_number && value >= kLeast && value <= kMost ? std::optional(value) : std::nullopt;
}

bool is_picture(const OptionParser& parser) {
  const std::string& format = parser.text("format");
  return format == "svg" || (format.empty() && parser.standard().output.ends_with(".svg"));
}

int run_picture(const OperatorWorkOptions& options, const OptionParser& parser) {
  const StandardOptions& standard = parser.standard();
  if (standard.inputs.size() > 1 || parser.flag("each")) {
    return parser.wrong("a roofline picture is of one input");
  }
  for (const char* name : {"sort-by", "row-limit"}) {
    if (parser.given(name)) return parser.wrong("--" + std::string(name) + " goes with tables");
  }
  if (output_of(standard) == "-" && ::isatty(STDOUT_FILENO) != 0) {
    return parser.wrong("a picture does not go to a terminal; name a file with -o");
  }
  const Result<RankChoice> rank = RankChoice::of(parser);
  if (!rank.ok()) return parser.wrong(rank.status().message());
  ReadOptions reading = standard.reading;
  reading.arguments = kArguments;
  Console console(standard.console);
  bool is_chosen = true;
  const int code =
      run_together("flops", standard, reading, console, [&](std::span<const Trace* const> traces) {
        const Trace& trace = *traces.front();
        is_chosen = rank->takes(trace);
        if (!is_chosen) return Status();
        const Result<OperatorWorkSummary> summary = operator_work(trace, options);
        if (!summary.ok()) return summary.status();
        const std::string& input = standard.inputs.front();
        const Result<std::string> picture =
            roofline_svg(roofline(*summary), {.subtitle = input == "-" ? "" : input});
        if (!picture.ok()) return picture.status();
        return write_text(*picture, output_of(standard), standard.overwrite);
      });
  return is_chosen ? code : rank->say_none("flops", console);
}

int run(const OptionParser& parser) {
  OperatorWorkOptions options;
  options.how_to_set_peaks = "For shares of it, give --peak-tflops, and --peak-bandwidth in GB/s.";
  options.by_input_shape = parser.flag("group-by-input-shape");
  const Result<std::optional<StepRange>> steps = chosen_steps(parser);
  if (!steps.ok()) return parser.wrong(steps.status().message());
  options.steps = *steps;
  const auto peak = [&](const std::string& name, double scale, std::optional<double>& value) {
    if (!parser.given(name)) return true;
    value = positive_number(parser.text(name));
    if (value) *value *= scale;
    return value.has_value();
  };
  if (!peak("peak-tflops", 1e12, options.peak_flops_per_s)) {
    return parser.wrong("--peak-tflops takes a number above 0, such as 312");
  }
  if (!peak("peak-bandwidth", 1e9, options.peak_bytes_per_s)) {
    return parser.wrong("--peak-bandwidth takes a number of GB/s above 0, such as 2039");
  }
  if (is_picture(parser)) return run_picture(options, parser);
  return run_analysis(
      {.name = "flops",
       .arguments = kArguments,
       .nothing = "the trace has no operators",
       .analyse = [&](const Trace& trace) { return operator_work_report(trace, options); },
       .steps = *steps},
      parser);
}

}  // namespace

Command flops_command() {
  std::vector<Option> rows = {
      {.name = "group-by-input-shape", .help = "a row per operator and input shapes"},
      steps_option(),
      {.name = "peak-tflops",
       .value = "X",
       .help = "the device's peak in TFLOP/s, for all precisions (default: its data sheet's)"},
      {.name = "peak-bandwidth",
       .value = "X",
       .help = "the peak of its memory in GB/s (default: its data sheet's)"}};
  std::vector<OptionGroup> options = analysis_options(
      std::move(rows),
      {"device_time_total_ns", "cpu_time_total_ns", "flops", "macs", "flops_per_s", "peak_share"});
  options.back().options = {
      {.name = "format",
       .value = "F",
       .help = "text, csv, json, md, or svg for a picture (default: by the output's name, else "
               "text)",
       .choices = {"text", "csv", "json", "md", "svg"}},
      wide_option()};
  return {
      .name = "flops",
      .summary = "FLOPs, MACs and how much of the device's peak operators reach",
      .usage = "[OPTIONS] INPUT...",
      .about = kAbout,
      .options = std::move(options),
      .examples =
          {{"tbtrace flops trace.json.gz", "what took longest, and how fast it computed"},
           {"tbtrace flops trace.json.gz --group-by-input-shape --sort-by flops",
            "by input shapes, most operations first"},
           {"tbtrace flops trace.json.gz --steps 3-5 --peak-tflops 148 --peak-bandwidth 4000",
            "of three steps, on a device that is not in the table"},
           {"tbtrace flops trace.json.gz -o roofline.svg", "a roofline picture"}},
      .run = run,
  };
}

}  // namespace tbtrace::tools
