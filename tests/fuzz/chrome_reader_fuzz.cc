// Chrome traces on one thread and on two: the same rows and issues, all of them within bounds, and
// every analysis takes them.
//
// The first byte is a control: `0` for a trace that follows, `1` to `3` for the end of one that is
// long enough to be read by several threads. Then the second byte moves the start of that end.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <tbtrace/analyses.h>
#include <tbtrace/trace.h>
#include <tbtrace/writers.h>

#include "fuzz/require.h"
#include "io/source.h"
#include "readers/chrome_reader.h"
#include "trace/call_tree.h"
#include "trace/links.h"
#include "trace/self_times.h"

namespace {

using namespace tbtrace;
using fuzz::require;

/// The start of a trace: blanks and events, `size` bytes.
std::string filler(std::size_t size) {
  std::string text = "{\"traceEvents\": [";
  for (int number = 0;; ++number) {
    std::string event = number == 0 ? "\n" : ",\n";
    event += R"({"ph": "X", "cat": "cpu_op", "name": "aten::op)" + std::to_string(number % 7) +
             R"(", "pid": 1, "tid": 1, "ts": )" + std::to_string(number) +
             R"(, "dur": 0.5, "args": {"External id": )" + std::to_string(number) + "}}";
    if (text.size() + event.size() > size) break;
    text += event;
  }
  return text.append(size - text.size(), ' ');
}

bool is_end_of_long_one(std::string_view input) {
  return input.size() >= 2 && input[0] >= '1' && input[0] <= '3';
}

std::string trace_text(std::string_view input) {
  if (!is_end_of_long_one(input)) return std::string(input.substr(1));
  constexpr std::size_t kFirst = std::size_t{128} << 10;  // the blocks of the reader
  constexpr std::size_t kSecond = std::size_t{512} << 10;
  constexpr std::size_t kBefore = 128;
  static const std::string one_block = filler(kFirst - kBefore);
  static const std::string two_blocks = filler(kFirst + kSecond - kBefore);
  static const std::string block_of_blanks = filler(kFirst) + std::string(kSecond - kBefore, ' ');
  std::string text = input[0] == '1' ? one_block : input[0] == '2' ? two_blocks : block_of_blanks;
  text.append(static_cast<unsigned char>(input[1]), ' ');
  return text.append(input.substr(2));
}

Result<Trace> read(std::string_view text, int threads) {
  const std::unique_ptr<io::ByteSource> source = io::memory_source(text);
  return readers::read_chrome(*source, {.threads = threads});
}

std::string describe(const Trace& trace, const TrackKey& key) {
  return std::to_string(key.number) + '/' + std::string(trace.string(key.text));
}

/// All rows as text, which also looks up every id.
std::vector<std::string> describe(const Trace& trace) {
  std::vector<std::string> rows;
  const Events& events = trace.events();
  for (std::size_t row = 0; row < events.size(); ++row) {
    const auto event = static_cast<EventId>(row);
    require(index(events.track(event)) < trace.tracks().size(), "events have a track");
    require(index(events.category(event)) < trace.categories().size(), "events have a category");
    require(events.duration_ns(event) >= 0, "durations are not negative");
    rows.push_back(std::string(trace.name(event)) + '|' + std::to_string(events.start_ns(event)) +
                   '|' + std::to_string(events.duration_ns(event)) + '|' +
                   std::string(trace.string(trace.category(event).name)) + '|' +
                   std::to_string(index(events.track(event))) + '|' +
                   std::to_string(trace.external_id(event)) + '|' +
                   std::to_string(trace.correlation(event)) + '|' +
                   std::to_string(events.unfinished(event)));
  }
  for (const Track& track : trace.tracks()) {
    rows.push_back("track " + describe(trace, track.process) + ' ' + describe(trace, track.thread) +
                   ' ' + std::string(trace.string(track.process_name)) + ' ' +
                   std::string(trace.string(track.thread_name)));
  }
  for (const MemoryRecord& record : trace.memory()) {
    require(index(record.track) < trace.tracks().size(), "memory records have a track");
    rows.push_back("memory " + std::to_string(record.time_ns) + ' ' + std::to_string(record.bytes));
  }
  for (const FlowEnd& end : trace.flows()) {
    require(index(end.track) < trace.tracks().size(), "arrows have a track");
    rows.push_back("flow " + std::to_string(end.time_ns) + ' ' + std::to_string(end.id));
  }
  for (const OperatorInputs& inputs : trace.inputs()) {
    require(index(inputs.event) < events.size(), "inputs have an event");
    rows.push_back("inputs " + std::to_string(index(inputs.event)) + ' ' +
                   std::string(trace.string(inputs.dims)) + ' ' +
                   std::string(trace.string(inputs.types)));
  }
  for (const AutogradInfo& info : trace.autograd()) {
    require(index(info.event) < events.size(), "autograd numbers have an event");
    rows.push_back("autograd " + std::to_string(info.sequence_number));
  }
  for (const CallStack& stack : trace.call_stacks()) {
    require(index(stack.event) < events.size(), "stacks have an event");
    rows.push_back("stack " + std::string(trace.string(stack.frames)));
  }
  for (const Step& step : trace.steps()) {
    require(index(step.event) < events.size(), "steps have an event");
  }
  for (const auto& [key, value] : trace.metadata()) rows.push_back("member " + key + ' ' + value);
  for (const Issue& issue : trace.issues()) {
    std::string row = "issue " + std::string(issue.id) + ' ' + std::to_string(issue.count);
    for (const std::uint64_t offset : issue.offsets) row += ' ' + std::to_string(offset);
    rows.push_back(row);
  }
  return rows;
}

