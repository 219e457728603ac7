#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <unistd.h>

#include <tbtrace/diff.h>

#include "colors.h"
#include "command.h"
#include "console.h"
#include "diff_picture.h"
#include "each_input.h"
#include "inputs.h"
#include "options.h"
#include "run_inputs.h"
#include "size_option.h"
#include "snapshot_inputs.h"
#include "snapshot_results.h"
#include "table_options.h"
#include "terminal.h"

namespace tbtrace::tools {
namespace {

constexpr const char* kAbout =
    "What changed between two recordings of a program: whether its step takes longer, and what\n"
    "explains it, by part of the step, operator, kernel, module and line. The changes of the rows\n"
    "add up to that of the step. A run is a trace, or a folder with those of its ranks; a file of\n"
    "tbtrace save --for diff has several. Steps of one run do not show how much runs differ, so a "
    "verdict\n"
    "needs several runs of each side (--base, --new), or --run-noise. Of two memory snapshots: "
    "what "
    "each\n"
    "line holds more or less.\n";

/// `3%` or `0.03` as a share.
std::optional<double> share_of(std::string_view text) {
  const bool is_percent = text.ends_with('%');
  if (is_percent) text.remove_suffix(1);
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || !std::isfinite(number) ||
      number < 0) {
    return std::nullopt;
  }
  return is_percent ? number / 100 : number;
}

/// Limits separated by commas; a name may have commas, but each limit ends in `%`.
std::vector<std::string_view> limits_in(std::string_view text) {
  std::vector<std::string_view> limits;
  while (!text.empty()) {
    const std::size_t end = text.find("%,");
    limits.push_back(text.substr(0, end == std::string_view::npos ? end : end + 1));
    if (end == std::string_view::npos) break;
    text.remove_prefix(end + 2);
  }
  return limits;
}

struct DiffChoice {
  std::vector<std::string> base;
  std::vector<std::string> changed;
  DiffOptions options;
  DiffTextOptions text;
  std::vector<DiffLimit> limits;
  bool as_junit = false;
  DiffPictureOptions picture;
};

Status take_sides(const OptionParser& parser, DiffChoice& choice) {
  const std::vector<std::string>& inputs = parser.standard().inputs;
  choice.base = parser.words("base");
  choice.changed = parser.words("new");
  if (choice.base.empty() && choice.changed.empty() && inputs.size() == 2) {
    choice.base = {inputs[0]};
    choice.changed = {inputs[1]};
    return {};
  }
  if (inputs.empty() && !choice.base.empty() && !choice.changed.empty()) return {};
  return {StatusCode::invalid_argument,
          "name two inputs, BASE and NEW, or several runs of each with --base and --new"};
}

Result<DiffChoice> choice_of(const OptionParser& parser) {
  DiffChoice choice;
  if (Status sides = take_sides(parser, choice); !sides.ok()) return sides;
  const auto wrong = [](const char* text) { return Status(StatusCode::invalid_argument, text); };
  const std::optional<double> effect = share_of(parser.text("min-effect"));
  if (!effect || *effect >= 1) return wrong("--min-effect takes a share such as 1%");
  choice.options.min_effect = *effect;
  if (parser.given("run-noise")) {
    choice.options.run_noise = share_of(parser.text("run-noise"));
    if (!choice.options.run_noise || *choice.options.run_noise <= 0 ||
        *choice.options.run_noise >= 1) {
      return wrong("--run-noise takes a share such as 2%");
    }
  }
  for (const std::string_view name : list_of(parser.text("group-by"))) {
    const DiffBy by = *diff_by_named(name);
    if (std::ranges::find(choice.text.by, by) == choice.text.by.end()) choice.text.by.push_back(by);
  }
  for (const std::string_view text : limits_in(parser.text("fail-if"))) {
    Result<DiffLimit> limit = parse_diff_limit(text);
    if (!limit.ok()) return limit.status();
    choice.limits.push_back(*std::move(limit));
  }
  return choice;
}

class DiffRun {
 public:
  DiffRun(const OptionParser& parser, DiffChoice choice)
      : standard_(parser.standard()), choice_(std::move(choice)), console_(standard_.console) {}

