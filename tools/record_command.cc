#include <cerrno>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include <unistd.h>

#include "child_program.h"
#include "command.h"
#include "console.h"
#include "options.h"
#include "recording_hook.h"

namespace tbtrace::tools {
namespace {

namespace fs = std::filesystem;

constexpr const char* kAbout =
    "Runs a program that uses PyTorch in Python, and records some of its steps by torch's own\n"
    "profiler. The program needs no change; its output and its exit code stay its own. A step is\n"
    "what ends with an optimizer's step(); in a program without one, with the call of a model. A\n"
    "program without either is recorded by time. Each process that trains writes a trace, named\n"
    "by its rank if it has one: those of torchrun, mpirun, srun and multiprocessing. Workers of\n"
    "data loaders and other programs that it starts are not recorded. At the end the summary goes\n"
    "to standard error.\n";

constexpr const char* kLogs = "logs";
constexpr std::size_t kMostListed = 4;  // traces

// As shells and env have them.
constexpr int kNotFound = 127;
constexpr int kNotExecutable = 126;

/// nullopt if `text` is not a number from 0 on.
std::optional<double> seconds_of(const std::string& text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value >= 0 && value < 1e9 ? std::optional(value) : std::nullopt;
}

std::string json_string(std::string_view text) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string quoted = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20) {
      quoted += std::string("\\u00") + kDigits[byte >> 4U] + kDigits[byte & 15U];
    } else {
      if (c == '"' || c == '\\') quoted += '\\';
      quoted += c;
    }
  }
  return quoted + '"';
}

/// What is wrong with the options, empty if nothing is.
std::string problem_of(const OptionParser& parser) {
  const bool by_time = parser.given("seconds") || parser.given("after");
  for (const char* const name : {"steps", "skip"}) {
    if (by_time && parser.given(name)) {
      return std::string("--") + name + " counts steps; it does not go with --seconds and --after";
    }
    const auto number = whole_number(parser.text(name));
    const bool is_steps = std::string_view(name) == "steps";
    if (!number || *number < (is_steps ? 1 : 0) || *number > 1'000'000'000) {
      return std::string("--") + name + (is_steps ? " takes 1 or more" : " takes 0 or more");
    }
  }
  for (const char* const name : {"seconds", "after"}) {
    if (parser.given(name) && !seconds_of(parser.text(name))) {
      return std::string("--") + name + " takes seconds, such as 2 or 0.5";
    }
  }
  return {};
}

/// For the recorder in the program.
std::string options_json(const OptionParser& parser, const std::string& logs) {
  std::string json = "{\"logs\": " + json_string(logs);
  for (const char* const name : {"steps", "skip", "seconds", "after"}) {
    if (!parser.text(name).empty()) json += ", \"" + std::string(name) + "\": " + parser.text(name);
  }
  const std::pair<const char*, const char*> flags[] = {
      {"record-shapes", "record_shapes"}, {"profile-memory", "profile_memory"},
      {"with-stack", "with_stack"},       {"with-modules", "with_modules"},
      {"children", "children"},           {"memory-snapshot", "memory_snapshot"},
  };
  for (const auto& [name, key] : flags) {
    const bool is_on =
        parser.given(name) ? parser.flag(name) : std::string_view(name) == "record-shapes";
    json += std::string(", \"") + key + "\": " + (is_on ? "true" : "false");
  }
  return json + "}\n";
}

/// Whether Python would ignore the hook: `python -I train.py`.
bool is_isolated_python(const std::vector<std::string>& words) {
  if (!fs::path(words.front()).filename().string().starts_with("python")) return false;
  for (std::size_t i = 1; i < words.size() && words[i].starts_with('-'); ++i) {
    const std::string& word = words[i];
    if (word == "-c" || word == "-m" || word.starts_with("--")) return false;
    if (word.find_first_of("IES") != std::string::npos) return true;
    if (word == "-W" || word == "-X") ++i;
  }
  return false;
}

std::string counted(int count, const std::string& what) {
  return std::to_string(count) + " " + what + (count == 1 ? "" : "s");
}

/// Why a trace is missing, and what to do.
std::string reason_without_trace(const RecordedProgram& program, const OptionParser& parser) {
  if (!program.has_python && is_isolated_python(parser.standard().inputs)) {
    return "nothing was recorded: python -I, -E and -S ignore PYTHONPATH, by which programs are "
           "recorded; run it without them, or use `with tbtrace.record():` in it";
  }
  if (!program.has_python) {
    return "nothing was recorded: the command ran no Python that reads PYTHONPATH. C++ programs "
           "cannot be recorded from outside; tbtrace::Profiler records them from within";
  }
  if (!program.has_torch) {
    return "nothing was recorded: no Python program imported torch, or its environment was not "
           "passed on (on other machines: mpirun -x PYTHONPATH)";
  }
  if (program.open_windows > 0) {
    return "nothing was recorded: a process was killed, or called os._exit(), while it was "
           "recorded; record earlier or fewer steps, with --skip and --steps";
  }
  if (program.most_steps > 0) {
    const std::string what =
        program.steps_by == "module" ? "call of a model" : "step of an optimizer";
    return "nothing was recorded: " + std::to_string(program.most_steps) + " " +
           (program.most_steps == 1
                ? what
                : what.substr(0, what.find(' ')) + "s" + what.substr(what.find(' '))) +
           " ended in all, and recording begins after " + parser.text("skip") +
           "; choose another number with --skip, such as --skip 1";
  }
  return "nothing was recorded: no optimizer stepped and no model was called, and no operator ran "
         "when it was recorded by time; choose the time with --after and --seconds";
}