void check_relations(const Trace& trace) {
  const std::size_t size = trace.events().size();
  require(trace.by_start().size() == size, "the order by start has all events");
  std::vector<bool> seen(size);
  for (const EventId event : trace.by_start()) {
    require(index(event) < size && !seen[index(event)], "the order by start is a permutation");
    seen[index(event)] = true;
  }
  const CallTree& tree = trace.call_tree();
  std::vector<bool> before(size);
  for (const EventId event : tree.ranges()) {
    require(index(event) < size, "ranges are events");
    const EventId parent = tree.parent(event);
    require(parent == EventId::none || before[index(parent)], "ranges come after their parents");
    const std::int64_t self = trace.self_times().ns(event);
    require(self >= 0, "self times are not negative");
    require(self <= trace.events().duration_ns(event), "self is part of the whole");
    before[index(event)] = true;
  }
  for (const DeviceLink& link : trace.device_links().device_work()) {
    require(is_device_work(trace.kind(link.work)), "work is work of a device");
    require(link.launch == EventId::none || index(link.launch) < size, "launches are events");
    require(link.op == EventId::none || index(link.op) < size, "operators are events");
  }
  const LinkReport& report = trace.links();
  const std::uint64_t work = trace.device_links().device_work().size();
  require(report.launch_by_correlation + report.launch_by_flow + report.launch_unknown == work,
          "launches add up");
  require(report.operator_by_flow + report.operator_by_external_id +
                  report.operator_by_containment + report.operator_unknown ==
              work,
          "operators add up");
}

/// Sums over all rows stay far from 2^63; beyond, figures mean nothing.
bool sums_fit(const Trace& trace) {
  double largest = std::abs(static_cast<double>(trace.window_start_ns())) +
                   std::abs(static_cast<double>(trace.window_end_ns()));
  for (const EventId event : trace.by_start()) {
    largest = std::max({largest, std::abs(static_cast<double>(trace.events().start_ns(event))),
                        std::abs(static_cast<double>(trace.events().end_ns(event)))});
  }
  for (const MemoryRecord& record : trace.memory()) {
    largest = std::max({largest, std::abs(static_cast<double>(record.bytes)),
                        std::abs(static_cast<double>(record.time_ns))});
  }
  const std::size_t rows = trace.by_start().size() + trace.memory().size() + trace.tracks().size();
  return largest * static_cast<double>(rows) < 4e18;
}

void analyse(const Trace& trace) {
  for (const Figures figures : {Figures::torch, Figures::exact, Figures::plugin}) {
    const OperatorSummary summary = operator_summary(
        trace, {.group_by_input_shape = true, .group_by_stack_n = 2, .figures = figures});
    require(summary.report().ok(), "a summary is a table");
    const Trace* const traces[] = {&trace};
    require(operator_summary_json(summary, traces).ok(), "a summary is JSON");
    if (figures == Figures::torch) require(summary.table().ok(), "a summary can be printed");
  }
  require(events(trace).table().ok(), "events can be printed");
  for (const char* weight : {"self_cpu_time_total", "self_device_time_total", "cpu_memory"}) {
    const Result<StackTree> stacks = flame_graph(trace, {.weight = weight});
    if (!stacks.ok()) continue;  // the trace has no such weight
    folded_stacks(*stacks);
    flame_graph_svg(*stacks);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  const std::string text = trace_text(input);
  const Result<Trace> one = read(text, 1);
  const Result<Trace> two = read(text, 2);
  require(one.ok() == two.ok(), "threads do not decide what is a trace");
  if (!one.ok()) {
    require(one.status().message() == two.status().message(), "threads do not change a failure");
    return 0;
  }
  require(describe(*one) == describe(*two), "threads do not change a trace");
  if (!sums_fit(*one)) return 0;
  check_relations(*one);
  if (!is_end_of_long_one(input)) analyse(*one);
  return 0;
}