  int run() {
    const Subjects subjects = subjects_of("diff", standard_);
    if (const Status place = check_output(subjects.output, standard_.overwrite); !place.ok()) {
      return finish(place, subjects, console_);
    }
    std::vector<RunFigures> base;
    std::vector<RunFigures> changed;
    if (const int code = read_side(choice_.base, base, stacks_.base); code != kDone) return code;
    if (const int code = read_side(choice_.changed, changed, stacks_.changed); code != kDone) {
      return code;
    }
    const Result<Diff> found = diff(base, changed, choice_.options);
    if (!found.ok()) return finish(found.status(), subjects, console_);
    for (const DiffLimit& limit : choice_.limits) {
      choice_.text.limits.push_back(check_diff_limit(*found, limit));
    }
    const int written = finish_work(
        [&] {
          const Result<std::string> text = text_of(*found);
          if (!text.ok()) return text.status();
          return write_text(*text, subjects.output, standard_.overwrite);
        },
        subjects, console_);
    return written == kDone ? judge(*found) : written;
  }

 private:
  int read_side(const std::vector<std::string>& paths, std::vector<RunFigures>& runs,
                std::vector<RunStacks>& stacks) {
    const bool is_drawn = choice_.picture.picture != DiffPicture::none;
    for (const std::string& path : paths) {
      const int code = read_runs(path, standard_, console_, runs, is_drawn ? &stacks : nullptr);
      if (code != kDone) return code;
    }
    return kDone;
  }

  Result<std::string> text_of(const Diff& found) const {
    if (choice_.as_junit) return limits_junit(choice_.text.limits);
    if (choice_.picture.picture == DiffPicture::svg) {
      return diff_svg_text(found, stacks_, choice_.picture);
    }
    if (choice_.picture.picture == DiffPicture::html) {
      return diff_page_text(found, stacks_, choice_.picture);
    }
    Result<std::string> text = diff_text(found, choice_.text);
    if (!text.ok() || choice_.text.format != TableFormat::text) return text;
    return with_colors(*std::move(text), standard_);
  }

  int judge(const Diff& found) {
    if (choice_.limits.empty()) return kDone;
    if (found.comparable == Comparable::no) {
      console_.error("diff", "the two sides cannot be compared, so no limit was checked");
      return kNotComparable;
    }
    const auto any = [&](LimitVerdict verdict) {
      return std::ranges::find(choice_.text.limits, verdict, &LimitResult::verdict) !=
             choice_.text.limits.end();
    };
    // People see them in the text.
    const bool is_text = !choice_.as_junit && choice_.picture.picture == DiffPicture::none;
    const bool is_shown = is_text && (choice_.text.format == TableFormat::text ||
                                      choice_.text.format == TableFormat::markdown);
    for (const LimitResult& limit : choice_.text.limits) {
      if (is_shown && subjects_of("diff", standard_).output == "-") break;
      console_.message("diff",
                       std::string(limit_verdict_name(limit.verdict)) + ": " + limit.sentence);
    }
    if (any(LimitVerdict::exceeded)) return kCheckFailed;
    return any(LimitVerdict::inconclusive) ? kInconclusive : kDone;
  }

