#include <string>

#include <unistd.h>

#include <tbtrace/flops.h>
#include <tbtrace/report.h>
#include <tbtrace/tables.h>

#include "command.h"
#include "inputs.h"
#include "options.h"
#include "rank_choice.h"
#include "table_command.h"
#include "table_options.h"
#include "terminal.h"

namespace tbtrace::tools {
namespace {

bool is_picture(const OptionParser& parser) {
  const std::string& format = parser.text("format");
  return format == "svg" || (format.empty() && parser.standard().output.ends_with(".svg"));
}

int run_picture(const FlopsOptions& options, const OptionParser& parser) {
  const StandardOptions& standard = parser.standard();
  if (standard.inputs.size() > 1 || parser.flag("each")) {
    return parser.wrong("a roofline picture is of one input");
  }
  for (const char* name : {"sort-by", "row-limit", "name"}) {
    if (parser.given(name)) return parser.wrong("--" + std::string(name) + " goes with tables");
  }
  if (output_of(standard) == "-" && ::isatty(STDOUT_FILENO) != 0) {
    return parser.wrong("a picture does not go to a terminal; name a file with -o");
  }
  const Result<RankChoice> rank = RankChoice::of(parser);
  if (!rank.ok()) return parser.wrong(rank.status().message());
  ReadOptions reading = standard.reading;
  reading.arguments = table_named("flops")->arguments;
  Console console(standard.console);
  InputLoop loop(std::string(parser.command().name), standard, reading, console,
                 {.needs_all = true, .rank = *rank});
  if (const int code = loop.find(); code != kDone) return code;
  if (loop.size() > 1) return parser.wrong("a roofline picture is of one input");
  return loop.run(
      [&](const Trace& trace, const std::string& path) {
        const auto draw = [&] {
          const Result<OperatorWorkSummary> summary = operator_work(trace, options);
          if (!summary.ok()) return summary.status();
          const Result<std::string> picture =
              roofline_svg(roofline(*summary), {.subtitle = path == "-" ? "" : path});
          if (!picture.ok()) return picture.status();
          return write_text(*picture, output_of(standard), standard.overwrite);
        };
        return finish_work(draw, subjects_of(std::string(parser.command().name), standard),
                           console);
      },
      {});
}

int run(const OptionParser& parser) {
  if (!is_picture(parser)) return run_table(parser);
  const Result<OptionValues> values = given_options(*table_named("flops"), parser);
  if (!values.ok()) return parser.wrong(values.status().message());
  return run_picture({.by_input_shape = values->flag("by_input_shape"),
                      .steps = values->steps(),
                      .peak_flops_per_s = values->number("peak_flops_per_s"),
                      .peak_bytes_per_s = values->number("peak_bytes_per_s")},
                     parser);
}

}  // namespace

Command flops_command() {
  Command command = table_command(*table_named("flops"));
  Option& format = command.options.back().options.front();
  format.help =
      "text, csv, json, md, or svg for a picture (default: by the output's name, else text)";
  format.choices.push_back("svg");
  command.run = run;
  return command;
}

}  // namespace tbtrace::tools
