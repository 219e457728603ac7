#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <tbtrace/capabilities.h>
#include <tbtrace/convert.h>

#include "command.h"
#include "export_traces.h"
#include "inputs.h"
#include "options.h"
#include "out_of_memory.h"
#include "size_option.h"

namespace tbtrace::tools {
namespace {

constexpr const char* kAbout =
    "Writes log directories from saved traces, for `tensorboard --logdir LOGDIR`: traces for the\n"
    "plugin torch-tb-profiler, and summaries that TensorBoard shows without a plugin.\n"
    "Inputs are files, directories that are searched for traces, and quoted globs. All traces of\n"
    "one folder become one run, with one worker for each trace, so that ranks can be compared.\n"
    "With --to perfetto, speedscope, pprof, firefox or folded all inputs become one file in the\n"
    "format of that tool.\n";

/// Adds the lines of a file, or of standard input; false if it cannot be read.
bool add_lines(const std::string& path, std::vector<std::string>& inputs) {
  std::ifstream file;
  if (path != "-") file.open(path);
  std::istream& lines = path == "-" ? std::cin : file;
  if (!lines) return false;
  for (std::string line; std::getline(lines, line);) {
    if (line.ends_with('\r')) line.pop_back();
    if (!line.empty()) inputs.push_back(line);
  }
  return !lines.bad();
}

std::string explained(const Status& failure) {
  const bool exists = failure.code() == StatusCode::output_exists;
  return failure.message() + (exists ? "; --overwrite replaces it, --skip-existing leaves it" : "");
}

class Report {
 public:
  Report(bool as_text, Console& console) : as_text_(as_text), console_(console) {}

  void add(const ConvertedInput& input) {
    const std::string subject = subject_of(input.input);
    warn_of_issues(subject, input.issues, console_);
    if (input.state == ConvertedInput::State::failed) {
      console_.error(subject, explained(input.status));
      return;
    }
    if (!as_text_) return;
    std::cout << printable(subject) << " (" << input.ranges
              << (input.ranges == 1 ? " range)" : " ranges)");
    for (std::size_t at = 0; at < input.files.size(); ++at) {
      const LogFile& file = input.files[at];
      // On the same line for one file, on separate lines for several.
      std::cout << (input.files.size() == 1 ? " -> " : "\n  -> ") << printable(file.path)
                << (file.written ? " (" + size_text(file.bytes) + ")" : " (exists, left alone)");
      for (const auto& [id, count] : file.changes) changes_[id] += count;
    }
    std::cout << std::endl;
  }

  void sum_up(const Conversion& conversion, const std::string& directory) const {
    if (!as_text_) return;
    std::size_t counts[4] = {};
    for (const ConvertedInput& input : conversion.inputs) {
      ++counts[static_cast<std::size_t>(input.state)];
    }
    if (!changes_.empty()) std::cout << "\nChanged so that viewers accept it:\n";
    for (const auto& [id, count] : changes_) {
      std::cout << "  " << id << ": " << count << " (" << change_sentence(id) << ")\n";
    }
    const auto count = [&](ConvertedInput::State state) {
      return counts[static_cast<std::size_t>(state)];
    };
    std::cout << "\n"
              << count(ConvertedInput::State::written) << " written, "
              << count(ConvertedInput::State::skipped) << " skipped, "
              << count(ConvertedInput::State::failed) << " failed";
    const std::size_t not_tried = count(ConvertedInput::State::not_tried);
    if (not_tried > 0) std::cout << ", " << not_tried << " not tried";
    if (!conversion.passed_over.empty()) {
      std::cout << ", " << conversion.passed_over.size()
                << (conversion.passed_over.size() == 1 ? " other file" : " other files")
                << " ignored (-v names them)";
    }
    std::cout << "\n";
    const bool any =
        count(ConvertedInput::State::written) > 0 || count(ConvertedInput::State::skipped) > 0;
    if (any) std::cout << "Now: tensorboard --logdir " << printable(directory) << "\n";
  }

