#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "command.h"
#include "console.h"
#include "inputs.h"
#include "options.h"
#include "python_program.h"

namespace tbtrace::tools {
namespace {

namespace fs = std::filesystem;

constexpr const char* kAbout =
    "Starts TensorBoard with the tab of tbtrace on a log directory: torch.profiler's, a C++\n"
    "program's, or one that `tbtrace convert` made. No trace is converted. The tab is part\n"
    "of tbtrace's Python package, and has to be installed beside TensorBoard.\n";

/// What kLook exits with.
enum Found : int { everything = 0, no_tensorboard = 3, no_tab = 4 };

/// Whether a Python has TensorBoard and the tab.
constexpr const char* kLook =
    "import importlib.util, importlib.metadata, sys\n"
    "if importlib.util.find_spec('tensorboard') is None: sys.exit(3)\n"
    "names = [one.name for one in importlib.metadata.entry_points(group='tensorboard_plugins')]\n"
    "sys.exit(0 if 'tbtrace' in names else 4)\n";

/// TensorBoard, which also prints the address of the tab once it listens: only then is the port of
/// `--port 0` known.
constexpr const char* kServe =
    "import sys\n"
    "from tensorboard import main, program\n"
    "print_own = program.WerkzeugServer.print_serving_message\n"
    "def print_both(server):\n"
    "    print_own(server)\n"
    "    print(f'tbtrace: tensorboard: the tab is at {server.get_url()}#tbtrace', file=sys.stderr, "
    "flush=True)\n"
    "program.WerkzeugServer.print_serving_message = print_both\n"
    "sys.argv[0] = 'tensorboard'\n"
    "main.run_main()\n";

/// The Python in the first lines of a script of pip: `#!/usr/bin/python3`, or where that is too
/// long for the system, `'''exec' /usr/bin/python3 "$0" "$@"`. Empty if there is none.
std::string python_of_script(const std::string& script) {
  std::ifstream file(script);
  std::string line;
  for (int number = 0; number < 2 && std::getline(file, line); ++number) {
    std::string_view rest = line;
    constexpr std::string_view kExec = "'''exec' ";
    if (number == 0 && rest.starts_with("#!")) {
      rest.remove_prefix(2);
    } else if (number == 1 && rest.starts_with(kExec)) {
      rest.remove_prefix(kExec.size());
    } else {
      continue;
    }
    if (rest.starts_with('"')) {
      rest.remove_prefix(1);
      rest = rest.substr(0, rest.find('"'));
    } else {
      rest = rest.substr(0, rest.find(' '));
    }
    if (rest.find("python") != std::string_view::npos) return std::string(rest);
  }
  return {};
}

/// The Python whose TensorBoard to start: that of the package this program lies in, of the
/// `tensorboard` in PATH, or the `python3` in PATH.
std::string python_of_tensorboard() {
  if (std::string own = own_python(); !own.empty()) return own;
  if (const std::string script = program_in_path("tensorboard"); !script.empty()) {
    if (std::string python = python_of_script(script); !python.empty()) return python;
  }
  return program_in_path("python3");
}

int run(const OptionParser& parser) {
  const StandardOptions& standard = parser.standard();
  Console console(standard.console);
  if (standard.inputs.size() != 1) return parser.wrong("takes one log directory");
  const std::optional<std::int64_t> port = whole_number(parser.text("port"));
  if (!port || *port < 0 || *port > 65535) return parser.wrong("--port takes 0 to 65535");
  const std::string& logdir = standard.inputs.front();
  std::error_code failure;
  if (!fs::is_directory(logdir, failure)) {
    console.error(logdir, "is not a directory; name the log directory that traces are written to");
    return kUnreadableInput;
  }
  const std::string python = python_of_tensorboard();
  const std::string install = " -m pip install '.[tensorboard]'";
  if (python.empty()) {
    console.error("tensorboard",
                  "there is no Python in PATH; install Python 3.10 or later, then in a clone of "
                  "tbtrace: python3" +
                      install);
    return kUnreadableInput;
  }
  const std::optional<int> found = exit_code_of({python, "-c", kLook});
  if (found == no_tensorboard) {
    console.error(python, "has no TensorBoard; in a clone of tbtrace: " + python + install);
    return kUnreadableInput;
  }
  if (found == no_tab) {
    console.error(python, "has TensorBoard without the tab of tbtrace; in a clone of tbtrace: " +
                              python + install);
    return kUnreadableInput;
  }
  if (found != everything) {
    console.error(python, "cannot be run; name another with TBTRACE_PYTHON");
    return kUnreadableInput;
  }
  std::vector<std::string> words = {
      python, "-c", kServe, "--logdir", logdir, "--port", parser.text("port")};
  if (parser.given("host")) {
    words.emplace_back("--host");
    words.push_back(parser.text("host"));
  }
  return become(words, console);
}

}  // namespace

Command tensorboard_command() {
  return {
      .name = "tensorboard",
      .summary = "TensorBoard with the tab of tbtrace, on a log directory",
      .usage = "[OPTIONS] LOGDIR",
      .about = kAbout,
      .options = {{"Server",
                   {{.name = "port",
                     .value = "N",
                     .help = "where TensorBoard listens; 0 takes any that is free",
                     .otherwise = "6006"},
                    {.name = "host",
                     .value = "NAME",
                     .help = "for other machines: 0.0.0.0, or the name of an address of this one "
                             "(default: only this machine)"}}}},
      .examples = {{"tbtrace tensorboard logs", "then open http://localhost:6006/#tbtrace"},
                   {"tbtrace tensorboard logs --port 0", "beside another TensorBoard"}},
      .run = run,
  };
}

}  // namespace tbtrace::tools
