#include "inputs.h"

#include <chrono>
#include <cstdint>
#include <utility>

namespace tbtrace::tools {
namespace {

/// Whether recordings may be taken together: an error names what differs otherwise.
Status check_same_process(const std::vector<std::string>& paths, const std::vector<Trace>& traces) {
  for (std::size_t trace = 1; trace < traces.size(); ++trace) {
    const TraceIdentity first = traces[0].identity();
    const TraceIdentity other = traces[trace].identity();
    std::string what;
    if (first.rank != other.rank) {
      what = "ranks";
    } else if (first.host != other.host) {
      what = "hosts";
    } else if (first.process != other.process) {
      what = "processes";
    } else {
      continue;
    }
    return {StatusCode::invalid_argument, paths[0] + " and " + paths[trace] + " are of different " +
                                              what +
                                              ", which are no recordings of one profiler; "
                                              "--each summarises every input by itself"};
  }
  return {};
}

}  // namespace

std::string subject_of(const std::string& path) { return path == "-" ? "standard input" : path; }

void warn_of_issues(const std::string& subject, const std::vector<Issue>& issues,
                    Console& console) {
  for (const Issue& issue : issues) {
    std::string text(issue.sentence);
    text += " [" + std::string(issue.id) + ", " + std::to_string(issue.count) +
            " x, first at byte " + std::to_string(issue.offsets.front()) + "]";
    console.warning(subject, text);
  }
}

Result<Trace> read_input(const std::string& path, const ReadOptions& options, Console& console) {
  const std::string subject = subject_of(path);
  ReadOptions reading = options;
  reading.on_progress = [&](std::uint64_t done, std::uint64_t total) {
    console.progress(subject, done, total);
  };
  const auto start = std::chrono::steady_clock::now();
  Result<Trace> trace = read_trace(path, reading);
  const auto elapsed = std::chrono::steady_clock::now() - start;
  console.progress(subject, 1, 1);
  if (!trace.ok()) {
    console.error(subject, trace.status().message());
    return trace;
  }
  warn_of_issues(subject, trace->issues(), console);
  const auto milliseconds = std::chrono::duration_cast<std::chrono::milliseconds>(elapsed).count();
  console.note(subject, "read " + std::to_string(trace->events().size()) + " ranges in " +
                            std::to_string(milliseconds) + " ms");
  return trace;
}

int read_together(std::string_view verb, const StandardOptions& standard,
                  const ReadOptions& options, Console& console, std::vector<Trace>& traces) {
  for (const std::string& input : standard.inputs) {
    Result<Trace> trace = read_input(input, options, console);
    if (!trace.ok()) return exit_code(trace.status());
    traces.push_back(*std::move(trace));
  }
  const Status same = check_same_process(standard.inputs, traces);
  if (!same.ok()) console.error(verb, same.message());
  return exit_code(same);
}

std::vector<const Trace*> pointers_to(const std::vector<Trace>& traces) {
  std::vector<const Trace*> pointers;
  pointers.reserve(traces.size());
  for (const Trace& trace : traces) pointers.push_back(&trace);
  return pointers;
}

int finish(const Status& status, std::string_view verb, const std::string& output,
           Console& console) {
  const bool is_output = status.code() == StatusCode::unwritable_output;
  const std::string_view place = output == "-" ? "standard output" : std::string_view(output);
  if (!status.ok()) console.error(is_output ? place : verb, status.message());
  return exit_code(status);
}

}  // namespace tbtrace::tools
