#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include <tbtrace/replay_program.h>
#include <tbtrace/report.h>

#include "command.h"
#include "inputs.h"
#include "options.h"

namespace tbtrace::tools {
namespace {

constexpr const char* kAbout =
    "Writes a Python program that runs one operator with the sizes, types, strides and values "
    "that\n"
    "a recording has of its inputs, and compares its times with the recorded ones: a benchmark "
    "for\n"
    "who makes the operator faster, without the program that was recorded. It needs torch alone.\n"
    "Values of tensors are not recorded, and are random.\n";

int run(const OptionParser& parser) {
  const StandardOptions& standard = parser.standard();
  ReplayOptions options = {.op = parser.text("operator"), .shapes = parser.text("shapes")};
  if (options.op.empty()) return parser.wrong("say which operator, such as --operator aten::mm");
  if (parser.given("row-limit")) {
    const std::optional<std::int64_t> most = whole_number(parser.text("row-limit"));
    if (!most || *most < 1) return parser.wrong("--row-limit takes a number from 1 on");
    options.most_inputs = static_cast<std::size_t>(*most);
  }
  ReadOptions reading = standard.reading;
  reading.arguments = kReplayArguments;
  Console console(standard.console);
  InputLoop loop(std::string(parser.command().name), standard, reading, console,
                 {.needs_all = true});
  if (const int code = loop.find(); code != kDone) return code;
  if (loop.size() > 1) return parser.wrong("a program is of one input");
  return loop.run(
      [&](const Trace& trace, const std::string& path) {
        const auto write = [&] {
          const Result<std::string> program = replay_program(trace, options);
          if (!program.ok()) return program.status();
          return write_text(*program, output_of(standard), standard.overwrite);
        };
        return finish_work(write, subjects_of_input(path, standard), console);
      },
      {});
}

}  // namespace

Command replay_command() {
  return {
      .name = "replay",
      .summary = "a Python program that runs one operator with recorded inputs, and times it",
      .usage = "TRACE --operator NAME [OPTIONS] [-o FILE.py]",
      .about = kAbout,
      .options = {{"Calls",
                   {{.name = "operator", .value = "NAME", .help = "such as aten::mm"},
                    {.name = "shapes",
                     .value = "SHAPES",
                     .help = "only inputs of these shapes, as `tbtrace ops --group-by shape` has "
                             "them: '[[32, 64], [64, 10]]'"},
                    {.name = "row-limit",
                     .value = "N",
                     .help = "how many different inputs, those whose calls take the most time "
                             "together (default: 5)"}}}},
      .examples = {{"tbtrace replay trace.json.gz --operator aten::mm -o mm.py",
                    "a program for matrix products; then: python mm.py"},
                   {"tbtrace replay trace.json.gz --operator aten::relu --shapes '[[32, 64]]'",
                    "one of its inputs, on standard output"}},
      .inputs = Inputs::needed,
      .run = run,
  };
}

}  // namespace tbtrace::tools
