#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <unistd.h>

#include <tbtrace/slice.h>

#include "command.h"
#include "console.h"
#include "inputs.h"
#include "options.h"
#include "row_choice.h"
#include "size_option.h"
#include "table_options.h"
#include "time_option.h"

namespace tbtrace::tools {
namespace {

constexpr const char* kAbout =
    "A part of a trace as a trace of its own, for Perfetto, HTA, torch's tools and tbtrace, which\n"
    "all read it as they read the whole. What belongs together stays together: a kernel with the\n"
    "call that launched it, both ends of an arrow, names of processes and threads, all members of\n"
    "the file. Ranges of the host that are open at an end of the time are cut there; `uncut_ts`\n"
    "and `uncut_dur` say where they were. The member `tbtrace_slice` says what was left out. With\n"
    "several options, what is kept satisfies all of them.\n";

/// `1.2s-1.5s`.
std::optional<SliceTime> time_of(std::string_view text) {
  const std::size_t line = text.find('-');
  if (line == std::string_view::npos) return std::nullopt;
  const std::optional<double> start = seconds_of(text.substr(0, line));
  const std::optional<double> end = seconds_of(text.substr(line + 1));
  if (!start || !end || !(*start < *end)) return std::nullopt;
  return SliceTime{std::llround(*start * 1e9), std::llround(*end * 1e9)};
}

SliceKinds kinds_of(std::string_view text) {
  SliceKinds kinds;
  for (const std::string_view chosen : list_of(text)) {
    for (std::size_t kind = 0; kind < kSliceKinds; ++kind) {
      if (slice_kind_name(static_cast<SliceKind>(kind)) == chosen) kinds.set(kind);
    }
  }
  return kinds;
}

std::string milliseconds_text(std::int64_t ns) {
  char text[32];
  static_cast<void>(std::snprintf(text, sizeof text, "%.3f ms", static_cast<double>(ns) * 1e-6));
  return text;
}

/// `steps 5 to 7`, `steps 5, 9`.
std::string steps_of(const SliceReport& report) {
  if (report.steps.empty()) return {};
  const std::int64_t first = report.steps.front();
  const std::int64_t last = report.steps.back();
  const auto count = static_cast<std::int64_t>(report.steps.size());
  if (count == 1) return "; step " + std::to_string(first);
  return "; " + std::to_string(count) + " steps, " + std::to_string(first) + " to " +
         std::to_string(last);
}

void tell(const SliceReport& report, const std::string& output, Console& console) {
  std::string text = "has " + grouped(report.events) + " of " +
                     grouped(report.events + report.left_out) + " events, " +
                     size_text(report.bytes) + " of text";
  if (report.time) {
    text += ", from " + milliseconds_text(report.time->start_ns) + " to " +
            milliseconds_text(report.time->end_ns) + " of the recording";
  }
  text += steps_of(report);
  console.message(output == "-" ? "standard output" : output, text);
  for (const auto& [id, count] : report.changes) {
    console.note(output,
                 id + ": " + std::to_string(count) + " (" + std::string(change_sentence(id)) + ")");
  }
}

/// Takes what is chosen. Returns what is wrong with it.
std::string take_choice(const OptionParser& parser, SliceOptions& options) {
  const Result<std::optional<StepRange>> steps = chosen_steps(parser);
  if (!steps.ok()) return steps.status().message();
  if (*steps) options.part = **steps;
  if (parser.flag("slowest-step")) options.part = SliceSlowestStep();
  if (parser.given("time")) {
    const std::optional<SliceTime> time = time_of(parser.text("time"));
    if (!time) return "--time takes two times after the start, such as 1.2s-1.5s";
    options.part = *time;
  }
  const int times =
      (*steps ? 1 : 0) + (parser.flag("slowest-step") ? 1 : 0) + (parser.given("time") ? 1 : 0);
  if (times > 1) return "--steps, --slowest-step and --time exclude each other";
  if (parser.given("max-size")) {
    const std::optional<std::size_t> size = size_in_bytes(parser.text("max-size"));
    if (!size) return "--max-size takes a size, such as 200MB";
    options.most_bytes = *size;
  }
  for (const std::string_view thread : list_of(parser.text("thread"))) {
    options.threads.emplace(thread);
  }
  if (parser.given("kinds")) options.kinds = kinds_of(parser.text("kinds"));
  if (parser.given("without")) options.kinds &= ~kinds_of(parser.text("without"));
  Result<NameFilter> names = chosen_names(parser);
  if (!names.ok()) return names.status().message();
  options.accepts_name = *std::move(names);
  options.name_pattern = parser.text("name");
  if (times == 0 && options.most_bytes == 0 && options.threads.empty() &&
      options.kinds == kAllSliceKinds && !options.accepts_name) {
    return "say which part, such as --steps 5-7 or --max-size 200MB";
  }
  return {};
}

int run(const OptionParser& parser) {
  const StandardOptions& standard = parser.standard();
  SliceOptions options = {.overwrite = standard.overwrite,
                          .strict = standard.reading.strict,
                          .reading_threads = standard.reading.threads};
  if (const std::string problem = take_choice(parser, options); !problem.empty()) {
    return parser.wrong(problem);
  }
  if (standard.inputs.size() != 1) return parser.wrong("give one trace");
  const std::string output = output_of(standard);
  if (output == "-" && ::isatty(STDOUT_FILENO) != 0) {
    return parser.wrong("a trace does not go to a terminal; name a file with -o");
  }
  Console console(standard.console);
  const std::string& input = standard.inputs.front();
  options.on_progress = [&](std::uint64_t done, std::uint64_t total) {
    console.progress(subject_of(input), done, total);
    return true;
  };
  std::optional<SliceReport> report;
  const int code = finish_work(
      [&] {
        Result<SliceReport> sliced = slice_trace(input, output, options);
        if (!sliced.ok()) return sliced.status();
        report = *std::move(sliced);
        return Status();
      },
      subjects_of_input(input, standard), console);
  if (code != kDone) return code;
  warn_of_issues(subject_of(input), report->issues, console);
  tell(*report, output, console);
  return kDone;
}

Option kinds_option(std::string_view name, std::string_view help) {
  Option option = {.name = name, .value = "KIND", .help = help, .is_list = true};
  for (std::size_t kind = 0; kind < kSliceKinds; ++kind) {
    option.choices.push_back(slice_kind_name(static_cast<SliceKind>(kind)));
  }
  return option;
}

}  // namespace

Command slice_command() {
  return {
      .name = "slice",
      .summary = "a part of a trace as a trace of its own: some steps, a time, at most 200 MB",
      .usage = "TRACE [OPTIONS] -o PART.json.gz",
      .about = kAbout,
      .options =
          {{"Time",
            {steps_range_option(),
             {.name = "slowest-step", .help = "the step that took longest"},
             {.name = "time",
              .value = "RANGE",
              .help = "a time after the start of the recording: 1.2s-1.5s, 300ms-450ms"},
             {.name = "max-size",
              .value = "SIZE",
              .help = "the widest part around the median step, or else around the middle, whose "
                      "file is no larger without compression: 200MB"}}},
           {"Events",
            {{.name = "name",
              .value = "REGEX",
              .help = "only what runs in ranges whose name matches somewhere (RE2 syntax; (?i) "
                      "ignores case), and what that launched"},
             {.name = "thread",
              .value = "ID",
              .help = "only these threads, by the ids in the file, and what they launched",
              .is_list = true},
             kinds_option("kinds",
                          "only these kinds, separated by commas: operators; annotations, with "
                          "steps; frames (Python functions and modules); calls of the device's "
                          "runtime; kernels, with memcpys, memsets and waits; memory "
                          "(allocations); other, such as counters"),
             kinds_option("without",
                          "all but these kinds: frames are most events of a trace with "
                          "stacks")}}},
      .examples = {{"tbtrace slice trace.json.gz --steps 5-7 -o part.json.gz", "three steps"},
                   {"tbtrace slice trace.json.gz --slowest-step -o slow.json.gz",
                    "the slowest step"},
                   {"tbtrace slice trace.json.gz --max-size 200MB -o part.json",
                    "as much as Perfetto's page opens quickly"},
                   {"tbtrace slice trace.json.gz --time 1.2s-1.5s --without frames -o part.json",
                    "a time, without Python frames"},
                   {"tbtrace slice trace.json.gz --name backward -o backward.json.gz",
                    "what runs in ranges with this name"}},
      .inputs = Inputs::needed,
      .run = run,
  };
}

}  // namespace tbtrace::tools
