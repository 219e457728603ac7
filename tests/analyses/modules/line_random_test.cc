// The lines of random recordings against their definition.
#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include <tbtrace/lines.h>

#include "analyses/modules/places_by_definition.h"
#include "analyses/modules/random_model.h"
#include "fixtures/random_rounds.h"

namespace tbtrace::analyses {
namespace {

/// `line model.py:4 forward`; empty for what is not a line. By the texts that RandomModel uses.
std::string line_named(std::string_view frame, const char* level) {
  const std::size_t open = frame.find('(');
  const std::size_t close = frame.find("): ");
  if (frame.starts_with('<') || open == frame.npos || close == frame.npos) return {};
  return std::string(level) + " " + std::string(frame.substr(0, open)) + ":" +
         std::string(frame.substr(open + 1, close - open - 1)) + " " +
         std::string(frame.substr(close + 3));
}

bool is_of_library(const std::string& line) { return line.find(" torch/") != line.npos; }

class LineWays {
 public:
  LineWays(const Trace& trace, bool libraries) : trace_(trace), libraries_(libraries) {
    for (std::size_t row = 0; row < trace.events().size(); ++row) {
      const auto event = static_cast<EventId>(row);
      has_frames_ = has_frames_ || (trace.kind(event) == EventKind::python_function &&
                                    !trace.events().is_module(event));
    }
  }

  Way operator()(const Way& around, EventId range) const {
    const std::string_view stack = trace_.argument_text(range, Argument::call_stack);
    if (!stack.empty() && !has_frames_) {
      const Way way = of_stack(stack);
      if (!way.empty()) return way;
    }
    if (!trace_.events().is_python_frame(range)) return around;
    Way way = around;
    const std::string_view caller = trace_.argument_text(range, Argument::call_from);
    if (const std::size_t colon = caller.find(':'); colon != caller.npos) {
      std::string name = "line " + std::string(caller) + " ";
      // The function around it, if it is in the same file.
      const std::string file(caller.substr(0, colon));
      const std::string above = around.empty() ? "" : around.back();
      const std::string place = above.substr(above.find(' ') + 1);
      if (place.starts_with(file + ":")) name += place.substr(place.rfind(' ') + 1);
      add(way, name);
    }
    add(way, line_named(trace_.name(range), "function"));
    return way;
  }

 private:
  void add(Way& way, const std::string& line) const {
    if (!line.empty() && (libraries_ || !is_of_library(line))) way.push_back(line);
  }

  Way of_stack(std::string_view stack) const {
    if (stack.find("__enter__") != stack.npos) return {};
    Way way;
    for (std::size_t end = stack.size(); end > 0;) {  // outermost last in the text
      const std::size_t before = stack.rfind(';', end - 1);
      const std::size_t start = before == stack.npos ? 0 : before + 1;
      if (start < end) add(way, line_named(stack.substr(start, end - start), "line"));
      end = start == 0 ? 0 : before;
    }
    return way;
  }

  const Trace& trace_;
  bool libraries_;
  bool has_frames_ = false;
};

using Sums = PlacesByDefinition::Sums;

void add(Sums& sum, const Sums& more) {
  sum.cpu_ns += more.cpu_ns;
  sum.device_ns += more.device_ns;
  sum.backward_cpu_ns += more.backward_cpu_ns;
  sum.backward_device_ns += more.backward_device_ns;
  sum.cpu_bytes += more.cpu_bytes;
  sum.device_bytes += more.device_bytes;
}

Sums totals_in(const ModuleCost& cost) {
  return {cost.cpu_time_total_ns,       cost.device_time_total_ns, cost.backward_cpu_time_ns,
          cost.backward_device_time_ns, cost.cpu_memory_bytes,     cost.device_memory_bytes};
}

void compare(const Trace& trace, bool libraries) {
  const PlacesByDefinition expected(trace, LineWays(trace, libraries));
  std::map<std::string, Sums> own;
  std::map<std::string, Sums> total;
  Sums all;
  for (const auto& [way, sums] : expected.own()) {
    add(all, sums);
    add(own[way.empty() ? "" : way.back()], sums);
    Way lines = way;
    std::sort(lines.begin(), lines.end());
    lines.erase(std::unique(lines.begin(), lines.end()), lines.end());
    for (const std::string& line : lines) add(total[line], sums);
  }
  const LineTable table = *line_table(trace, {.libraries = libraries});
  std::map<std::string, Sums> found;
  for (const LineRow& row : table.lines) {
    const std::string name = std::string(line_level_name(row.level)) + " " + row.file + ":" +
                             std::to_string(row.line) + " " + row.function;
    SCOPED_TRACE(name);
    ASSERT_TRUE(found.emplace(name, totals_in(row)).second) << "one row per line";
    EXPECT_EQ(row.self_cpu_time_ns, own[name].cpu_ns);
    EXPECT_EQ(row.self_device_time_ns, own[name].device_ns);
    EXPECT_EQ(row.self_cpu_memory_bytes, own[name].cpu_bytes);
    EXPECT_EQ(row.self_device_memory_bytes, own[name].device_bytes);
  }
  for (const auto& [line, sums] : total) {
    ASSERT_TRUE(found.contains(line)) << line;
    EXPECT_EQ(found[line], sums) << line;
  }
  for (const auto& [line, sums] : found) {
    EXPECT_TRUE(total.contains(line) || sums == Sums()) << line << " did nothing";
  }
  EXPECT_EQ(totals_in(table.unattributed), own[""]);
  EXPECT_EQ(totals_in(table.total), all);
}

TEST(LineTable, OfRandomRecordingsIsThatOfTheDefinition) {
  const unsigned traces = fixtures::random_rounds(800u);
  std::size_t lines = 0;
  std::size_t functions = 0;
  for (unsigned seed = 0; seed < traces; ++seed) {
    SCOPED_TRACE(seed);
    const Trace trace = RandomModel(seed).make();
    compare(trace, true);
    compare(trace, false);
    const LineTable table = *line_table(trace);
    for (const LineRow& row : table.lines) {
      ++(row.level == LineLevel::line ? lines : functions);
    }
    if (::testing::Test::HasFailure()) return;
  }
  EXPECT_GT(lines, traces);
  EXPECT_GT(functions, traces / 2);
}

}  // namespace
}  // namespace tbtrace::analyses
