// The memory of lines of random recordings against its definition.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <tbtrace/lines.h>

#include "analyses/memory/by_definition.h"
#include "analyses/modules/line_ways.h"
#include "analyses/modules/places_by_definition.h"
#include "analyses/modules/random_model.h"
#include "fixtures/random_rounds.h"

namespace tbtrace::analyses {
namespace {

using Device = MemoryByDefinition::Device;

std::string name_of(const LineMemoryRow& row) {
  return std::string(line_level_name(row.level)) + " " + row.file + ":" + std::to_string(row.line) +
         " " + row.function;
}

/// Record by record. A line is its name; the empty one is no line.
class LineMemoryByDefinition {
 public:
  LineMemoryByDefinition(const Trace& trace, bool libraries, std::optional<StepRange> steps)
      : trace_(trace),
        steps_(steps),
        memory_(trace, steps),
        places_(trace, LineWays(trace, libraries), steps) {}

  const MemoryByDefinition& memory() const { return memory_; }

  Way way(std::size_t row) const {
    const EventId owner = memory_.owner(row);
    return owner == EventId::none ? Way() : places_.way(owner);
  }

  static bool is_of(const std::string& line, const Way& way, bool itself) {
    if (itself || line.empty()) return (way.empty() ? "" : way.back()) == line;
    return std::ranges::find(way, line) != way.end();
  }

  /// The record of the highest total.
  std::optional<std::size_t> peak_row(const Device& device) const {
    std::optional<std::size_t> peak;
    std::optional<std::size_t> last_before;
    for (const std::size_t row : memory_.rows_of(device)) {
      if (memory_.records()[row].time_ns < memory_.start()) last_before = row;
    }
    for (const std::size_t row : memory_.rows_of(device)) {
      if (row != last_before && !memory_.is_chosen(row)) continue;
      if (!peak || total(device, row) > total(device, *peak)) peak = row;
    }
    return peak;
  }

  std::int64_t total(const Device& device, std::size_t row) const {
    return clamped(memory_.total_after(device, row));
  }

  bool is_alive(std::size_t allocated, std::size_t at) const {
    if (allocated > at || memory_.records()[allocated].bytes <= 0) return false;
    if (!memory_.address(allocated)) return false;
    const std::optional<std::size_t> next = memory_.next_of_address(allocated);
    return !next || *next > at;
  }

  LineBytes bytes(const Device& device, const std::string& line, bool itself) const {
    LineBytes found;
    const std::optional<std::size_t> peak = peak_row(device);
    for (const std::size_t row : memory_.rows_of(device)) {
      if (!is_of(line, way(row), itself)) continue;
      const std::int64_t bytes = memory_.records()[row].bytes;
      if (peak && is_alive(row, *peak)) found.alive_at_peak_bytes += bytes;
      if (!places_.counts(memory_.owner(row))) continue;
      (bytes > 0 ? found.allocated_bytes : found.freed_bytes) += std::abs(bytes);
    }
    return found;
  }

  /// The highest total while a range of the line is open, and right before.
  std::optional<std::int64_t> peak_of(const Device& device, const std::string& line) const {
    std::optional<std::int64_t> highest;
    for (const EventId range : places_.context().host_ranges()) {
      if (!places_.counts(range) || !is_of(line, places_.way(range), false)) continue;
      std::int64_t before = clamped(memory_.before(device));
      std::optional<std::int64_t> open;
      for (const std::size_t row : memory_.rows_of(device)) {
        const std::int64_t time = memory_.records()[row].time_ns;
        if (time < trace_.events().start_ns(range)) {
          before = total(device, row);
        } else if (time <= trace_.events().end_ns(range)) {
          open = std::max(open.value_or(INT64_MIN), total(device, row));
        }
      }
      highest = std::max({highest.value_or(INT64_MIN), before, open.value_or(INT64_MIN)});
    }
    return highest;
  }

