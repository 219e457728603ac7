#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <simdjson.h>

#include <tbtrace/report.h>
#include <tbtrace/summary.h>

#include "fixtures/read_text.h"
#include "fixtures/trace_rows.h"

namespace tbtrace {
namespace {

using fixtures::add;
using testing::HasSubstr;
using testing::Not;

/// Two steps of a rank: an operator with a Python function in it, its kernel, memory.
Trace trace_of_rank(int rank, std::int64_t kernel_ns = 400'000) {
  TraceBuilder builder;
  builder.set_metadata("distributedInfo",
                       R"({"rank": )" + std::to_string(rank) + R"(, "world_size": 2})");
  builder.set_metadata("deviceProperties",
                       R"([{"id": 0, "name": "A100", "totalGlobalMem": 85899345920},)"
                       R"( {"id": 1, "name": "other"}])");
  builder.set_metadata("record_shapes", "1");
  for (std::int64_t step = 0; step < 2; ++step) {
    const std::int64_t start = step * 1'000'000;
    add(builder, {.category = "user_annotation",
                  .name = step == 0 ? "ProfilerStep#3" : "ProfilerStep#4",
                  .start = start,
                  .duration = 1'000'000});
    add(builder, {.category = "python_function",
                  .name = "model.py(3): forward",
                  .start = start + 10'000,
                  .duration = 500'000});
    add(builder, {.name = "aten::mm", .start = start + 20'000, .duration = 100'000});
    add(builder, {.category = "cuda_runtime",
                  .name = "cudaLaunchKernel",
                  .start = start + 50'000,
                  .duration = 5'000,
                  .correlation = step + 1});
    add(builder, {.category = "kernel",
                  .name = "ampere_sgemm_128x64_tn",
                  .start = start + 60'000,
                  .duration = kernel_ns,
                  .thread = 7,
                  .process = 0,
                  .correlation = step + 1});
    MemoryRecord record;
    record.time_ns = start + 30'000;
    record.bytes = 4096;
    record.total_allocated_bytes = 4096 * (step + 1);
    record.device_type = DeviceType::cuda;
    record.device_id = 0;
    record.track = fixtures::track(builder, 1, 1);
    builder.add_memory(record);
  }
  return fixtures::finished(builder);
}

TEST(TraceSummary, SaysWhatRanAndWhatTheTimeWentTo) {
  const TraceSummary summary = trace_summary(trace_of_rank(1), "trace.json");
  EXPECT_EQ(summary.run.identity.rank, 1);
  ASSERT_EQ(summary.run.devices.size(), 1U) << "only devices that ran something";
  EXPECT_EQ(summary.run.devices[0].name, "A100");
  EXPECT_EQ(summary.run.options, std::vector<std::string>{"record_shapes"});
  ASSERT_EQ(summary.operators.size(), 1U) << "neither steps nor Python functions";
  EXPECT_EQ(summary.operators[0].name, "aten::mm");
  EXPECT_EQ(summary.operators[0].self_device_time_total_ns, 800'000);
  ASSERT_EQ(summary.kernels.groups.size(), 1U);
  ASSERT_EQ(summary.gpus.size(), 1U);
  EXPECT_EQ(summary.gpus[0].busy_ns, 800'000);
  ASSERT_EQ(summary.memory.size(), 1U);
  EXPECT_EQ(summary.memory[0].peak_bytes, 8192);
}

TEST(TraceSummary, HasTheLargestModulesRepeatedLayersAsOne) {
  TraceBuilder builder;
  const auto module = [&](std::string_view name, std::int64_t start, std::int64_t duration) {
    add(builder, {.category = "python_function",
                  .name = name,
                  .start = start,
                  .duration = duration,
                  .is_module = true});
  };
  module("nn.Module: Net_0", 0, 100);
  module("nn.Module: Block_0", 10, 30);
  module("nn.Module: Linear_0", 15, 20);
  module("nn.Module: Block_1", 50, 30);
  module("nn.Module: Linear_1", 55, 20);
  const TraceSummary summary = trace_summary(fixtures::finished(builder));
  ASSERT_EQ(summary.modules.size(), 3U);
  EXPECT_EQ(summary.modules[0].path, "Net");
  EXPECT_EQ(summary.modules[1].path, "Net.Block_*.Linear");
  EXPECT_EQ(summary.modules[1].modules, 2U);
  EXPECT_EQ(summary.modules[1].self_cpu_time_ns, 40);
  EXPECT_EQ(summary.modules[2].path, "Net.Block_*");
  EXPECT_EQ(summary.all_modules.cpu_time_total_ns, 100);
  EXPECT_THAT(summary_text({summary}), HasSubstr("\nNet.Block_*.Linear  "));
}

TEST(TraceSummary, TextOfOneTraceIsItsPage) {
  const std::string text = summary_text({trace_summary(trace_of_rank(1), "trace.json")});
  EXPECT_THAT(text, testing::StartsWith("trace.json: rank 1 of 2, A100 (80.00 GiB), 2.000 ms "
                                        "recorded, with record_shapes\n"));
  EXPECT_THAT(text, HasSubstr("\nmean of 2 steps"));
  TraceSummary cut = trace_summary(trace_of_rank(1), "trace.json");
  cut.steps.steps.resize(1);
  EXPECT_EQ(dropped_steps_text(cut.steps), "");
  cut.steps.dropped_steps = 1;
  EXPECT_EQ(dropped_steps_text(cut.steps),
            "1 of 2 steps is left out, at the end: kernels of it may be missing.");
  EXPECT_THAT(summary_text({cut}), HasSubstr("\nmean of 1 of 2 steps"));
  EXPECT_THAT(summary_text({cut}), HasSubstr("\n1 of 2 steps is left out, at the end"));
  EXPECT_THAT(text, HasSubstr("\naten::mm "));
  EXPECT_THAT(text, Not(HasSubstr("model.py")));
  EXPECT_LT(std::count(text.begin(), text.end(), '\n'), 45) << "a screen";
}

/// A table with so few rows and so wide would stand upright, where no line could follow a row.
TEST(TraceSummary, TextOfAWideTableWithOneKernelSaysWhereItCameFrom) {
  TraceBuilder builder;
  add(builder, {.name = "aten::mm", .start = 0, .duration = 100});
  add(builder, {.category = "cuda_runtime",
                .name = "cudaLaunchKernel",
                .start = 10,
                .duration = 5,
                .correlation = 1});
  add(builder, {.category = "kernel",
                .name = "a_kernel_" + std::string(100, 'x'),
                .start = 20,
                .duration = 3'600'000'000'000,
                .thread = 7,
                .process = 0,
                .correlation = 1});
  const std::string text = summary_text({trace_summary(fixtures::finished(builder))});
  EXPECT_THAT(text, testing::ContainsRegex("\na_kernel_[^\n]*\n    100.0 % from aten::mm\n"));
}

/// In a job whose steps wait for each other, the longest mean step is not that of the slow rank.
TEST(TraceSummary, OfSeveralTracesNamesNoRankByItsMeanStep) {
  std::vector<TraceSummary> summaries;
  summaries.push_back(trace_summary(trace_of_rank(0), "a.json"));
  summaries.push_back(trace_summary(trace_of_rank(1, 1'200'000), "b.json"));
  const std::string text = summary_text(summaries);
  EXPECT_LT(text.find("rank 0 "), text.find("rank 1 ")) << "in the order of the inputs";
  EXPECT_THAT(text, HasSubstr("\na.json: rank 0 of 2"));
  EXPECT_THAT(text, Not(HasSubstr("\nb.json: ")));
  EXPECT_THAT(text, Not(HasSubstr("slowest")));
}

std::vector<TraceSummary> three_ranks() {
  std::vector<TraceSummary> summaries;
  for (const int rank : {0, 1, 2}) {
    summaries.push_back(trace_summary(trace_of_rank(rank), std::to_string(rank) + ".json"));
  }
  return summaries;
}

TEST(TraceSummary, DetailsTheRankThatHoldsUpTheJob) {
  std::vector<TraceSummary> summaries = three_ranks();
  StragglerResult result;
  result.stragglers = {{.rank = 7}, {.rank = 2}, {.rank = 1}};  // 7 is not among the traces
  const std::string text = summary_text(summaries, {.stragglers = result});
  EXPECT_THAT(text, HasSubstr("\n\nIn detail: rank 2, which holds up the job\n\n2.json: rank 2 "));
  EXPECT_THAT(text, Not(HasSubstr("\n0.json: ")));
  result.stragglers.clear();
  EXPECT_THAT(summary_text(summaries, {.stragglers = result}),
              HasSubstr("\n\nIn detail: rank 0, the first trace\n\n0.json: rank 0 "));
}

TEST(TraceSummary, DetailsTheWindowInWhichTheProcessDied) {
  std::vector<TraceSummary> summaries = three_ranks();
  for (TraceSummary& summary : summaries) {
    summary.run.identity.rank = 0;
    summary.recovered.emplace().window_was_open = false;
  }
  EXPECT_THAT(summary_text(summaries), HasSubstr("\nIn detail: rank 0, 0, the first trace\n"));
  summaries[1].recovered->window_was_open = true;
  StragglerResult result;
  result.stragglers = {{.rank = 0}};
  EXPECT_THAT(summary_text(summaries, {.stragglers = result}),
              HasSubstr("\nIn detail: rank 0, 1, which was being recorded when the process ended\n"
                        "\n1.json: "));
  summaries[2].recovered->window_was_open = true;
  EXPECT_THAT(summary_text(summaries), HasSubstr("\nIn detail: rank 0, 0, the first trace\n"))
      << "which of two processes matters is unknown";
}

TEST(TraceSummary, DetailsATraceAmongPartials) {
  std::vector<TraceSummary> summaries = three_ranks();
  summaries[0].is_of_partial = true;
  StragglerResult result;
  result.stragglers = {{.rank = 0}};
  EXPECT_THAT(summary_text(summaries, {.stragglers = result}), HasSubstr("\n1.json: rank 1 "))
      << "a partial has no page of a trace";
}

TEST(TraceSummary, ATraceWithoutStepsHasNone) {
  const Trace trace = fixtures::read(
      R"({"traceEvents": [{"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 9, "tid": 1,
      "ts": 1, "dur": 2}]})",
      {.arguments = ArgumentSet::all()});
  const TraceSummary summary = trace_summary(trace, "a.json");
  simdjson::dom::parser parser;
  const simdjson::padded_string json(summary_json({summary}));
  const simdjson::dom::element steps = parser.parse(json)["steps"].at(0);
  EXPECT_EQ(std::int64_t(steps["steps"]), 0);
  EXPECT_EQ(std::int64_t(steps["host_duration_ns"]), 2000);
  EXPECT_THAT(summary_text({summary, trace_summary(trace, "b.json")}),
              HasSubstr("\na          0\n"));
}

TEST(TraceSummary, TracesOfOneRankAreToldApartByTheirPaths) {
  std::vector<TraceSummary> summaries;
  for (const char* const step : {"10", "20"}) {
    for (const int rank : {0, 1}) {
      summaries.push_back(trace_summary(
          trace_of_rank(rank),
          "/logs/iteration_" + std::string(step) + "/rank" + std::to_string(rank) + "_trace.json"));
    }
  }
  summaries.push_back(trace_summary(trace_of_rank(2), "/logs/iteration_20/rank2_trace.json"));
  const std::string text = summary_text(summaries);
  EXPECT_THAT(text, HasSubstr("\nrank 0, iteration_10/rank0  "));
  EXPECT_THAT(text, HasSubstr("\nrank 0, iteration_20/rank0  "));
  EXPECT_THAT(text, HasSubstr("\nrank 2   ")) << "the only one";
}

TEST(TraceSummary, OfNothingIsEmpty) {
  EXPECT_EQ(summary_text({}), "");
  TraceBuilder builder;
  const std::string text = summary_text({trace_summary(fixtures::finished(builder))});
  EXPECT_EQ(text,
            "no GPU activities, 0 ns recorded\n\nerror: the trace has no events [no_events, 1 x]\n"
            "    -> check that the profiler reached its active steps, and call step() after each "
            "one\n\nNo findings, because of the errors above.\n");
}

TEST(TraceSummary, JsonHasEveryMemberOfTheContract) {
  simdjson::dom::parser parser;
  const simdjson::padded_string json(summary_json(
      {trace_summary(trace_of_rank(0), "a\"b.json"), trace_summary(trace_of_rank(1))}));
  const simdjson::dom::element document = parser.parse(json);
  EXPECT_EQ(std::string_view(document["schema"]), "tbtrace.summary/1");
  for (const char* member : {"run", "steps", "operators", "kernels", "gpu", "memory"}) {
    EXPECT_EQ(simdjson::dom::array(document[member]).size(), 2U) << member;
  }
  for (const char* member : {"modules", "communication", "findings"}) {
    EXPECT_TRUE(document[member].is_array()) << member;
  }
  EXPECT_EQ(std::string_view(document["run"].at(0)["input"]), "a\"b.json");
  EXPECT_EQ(std::int64_t(document["run"].at(1)["rank"]), 1);
  EXPECT_EQ(std::int64_t(document["memory"].at(0)["peak_bytes"]), 8192);
}

/// What a table has of a JSON value: `part|trace|name|quantity` for each of its figures.
void list_figures(const simdjson::dom::element& value, const std::string& place,
                  std::map<std::string, std::string>& figures) {
  const bool is_list_of_texts = place.ends_with("|options") || place.ends_with("|looked_for");
  if (value.is_array() && !is_list_of_texts) {
    std::size_t at = 0;
    for (const simdjson::dom::element& entry : simdjson::dom::array(value)) {
      for (const auto& [key, member] : simdjson::dom::object(entry)) {
        figures[place + "[" + std::to_string(at) + "]." + std::string(key)] =
            simdjson::minify(member);
      }
      ++at;
    }
    return;
  }
  figures[place] = simdjson::minify(value);
}

TEST(TraceSummary, TableHasTheFiguresOfTheJson) {
  const std::vector<TraceSummary> summaries = {trace_summary(trace_of_rank(0), "a.json"),
                                               trace_summary(trace_of_rank(1), "b.json")};
  simdjson::dom::parser parser;
  const simdjson::padded_string json(summary_json(summaries));
  std::map<std::string, std::string> expected;
  for (const auto& [part, entries] : simdjson::dom::object(parser.parse(json))) {
    if (part == "schema" || part == "issues") continue;
    for (const simdjson::dom::element& entry : simdjson::dom::array(entries)) {
      const std::string trace = std::to_string(std::int64_t(entry["trace"]));
      const std::string_view name = part == "operators" ? std::string_view(entry["key"])
                                    : part == "kernels" ? std::string_view(entry["short_name"])
                                                        : std::string_view();
      for (const auto& [key, value] : simdjson::dom::object(entry)) {
        if (key == "trace" || key == "rank") continue;
        list_figures(
            value,
            std::string(part) + "|" + trace + "|" + std::string(name) + "|" + std::string(key),
            expected);
      }
    }
  }
  const Table table = summary_table(summaries);
  ASSERT_EQ(table.columns,
            (std::vector<std::string>{"part", "trace", "rank", "name", "quantity", "value"}));
  std::map<std::string, std::string> found;
  for (const std::vector<Cell>& row : table.rows) {
    const std::string part = std::get<std::string>(row[0]);
    const auto trace = std::get<std::uint64_t>(row[1]);
    EXPECT_EQ(row[2], Cell(static_cast<std::int64_t>(trace))) << "the ranks are 0 and 1";
    const bool named = part == "operators" || part == "kernels";
    const std::string name = named ? std::get<std::string>(row[3]) : "";
    // The writer of JSON tables writes one cell as `{"schema":...,"rows":[{"value":...}],...}`.
    const simdjson::padded_string text(table_json("x", {{"value"}, {{row[5]}}}, {}));
    const simdjson::dom::element value = parser.parse(text)["rows"].at(0)["value"];
    found[part + "|" + std::to_string(trace) + "|" + name + "|" + std::get<std::string>(row[4])] =
        simdjson::minify(value);
  }
  EXPECT_EQ(found, expected);
  EXPECT_GT(found.size(), 100U);
}

}  // namespace
}  // namespace tbtrace
