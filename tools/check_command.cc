#include <array>
#include <string>
#include <utility>
#include <vector>

#include <tbtrace/trace_checks.h>
#include <tbtrace/writers.h>

#include "command.h"
#include "console.h"
#include "each_input.h"
#include "inputs.h"
#include "options.h"
#include "out_of_memory.h"
#include "rank_choice.h"

namespace tbtrace::tools {
namespace {

constexpr const char* kAbout =
    "Looks for what is missing or contradictory in traces: damaged files, lost records, launches\n"
    "without kernels, clocks that are off, missing steps and ranks. Each finding has its cause "
    "and\n"
    "what to do about it. The exit code is 1 if there is an error or a warning.\n";

/// `  first: cudaLaunchKernel, at 1250 ns`: a line with what is known of the first one.
std::string first_of(const CheckFinding& finding) {
  std::string first;
  const auto add = [&](const std::string& text) { first += (first.empty() ? "" : ", ") + text; };
  if (!finding.example.empty()) add(printable(finding.example));
  if (finding.example_at_ns) add("at " + std::to_string(*finding.example_at_ns) + " ns");
  if (finding.example_offset) add("at byte " + std::to_string(*finding.example_offset));
  return first.empty() ? "" : "  first: " + first + "\n";
}

std::string text_of(const std::vector<CheckedInput>& inputs) {
  std::string text;
  std::array<std::size_t, 3> counts = {};
  for (const CheckedInput& input : inputs) {
    const std::string subject = input.input.empty() ? "all inputs" : subject_of(input.input);
    for (const CheckFinding& finding : input.findings) {
      ++counts[static_cast<std::size_t>(finding.severity)];
      text += std::string(check_severity_name(finding.severity)) + " " + finding.id + ", " +
              std::to_string(finding.count) + " x, in " + printable(subject) + "\n";
      text += first_of(finding) + "  " + finding.cause + "\n";
      if (!finding.remedy.empty()) text += "  remedy: " + finding.remedy + "\n";
      text += "\n";
    }
  }
  return text + "errors: " + std::to_string(counts[0]) +
         ", warnings: " + std::to_string(counts[1]) + ", infos: " + std::to_string(counts[2]) +
         "\n";
}

class CheckRun {
 public:
  CheckRun(const OptionParser& parser, RankChoice rank)
      : standard_(parser.standard()),
        rank_(rank),
        format_(output_format(parser, false).format),
        console_(standard_.console) {}

  int run() {
    const Subjects subjects = subjects_of("check", standard_);
    if (const Status place = check_output(subjects.output, standard_.overwrite); !place.ok()) {
      return finish(place, subjects, console_);
    }
    const InputPaths found = find_inputs(standard_, console_);
    last_failure_ = found.last_failure;
    for (const std::string& path : found.paths) check(path);
    if (inputs_.empty()) {
      return last_failure_ != kDone ? last_failure_ : rank_.say_none("check", console_);
    }
    std::vector<CheckFinding> of_job = job_checks(traces_);
    if (!of_job.empty()) inputs_.push_back({"", std::move(of_job)});
    const Status written = within_memory([&] {
      const Result<std::string> text =
          format_ == TableFormat::text ? Result<std::string>(text_of(inputs_))
                                       : report_text(check_report(inputs_), {.format = format_});
      return text.ok() ? write_text(*text, subjects.output, standard_.overwrite) : text.status();
    });
    if (!written.ok()) return finish(written, subjects, console_);
    if (last_failure_ != kDone) return kSomeInputsFailed;
    return has_error_or_warning(inputs_) ? kCheckFailed : kDone;
  }

 private:
  void fail(const std::string& path, const Status& status) {
    console_.error(subject_of(path), status.message());
    last_failure_ = exit_code(status);
  }

  /// Problems of the input are findings, not warnings.
  void check(const std::string& path) {
    ReadOptions reading = standard_.reading;
    reading.arguments = ArgumentSet();
    const std::string subject = subject_of(path);
    reading.on_progress = [&](std::uint64_t done, std::uint64_t total) {
      console_.progress(subject, done, total);
      return true;
    };
    const Status checked = within_memory([&] {
      const Result<Trace> trace = read_trace(path, reading);
      if (!trace.ok()) return trace.status();
      if (!rank_.takes(*trace)) return Status();
      inputs_.push_back(checked_input(path, *trace));
      traces_.push_back(checked_trace(path, *trace));
      return Status();
    });
    if (!checked.ok()) fail(path, checked);
  }

  const StandardOptions& standard_;
  RankChoice rank_;
  TableFormat format_;
  Console console_;
  std::vector<CheckedInput> inputs_;
  std::vector<CheckedTrace> traces_;
  int last_failure_ = kDone;
};

int run(const OptionParser& parser) {
  const Result<RankChoice> rank = RankChoice::of(parser);
  if (!rank.ok()) return parser.wrong(rank.status().message());
  return CheckRun(parser, *rank).run();
}

}  // namespace

Command check_command() {
  return {
      .name = "check",
      .summary = "what is missing or contradictory in traces, and what to do about it",
      .usage = "[OPTIONS] INPUT...",
      .about = kAbout,
      .options = {{"Inputs", {RankChoice::option()}},
                  {"Layout",
                   {{.name = "format",
                     .value = "F",
                     .help = "text, csv, json or md (default: by the output's name, else text)",
                     .choices = {"text", "csv", "json", "md"}}}}},
      .examples = {{"tbtrace check trace.json.gz", "can this trace be trusted?"},
                   {"tbtrace check traces/", "all ranks of a job, and whether any is missing"},
                   {"tbtrace check trace.json.gz --format json", "for scripts"}},
      .run = run,
  };
}

}  // namespace tbtrace::tools
