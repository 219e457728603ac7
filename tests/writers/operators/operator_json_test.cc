// What scripts read: one JSON object for a summary or an event list.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <simdjson.h>

#include <tbtrace/compat.h>
#include <tbtrace/operators.h>

#include "fixtures/chrome_text.h"
#include "fixtures/read_text.h"

namespace tbtrace {
namespace {

using fixtures::ChromeEvent;
using fixtures::in_quotes;
using fixtures::op;
using fixtures::read;
using fixtures::trace_text;
using testing::ElementsAre;

using Dom = simdjson::dom::element;

std::vector<std::string> keys(const Dom& object) {
  std::vector<std::string> keys;
  for (const auto& member : object.get_object()) keys.emplace_back(member.key);
  return keys;
}

std::int64_t integer(const Dom& object, std::string_view pointer) {
  std::int64_t value = -1;
  EXPECT_EQ(object.at_pointer(pointer).get(value), simdjson::SUCCESS) << pointer;
  return value;
}

std::string text(const Dom& object, std::string_view pointer) {
  std::string_view value;
  EXPECT_EQ(object.at_pointer(pointer).get(value), simdjson::SUCCESS) << pointer;
  return std::string(value);
}

class OperatorJson : public testing::Test {
 protected:
  Dom summary(const Trace& trace, Figures figures = Figures::torch,
              const TableOptions& table = {.row_limit = -1}) {
    return parse(operator_summary(trace, figures)->json(table));
  }
  Dom list(const Trace& trace, const TableOptions& table = {.row_limit = -1}) {
    return parse(events(trace).json(table));
  }

 private:
  Dom parse(const Result<std::string>& json) {
    EXPECT_TRUE(json.ok());
    EXPECT_TRUE(json->ends_with("}\n"));
    Dom root;
    EXPECT_EQ(parser_.parse(*json).get(root), simdjson::SUCCESS) << *json;
    return root;
  }

