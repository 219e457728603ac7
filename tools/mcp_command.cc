#include <cstdint>
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

constexpr const char* kAbout =
    "Serves traces to assistants by the Model Context Protocol: findings, tables, events,\n"
    "comparisons, each answer within a budget of tokens. It reads the traces below the folders\n"
    "that it gets, and nothing else. The server is part of tbtrace's Python package.\n";

/// What kLook exits with.
enum Found : int { everything = 0, no_package = 3, no_protocol = 4 };

/// Whether a Python has the server, and the package of the protocol.
constexpr const char* kLook =
    "import importlib.util, sys\n"
    "if importlib.util.find_spec('tbtrace') is None: sys.exit(3)\n"
    "sys.exit(0 if importlib.util.find_spec('mcp') else 4)\n";

int run(const OptionParser& parser) {
  const StandardOptions& standard = parser.standard();
  Console console(standard.console);
  const std::optional<std::int64_t> port = whole_number(parser.text("port"));
  if (!port || *port < 0 || *port > 65535) return parser.wrong("--port takes 0 to 65535");
  if (standard.inputs.empty() && !parser.given("print-skill")) {
    return parser.wrong("name the folders that have your traces");
  }
  const std::string own = own_python();
  const std::string python = own.empty() ? program_in_path("python3") : own;
  const std::string install = " -m pip install '.[mcp]'";
  if (python.empty()) {
    console.error("mcp",
                  "there is no Python in PATH; install Python 3.10 or later, then in a clone of "
                  "tbtrace: python3" +
                      install);
    return kUnreadableInput;
  }
  const std::optional<int> found = exit_code_of({python, "-c", kLook});
  const std::string_view missing = found == no_package    ? "tbtrace"
                                   : found == no_protocol ? "mcp"
                                                          : "";
  if (!missing.empty()) {
    console.error(python, "has no package " + std::string(missing) +
                              "; in a clone of tbtrace: " + python + install);
    return kUnreadableInput;
  }
  if (found != everything) {
    console.error(python, "cannot be run; name another with TBTRACE_PYTHON");
    return kUnreadableInput;
  }
  std::vector<std::string> words = {python, "-m", "tbtrace", "mcp", "--port", parser.text("port")};
  for (const char* const name : {"http", "print-config", "print-skill"}) {
    if (parser.given(name)) words.push_back(std::string("--") + name);
  }
  words.emplace_back("--");
  words.insert(words.end(), standard.inputs.begin(), standard.inputs.end());
  return become(words, console);
}

}  // namespace

Command mcp_command() {
  return {
      .name = "mcp",
      .summary = "a server for assistants, by the Model Context Protocol",
      .usage = "[OPTIONS] FOLDER...",
      .about = kAbout,
      .options = {{"Server",
                   {{.name = "http",
                     .help = "listen on this machine instead of standard input and output"},
                    {.name = "port",
                     .value = "N",
                     .help = "where --http listens; 0 takes any that is free",
                     .otherwise = "8765"},
                    {.name = "print-config",
                     .help = "print what a client needs to start the server, and stop"},
                    {.name = "print-skill",
                     .help = "print how to work with its tools, and stop"}}}},
      .examples = {{"tbtrace mcp traces", "as clients start it"},
                   {"tbtrace mcp traces --http", "at http://127.0.0.1:8765/mcp"},
                   {"tbtrace mcp --print-config traces", "for the configuration of a client"}},
      .inputs = Inputs::in_lists_too,
      .run = run,
  };
}

}  // namespace tbtrace::tools
