#include "snapshot_inputs.h"

#include <algorithm>
#include <filesystem>
#include <system_error>

#include <tbtrace/trace_set.h>

#include "inputs.h"
#include "out_of_memory.h"

namespace tbtrace::tools {

bool any_snapshot(const std::vector<std::string>& inputs) {
  return std::ranges::any_of(inputs, [](const std::string& input) {
    std::error_code failed;
    // `record` writes both into one folder; its traces are what a folder is named for.
    const bool is_folder = std::filesystem::is_directory(input, failed);
    if (is_folder && !find_traces({input}).paths.empty()) return false;
    return std::ranges::any_of(find_memory_snapshots({input}), is_memory_snapshot);
  });
}

std::string wrong_for_snapshots(const OptionParser& parser,
                                const std::vector<std::string>& of_traces) {
  for (const std::string& name : of_traces) {
    if (parser.has(name) && parser.given(name)) {
      return "--" + name + " is for traces, not for memory snapshots";
    }
  }
  return {};
}

int each_snapshot(
    std::string_view verb, const StandardOptions& standard, const RankChoice& rank,
    Console& console,
    const std::function<int(const MemorySnapshot& snapshot, const std::string& path)>& take) {
  int last_failure = kDone;
  std::size_t taken = 0;
  for (const std::string& path : find_memory_snapshots(standard.inputs)) {
    const std::string subject = subject_of(path);
    ReadOptions reading = standard.reading;
    reading.on_progress = [&](std::uint64_t done, std::uint64_t total) {
      console.progress(subject, done, total);
      return true;
    };
    const Result<MemorySnapshot> snapshot =
        within_memory([&] { return read_memory_snapshot(path, reading); });
    console.progress(subject, 1, 1);
    if (!snapshot.ok()) {
      console.error(subject, snapshot.status().message());
      last_failure = exit_code(snapshot.status());
      continue;
    }
    if (!rank.takes(snapshot->rank())) continue;
    warn_of_issues(subject, snapshot->issues(), console);
    console.note(subject, "read " + std::to_string(snapshot->entry_count()) + " entries");
    if (const int code = take(*snapshot, path); code != kDone) {
      last_failure = code;
    } else {
      ++taken;
    }
  }
  if (taken == 0) return last_failure == kDone ? rank.say_none(verb, console) : last_failure;
  return last_failure == kDone ? kDone : kSomeInputsFailed;
}

}  // namespace tbtrace::tools
