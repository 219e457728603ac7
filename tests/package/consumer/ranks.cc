// What a program does with the traces of a job.
//   ranks list INPUT...   reads them as one set and lists each rank's kernels
//   ranks cancel FILE     cancels the reading of a file and says how that ended
//   ranks misuse FILE     uses the result of a reading that failed
#include <cstdlib>
#include <iostream>
#include <string>
#include <string_view>
#include <vector>

#include <tbtrace/analysis_context.h>
#include <tbtrace/trace.h>
#include <tbtrace/trace_set.h>

namespace {

int list(const std::vector<std::string>& inputs) {
  const tbtrace::Result<tbtrace::TraceSet> ranks = tbtrace::read_trace_set(inputs);
  if (!ranks) {
    std::cerr << ranks.status().message() << '\n';
    return EXIT_FAILURE;
  }
  for (const tbtrace::TraceOfSet& rank : *ranks) {
    const tbtrace::Trace& trace = rank.trace;
    const auto name_or = [&](tbtrace::EventId event, std::string_view other) {
      return event == tbtrace::EventId::none ? other : trace.name(event);
    };
    const tbtrace::AnalysisContext context(trace);
    for (const tbtrace::DeviceLink& link : context.device_links()) {
      const tbtrace::Step* const step = context.step_of(link.activity);
      std::cout << rank.rank.value_or(-1) << '\t' << trace.name(link.activity) << '\t'
                << name_or(context.operator_of(link.activity), "no operator") << '\t'
                << name_or(context.module_of(link.activity), "no module") << '\t'
                << (step == nullptr ? "no step" : std::to_string(step->number)) << '\n';
    }
  }
  std::cout << ranks->size() << " traces\n";
  return EXIT_SUCCESS;
}

int cancel(const std::string& path) {
  tbtrace::ReadOptions options;
  options.on_progress = [](std::uint64_t, std::uint64_t) { return false; };
  const tbtrace::Result<tbtrace::Trace> trace = tbtrace::read_trace(path, options);
  if (trace || trace.status().code() != tbtrace::StatusCode::cancelled) return EXIT_FAILURE;
  std::cout << trace.status().message() << '\n';
  return EXIT_SUCCESS;
}

int misuse(const std::string& path) {
  std::cout << tbtrace::read_trace(path)->events().size() << '\n';
  return EXIT_SUCCESS;
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<std::string> words(argv + 1, argv + argc);
  if (words.size() < 2) return EXIT_FAILURE;
  if (words[0] == "list") return list({words.begin() + 1, words.end()});
  return words[0] == "cancel" ? cancel(words[1]) : misuse(words[1]);
}
