// Rows that are made one at a time. What they say is tested with the list (event_list_test.cc,
// torch/events_random_test.cc); here that they say it in any order.
#include "analyses/operators/event_rows.h"

#include <cstddef>
#include <optional>
#include <random>
#include <string>
#include <tuple>
#include <vector>

#include <gtest/gtest.h>

#include "analyses/random_recording.h"
#include "fixtures/random_rounds.h"

namespace tbtrace::analyses {
namespace {

auto numbers(const OperatorRow& row) {
  return std::tuple(row.count, row.is_user_annotation, row.is_async, row.has_cpu_parent,
                    row.device_type, row.cpu_time_total.us, row.self_cpu_time_total.us,
                    row.device_time_total.us, row.self_device_time_total.us, row.cpu_time_total.ns,
                    row.cpu_memory_usage_bytes, row.self_cpu_memory_usage_bytes,
                    row.device_memory_usage_bytes, row.self_device_memory_usage_bytes, row.flops);
}

auto texts(const OperatorRow& row) {
  return std::tuple(row.key, row.overload_name, row.input_shapes, row.stack);
}

std::string kernels(const FunctionEvent& event) {
  std::string text;
  for (const LaunchedKernel& kernel : event.kernels) {
    text += kernel.name + " " + std::to_string(kernel.device_index) + " " +
            std::to_string(kernel.duration_us) + "\n";
  }
  return text;
}

auto facts(const FunctionEvent& event) {
  return std::tuple(event.tid, event.tid_is_number, event.start_ns, event.end_ns, event.parent,
                    event.own_flops, event.sequence_nr, event.is_python_function, kernels(event),
                    event.step, event.kind);
}

TEST(EventRows, AreTheListsInAnyOrder) {
  std::mt19937 random(11);
  std::size_t with_kernels = 0;
  std::size_t with_memory = 0;
  std::size_t with_stacks = 0;
  for (unsigned seed = 0; seed < fixtures::random_rounds(300u); ++seed) {
    SCOPED_TRACE(seed);
    const Trace older = RandomRecording(seed, {.arguments = true}).make();
    const Trace newer = RandomRecording(seed + 1000, {.arguments = true}).make();
    const Trace* traces[] = {&older, &newer};
    const EventList list = *events(traces, SameProcess::known);
    EventRows rows(traces);
    ASSERT_EQ(rows.size(), list.size());
    for (int look = 0; look < 100; ++look) {
      const std::size_t number = random() % list.size();
      const FunctionEvent& expected = list[number];
      ASSERT_EQ(rows.key(number), expected.key);
      switch (random() % 3) {
        case 0:
          ASSERT_EQ(numbers(rows.numbers(number)), numbers(expected));
          break;
        case 1:
          ASSERT_EQ(numbers(rows.row(number)), numbers(expected));
          ASSERT_EQ(texts(rows.row(number)), texts(expected));
          break;
        default:
          ASSERT_EQ(numbers(rows.event(number)), numbers(expected));
          ASSERT_EQ(texts(rows.event(number)), texts(expected));
          ASSERT_EQ(facts(rows.event(number)), facts(expected));
      }
      with_kernels += expected.kernels.empty() ? 0 : 1;
      with_memory += expected.self_cpu_memory_usage_bytes != 0 ? 1 : 0;
      with_stacks += expected.stack.empty() ? 0 : 1;
    }
  }
  // The recordings are worth nothing if they hardly have what a row can leave to the next.
  EXPECT_GT(with_kernels, fixtures::random_rounds(500u));
  EXPECT_GT(with_memory, fixtures::random_rounds(500u));
  EXPECT_GT(with_stacks, fixtures::random_rounds(500u));
}

TEST(EventRows, OfNoTraceAreNone) { EXPECT_EQ(EventRows({}).size(), 0u); }

}  // namespace
}  // namespace tbtrace::analyses
