#include "record_results.h"

#include <cstddef>
#include <filesystem>
#include <optional>
#include <system_error>
#include <vector>

#include <unistd.h>

#include "command.h"

namespace tbtrace::tools {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostListed = 4;  // traces

std::string counted(int count, const std::string& what) {
  return std::to_string(count) + " " + what + (count == 1 ? "" : "s");
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

}  // namespace

int show_recording(const RecordedProgram& program, const std::string& reason,
                   const std::string& logs, const OptionParser& parser, Console& console) {
  for (const std::string& problem : program.problems) console.warning("record", problem);
  say_files(logs, "memory snapshot", program.snapshots, console);
  if (program.traces.empty()) {
    console.warning("record", reason);
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

}  // namespace tbtrace::tools
