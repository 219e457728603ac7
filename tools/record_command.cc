#include <cerrno>
#include <cstring>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include <unistd.h>

#include "child_program.h"
#include "command.h"
#include "console.h"
#include "idle_recording.h"
#include "libtorch_recording.h"
#include "options.h"
#include "record_options.h"
#include "record_results.h"
#include "record_running.h"
#include "recording_hook.h"

namespace tbtrace::tools {
namespace {

namespace fs = std::filesystem;

constexpr const char* kAbout =
    "Runs a program that uses PyTorch, and records some of its steps by torch's own\n"
    "profiler. The program needs no change; its output and its exit code stay its own. A step is\n"
    "what ends with an optimizer's step(); in a program without one, with the call of a model. A\n"
    "program without either is recorded by time. Each process that trains writes a trace, named\n"
    "by its rank if it has one: those of torchrun, mpirun, srun and multiprocessing. Workers of\n"
    "data loaders and other programs that it starts are not recorded. At the end the summary goes\n"
    "to standard error.\n"
    "A program in C++ is recorded by time, if it is linked with LibTorch 2.7 or newer.\n"
    "With --pid it records a program that runs: one that `tbtrace record --idle -- COMMAND` or "
    "that\n"
    "KINETO_USE_DAEMON=1 in its environment has made ready for it.\n";

constexpr const char* kLogs = "logs";
constexpr double kSeconds = 2;

using Variables = std::vector<std::pair<std::string, std::string>>;

// As shells and env have them.
constexpr int kNotFound = 127;
constexpr int kNotExecutable = 126;

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

/// Why a trace is missing, and what to do.
std::string reason_without_trace(const RecordedProgram& program, const OptionParser& parser) {
  if (!program.has_python && is_isolated_python(parser.standard().inputs)) {
    return "nothing was recorded: python -I, -E and -S ignore PYTHONPATH, by which programs are "
           "recorded; run it without them, or use `with tbtrace.record():` in it";
  }
  if (!program.has_python) {
    return "nothing was recorded: the command ran no Python that reads PYTHONPATH, and it is not "
           "linked with LibTorch's shared libraries; a program in C++ has to be the command itself "
           "(mpirun -n 4 tbtrace record -- ./train)";
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

/// A program in C++. It has no steps that Kineto sees.
Result<std::unique_ptr<LibTorchRecording>> libtorch_recording(const OptionParser& parser,
                                                              const std::string& logs,
                                                              Console& console) {
  LibTorchWindow window{.kineto = kineto_window(parser)};
  window.after = seconds_of(parser.text("after")).value_or(window.after);
  window.kineto.seconds = seconds_of(parser.text("seconds")).value_or(kSeconds);
  if (parser.given("steps") || parser.given("skip")) {
    console.warning("record",
                    "programs in C++ are recorded by time; choose it with --after and "
                    "--seconds instead of --steps and --skip");
  }
  return LibTorchRecording::make(window, logs);
}

/// Returns the exit code for a program that ended well; `end` is how it ended.
int record_program(const OptionParser& parser, const std::string& logs, Console& console,
                   ProgramEnd& end) {
  const std::vector<std::string>& words = parser.standard().inputs;
  const bool is_idle = parser.flag("idle");
  const bool is_libtorch = is_libtorch_program(words.front());
  RecordedProgram program;
  {
    const Result<RecordingHook> hook = RecordingHook::make(logs, options_of_program(parser, logs));
    Result<std::unique_ptr<LibTorchRecording>> libtorch = std::unique_ptr<LibTorchRecording>();
    if (is_libtorch) libtorch = libtorch_recording(parser, logs, console);
    if (!hook.ok() || !libtorch.ok()) {
      console.error("record", (hook.ok() ? libtorch.status() : hook.status()).message());
      return kUnwritableOutput;
    }
    if (is_idle) {
      console.message("record", "`tbtrace record --pid " + std::to_string(::getpid()) +
                                    "` records this program while it runs");
    }
    Variables variables = {{"PYTHONPATH", hook->python_path()}};
    if (is_idle) variables.emplace_back(kIdleFolder, hook->folder());
    if (is_libtorch) {
      const Variables more = (*libtorch)->environment();
      variables.insert(variables.end(), more.begin(), more.end());
    }
    end = run_program(words, variables, [&](int pid) {
      if (is_libtorch && !is_idle) (*libtorch)->start(pid);
    });
    program = hook->said();
    if (is_libtorch) (*libtorch)->finish(program);
  }
  if (end.not_started != 0) {
    console.error(words.front(), std::string("cannot be run: ") + std::strerror(end.not_started) +
                                     "; the command to record stands after --");
    return end.not_started == ENOENT ? kNotFound : kNotExecutable;
  }
  const bool is_silent = is_idle && (program.has_torch || is_libtorch) && program.problems.empty();
  if (is_silent) return kDone;
  const std::string reason =
      is_libtorch ? "nothing was recorded" : reason_without_trace(program, parser);
  return show_recording(program, reason, logs, parser, console);
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
  const int code = parser.given("pid") ? record_running(parser, logs.string(), console)
                                       : record_program(parser, logs.string(), console, end);
  if (is_new) ::rmdir(logs.c_str());  // if nothing is in it
  const int own = end_like(end);
  return own == kDone ? code : own;
}

}  // namespace

Command record_command() {
  return {
      .name = "record",
      .summary = "a program that uses torch, recorded without changing it",
      .usage = "[OPTIONS] -- COMMAND...  or  tbtrace record [OPTIONS] --pid N",
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
           {"A program that runs",
            {{.name = "pid",
              .value = "N",
              .help = "record these processes, and those that they started, instead of a command",
              .is_list = true},
             {.name = "idle",
              .help =
                  "start the command without recording it; --pid then records it at any time"}}},
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
                   {"tbtrace record --idle -- torchrun --nproc-per-node 8 train.py",
                    "ready to be recorded; it says the N for --pid"},
                   {"tbtrace record --pid 4711", "three steps of a program that runs"},
                   {"tbtrace record --seconds 2 --after 30 -- python server.py", "by time"},
                   {"tbtrace record --with-stack --report page.html -- python train.py",
                    "with lines and modules, and a page to look at"}},
      .inputs = Inputs::in_lists_too,
      .run = run,
  };
}

}  // namespace tbtrace::tools
