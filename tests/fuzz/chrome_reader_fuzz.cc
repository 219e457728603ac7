// Chrome traces read in several ways: blocks of any size, any number of threads. All give the same
// rows and issues, within bounds; every analysis takes them. Where the text is valid JSON, the rows
// are those that a DOM parser's tree of it means.
//
// The first byte is a control. `1` to `3`: the rest is the end of a trace whose start fills one or
// two blocks; the second byte moves the start of that end. 0x80 and above: a valid trace is made of
// the rest, see grammar_text.h. Any other: the rest is the whole trace. The control also picks the
// block size and the number of threads to compare.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <tbtrace/compat.h>
#include <tbtrace/flame_graph.h>
#include <tbtrace/operators.h>
#include <tbtrace/trace.h>

#include "fixtures/dom_rows.h"
#include "fixtures/json_checker.h"
#include "fixtures/json_tree.h"
#include "fixtures/reading_ways.h"
#include "fuzz/grammar_text.h"
#include "fuzz/require.h"
#include "io/source.h"
#include "oracle/row_lines.h"
#include "readers/chrome/reader.h"
#include "trace/call_tree.h"
#include "trace/issues.h"
#include "trace/links.h"
#include "trace/self_times.h"

namespace {

using namespace tbtrace;
using fixtures::ReadingWay;
using fuzz::require;
using readers::Reading;

constexpr std::size_t kBlock = std::size_t{16} << 10;  // that the start of a long trace fills

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
  constexpr unsigned char kGrammar = 0x80;
  if (static_cast<unsigned char>(input[0]) >= kGrammar) {
    return fuzz::GrammarText(input.substr(1)).trace();
  }
  if (!is_end_of_long_one(input)) return std::string(input.substr(1));
  constexpr std::size_t kBefore = 128;
  static const std::string one_block = filler(kBlock - kBefore);
  static const std::string two_blocks = filler(2 * kBlock - kBefore);
  static const std::string block_of_blanks = filler(kBlock) + std::string(kBlock - kBefore, ' ');
  std::string text = input[0] == '1' ? one_block : input[0] == '2' ? two_blocks : block_of_blanks;
  text.append(static_cast<unsigned char>(input[1]), ' ');
  return text.append(input.substr(2));
}

ReadingWay way_of(std::string_view input) {
  static const std::vector<ReadingWay> ways = fixtures::reading_ways();
  constexpr std::array kThreads = {2, 3, 8};
  const auto control = static_cast<unsigned char>(input[0]);
  if (is_end_of_long_one(input)) return {kBlock, kThreads[control % kThreads.size()]};
  return ways[control % ways.size()];
}

Result<Reading> read(std::string_view text, const ReadingWay& way) {
  const std::unique_ptr<io::ByteSource> source = io::memory_source(text);
  return readers::read_chrome(*source, {.threads = way.threads, .arguments = ArgumentSet::all()},
                              readers::BlockSize{way.block_bytes});
}

std::string describe(const Result<Reading>& reading) {
  if (!reading.ok()) return "failure: " + reading.status().message();
  return fixtures::describe(reading->trace) + fixtures::describe_issues(reading->trace);
}

/// Prints where they differ.
void require_same(const std::string& expected, const std::string& other, const char* what) {
  if (expected == other) return;
  std::fprintf(stderr, "%s\n", fixtures::first_difference(expected, other).c_str());
  require(false, what);
}

/// As all JSON parsers do who know it.
std::string_view without_byte_order_mark(std::string_view text) {
  return text.starts_with("\xef\xbb\xbf") ? text.substr(3) : text;
}

/// Brackets, strings, numbers and literals are those of JSON or Python's; escapes may be any.
bool is_json(std::string_view text) {
  fixtures::JsonChecker checker(text, true);
  return checker.element() == fixtures::JsonVerdict::complete && checker.at() == text.size();
}

std::uint64_t count(const Trace& trace, IssueId id) {
  const std::string_view name = kIssueTable[static_cast<std::size_t>(id)].id;
  for (const Issue& issue : trace.issues()) {
    if (issue.id == name) return issue.count;
  }
  return 0;
}

void require_issues_of_valid_json(const Reading& reading) {
  for (const IssueId id :
       {IssueId::input_truncated, IssueId::input_damaged, IssueId::event_unreadable,
        IssueId::member_unreadable, IssueId::unescaped_text, IssueId::invalid_utf8,
        IssueId::trailing_text}) {
    if (count(reading.trace, id) == 0) continue;
    std::fprintf(stderr, "%s\n", kIssueTable[static_cast<std::size_t>(id)].id.data());
    require(false, "valid JSON is not damaged");
  }
  require(reading.blocks.is_sound(), "valid JSON needs no repair");
}

/// Kineto's C++ writer escapes nothing, so in its layout a backslash is one, and `"name": "a",
/// "cat": "b",` may be one name, though as JSON the text means something else.
bool is_repaired_kineto(const Reading& reading, std::string_view text) {
  if (reading.blocks.quoting == wire::Quoting::escaped) return false;
  return text.find('\\') != std::string_view::npos || !reading.blocks.is_sound() ||
         count(reading.trace, IssueId::unescaped_text) > 0;
}

