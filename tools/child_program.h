// Another program in the foreground, as a shell runs it: with this one's standard streams, terminal
// and signals. One thread.
#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace tbtrace::tools {

struct ProgramEnd {
  int not_started = 0;  ///< errno; the others say nothing then
  int exit_code = 0;
  int signal = 0;  ///< that killed it; 0: it exited
};

/// Waits for its end. Signals that other processes send to this one go to the program; those of the
/// terminal reach it anyway. `environment`: variables that are set for it. `on_start` gets its
/// process id once it runs.
ProgramEnd run_program(const std::vector<std::string>& words,
                       const std::vector<std::pair<std::string, std::string>>& environment,
                       const std::function<void(int)>& on_start);

/// Ends this process as the program ended. Returns the exit code if it was not killed.
int end_like(const ProgramEnd& end);

}  // namespace tbtrace::tools