  const StandardOptions& standard_;
  DiffChoice choice_;
  SideStacks stacks_;
  Console console_;
};

/// Takes --weight, --title and --limit. Returns what is wrong with the options of a picture.
std::string wrong_for_picture(const OptionParser& parser, DiffChoice& choice) {
  DiffPictureOptions& picture = choice.picture;
  if (parser.given("weight")) {
    if (picture.picture != DiffPicture::svg) return "--weight goes with --format svg";
    picture.weight =
        parser.text("weight") == "self_cpu_time_total" ? StackWeight::cpu : StackWeight::device;
  }
  for (const char* const option : {"title", "limit"}) {
    if (parser.given(option) && picture.picture != DiffPicture::html) {
      return "--" + std::string(option) + " goes with --format html";
    }
  }
  picture.title = parser.text("title");
  const std::optional<std::size_t> bytes = size_in_bytes(parser.text("limit"));
  if (!bytes) return "--limit takes a size such as 500KB or 2MB";
  picture.bytes = *bytes;
  if (picture.picture == DiffPicture::none) return {};
  const bool to_output = subjects_of("diff", parser.standard()).output == "-";
  if (to_output && ::isatty(STDOUT_FILENO) != 0) {
    return "a picture does not go to a terminal; name a file with -o";
  }
  return {};
}

int run(const OptionParser& parser) {
  if (any_snapshot(parser.standard().inputs)) return diff_snapshots(parser);
  for (const Option& option : snapshot_diff_options()) {
    if (!parser.given(std::string(option.name))) continue;
    return parser.wrong("--" + std::string(option.name) +
                        " is for memory snapshots, not for traces");
  }
  Result<DiffChoice> choice = choice_of(parser);
  if (!choice.ok()) return parser.wrong(choice.status().message());
  choice->as_junit = parser.text("format") == "junit";
  choice->picture.picture = diff_picture(parser);
  const bool is_drawn = choice->picture.picture != DiffPicture::none;
  if (const std::string wrong = wrong_for_picture(parser, *choice); !wrong.empty()) {
    return parser.wrong(wrong);
  }
  const Result<OutputFormat> format = choice->as_junit || is_drawn
                                          ? Result<OutputFormat>(OutputFormat())
                                          : output_format(parser, false);
  if (!format.ok()) return parser.wrong(format.status().message());
  const std::optional<std::int64_t> limit = whole_number(parser.text("row-limit"));
  if (!limit || *limit < -1) return parser.wrong("--row-limit takes a number, or -1 for all");
  choice->text.format = format->format;
  choice->text.row_limit = *limit;
  choice->text.wide = parser.flag("wide");
  choice->text.how_to_show_all_columns = "--wide shows all";
  if (format->format == TableFormat::text) choice->text.width = terminal_width(parser.standard());
  return DiffRun(parser, *std::move(choice)).run();
}

}  // namespace

Command diff_command() {
  return {
      .name = "diff",
      .summary = "what changed between two recordings of a program, and what explains it",
      .usage = "[OPTIONS] (BASE NEW | --base RUN... --new RUN...)",
      .about = kAbout,
      .options =
          {{"Runs",
            {{.name = "base",
              .value = "RUN",
              .help = "a run before the change, or several, which are repeats: all words up to the "
                      "next option",
              .takes_path = true,
              .takes_words = true},
             {.name = "new",
              .value = "RUN",
              .help = "the same after the change",
              .takes_path = true,
              .takes_words = true}}},
           {"Verdict",
            {{.name = "min-effect",
              .value = "SHARE",
              .help = "the smallest change of the step that matters",
              .otherwise = "1%"},
             {.name = "run-noise",
              .value = "SHARE",
              .help = "how much the mean step differs from run to run, if the runs are too few to "
                      "show it: their standard deviation"},
             {.name = "fail-if",
              .value = "LIMIT",
              .help = "a change that is too much, such as step_time>+3%, operator:aten::mm>+10% or "
                      "gpu_memory_peak>+5%; the exit code is 1 if it is exceeded, 6 if the runs do "
                      "not tell, 7 if the sides cannot be compared",
              .is_list = true}}},
           {"Rows",
            {{.name = "group-by",
              .value = "WHAT",
              .help = "what to divide the step by (default: all but shape)",
              .choices = {"part", "operator", "shape", "kernel", "module", "line"},
              .is_list = true},
             {.name = "row-limit",
              .value = "N",
              .help = "rows of each division, those with the largest changes; -1 for all",
              .otherwise = "10"},
             {.name = "format",
              .value = "F",
              .help = "text, csv, json, md, html for a page, svg for the flame graph of the "
                      "difference, or junit for the limits (default: by the output's name, else "
                      "text)",
              .choices = {"text", "csv", "json", "md", "html", "svg", "junit"}},
             wide_option()}},
           {"Memory snapshots", snapshot_diff_options()},
           diff_picture_options()},
      .examples =
          {{"tbtrace diff before.json.gz after.json.gz", "what explains the change"},
           {"tbtrace diff before.json.gz after.json.gz -o compare.html",
            "a page with all of it, and with the flame graph of the difference"},
           {"tbtrace diff before.json.gz after.json.gz -o change.svg", "only that flame graph"},
           {"tbtrace diff --base a1.json.gz a2.json.gz a3.json.gz --new b*.json.gz",
            "with a verdict, by several runs of each"},
           {"tbtrace diff base.json.gz new.json.gz --run-noise 1% --fail-if 'step_time>+3%'",
            "in a pipeline: exit code 1 if the step got slower by more than 3 %"}},
      .inputs = Inputs::in_lists_too,
      .run = run,
  };
}

}  // namespace tbtrace::tools
