// Random recordings converted for both consumers and read again: the same operators, the same work,
// linked to operators of the same names, the same steps.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "analyses/random_recording.h"
#include "chrome/rows/roles.h"
#include "fixtures/converted.h"
#include "fixtures/random_rounds.h"
#include "fixtures/read_text.h"
#include "trace/call_tree.h"
#include "trace/links.h"

namespace tbtrace::chrome {
namespace {

using analyses::RandomRecording;
using chrome::is_node;
using chrome::Role;
using chrome::Roles;
using fixtures::converted;
using fixtures::Converted;
using fixtures::random_rounds;

/// A recording as text, with all that the reader knows.
std::string recording(unsigned seed) {
  const Trace trace =
      RandomRecording(seed, {.ranges = 20, .shadows = true, .unfinished = true}).make();
  std::string text = "{\"baseTimeNanoseconds\": 1790857026000000000, \"traceEvents\": [\n";
  const auto microseconds = [](std::int64_t ns) {
    const std::string rest = std::to_string(1000 + ns % 1000).substr(1);
    return std::to_string(ns / 1000) + "." + rest;
  };
  const auto place = [&](TrackId id) {
    const Track& track = trace.track(id);
    return "\"pid\": " + std::to_string(track.process.number) +
           ", \"tid\": " + std::to_string(track.thread.number);
  };
  const auto add = [&](const std::string& row) { text += row + "},\n"; };
  for (std::size_t row = 0; row < trace.events().size(); ++row) {
    const auto event = static_cast<EventId>(row);
    std::string arguments;
    const auto argument = [&](std::string_view key, std::int64_t value) {
      if (value == 0) return;
      arguments +=
          (arguments.empty() ? "\"" : ", \"") + std::string(key) + "\": " + std::to_string(value);
    };
    argument("External id", trace.external_id(event));
    argument("correlation", trace.correlation(event));
    if (trace.events().is_python_frame(event)) {
      argument("Python id", static_cast<std::int64_t>(row) + 1);
    }
    add("{\"ph\": \"X\", \"cat\": \"" + std::string(trace.string(trace.category(event).name)) +
        "\", \"name\": \"" + std::string(trace.name(event)) + "\", " +
        place(trace.events().track(event)) +
        ", \"ts\": " + microseconds(trace.events().start_ns(event)) + ", \"dur\": " +
        microseconds(trace.events().duration_ns(event)) + ", \"args\": {" + arguments + "}");
  }
  for (const MemoryRecord& record : trace.memory()) {
    add("{\"ph\": \"i\", \"name\": \"[memory]\", " + place(record.track) + ", \"ts\": " +
        microseconds(record.time_ns) + ", \"args\": {\"Bytes\": " + std::to_string(record.bytes) +
        ", \"Device Type\": " + std::to_string(static_cast<int>(record.device_type)) + "}");
  }
  return text + "{\"ph\": \"M\", \"name\": \"x\", \"pid\": 1}]}";
}

/// Rows of kinds that are the same in every dialect, each with its times.
using RangeTuple = std::tuple<std::string, std::int64_t, std::int64_t>;
using Ranges = std::multiset<RangeTuple>;

template <typename Wanted>
Ranges ranges(const Trace& trace, Wanted wanted) {
  Ranges ranges;
  for (std::size_t row = 0; row < trace.events().size(); ++row) {
    const auto event = static_cast<EventId>(row);
    if (!wanted(event)) continue;
    ranges.emplace(trace.name(event), trace.base_time_ns() + trace.events().start_ns(event),
                   trace.events().duration_ns(event));
  }
  return ranges;
}

/// How many of the one are not in the other.
std::size_t missing(const Ranges& from, const Ranges& in) {
  std::vector<RangeTuple> left;
  std::set_difference(from.begin(), from.end(), in.begin(), in.end(), std::back_inserter(left));
  return left.size();
}

std::uint64_t count_of(const Changes& changes, std::string_view id) {
  const auto found = changes.find(id);
  return found == changes.end() ? 0 : found->second;
}

/// What the dialect writes as operators: those of the file, but for what the plugin must not see,
/// and annotations that it only knows as operators.
bool is_written_as_operator(const Trace& trace, const Roles& roles, EventId event,
                            Dialect dialect) {
  if (dialect == Dialect::kineto) return trace.kind(event) == EventKind::cpu_op;
  return roles.category(event) == "cpu_op";
}

/// Name of the operator of each piece of work, by the work's name and times. Without `by_place`,
/// only of work whose external id names a range.
std::map<RangeTuple, std::multiset<std::string>> operators_of_work(const Trace& trace,
                                                                   const Roles& roles,
                                                                   Dialect dialect, bool by_place) {
  std::set<std::int64_t> named;
  for (std::size_t row = 0; row < trace.events().size(); ++row) {
    const auto event = static_cast<EventId>(row);
    if (is_node(roles.role(event))) named.insert(trace.external_id(event));
  }
  std::map<EventId, std::set<EventId>> of_launch;
  std::map<std::pair<TrackId, std::int64_t>, int> starts;
  const auto start = [&](EventId work) {
    return std::pair(trace.events().track(work), trace.events().start_ns(work));
  };
  for (const DeviceLink& link : links_of(trace).device_work()) {
    of_launch[link.launch].insert(link.op);
    ++starts[start(link.activity)];
  }
  std::map<RangeTuple, std::multiset<std::string>> operators;
  for (const DeviceLink& link : links_of(trace).device_work()) {
    // What one call launched for several operators can only stand with one of them, and an arrow to
    // one of two that start together is an arrow to both.
    if (link.launch != EventId::none && of_launch[link.launch].size() > 1) continue;
    if (starts[start(link.activity)] > 1) continue;
    if (!by_place && !named.contains(trace.external_id(link.activity))) continue;
    EventId op = link.op;
    while (dialect == Dialect::plugin && op != EventId::none &&
           (!is_node(roles.role(op)) || roles.role(op) == Role::module)) {
      op = call_tree_of(trace).parent(op);
    }
    if (op == EventId::none) continue;
    operators[{std::string(trace.name(link.activity)),
               trace.base_time_ns() + trace.events().start_ns(link.activity),
               trace.events().duration_ns(link.activity)}]
        .emplace(trace.name(op));
  }
  return operators;
}

void check(const std::string& text, Dialect dialect) {
  const Trace before = fixtures::read(text);
  const Converted converted = fixtures::converted(text, dialect);
  const Trace after = fixtures::read(converted.text);
  ASSERT_EQ(fixtures::issue_counts(after), "");
  const Roles roles(before, dialect);
  const Roles roles_after(after, dialect);
  const std::uint64_t shortened = count_of(converted.changes, "ranges_shortened");

  const Ranges operators = ranges(
      before, [&](EventId event) { return is_written_as_operator(before, roles, event, dialect); });
  const Ranges operators_after =
      ranges(after, [&](EventId event) { return after.kind(event) == EventKind::cpu_op; });
  const bool has_listed = dialect == Dialect::plugin && text.find("nccl:") != text.npos;
  if (!has_listed) {
    ASSERT_EQ(operators.size(), operators_after.size());
    ASSERT_LE(missing(operators, operators_after), shortened);
  }

  const auto work = [](const Trace& trace) {
    return ranges(trace, [&](EventId event) { return is_device_work(trace.kind(event)); });
  };
  ASSERT_EQ(work(before), work(after));

  ASSERT_EQ(before.steps().size(),
            after.steps().size() + count_of(converted.changes, "steps_hidden"));
  ASSERT_EQ(before.memory().size(), after.memory().size());

  if (has_listed) return;
  // A launch that crosses a range is moved to a lane, where no operator is around it.
  const bool by_place = count_of(converted.changes, "ranges_moved_to_lanes") == 0;
  const auto linked = operators_of_work(before, roles, dialect, by_place);
  const auto linked_after = operators_of_work(after, roles_after, dialect, true);
  for (const auto& [key, names] : linked) {
    // A step that was shortened to nothing is no node any more, though it keeps its id.
    if (shortened > 0 && names.begin()->starts_with("ProfilerStep#")) continue;
    const auto found = linked_after.find(key);
    ASSERT_TRUE(found != linked_after.end()) << std::get<0>(key) << " lost its operator";
    ASSERT_TRUE(
        std::includes(found->second.begin(), found->second.end(), names.begin(), names.end()))
        << *names.begin() << " became " << *found->second.begin();
  }
}

TEST(RoundTripRandom, KeepsOperatorsWorkLinksAndSteps) {
  for (unsigned seed = 0; seed < random_rounds(1500u); ++seed) {
    SCOPED_TRACE(seed);
    const std::string text = recording(seed);
    for (const Dialect dialect : {Dialect::plugin, Dialect::kineto}) check(text, dialect);
    if (HasFatalFailure()) return;
  }
}

TEST(RoundTripRandom, ChangesNothingTheSecondTime) {
  constexpr std::array<std::string_view, 4> kOnce = {"ranges_moved_to_lanes", "ranges_shortened",
                                                     "tracks_renumbered", "launches_added"};
  for (unsigned seed = 0; seed < random_rounds(3000u); ++seed) {
    const std::string text = recording(seed);
    for (const Dialect dialect : {Dialect::plugin, Dialect::kineto}) {
      const Converted twice = converted(converted(text, dialect).text, dialect);
      for (const std::string_view id : kOnce) {
        EXPECT_EQ(count_of(twice.changes, id), 0u) << "seed " << seed << ": " << id;
      }
    }
  }
}

}  // namespace
}  // namespace tbtrace::chrome
