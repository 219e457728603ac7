#include "inputs.h"

#include <chrono>
#include <string_view>
#include <utility>

#include <tbtrace/trace_set.h>
#include <tbtrace/writers.h>

#include "joined_inputs.h"
#include "out_of_memory.h"

namespace tbtrace::tools {
std::string subject_of(const std::string& path) { return path == "-" ? "standard input" : path; }

void warn_of_issues(const std::string& subject, const std::vector<Issue>& issues,
                    Console& console) {
  for (const Issue& issue : issues) {
    std::string text(issue.sentence);
    text += " [" + std::string(issue.id) + ", " + std::to_string(issue.count) + " x";
    if (!issue.offsets.empty()) {
      text += ", first at byte " + std::to_string(issue.offsets.front());
    }
    text += "]";
    console.warning(subject, text);
  }
}

namespace {

InputPaths paths_of(FoundTraces found, Console& console) {
  InputPaths inputs = {.paths = std::move(found.paths)};
  for (const UnreadInput& input : found.unread) {
    console.error(subject_of(input.path), input.status.message());
    ++inputs.failed;
    inputs.last_failure = exit_code(input.status);
  }
  for (const std::string& path : found.passed_over) {
    console.note(path, "is not a trace and was passed over");
  }
  return inputs;
}

}  // namespace

InputPaths find_inputs(const StandardOptions& standard, Console& console) {
  return paths_of(find_traces(standard.inputs), console);
}

InputPaths find_partial_inputs(const StandardOptions& standard, Console& console) {
  return paths_of(find_partials(standard.inputs), console);
}

Result<Trace> read_input(const std::string& path, const ReadOptions& options, Console& console) {
  const std::string subject = subject_of(path);
  ReadOptions reading = options;
  reading.on_progress = [&](std::uint64_t done, std::uint64_t total) {
    console.progress(subject, done, total);
    return true;
  };
  const auto start = std::chrono::steady_clock::now();
  Result<Trace> trace = within_memory([&] { return read_trace(path, reading); }, reading.threads);
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

Subjects subjects_of(const std::string& verb, const StandardOptions& standard) {
  Subjects subjects = {.verb = verb, .input = verb, .output = output_of(standard)};
  if (!standard.inputs.empty()) subjects.input = subject_of(standard.inputs.front());
  if (standard.inputs.size() > 1) {
    subjects.input += " and " + std::to_string(standard.inputs.size() - 1) + " more";
  }
  return subjects;
}

int finish(const Status& status, const Subjects& subjects, Console& console) {
  if (status.ok()) return kDone;
  std::string_view subject = subjects.verb;
  if (status.code() == StatusCode::out_of_memory) {
    subject = subjects.input;
  } else if (exit_code(status) == kUnwritableOutput) {
    subject = subjects.output == "-" ? "standard output" : std::string_view(subjects.output);
  }
  const bool exists = status.code() == StatusCode::output_exists;
  console.error(subject, status.message() + (exists ? "; --overwrite replaces it" : ""));
  return exit_code(status);
}

int run_together(const std::string& verb, const StandardOptions& standard,
                 const ReadOptions& reading, Console& console, const MakeResult& make) {
  const Subjects subjects = subjects_of(verb, standard);
  if (const Status place = check_output(subjects.output, standard.overwrite); !place.ok()) {
    return finish(place, subjects, console);
  }
  std::vector<Trace> traces;
  std::vector<JoinedInput> inputs;
  for (const std::string& input : standard.inputs) {
    Result<Trace> trace = read_input(input, reading, console);
    if (!trace.ok()) return exit_code(trace.status());
    inputs.push_back({input, trace->identity()});
    const Status same = check_same_process(inputs, "name recordings of one process");
    if (!same.ok()) return finish(same, subjects, console);
    traces.push_back(*std::move(trace));
  }
  const Status made = within_memory([&] {
    std::vector<const Trace*> pointers;
    pointers.reserve(traces.size());
    for (const Trace& trace : traces) pointers.push_back(&trace);
    return make(pointers);
  });
  return finish(made, subjects, console);
}

}  // namespace tbtrace::tools