/// Where the text is valid JSON, the trace holds what it says.
void check_rows(const Result<Reading>& reading, std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos || (text[first] != '{' && text[first] != '[')) return;
  if (reading.ok() && is_repaired_kineto(*reading, text)) return;
  const std::optional<fixtures::JsonTree> document = fixtures::parse_json_tree(text);
  if (!document) return;
  const fixtures::DomRows expected = fixtures::rows_of_dom(*document);
  if (!expected.is_known) return;
  require(reading.ok() == expected.is_trace, "valid JSON is a trace if it holds events");
  if (!reading.ok()) return;
  require_issues_of_valid_json(*reading);
  std::string expected_rows;
  for (const std::string& line : expected.lines) expected_rows += line + '\n';
  std::string rows;
  oracle::for_each_row(reading->trace, [&](std::string_view, std::string_view line) {
    rows.append(line).push_back('\n');
  });
  require_same(expected_rows, rows, "a reader makes the rows that the text means");
}

void check_bounds(const Trace& trace) {
  const std::size_t tracks = trace.tracks().size();
  const Events& events = trace.events();
  for (std::size_t row = 0; row < events.size(); ++row) {
    const auto event = static_cast<EventId>(row);
    require(index(events.track(event)) < tracks, "events have a track");
    require(index(events.category(event)) < trace.categories().size(), "events have a category");
    require(events.duration_ns(event) >= 0, "durations are not negative");
  }
  for (const MemoryRecord& record : trace.memory()) {
    require(index(record.track) < tracks, "memory records have a track");
  }
  for (const FlowEnd& end : trace.flows()) require(index(end.track) < tracks, "flows have a track");
  for (const Step& step : trace.steps()) {
    require(index(step.event) < events.size(), "steps have an event");
  }
}

void check_relations(const Trace& trace) {
  const std::size_t size = trace.events().size();
  require(trace.by_start().size() == size, "the order by start has all events");
  std::vector<bool> seen(size);
  for (const EventId event : trace.by_start()) {
    require(index(event) < size && !seen[index(event)], "the order by start is a permutation");
    seen[index(event)] = true;
  }
  const CallTree& tree = call_tree_of(trace);
  std::vector<bool> before(size);
  for (const EventId event : tree.ranges()) {
    require(index(event) < size, "ranges are events");
    const EventId parent = tree.parent(event);
    require(parent == EventId::none || before[index(parent)], "ranges come after their parents");
    const std::int64_t self = self_times_of(trace).ns(event);
    require(self >= 0, "self times are not negative");
    require(self <= trace.events().duration_ns(event), "self is part of the whole");
    before[index(event)] = true;
  }
  for (const DeviceLink& link : links_of(trace).device_work()) {
    require(is_device_work(trace.kind(link.activity)), "work is work of a device");
    require(link.launch == EventId::none || index(link.launch) < size, "launches are events");
    require(link.op == EventId::none || index(link.op) < size, "operators are events");
  }
  const LinkReport& report = trace.links();
  const std::uint64_t work = links_of(trace).device_work().size();
  require(report.launch_by_correlation + report.launch_by_flow + report.launch_unknown == work,
          "launches add up");
  require(report.operator_by_flow + report.operator_by_external_id +
                  report.operator_by_containment + report.operator_unknown ==
              work,
          "operators add up");
}

void analyse(const Trace& trace) {
  for (const Figures figures : {Figures::torch, Figures::exact, Figures::plugin}) {
    const OperatorSummary summary =
        *operator_summary(trace, figures, {.group_by_input_shape = true, .group_by_stack_n = 2});
    require(summary.report().ok(), "a summary is a table");
    require(summary.json().ok(), "a summary is JSON");
    if (figures == Figures::torch) require(summary.table().ok(), "a summary can be printed");
  }
  require(events(trace).table().ok(), "events can be printed");
  for (const char* weight : {"self_cpu_time_total", "self_device_time_total", "cpu_memory"}) {
    const Result<StackTree> stacks = flame_graph(trace, {.weight = weight});
    if (!stacks.ok()) continue;  // the trace has no such weight
    folded_stacks(*stacks);
    require(flame_graph_svg(*stacks).ok(), "a flame graph is a picture");
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  const std::string whole = trace_text(input);
  const std::string_view text = without_byte_order_mark(whole);
  const ReadingWay way = way_of(input);

  const Result<Reading> reading = read(whole, {std::size_t{1} << 20, 1});
  const std::string expected = describe(reading);
  const std::string in_blocks = describe(read(whole, {way.block_bytes, 1}));
  require_same(in_blocks, describe(read(whole, way)), "threads do not change a trace");
  if (is_json(text)) require_same(expected, in_blocks, "blocks do not change a trace");
  check_rows(reading, text);
  if (!reading.ok()) return 0;

  check_bounds(reading->trace);
  check_relations(reading->trace);
  if (!is_end_of_long_one(input)) analyse(reading->trace);
  return 0;
}
