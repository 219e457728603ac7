#include "run_inputs.h"

#include <filesystem>
#include <system_error>
#include <utility>

#include <tbtrace/trace_set.h>

#include "inputs.h"

namespace tbtrace::tools {
namespace {

/// Adds a trace to the figures of its run.
Status add_rank(const std::string& path, const StandardOptions& standard, Console& console,
                RunSum& sum, RunStacks* stacks) {
  ReadOptions reading = standard.reading;
  reading.arguments = diff_arguments();
  if (stacks != nullptr) reading.arguments = reading.arguments | run_stacks_arguments();
  reading.on_progress = [&](std::uint64_t done, std::uint64_t total) {
    console.progress(subject_of(path), done, total);
    return true;
  };
  const Result<Trace> trace = read_trace(path, reading);
  if (!trace.ok()) return trace.status();
  if (Status merged = trace->check_not_merged(); !merged.ok()) return merged;
  warn_of_issues(subject_of(path), trace->issues(), console);
  if (Status added = sum.add(*trace); !added.ok() || stacks == nullptr) return added;
  return add_stacks(*stacks, *trace);
}

bool is_baseline(const std::string& path) {
  std::error_code failure;
  if (!std::filesystem::is_regular_file(path, failure)) return false;
  const Result<bool> found = is_baseline_file(path);
  return found.ok() && *found;
}

int read_run(const std::string& path, const StandardOptions& standard, Console& console,
             std::vector<RunFigures>& runs, std::vector<RunStacks>* stacks) {
  if (is_baseline(path)) {
    return finish_work(
        [&] {
          Result<std::vector<RunFigures>> read = read_baseline(path);
          if (!read.ok()) return read.status();
          for (RunFigures& run : *read) runs.push_back(std::move(run));
          return Status();
        },
        subjects_of_input(path, standard), console);
  }
  const FoundTraces traces = find_traces({path});
  for (const UnreadInput& unread : traces.unread) {
    return finish(unread.status, subjects_of_input(unread.path, standard), console);
  }
  RunSum sum(path);
  RunStacks of_run;
  of_run.name = path;
  for (const std::string& rank : traces.paths) {
    const int code = finish_work(
        [&] {
          return add_rank(rank, standard, console, sum, stacks == nullptr ? nullptr : &of_run);
        },
        subjects_of_input(rank, standard), console);
    if (code != kDone) return code;
  }
  runs.push_back(sum.figures());
  if (stacks != nullptr) stacks->push_back(std::move(of_run));
  return kDone;
}

}  // namespace

int read_runs(const std::string& path, const StandardOptions& standard, Console& console,
              std::vector<RunFigures>& runs, std::vector<RunStacks>* stacks) {
  for (const std::string& run : run_paths(path)) {
    const int code = read_run(run, standard, console, runs, stacks);
    if (code != kDone) return code;
  }
  return kDone;
}

}  // namespace tbtrace::tools