/// Below the working directory, paths are said without it.
std::string short_path(const std::string& path) {
  std::error_code failed;
  const std::string near = fs::path(path).lexically_proximate(fs::current_path(failed)).string();
  return failed || near.starts_with("..") ? path : near;
}

void say_files(const std::string& logs, const std::string& what,
               const std::vector<std::string>& paths, Console& console) {
  if (paths.size() > kMostListed) {
    console.message(logs, counted(static_cast<int>(paths.size()), what));
    return;
  }
  for (const std::string& path : paths) console.message(short_path(path), what + " written");
}

/// Runs a verb on the traces, with its results on standard error.
int run_on(const Command& command, std::vector<std::string> arguments,
           const std::vector<std::string>& traces) {
  arguments.emplace_back("--");
  for (const std::string& trace : traces) arguments.push_back(short_path(trace));
  OptionParser parser(command);
  const std::optional<int> code = parser.parse(arguments);
  return code ? *code : command.run(parser);
}

/// What there is to say at the end. Returns an exit code for a program that ended well.
int show(const RecordedProgram& program, const std::string& logs, const OptionParser& parser,
         Console& console) {
  for (const std::string& problem : program.problems) console.warning("record", problem);
  say_files(logs, "memory snapshot", program.snapshots, console);
  if (program.traces.empty()) {
    console.warning("record", reason_without_trace(program, parser));
    return kDone;
  }
  say_files(logs, "trace", program.traces, console);
  ::dup2(STDERR_FILENO, STDOUT_FILENO);  // standard output is the program's
  if (!parser.flag("no-summary")) run_on(summary_command(), {}, program.traces);
  if (!parser.given("report")) return kDone;
  const std::string& report = parser.text("report");
  const int code = run_on(report_command(), {"-o", report, "--overwrite"}, program.traces);
  if (code == kDone || code == kSomeInputsFailed) console.message(report, "the report");
  return code;
}

int run(const OptionParser& parser) {
  const StandardOptions& standard = parser.standard();
  Console console(standard.console);
  if (const std::string problem = problem_of(parser); !problem.empty())
    return parser.wrong(problem);
  std::error_code failed;
  const fs::path logs =
      fs::absolute(standard.output.empty() ? kLogs : standard.output).lexically_normal();
  const bool is_new = fs::create_directories(logs, failed);
  if (failed) {
    console.error(logs.string(),
                  "cannot make the directory: " + failed.message() + "; name another with -o");
    return kUnwritableOutput;
  }
  ProgramEnd end;
  RecordedProgram program;
  {
    const Result<RecordingHook> hook =
        RecordingHook::make(logs.string(), options_json(parser, logs.string()));
    if (!hook.ok()) {
      console.error("record", hook.status().message());
      return kUnwritableOutput;
    }
    end = run_program(standard.inputs, {{"PYTHONPATH", hook->python_path()}});
    program = hook->said();
  }
  if (is_new) ::rmdir(logs.c_str());  // if nothing is in it
  if (end.not_started != 0) {
    console.error(standard.inputs.front(), std::string("cannot be run: ") +
                                               std::strerror(end.not_started) +
                                               "; the command to record stands after --");
    return end.not_started == ENOENT ? kNotFound : kNotExecutable;
  }
  const int code = show(program, logs.string(), parser, console);
  const int own = end_like(end);
  return own == kDone ? code : own;
}

}  // namespace

Command record_command() {
  return {
      .name = "record",
      .summary = "a Python program that uses torch, recorded without changing it",
      .usage = "[OPTIONS] -- COMMAND...",
      .about = kAbout,
      .options =
          {{"When",
            {{.name = "steps", .value = "N", .help = "how many steps to record", .otherwise = "3"},
             {.name = "skip",
              .value = "N",
              .help = "how many steps to wait; the first ones are slow",
              .otherwise = "5"},
             {.name = "seconds",
              .value = "S",
              .help = "record by time instead: how long (default: 2)"},
             {.name = "after",
              .value = "S",
              .help = "record by time instead: how long to wait after torch was imported (default: "
                      "10)"}}},
           {"What",
            {{.name = "record-shapes",
              .help = "shapes of inputs: on, unless --record-shapes=false"},
             {.name = "profile-memory", .help = "what memory operators allocate and free"},
             {.name = "with-stack", .help = "Python's stacks, which also name modules and lines"},
             {.name = "with-modules", .help = "modules of TorchScript"},
             {.name = "memory-snapshot",
              .help = "also a snapshot of GPU memory, at the end and when memory runs out"},
             {.name = "children", .help = "also Python programs that a recorded one starts"}}},
           {"Results",
            {{.name = "report",
              .value = "FILE",
              .help = "also write the page of `tbtrace report`",
              .takes_path = true},
             {.name = "no-summary", .help = "do not print the summary at the end"}}}},
      .examples = {{"tbtrace record -- python train.py --epochs 3",
                    "three steps, after five; the trace is in logs/"},
                   {"tbtrace record -o traces --skip 100 -- torchrun --nproc-per-node 8 train.py",
                    "each rank"},
                   {"tbtrace record --seconds 2 --after 30 -- python server.py", "by time"},
                   {"tbtrace record --with-stack --report page.html -- python train.py",
                    "with lines and modules, and a page to look at"}},
      .run = run,
  };
}

}  // namespace tbtrace::tools