  std::optional<std::int64_t> growth(const Device& device, const std::string& line) const {
    std::vector<std::int64_t> ends;
    for (const Step& step : trace_.steps()) {
      if (!steps_ || steps_->contains(step.number)) {
        ends.push_back(trace_.events().end_ns(step.event));
      }
    }
    if (ends.size() < 2) return std::nullopt;
    std::ranges::sort(ends);
    std::vector<std::int64_t> growth;
    std::int64_t last = 0;
    for (const std::int64_t end : ends) {
      std::int64_t held = 0;
      for (const std::size_t row : memory_.rows_of(device)) {
        if (memory_.records()[row].time_ns > end || !is_of(line, way(row), true)) continue;
        const std::optional<std::size_t> next = memory_.next_of_address(row);
        const bool is_over = next && memory_.records()[*next].time_ns <= end;
        if (memory_.records()[row].bytes > 0 && memory_.address(row) && !is_over) {
          held += memory_.records()[row].bytes;
        }
      }
      growth.push_back(held - last);
      last = held;
    }
    growth.erase(growth.begin());
    std::ranges::sort(growth);
    const std::size_t half = growth.size() / 2;
    return growth.size() % 2 == 1 ? growth[half] : (growth[half - 1] + growth[half]) / 2;
  }

  std::set<std::string> lines() const {
    std::set<std::string> lines;
    for (const EventId range : places_.context().host_ranges()) {
      for (const std::string& line : places_.way(range)) lines.insert(line);
    }
    return lines;
  }

 private:
  const Trace& trace_;
  std::optional<StepRange> steps_;
  MemoryByDefinition memory_;
  PlacesByDefinition places_;
};

void compare(const LineMemoryByDefinition& expected, const Device& device,
             const DeviceLineMemory& found) {
  std::map<std::string, const LineMemoryRow*> rows;
  LineBytes sum = found.unattributed;
  for (const LineMemoryRow& row : found.lines) {
    ASSERT_TRUE(rows.emplace(name_of(row), &row).second) << "one row per line";
    sum.allocated_bytes += row.self.allocated_bytes;
    sum.freed_bytes += row.self.freed_bytes;
    sum.alive_at_peak_bytes += row.self.alive_at_peak_bytes;
  }
  EXPECT_EQ(sum, found.total);
  EXPECT_EQ(sum.alive_at_peak_bytes + found.before_bytes + found.unknown_bytes, found.peak_bytes);
  const std::optional<std::size_t> peak = expected.peak_row(device);
  EXPECT_EQ(found.peak_bytes, peak ? expected.total(device, *peak) : 0);
  EXPECT_EQ(found.unattributed, expected.bytes(device, "", true));
  for (const std::string& line : expected.lines()) {
    SCOPED_TRACE(line);
    const LineBytes total = expected.bytes(device, line, false);
    ASSERT_EQ(rows.contains(line), total != LineBytes());
    if (total == LineBytes()) continue;
    EXPECT_EQ(rows[line]->total, total);
    EXPECT_EQ(rows[line]->self, expected.bytes(device, line, true));
    EXPECT_EQ(rows[line]->peak_bytes, expected.peak_of(device, line).value_or(0));
    EXPECT_EQ(rows[line]->self_growth_per_step_bytes, expected.growth(device, line));
    rows.erase(line);
  }
  EXPECT_TRUE(rows.empty());
}

TEST(LineMemory, OfRandomRecordingsIsThatOfTheDefinition) {
  const unsigned traces = fixtures::random_rounds(1200u);
  std::size_t lines = 0;
  std::size_t grown = 0;
  for (unsigned seed = 0; seed < traces; ++seed) {
    const Trace trace = RandomModel(seed, 60).make();
    const bool libraries = seed % 3 != 0;
    std::optional<StepRange> steps;
    if (seed % 4 == 0 && !trace.steps().empty()) steps = StepRange{3, 3 + seed % 3};
    SCOPED_TRACE(seed);
    const LineMemoryByDefinition expected(trace, libraries, steps);
    const LineMemory found = *line_memory(trace, {.steps = steps, .libraries = libraries});
    const std::vector<Device> devices = expected.memory().devices();
    ASSERT_EQ(found.devices.size(), devices.size());
    for (std::size_t device = 0; device < devices.size(); ++device) {
      SCOPED_TRACE(found.devices[device].device);
      compare(expected, devices[device], found.devices[device]);
      for (const LineMemoryRow& row : found.devices[device].lines) {
        grown += row.self_growth_per_step_bytes.value_or(0) != 0 ? 1 : 0;
        ++lines;
      }
    }
    if (::testing::Test::HasFailure()) return;
  }
  EXPECT_GT(lines, traces / 2);
  EXPECT_GT(grown, traces / 40);
}

}  // namespace
}  // namespace tbtrace::analyses
