// The runs that inputs of diff and baseline name. One thread. Problems are printed.
#pragma once

#include <string>
#include <vector>

#include <tbtrace/diff.h>
#include <tbtrace/flame_difference.h>

#include "console.h"
#include "options.h"

namespace tbtrace::tools {

/// Adds the runs of an input (run_paths()): those of a baseline, else one, which is a trace or all
/// traces of a folder. Returns the exit code. `stacks`: gets those of each run,
/// of a baseline none.
int read_runs(const std::string& path, const StandardOptions& standard, Console& console,
              std::vector<RunFigures>& runs, std::vector<RunStacks>* stacks = nullptr);

}  // namespace tbtrace::tools