  simdjson::dom::parser parser_;
};

/// An operator with id 3 of 50 us that launches a kernel of 70 us.
Trace launching() {
  ChromeEvent launch = op("launch", "20", "5").with("cat", "\"cuda_runtime\"");
  ChromeEvent kernel = op("gemm", "60", "70").with("cat", "\"kernel\"");
  kernel.with("pid", "0").with("tid", "7");
  for (ChromeEvent* event : {&launch, &kernel}) {
    event->arg("External id", "3").arg("correlation", "9");
  }
  return read(trace_text({op("aten::mm", "10", "50").arg("External id", "3"), launch, kernel}));
}

TEST_F(OperatorJson, HasRowsTotalsIssuesAndLinks) {
  const Dom json = summary(launching());
  EXPECT_THAT(keys(json), ElementsAre("schema", "rows", "totals", "figures", "issues", "links"));
  EXPECT_EQ(text(json, "/schema"), "tbtrace.ops/1");
  EXPECT_EQ(text(json, "/figures"), "torch");
  ASSERT_EQ(json["rows"].get_array().size(), 3u);
  EXPECT_EQ(text(json, "/rows/0/key"), "aten::mm");
  EXPECT_EQ(integer(json, "/rows/0/self_cpu_time_total_ns"), 45'000);
  EXPECT_EQ(integer(json, "/rows/0/device_time_total_ns"), 70'000);
  EXPECT_EQ(integer(json, "/totals/self_cpu_time_total_ns"), 50'000);
  EXPECT_EQ(integer(json, "/totals/self_device_time_total_ns"), 70'000);
  EXPECT_TRUE(json["issues"].get_object().size() == 0);
}

TEST_F(OperatorJson, CountsLinksByTheirRule) {
  const Dom links = summary(launching())["links"];
  EXPECT_TRUE(bool(links["external_ids_valid"]));
  EXPECT_EQ(integer(links, "/launch_by_correlation"), 1);
  EXPECT_EQ(integer(links, "/launch_by_flow"), 0);
  EXPECT_EQ(integer(links, "/launch_unknown"), 0);
  EXPECT_EQ(integer(links, "/operator_by_external_id"), 1);
  EXPECT_EQ(integer(links, "/operator_by_containment"), 0);
  EXPECT_EQ(integer(links, "/operator_unknown"), 0);
  EXPECT_EQ(integer(links, "/linked_device_time_ns"), 70'000);
  EXPECT_EQ(integer(links, "/unlinked_device_time_ns"), 0);
}

TEST_F(OperatorJson, OfExactFiguresHasTheWindowAndItsThreads) {
  const Dom json = summary(launching(), Figures::exact);
  EXPECT_THAT(keys(json), ElementsAre("schema", "rows", "totals", "figures", "window_ns", "threads",
                                      "issues", "links"));
  EXPECT_EQ(text(json, "/figures"), "exact");
  EXPECT_EQ(integer(json, "/window_ns"), 120'000);  // 10 to 130 us
  ASSERT_EQ(json["threads"].get_array().size(), 1u);
  EXPECT_EQ(text(json, "/threads/0/process"), "1");
  EXPECT_EQ(text(json, "/threads/0/thread"), "1");
  EXPECT_EQ(integer(json, "/threads/0/self_cpu_time_total_ns"), 50'000);
  EXPECT_EQ(integer(json, "/threads/0/idle_ns"), 70'000);
  EXPECT_EQ(integer(json, "/totals/self_cpu_time_total_ns"), 120'000) << "idle time included";
}

TEST_F(OperatorJson, NamesThePluginsFigures) {
  EXPECT_EQ(text(summary(launching(), Figures::plugin), "/figures"), "plugin");
}

TEST_F(OperatorJson, TotalsAllRowsWhateverIsShown) {
  const Dom json = summary(launching(), Figures::torch, {.sort_by = "count", .row_limit = 1});
  EXPECT_EQ(json["rows"].get_array().size(), 1u);
  EXPECT_EQ(integer(json, "/totals/self_cpu_time_total_ns"), 50'000);
}

TEST_F(OperatorJson, CountsIssuesOfAllInputs) {
  const std::string cut = trace_text({op("a"), op("b", "20")});
  const Trace one = read(std::string_view(cut).substr(0, cut.size() - 3));
  const Trace two = read(std::string_view(cut).substr(0, cut.size() - 3));
  ASSERT_EQ(one.issues().size(), 1u);
  const Trace* traces[] = {&one, &two};
  simdjson::dom::parser parser;
  const Result<std::string> json = operator_summary(traces)->json();
  const Dom root = parser.parse(*json);
  EXPECT_THAT(keys(root["issues"]), ElementsAre(std::string(one.issues()[0].id)));
  EXPECT_EQ(integer(root, "/issues/" + std::string(one.issues()[0].id)), 2);
}

TEST_F(OperatorJson, HasValidTextWhateverTheNames) {
  const Trace trace = read(trace_text({op("\\\"},{\\\"key\\\":\\\"x\\u0000\\n\\ud800</script>")}));
  EXPECT_EQ(text(summary(trace), "/rows/0/key"), trace.name(EventId{0}));
}

TEST_F(OperatorJson, FailsForASortKeyThatIsNone) {
  const Trace trace = launching();
  EXPECT_FALSE(operator_summary(trace).json({.sort_by = "x"}).ok());
  EXPECT_FALSE(events(trace).json({.sort_by = "x"}).ok());
}

TEST_F(OperatorJson, OfEventsHasARowAnEvent) {
  const Dom json = list(launching());
  EXPECT_THAT(keys(json), ElementsAre("schema", "rows", "issues", "links"));
  ASSERT_EQ(json["rows"].get_array().size(), 3u);
  EXPECT_EQ(text(json, "/rows/0/name"), "aten::mm");
  EXPECT_EQ(integer(json, "/rows/0/tid"), 1);
  EXPECT_EQ(integer(json, "/rows/0/start_ns"), 0);
  EXPECT_EQ(integer(json, "/rows/0/end_ns"), 50'000);
  EXPECT_TRUE(json.at_pointer("/rows/0/parent").is_null());
  EXPECT_EQ(integer(json, "/rows/1/parent"), 0);
  EXPECT_EQ(integer(json, "/rows/0/self_cpu_time_ns"), 45'000);
  EXPECT_TRUE(json.at_pointer("/rows/0/sequence_nr").is_null());
  EXPECT_EQ(json.at_pointer("/rows/0/input_shapes").get_array().size(), 0u);
  const Dom kernels = json.at_pointer("/rows/0/kernels");
  ASSERT_EQ(kernels.get_array().size(), 1u);
  EXPECT_EQ(text(kernels, "/0/0"), "gemm");
  EXPECT_EQ(integer(kernels, "/0/1"), 0);
  EXPECT_EQ(double(kernels.at_pointer("/0/2")), 70.0);
}

TEST_F(OperatorJson, OfEventsWritesThreadsAsTheyStandInTheFile) {
  const Dom json = list(
      read(trace_text({op("a").with("tid", "\"main\""), op("b").with("tid", "18446744073709551615"),
                       op("c", "90").with("tid", "-5").arg("Sequence number", "7")})));
  EXPECT_EQ(text(json, "/rows/0/tid"), "main");
  EXPECT_EQ(integer(json, "/rows/2/tid"), -5);
  EXPECT_EQ(integer(json, "/rows/2/sequence_nr"), 7);
  EXPECT_TRUE(json.at_pointer("/rows/1/tid").is_number());
}

}  // namespace
}  // namespace tbtrace
