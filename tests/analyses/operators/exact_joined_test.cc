// Exact figures of several traces against sums of what each trace gives by itself.
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include <gtest/gtest.h>

#include <tbtrace/operators.h>

#include "analyses/random_recording.h"
#include "fixtures/random_rounds.h"

namespace tbtrace::analyses {
namespace {

using fixtures::random_rounds;

using Key =
    std::tuple<std::string, std::string, bool, DeviceType, std::string, std::vector<std::string>>;
using RowSums = std::vector<std::int64_t>;

Key key_of(const OperatorRow& row) {
  return {row.key,         row.overload_name, row.is_user_annotation,
          row.device_type, row.input_shapes,  row.stack};
}

RowSums figures_of(const OperatorRow& row) {
  return {row.count,
          row.cpu_time_total.ns,
          row.self_cpu_time_total.ns,
          row.device_time_total.ns,
          row.self_device_time_total.ns,
          row.cpu_memory_usage_bytes,
          row.self_cpu_memory_usage_bytes,
          row.device_memory_usage_bytes,
          row.self_device_memory_usage_bytes,
          static_cast<std::int64_t>(row.flops)};
}

void add_rows(const OperatorSummary& summary, std::map<Key, RowSums>& sums) {
  for (const OperatorRow& row : summary.rows()) {
    const RowSums figures = figures_of(row);
    RowSums& sum = sums[key_of(row)];
    sum.resize(figures.size());
    for (std::size_t figure = 0; figure < figures.size(); ++figure) sum[figure] += figures[figure];
  }
}

/// Rows and `[idle]` are all that the threads had in their windows.
void expect_windows_covered(const OperatorSummary& summary, std::int64_t windows) {
  std::int64_t self = 0;
  for (const OperatorRow& row : summary.rows()) self += row.self_cpu_time_total.ns;
  ASSERT_EQ(self, windows);
  ASSERT_EQ(self, summary.self_cpu_time_total().ns);
}

/// Kernels and the like once on the device side and once on the host side.
void expect_device_time_twice(const OperatorSummary& summary) {
  std::int64_t device = 0;
  std::int64_t host = 0;
  for (const OperatorRow& row : summary.rows()) {
    (row.device_type == DeviceType::cpu ? host : device) += row.self_device_time_total.ns;
  }
  ASSERT_EQ(device, host);
  ASSERT_EQ(device, summary.self_device_time_total().ns);
}

std::string json_of(const OperatorSummary& summary) { return *summary.json(); }

TEST(ExactSummary, OfSeveralTracesIsTheSumOfThoseOfEach) {
  std::size_t shared_rows = 0;
  for (unsigned seed = 0; seed < random_rounds(600u); ++seed) {
    SCOPED_TRACE(seed);
    const SummaryOptions options = {.group_by_input_shape = seed % 2 == 0,
                                    .group_by_stack_n = seed % 3 == 0 ? 2 : 0,
                                    .group_by_overload_name = seed % 5 == 0};
    std::vector<Trace> traces;
    for (unsigned number = 0; number < 2 + seed % 3; ++number) {
      traces.push_back(RandomRecording(5 * seed + number,
                                       {.devices = (seed + number) % 4 != 0, .arguments = true})
                           .make());
    }
    std::vector<const Trace*> pointers;
    std::map<Key, RowSums> expected;
    std::size_t rows = 0;
    std::int64_t window = 0;
    std::int64_t windows = 0;
    ExactSummaryBuilder builder(options);
    for (const Trace& trace : traces) {
      pointers.push_back(&trace);
      builder.add(trace);
      const OperatorSummary alone = exact_operator_summary(trace, options);
      add_rows(alone, expected);
      rows += alone.rows().size();
      window += alone.window_ns();
      windows += alone.window_ns() * static_cast<std::int64_t>(alone.threads().size());
    }
    const OperatorSummary joined = exact_operator_summary(pointers, options);
    std::map<Key, RowSums> found;
    add_rows(joined, found);
    ASSERT_EQ(joined.rows().size(), found.size()) << "a key has several rows";
    ASSERT_EQ(found, expected);
    ASSERT_EQ(joined.window_ns(), window);
    ASSERT_NO_FATAL_FAILURE(expect_windows_covered(joined, windows));
    ASSERT_NO_FATAL_FAILURE(expect_device_time_twice(joined));
    ASSERT_EQ(json_of(std::move(builder).finish()), json_of(joined));
    shared_rows += rows - joined.rows().size();
  }
  EXPECT_GT(shared_rows, random_rounds(1000u));
}

}  // namespace
}  // namespace tbtrace::analyses
