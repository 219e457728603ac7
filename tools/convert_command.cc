#include <fstream>
#include <iostream>
#include <string>
#include <vector>

#include <tbtrace/convert.h>

#include "command.h"
#include "inputs.h"
#include "options.h"

namespace tbtrace::tools {
namespace {

constexpr const char* kAbout =
    "Log directories from saved traces, for tensorboard --logdir LOGDIR: with torch-tb-profiler,\n"
    "or, --to tensorboard, as summaries that TensorBoard shows without any plugin.\n"
    "Inputs are files, directories that are searched for traces, and quoted globs; all traces of\n"
    "one folder become one run with a worker each (without the plugin, a run for each worker), so\n"
    "that ranks can be compared.\n";

constexpr const char* kExamples =
    "  tbtrace convert trace.json.gz -o logs\n"
    "      one trace; then: tensorboard --logdir logs\n"
    "  tbtrace convert ranks/ -o logs --run resnet50 -j 4\n"
    "      all ranks of a job as one run, four at a time\n"
    "  tbtrace convert ranks/ -o logs --to tensorboard\n"
    "      step times, tables and flame graphs of all ranks, for plain TensorBoard\n"
    "  tbtrace convert archive/ -o logs --skip-existing --format json > manifest.json\n"
    "      goes on where an earlier call was stopped, and says what became of each file\n"
    "  tbtrace convert trace.json.gz -o logs --dialect kineto\n"
    "      today's categories, for Perfetto and HolisticTraceAnalysis\n";

/// The lines of a file, or of standard input; nothing if it cannot be read.
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

std::string size_text(std::uint64_t bytes) {
  if (bytes < 10'000) return std::to_string(bytes) + " B";
  if (bytes < 10'000'000) return std::to_string(bytes / 1000) + " kB";
  return std::to_string(bytes / 1'000'000) + " MB";
}

class Report {
 public:
  Report(bool as_text, Console& console) : as_text_(as_text), console_(console) {}

  void add(const ConvertedInput& input) {
    const std::string subject = subject_of(input.input);
    warn_of_issues(subject, input.issues, console_);
    if (input.state == ConvertedInput::State::failed) {
      console_.error(subject, input.status.message());
      return;
    }
    if (!as_text_) return;
    const bool written = input.state == ConvertedInput::State::written;
    std::cout << printable(subject) << " -> " << printable(input.file.path);
    if (written) {
      std::cout << " (" << input.ranges << " ranges, " << size_text(input.file.bytes) << ")\n";
    } else {
      std::cout << " (there already, left alone)\n";
    }
    std::cout << std::flush;
    for (const auto& [id, count] : input.file.changes) changes_[id] += count;
  }

  void sum_up(const Conversion& conversion, const std::string& directory) const {
    if (!as_text_) return;
    std::size_t counts[4] = {};
    for (const ConvertedInput& input : conversion.inputs) {
      ++counts[static_cast<std::size_t>(input.state)];
    }
    if (!changes_.empty()) std::cout << "\nChanged so that readers take it:\n";
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
      std::cout << ", " << conversion.passed_over.size() << " other files passed over";
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

int exit_code_of(const Conversion& conversion) {
  std::size_t failed = 0;
  int failure = kDone;
  for (const ConvertedInput& input : conversion.inputs) {
    if (input.state != ConvertedInput::State::failed) continue;
    ++failed;
    failure = exit_code(input.status);
  }
  if (failed == 0) return kDone;
  return failed == conversion.inputs.size() ? failure : kSomeInputsFailed;
}

}  // namespace

int run_convert(const std::vector<std::string>& arguments) {
  OptionParser parser("convert", "[OPTIONS] INPUT... -o LOGDIR", kAbout, kExamples);
  const auto text = [] { return cxxopts::value<std::string>(); };
  parser.add("Log files")  //
      ("to", "plugin: traces for torch-tb-profiler; tensorboard: summaries as event files",
       text()->default_value("plugin"), "WHAT")  //
      ("dialect", "plugin, or kineto for today's categories", text()->default_value("plugin"),
       "D")                                                                        //
      ("run", "a name for the run (default: the input's folder)", text(), "NAME")  //
      ("worker", "a name for the worker (default: by the input's name, or host and rank)", text(),
       "NAME")                        //
      ("gzip", "compress (default)")  //
      ("no-gzip", "do not compress")  //
      ("infer-steps", "annotations such as `Iteration 7` become steps if there are none");
  parser.add("Many inputs")                                                               //
      ("files-from", "a file with an input a line; - is standard input", text(), "FILE")  //
      ("skip-existing", "leave log files alone that are there already")                   //
      ("fail-fast", "stop at the first input that fails")                                 //
      ("format", "text, or json for a manifest", text(), "F");
  if (const std::optional<int> code = parser.parse(arguments)) return *code;
  const StandardOptions& standard = parser.standard();
  const cxxopts::ParseResult& values = parser.values();
  const auto value = [&](const char* name) { return values[name].as<std::string>(); };

  if (standard.output.empty()) return parser.wrong("-o names the log directory to write to");
  if (standard.output == "-") return parser.wrong("a log directory is no standard output");
  ConvertOptions options;
  if (value("to") == "tensorboard") {
    options.log.format = LogFormat::event_files;
    for (const char* const name : {"dialect", "gzip", "no-gzip"}) {
      if (values.count(name) > 0) {
        return parser.wrong("--" + std::string(name) + " is for traces; event files have none");
      }
    }
  } else if (value("to") != "plugin") {
    return parser.wrong("--to takes plugin or tensorboard; '" + value("to") + "' is not known");
  }
  if (value("dialect") == "kineto") {
    options.log.dialect = Dialect::kineto;
  } else if (value("dialect") != "plugin") {
    return parser.wrong("--dialect takes plugin or kineto");
  }
  if (parser.flag("gzip") && parser.flag("no-gzip")) {
    return parser.wrong("--gzip and --no-gzip exclude each other");
  }
  const std::string format = standard.format.empty() ? "text" : standard.format;
  if (format != "text" && format != "json") {
    return parser.wrong("there is no format '" + format + "'; use text or json");
  }
  if (parser.flag("skip-existing") && standard.overwrite) {
    return parser.wrong("--skip-existing and --overwrite exclude each other");
  }
  if (values.count("run") > 0) options.log.run = value("run");
  if (values.count("worker") > 0) options.log.worker = value("worker");
  if ((values.count("run") > 0 && options.log.run.empty()) ||
      (values.count("worker") > 0 && options.log.worker.empty())) {
    return parser.wrong("--run and --worker take a name");
  }
  options.log.use_gzip = !parser.flag("no-gzip");
  options.log.infer_steps = parser.flag("infer-steps");
  options.log.overwrite = standard.overwrite;
  options.skip_existing = parser.flag("skip-existing");
  options.fail_fast = parser.flag("fail-fast");
  options.strict = standard.reading.strict;
  options.threads = standard.reading.threads;

  Console console(standard.console);
  std::vector<std::string> inputs = standard.inputs;
  if (values.count("files-from") > 0 && !add_lines(value("files-from"), inputs)) {
    console.error(subject_of(value("files-from")), "cannot read this list of inputs; name another");
    return kUnreadableInput;
  }
  if (inputs.empty()) return parser.wrong("--files-from lists no input");
  Report report(format == "text", console);
  options.on_input = [&](const ConvertedInput& input) { report.add(input); };
  options.on_progress = [&](std::size_t done, std::size_t all) {
    console.count("converting", done, all);
  };
  const Result<Conversion> conversion = convert_to_log_directory(inputs, standard.output, options);
  if (!conversion.ok()) {
    const bool of_output = conversion.status().code() == StatusCode::unwritable_output;
    console.error(of_output ? standard.output : "convert", conversion.status().message());
    return exit_code(conversion.status());
  }
  for (const std::string& path : conversion->passed_over) {
    console.note(path, "is no trace and was passed over");
  }
  for (const auto& [run, status] : conversion->failed_runs) {
    console.error(run, status.message());
  }
  if (format == "json") {
    std::cout << conversion_json(*conversion, standard.output);
  } else {
    report.sum_up(*conversion, standard.output);
  }
  return exit_code_of(*conversion);
}

}  // namespace tbtrace::tools
