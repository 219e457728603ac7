#include "logdir/profile_tables.h"

#include <cstdint>
#include <limits>
#include <regex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fixtures/trace_rows.h"

namespace tbtrace::logdir {
namespace {

using fixtures::add;
using fixtures::finished;
using testing::Contains;
using testing::ElementsAre;
using testing::EndsWith;
using testing::HasSubstr;

std::string operators_of(const Trace& trace) {
  return operator_card(exact_operator_summary(trace), {"Steps"});
}
std::string memory_of(const Trace& trace) {
  return memory_card(exact_operator_summary(trace), {"Steps"});
}

/// Texts of the cells, without blanks at their ends, by row.
std::vector<std::vector<std::string>> rows_of(const std::string& card) {
  std::vector<std::vector<std::string>> rows;
  const std::string body = card.substr(card.find("<tbody>"));
  const std::regex cell(R"(<td><(pre|code)> *([^<]*)</\1></td>|</tr>)");
  rows.emplace_back();
  for (std::sregex_iterator at(body.begin(), body.end(), cell), end; at != end; ++at) {
    if (at->str() == "</tr>") {
      rows.emplace_back();
    } else {
      rows.back().push_back(at->str(2));
    }
  }
  rows.pop_back();
  return rows;
}

TEST(ProfileTables, LeaveOutTorchsProfilerItself) {
  TraceBuilder builder;
  const auto frame = [&](std::string_view name, std::int64_t start, std::int64_t duration) {
    add(builder,
        {.category = "python_function", .name = name, .start = start, .duration = duration});
  };
  frame("train.py(1): main", 0, 1'000'000);
  frame("torch/profiler/profiler.py(1204): __enter__", 0, 500'000);
  frame("torch/autograd/profiler.py(422): _start_trace", 100'000, 300'000);
  frame("torch/autograd/profiler.py(921): __enter__", 600'000, 100'000);
  frame("/usr/torch/profiler/profiler.py(1207): __exit__", 900'000, 100'000);
  const auto rows = rows_of(operators_of(finished(builder)));
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(rows[0][0], "train.py(1): main");
  EXPECT_EQ(rows[0][3], "75") << "of the time without the profiler";
  EXPECT_EQ(rows[1][0], "torch/autograd/profiler.py(921): __enter__") << "a record_function";
}

TEST(ProfileTables, AreEmptyWithoutAnythingForThem) {
  TraceBuilder builder;
  const Trace nothing = finished(builder);
  EXPECT_EQ(operators_of(nothing), "");
  EXPECT_EQ(kernel_card(nothing, {}), "");
  EXPECT_EQ(memory_of(nothing), "");
  EXPECT_EQ(step_card(step_breakdown(nothing), {}), "");
}

TEST(ProfileTables, HaveOperatorsByTheirOwnTime) {
  TraceBuilder builder;
  add(builder, {.name = "aten::linear", .start = 0, .duration = 10'000'000});
  add(builder, {.name = "aten::addmm", .start = 1'000'000, .duration = 7'500'000});
  add(builder, {.name = "aten::addmm", .start = 22'500'000, .duration = 2'500'000});
  EXPECT_EQ(operators_of(finished(builder)),
            "Steps\n\n<table>\n<thead><tr><th><pre>Name</pre></th><th><pre>Calls</pre></th>"
            "<th><pre>Self\nCPU ms</pre></th><th><pre>Self\nCPU %</pre></th>"
            "<th><pre>CPU\ntotal ms</pre></th></tr></thead>\n<tbody>\n"
            "<tr><td><code>[idle]</code></td><td><pre> </pre></td><td><pre>12.5</pre></td>"
            "<td><pre>50</pre></td><td><pre>12.5</pre></td></tr>\n"
            "<tr><td><code>aten::addmm</code></td><td><pre>2</pre></td><td><pre>10.0</pre></td>"
            "<td><pre>40</pre></td><td><pre>10.0</pre></td></tr>\n"
            "<tr><td><code>aten::linear</code></td><td><pre>1</pre></td><td><pre> 2.5</pre></td>"
            "<td><pre>10</pre></td><td><pre>10.0</pre></td></tr>\n"
            "</tbody>\n</table>\n");
}

TEST(ProfileTables, HaveKernelsByTheirTime) {
  TraceBuilder builder;
  for (const std::int64_t duration : {2'000, 4'000, 6'500}) {
    add(builder, {.category = "kernel", .name = "gemm", .start = duration, .duration = duration});
  }
  add(builder, {.category = "kernel", .name = "relu", .start = 0, .duration = 12'500});
  const std::string kernels = kernel_card(finished(builder), {});
  EXPECT_THAT(rows_of(kernels),
              ElementsAre(ElementsAre("gemm", "3", "0.013", "50", "4.167", "2.0", "6.5"),
                          ElementsAre("relu", "1", "0.013", "50", "12.500", "12.5", "12.5")));
}

TEST(ProfileTables, ShowKernelsByTheirShortNames) {
  TraceBuilder builder;
  add(builder, {.category = "kernel", .name = "void at::softmax<float, 4>(float*)", .duration = 5});
  EXPECT_THAT(kernel_card(finished(builder), {}), HasSubstr("<code>softmax</code>"));
}

TEST(ProfileTables, HaveStepsInTheirOrder) {
  TraceBuilder builder;
  for (const int step : {1, 2, 3}) {
    const std::string name = "ProfilerStep#" + std::to_string(step);
    add(builder, {.category = "user_annotation",
                  .name = name,
                  .start = step * 10'000'000,
                  .duration = 9'000'000});
  }
  const std::string steps =
      step_card(step_breakdown(finished(builder)), {.heading = "Steps", .rows = 2});
  EXPECT_THAT(rows_of(steps), ElementsAre(ElementsAre("ProfilerStep#1", "9", "0", "9"),
                                          ElementsAre("ProfilerStep#2", "9", "0", "9")));
  EXPECT_THAT(steps, EndsWith("\n1 more row is not shown.\n"));
}

TEST(ProfileTables, EndWithHowMuchIsLeftOut) {
  TraceBuilder builder;
  for (int row = 0; row < 60; ++row) {
    const std::string name = "op" + std::to_string(row);
    add(builder, {.name = name, .start = row * 10'000, .duration = 1'000 + row});
    add(builder, {.category = "kernel", .name = name, .start = row * 10'000, .duration = 5'000});
  }
  const Trace trace = finished(builder);
  const std::string operators = operators_of(trace);
  EXPECT_THAT(rows_of(operators),
              Contains(ElementsAre("[unattributed]", "", "0.000", "0.00", "0.000", "0.3", "100")));
  EXPECT_THAT(operators, EndsWith("\n12 more rows are not shown.\n")) << "and [idle]";
  EXPECT_THAT(kernel_card(trace, {}), EndsWith("\n10 more rows are not shown.\n"));
}

TEST(ProfileTables, HoldWhatNoNumberHoldsTheSumOf) {
  constexpr std::int64_t kLong = (std::int64_t{1} << 62) - 1;
  TraceBuilder builder;
  for (const char* const name : {"one", "two", "three"}) {
    add(builder, {.category = "kernel", .name = name, .start = -kLong, .duration = kLong});
    add(builder, {.category = "kernel", .name = name, .start = 0, .duration = kLong});
  }
  for (const DeviceType device : {DeviceType::cpu, DeviceType::cuda}) {
    MemoryRecord record;
    record.bytes = std::numeric_limits<std::int64_t>::max();
    record.device_type = device;
    record.track = fixtures::track(builder, 1, 1);
    builder.add_memory(record);
  }
  const Trace trace = finished(builder);
  EXPECT_THAT(kernel_card(trace, {}), HasSubstr("<pre>33.33</pre>"));
  EXPECT_THAT(operators_of(trace), HasSubstr("[unattributed]"));
  EXPECT_THAT(memory_of(trace), HasSubstr("[unattributed]"));
}

// What frees more than it takes stands last, and what is 0 as it is shown is left out.
TEST(ProfileTables, SortMemoryByItsValue) {
  TraceBuilder builder;
  std::int64_t start = 0;
  for (const auto& [name, kib] : {std::pair<const char*, std::int64_t>{"frees", -4096},
                                  {"takes", 1024},
                                  {"takes_more", 2048},
                                  {"frees_little", -1},
                                  {"takes_nothing", 0}}) {
    add(builder, {.name = name, .start = start, .duration = 1'000});
    MemoryRecord record;
    record.bytes = kib * 1024 + 100;
    record.track = fixtures::track(builder, 1, 1);
    record.time_ns = start + 500;
    builder.add_memory(record);
    start += 10'000;
  }
  EXPECT_THAT(
      rows_of(memory_of(finished(builder))),
      ElementsAre(ElementsAre("takes_more", "1", "2.000"), ElementsAre("takes", "1", "1.000"),
                  ElementsAre("frees_little", "1", "-0.001"), ElementsAre("frees", "1", "-4.000")));
}

TEST(ShownRoles, AreThoseThatTakeTimeAndAllOfAGpu) {
  StepBreakdown steps;
  EXPECT_THAT(shown_roles(steps), ElementsAre(StepRole::cpu_op, StepRole::other));
  steps.steps.resize(2);
  steps.steps[1].role_ns[static_cast<std::size_t>(StepRole::data_loader)] = 1;
  EXPECT_THAT(shown_roles(steps),
              ElementsAre(StepRole::data_loader, StepRole::cpu_op, StepRole::other));
  steps.steps[0].role_ns[static_cast<std::size_t>(StepRole::memset)] = 1;
  EXPECT_THAT(shown_roles(steps),
              ElementsAre(StepRole::kernel, StepRole::memcpy, StepRole::memset, StepRole::runtime,
                          StepRole::data_loader, StepRole::cpu_op, StepRole::other));
}

}  // namespace
}  // namespace tbtrace::logdir