 private:
  bool as_text_;
  Console& console_;
  Changes changes_;
};

void tell_leftovers(const Leftovers& left, Console& console) {
  if (left.files == 0) return;
  console.warning(left.directory,
                  "has " + std::to_string(left.files) + " finished files (" +
                      size_text(left.bytes) +
                      ") of a conversion that was interrupted; convert the same inputs with "
                      "--skip-existing to use them, or delete this directory");
}

bool is_new_event_file(const LogFile& file) {
  const std::string name = std::filesystem::path(file.path).filename().string();
  return file.written && name.starts_with("events.out.tfevents.");
}

/// What this machine lacks for the flame graphs in event files; empty if nothing.
Result<std::string> picture_problem(const LogDirectoryOptions& log) {
  if (log.format == LogFormat::plugin) return std::string();
  return within_memory([]() -> Result<std::string> { return capabilities().pictures_problem; });
}

void tell_missing_pictures(const std::string& problem, const Conversion& conversion,
                           Console& console) {
  if (problem.empty()) return;
  for (const ConvertedInput& input : conversion.inputs) {
    if (std::none_of(input.files.begin(), input.files.end(), is_new_event_file)) continue;
    console.warning("convert", "the event files have no flame graphs: " + problem +
                                   ", and convert again with --overwrite");
    return;
  }
}

int exit_code_of(const Conversion& conversion) {
  std::size_t failed = 0;
  int failure = kDone;
  for (const ConvertedInput& input : conversion.inputs) {
    if (input.state != ConvertedInput::State::failed) continue;
    ++failed;
    failure = exit_code(input.status);
  }
  if (failed == 0) return conversion.failed_runs.empty() ? kDone : kUnwritableOutput;
  return failed == conversion.inputs.size() ? failure : kSomeInputsFailed;
}

/// Takes --to and --dialect, and the options that need one of them. Returns what is wrong with
/// them.
std::string take_target(const OptionParser& parser, LogDirectoryOptions& log) {
  if (parser.text("to") == "plugin") log.format = LogFormat::plugin;
  if (parser.text("to") == "tensorboard") {
    log.format = LogFormat::event_files;
    for (const char* const name : {"dialect", "gzip", "no-gzip"}) {
      if (parser.given(name)) {
        return "--" + std::string(name) + " applies to the plugin's traces, not to event files";
      }
    }
  }
  if (parser.text("dialect") == "kineto") log.dialect = Dialect::kineto;
  if (parser.flag("gzip") && parser.flag("no-gzip")) {
    return "--gzip and --no-gzip exclude each other";
  }
  log.use_gzip = !parser.flag("no-gzip");
  return {};
}

/// Takes --run and --worker. Returns what is wrong with them.
std::string take_names(const OptionParser& parser, LogDirectoryOptions& log) {
  for (const auto& [option, name] :
       {std::pair{"run", &log.run}, std::pair{"worker", &log.worker}}) {
    if (!parser.given(option)) continue;
    *name = parser.text(option);
    if (name->empty()) return "--run and --worker need a name that is not empty";
  }
  return {};
}

/// Returns what is wrong with the options, empty if nothing is.
std::string take_options(const OptionParser& parser, ConvertOptions& options) {
  const StandardOptions& standard = parser.standard();
  const bool any_list = parser.given("files-from");
  if (standard.inputs.empty() && !any_list) return "name at least one input";
  if (standard.output.empty()) return "name the log directory with -o";
  if (standard.output == "-") return "a log directory cannot be written to standard output";
  if (!parser.given("to")) {
    if (std::string problem = problem_of_log_directory(standard.output); !problem.empty()) {
      return problem;
    }
  }
  if (std::string problem = take_target(parser, options.log); !problem.empty()) return problem;
  if (parser.flag("skip-existing") && standard.overwrite) {
    return "--skip-existing and --overwrite exclude each other";
  }
  if (std::string problem = take_names(parser, options.log); !problem.empty()) return problem;
  options.log.infer_steps = parser.flag("infer-steps");
  options.log.overwrite = standard.overwrite;
  options.skip_existing = parser.flag("skip-existing");
  options.fail_fast = parser.flag("fail-fast");
  options.strict = standard.reading.strict;
  options.threads = standard.reading.threads;
  return {};
}

/// Converts, and reports the outcome of each input. Returns the exit code.
int convert(const std::vector<std::string>& inputs, const StandardOptions& standard,
            ConvertOptions& options, bool as_json, Console& console) {
  // Before the memory is needed for traces.
  const Result<std::string> problem = picture_problem(options.log);
  if (!problem.ok()) return finish(problem.status(), subjects_of("convert", standard), console);
  Report report(!as_json, console);
  options.on_input = [&](const ConvertedInput& input) { report.add(input); };
  options.on_progress = [&](std::size_t done, std::size_t all) {
    console.count("converting", done, all);
    return true;
  };
  const Result<Conversion> conversion = within_memory(
      [&] { return convert_to_log_directory(inputs, standard.output, options); }, options.threads);
  if (!conversion.ok()) {
    return finish(conversion.status(), subjects_of("convert", standard), console);
  }
  for (const std::string& path : conversion->passed_over) {
    console.note(path, "was ignored: it is not a trace, or cannot be searched");
  }
  for (const auto& [run, status] : conversion->failed_runs) {
    console.error(run, explained(status));
  }
  tell_leftovers(conversion->leftovers, console);
  tell_missing_pictures(*problem, *conversion, console);
  if (as_json) {
    std::cout << conversion_json(*conversion);
  } else {
    report.sum_up(*conversion, standard.output);
  }
  return exit_code_of(*conversion);
}

/// The inputs of the command line and of its list; an exit code if the list cannot be read.
std::optional<int> add_listed(const OptionParser& parser, std::vector<std::string>& inputs) {
  if (!parser.given("files-from")) return std::nullopt;
  const std::string& list = parser.text("files-from");
  if (!add_lines(list, inputs)) {
    Console(parser.standard().console)
        .error(subject_of(list), "cannot read this list of inputs; name another");
    return kUnreadableInput;
  }
  if (inputs.empty()) return parser.wrong("--files-from lists no input");
  return std::nullopt;
}

int run(const OptionParser& parser) {
  StandardOptions standard = parser.standard();
  if (const std::optional<ExportFormatRow> format = chosen_export(parser)) {
    if (const auto code = add_listed(parser, standard.inputs)) return *code;
    if (standard.inputs.empty()) return parser.wrong("name at least one input");
    return export_traces(parser, *format, standard);
  }
  ConvertOptions options;
  if (const std::string problem = take_options(parser, options); !problem.empty()) {
    return parser.wrong(problem);
  }
  if (const auto code = add_listed(parser, standard.inputs)) return *code;
  Console console(standard.console);
  return convert(standard.inputs, standard, options, parser.text("format") == "json", console);
}

Option to_option() {
  Option option = {.name = "to",
                   .value = "WHAT",
                   .help =
                       "plugin: traces for torch-tb-profiler; tensorboard: summaries as event "
                       "files; perfetto, speedscope, pprof, firefox: one file in that tool's own "
                       "format; folded: "
                       "stacks as text",
                   .otherwise = "both",
                   .choices = {"both", "plugin", "tensorboard"}};
  for (const ExportFormatRow& row : export_formats()) option.choices.push_back(row.name);
  return option;
}

std::vector<OptionGroup> own_options() {
  return {{"Log files",
           {to_option(),
            {.name = "dialect",
             .value = "D",
             .help = "plugin, or kineto for Perfetto, HTA and others",
             .otherwise = "plugin",
             .choices = {"plugin", "kineto"}},
            {.name = "run",
             .value = "NAME",
             .help = "a name for the run (default: the input's folder)"},
            {.name = "worker",
             .value = "NAME",
             .help = "a name for the worker (default: by the input's name, or host and rank)"},
            {.name = "gzip", .help = "compress (default)"},
            {.name = "no-gzip", .help = "do not compress"},
            {.name = "infer-steps",
             .help = "annotations such as `Iteration 7` become steps if there are none"}}},
          {"Many inputs",
           {{.name = "files-from",
             .value = "FILE",
             .help = "a file with an input a line; - is standard input",
             .takes_path = true},
            {.name = "skip-existing", .help = "leave log files alone that are there already"},
            {.name = "fail-fast", .help = "stop at the first input that fails"},
            {.name = "format",
             .value = "F",
             .help = "text, or json for a manifest",
             .choices = {"text", "json"}}}}};
}

}  // namespace

Command convert_command() {
  return {
      .name = "convert",
      .summary = "log directories for TensorBoard, one trace or a thousand; files for Perfetto",
      .usage = "[OPTIONS] INPUT... -o LOGDIR|FILE",
      .about = kAbout,
      .options = own_options(),
      .examples =
          {{"tbtrace convert trace.json.gz -o logs", "one trace; then: tensorboard --logdir logs"},
           {"tbtrace convert ranks/ -o logs --run resnet50 -j 4",
            "all ranks of a job as one run, four at a time"},
           {"tbtrace convert ranks/ -o logs --to tensorboard",
            "only step times, tables and flame graphs of all ranks, for plain TensorBoard"},
           {"tbtrace convert archive/ -o logs --skip-existing --format json > manifest.json",
            "goes on where an earlier call was stopped, and says what became of each file"},
           {"tbtrace convert trace.json.gz -o logs --dialect kineto",
            "the trace for Perfetto, HolisticTraceAnalysis and TraceLens, mended where they need "
            "it"},
           {"tbtrace convert ranks/ -o job.pftrace --to perfetto",
            "the ranks of a job in one file for Perfetto, smaller and faster to open than JSON"}},
      .inputs = Inputs::in_lists_too,
      .run = run,
  };
}

}  // namespace tbtrace::tools
