// The lines of random recordings against their definition.
#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include <gtest/gtest.h>

#include <tbtrace/lines.h>

#include "analyses/modules/line_ways.h"
#include "analyses/modules/places_by_definition.h"
#include "analyses/modules/random_model.h"
#include "fixtures/random_rounds.h"

namespace tbtrace::analyses {
namespace {

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
    const LineTable table = *line_table(trace, {.libraries = true});
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
