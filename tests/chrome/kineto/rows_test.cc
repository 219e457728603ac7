#include "chrome/kineto/rows.h"

#include <string>
#include <string_view>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fixtures/chrome_text.h"
#include "fixtures/converted.h"
#include "fixtures/document_rows.h"
#include "fixtures/read_text.h"

namespace tbtrace::chrome {
namespace {

using fixtures::ChromeEvent;
using fixtures::ChromeText;
using fixtures::Converted;
using fixtures::in_quotes;
using fixtures::op;
using fixtures::trace_text;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Pair;
using testing::UnorderedElementsAre;

Converted converted(const std::vector<ChromeEvent>& events, bool infer_steps = false) {
  return fixtures::converted(trace_text(events), Dialect::kineto, infer_steps);
}

std::vector<std::string> rows(const Converted& converted) {
  return fixtures::document_rows(converted.text);
}

/// What becomes of an event as it stands in a file.
std::string row_of(std::string_view event) {
  const std::vector<std::string> all =
      rows(fixtures::converted("[" + std::string(event) + "]", Dialect::kineto));
  EXPECT_EQ(all.size(), 1u);
  return all.empty() ? "" : all[0];
}

ChromeEvent launch(std::string_view start, std::string_view correlation) {
  return op("cudaLaunchKernel", start, "2")
      .with("cat", "\"cuda_runtime\"")
      .arg("correlation", correlation);
}

ChromeEvent kernel(std::string_view start, std::string_view correlation) {
  return op("gemm", start, "5")
      .with("cat", "\"kernel\"")
      .with("pid", "0")
      .with("tid", "7")
      .arg("correlation", correlation);
}

ChromeEvent flow(std::string_view phase, std::string_view start, std::string_view id) {
  return op("ac2g", start)
      .with("ph", in_quotes(phase))
      .with("cat", "\"ac2g\"")
      .with("id", id)
      .without("dur");
}

TEST(KinetoRows, AreThoseOfTheFile) {
  for (
      const std::string_view event : {
          R"({"name":"a","ph":"X","cat":"cpu_op","dur":5.2500,"ts":1699999999123456.7891,"tid":7,"pid":7,"own":[1,{"a":null}],"args":{"Sequence number":1,"External id":3,"own":"x"}})",
          R"({"ph":"X","cat":"kernel","name":"k","pid":3,"tid":-2,"ts":1,"dur":2,"args":{"stream":"7","device":9,"correlation":1000000000000}})",
          R"({"ph":"X","cat":"Trace","name":"w","pid":"Spans","tid":"PyTorch Profiler","ts":1,"dur":2})",
          R"({"ph":"X","name":"no category","pid":1,"tid":1,"ts":1,"dur":2,"args":{}})",
          R"({"ph":"X","cat":"overhead","name":"a","pid":1,"tid":1,"ts":1,"dur":2,"args":"text"})",
          R"({"ph":"X","cat":"cpu_op","name":"a","pid":1,"tid":1,"ts":1})",
          R"({"ph":"i","cat":"cpu_instant_event","s":"t","name":"[memory]","pid":0,"tid":0,"ts":1.5,"args":{"Bytes":"8","Device Type":20,"Device Id":99}})",
          R"({"ph":"f","id":9,"pid":0,"tid":7,"ts":1,"cat":"ac2g","name":"ac2g","bp":"e"})",
          R"({"ph":"t","id":9,"pid":0,"tid":7,"ts":1,"cat":"ac2g","name":"ac2g"})",
          R"({"ph":"s","id":"x","pid":0,"tid":7,"ts":1,"cat":"mine","name":"n"})",
          R"({"ph":"C","name":"count","pid":1,"ts":1,"args":{"value":3}})",
          R"({"ph":"C","name":"count","pid":1})",
          R"({"ph":"X","cat":"","name":"a","pid":1,"tid":1,"ts":1,"dur":2})",
          R"({"ph":"X","cat":null,"name":"a","pid":1,"tid":1,"ts":1,"dur":2})",
          R"({"ph":"X","cat":"cpu_op","name":"a","pid":1,"tid":1,"ts":1,"dur":null})",
          R"({"ph":"M","name":"process_name","pid":1,"tid":0,"ts":5,"args":{"name":"python"}})",
      }) {
    EXPECT_EQ(row_of(event), event);
  }
}

TEST(KinetoRows, KeepTheFilesMetadata) {
  ChromeText trace;
  trace.before.emplace_back("baseTimeNanoseconds", "1700000000000000000");
  trace.before.emplace_back("deviceProperties", R"([{"id": 2, "name": "A"}])");
  trace.events = {op("a", "1000000")};
  const Converted all = fixtures::converted(trace.text(), Dialect::kineto);
  EXPECT_EQ(all.text.substr(0, all.text.find("\"traceEvents\"")),
            "{\n\"baseTimeNanoseconds\": 1700000000000000000,\n"
            "\"deviceProperties\": [{\"id\": 2, \"name\": \"A\"}],\n\"schemaVersion\": 1,\n");
  EXPECT_THAT(all.text, HasSubstr("\"ts\":1000000,"));
  EXPECT_THAT(all.changes, IsEmpty());
}

TEST(KinetoRows, AreStrictJson) {
  const Converted all = fixtures::converted(
      "[" +
          std::string(
              R"({"ph":"X","cat":"kernel","name":"a\ud800","pid":1,"tid":1,"ts":"12.5",)"
              R"("dur":1.5,"x":NaN,"args":{"stream":NaN,"own":[1,Infinity],"k":1,"k":2}})") +
          "]",
      Dialect::kineto);
  EXPECT_EQ(
      rows(all)[0],
      R"({"ph":"X","cat":"kernel","name":"a)"
      "\ufffd"
      R"(","pid":1,"tid":1,"ts":12.5,"dur":1.5,"x":"NaN","args":{"own":"[1,Infinity]","k":2}})");
  EXPECT_THAT(all.changes,
              UnorderedElementsAre(Pair("repeated_members_left_out", 1), Pair("texts_repaired", 1),
                                   Pair("times_repaired", 1), Pair("values_left_out", 1),
                                   Pair("values_quoted", 2)));
}

TEST(KinetoRows, OfPairsAreOneRange) {
  const Converted all =
      converted({op("a", "5").with("ph", "\"B\"").without("dur").arg("own", "1"),
                 op("a", "9.5").with("ph", "\"E\"").without("dur").arg("own", "2")});
  EXPECT_THAT(
      rows(all),
      ElementsAre(
          R"({"ph":"X","cat":"cpu_op","name":"a","pid":1,"tid":1,"ts":5,"args":{"own":1},"dur":4.5})"));
  EXPECT_THAT(all.changes, ElementsAre(Pair("end_arguments_left_out", 1), Pair("pairs_joined", 1)));
}

TEST(KinetoRows, TakePhasesWithoutQuotesAsTheReaderDoes) {
  const Converted step = fixtures::converted(
      R"([{"ph":t,"cat":"ac2g","id":1,"name":"a","pid":1,"tid":1,"ts":1}])", Dialect::kineto);
  EXPECT_THAT(rows(step),
              ElementsAre(R"({"ph":"t","cat":"ac2g","id":1,"name":"a","pid":1,"tid":1,"ts":1})"));
  EXPECT_THAT(step.changes, ElementsAre(Pair("values_quoted", 1)));

  const Converted ends =
      fixtures::converted(R"([{"ph":s,"cat":"ac2g","id":1,"pid":1,"tid":1,"ts":1},)"
                          R"({"ph":f,"cat":"ac2g","id":1,"pid":1,"tid":2,"ts":2}])",
                          Dialect::kineto);
  EXPECT_THAT(rows(ends), ElementsAre(R"({"ph":"s","cat":"ac2g","id":1,"pid":1,"tid":1,"ts":1})",
                                      R"({"ph":"f","cat":"ac2g","id":1,"pid":1,"tid":2,"ts":2})"));

  const Converted pair = fixtures::converted(R"([{"ph":B,"name":"a","pid":1,"tid":1,"ts":1},)"
                                             R"({"ph":"E","name":"a","pid":1,"tid":1,"ts":5}])",
                                             Dialect::kineto);
  EXPECT_THAT(rows(pair), ElementsAre(R"({"ph":"X","name":"a","pid":1,"tid":1,"ts":1,"dur":4})"));
  EXPECT_THAT(pair.changes, ElementsAre(Pair("pairs_joined", 1)));
}

TEST(KinetoRows, OfOldCategoriesGetTheirNamesOfToday) {
  const Converted all = converted(
      {op("a").with("cat", "\"Operator\""), op("b").with("cat", "\"Kernel\"").with("pid", "0")});
  EXPECT_THAT(rows(all)[0], HasSubstr(R"("cat":"cpu_op")"));
  EXPECT_THAT(rows(all)[1], HasSubstr(R"("cat":"kernel")"));
  EXPECT_THAT(all.changes, ElementsAre(Pair("categories_renamed", 2)));
}

TEST(KinetoRows, OfPairsWithTheNameOfMemoryRecordsStayRanges) {
  const Converted all = fixtures::converted(
      R"([{"ph":"B","name":"[memory]","cat":"cpu_instant_event","pid":1,"tid":1,"ts":1},)"
      R"({"ph":"B","name":"[OutOfMemory]","cat":"cpu_instant_event","pid":1,"tid":1,"ts":2},)"
      R"({"ph":"E","pid":1,"tid":1,"ts":3},{"ph":"E","pid":1,"tid":1,"ts":5}])",
      Dialect::kineto);
  EXPECT_THAT(
      rows(all),
      ElementsAre(
          R"({"ph":"X","name":"[memory]","cat":"annotation","pid":1,"tid":1,"ts":1,"dur":4})",
          R"({"ph":"X","name":"[OutOfMemory]","cat":"annotation","pid":1,"tid":1,"ts":2,"dur":1})"));
  EXPECT_THAT(all.changes, ElementsAre(Pair("pairs_joined", 2), Pair("ranges_like_memory", 2)));
}

TEST(KinetoRows, OfLabelsHaveATime) {
  ChromeEvent label = op("process_name").with("ph", "\"M\"").without("dur").without("ts");
  const Converted all = converted({label.without("cat").arg("name", "\"p\""), op("a", "12.25")});
  EXPECT_EQ(rows(all)[0],
            R"({"ph":"M","name":"process_name","pid":1,"tid":1,"args":{"name":"p"},"ts":12.25})");
  EXPECT_THAT(all.changes, ElementsAre(Pair("label_times_added", 1)));
}

TEST(KinetoRows, OfLabelsKeepTheTimeThatTheyHave) {
  const auto time_of = [](std::string_view time, std::string_view change) {
    const ChromeEvent label =
        op("process_name").with("ph", "\"M\"").without("dur").without("cat").with("ts", time);
    const Converted all = converted({label, op("a", "12.25")});
    EXPECT_THAT(all.changes, ElementsAre(Pair(change, 1))) << time;
    return rows(all)[0].substr(rows(all)[0].find("\"ts\""));
  };
  EXPECT_EQ(time_of("null", "label_times_added"), "\"ts\":12.25}");
  EXPECT_EQ(time_of("\"13.5\"", "times_repaired"), "\"ts\":13.5}");
  EXPECT_EQ(time_of("\"soon\"", "times_repaired"), "\"ts\":12.25}");
}

TEST(KinetoRows, WithoutACategoryOnADeviceStayWithoutOne) {
  const Converted all = fixtures::converted(
      R"([{"ph":"M","name":"process_name","pid":1,"tid":2,"ts":1,"args":{"name":"/device:TPU:0"}},)"
      R"({"ph":"M","name":"thread_name","pid":1,"tid":2,"ts":1,"args":{"name":"XLA Ops"}},)"
      R"({"ph":"X","cat":"","name":"a","pid":1,"tid":2,"ts":1,"dur":2}])",
      Dialect::kineto);
  EXPECT_THAT(rows(all)[2], HasSubstr(R"("cat":"",)"));
  EXPECT_THAT(all.changes, IsEmpty());
}

TEST(KinetoRows, CountMembersThatALaterOneReplaces) {
  const Converted all = fixtures::converted(
      R"([{"ph":"X","name":"a","own":1,"own":2,"pid":1,"tid":1,"ts":1,"args":{"k":1,"k":2,"k":3}}])",
      Dialect::kineto);
  EXPECT_THAT(
      rows(all),
      ElementsAre(R"({"ph":"X","name":"a","own":2,"pid":1,"tid":1,"ts":1,"args":{"k":3}})"));
  EXPECT_THAT(all.changes, ElementsAre(Pair("repeated_members_left_out", 3)));
}

TEST(KinetoRows, OfHostRangesThatCrossMoveToALaneWithTheirFlows) {
  const Converted all =
      converted({op("a", "0", "10"), op("b", "5", "10"), launch("6", "3").with("dur", "20"),
                 flow("s", "6", "3"), kernel("40", "3"),
                 flow("f", "40", "3").with("pid", "0").with("tid", "7"),
                 flow("s", "5", "8").with("cat", "\"fwdbwd\"")});
  EXPECT_THAT(all.changes, ElementsAre(Pair("ranges_moved_to_lanes", 2)));
  const std::vector<std::string> lines = rows(all);
  EXPECT_THAT(lines[1], HasSubstr(R"("name":"b","pid":1,"tid":1000000000,)"));
  EXPECT_THAT(lines[6], HasSubstr(R"("cat":"fwdbwd","name":"ac2g","pid":1,"tid":1000000000,)"));
  const bool is_beside = lines[2].find("\"tid\":1000000001") != std::string::npos;
  EXPECT_TRUE(is_beside) << lines[2];
  EXPECT_THAT(lines[3], HasSubstr("\"tid\":1000000001"));
  EXPECT_THAT(lines[5], HasSubstr("\"tid\":7"));
  EXPECT_THAT(lines[7], HasSubstr("\"args\":{\"name\":\"thread 1 (lane 1)\"}"));
}

TEST(KinetoRows, OfAStreamStayOnItThoughTheyOverlap) {
  const Converted all = converted({kernel("0", "1").with("dur", "10"), kernel("5", "2")});
  EXPECT_THAT(rows(all)[0], HasSubstr(R"("tid":7,"ts":0,"dur":10)"));
  EXPECT_THAT(rows(all)[1], HasSubstr(R"("tid":7,"ts":5,"dur":5)"));
  EXPECT_THAT(all.changes, IsEmpty());
}

TEST(KinetoRows, HaveFlowsFromEachLaunchToItsKernels) {
  const ChromeEvent end = flow("f", "20", "3").with("pid", "0").with("tid", "7");
  const Converted all = converted({launch("0", "3"), kernel("20", "3"), end, kernel("30", "3")});
  const std::string start =
      R"({"ph":"s","cat":"ac2g","name":"ac2g","id":3,"pid":1,"tid":1,"ts":0})";
  const std::string other =
      R"({"ph":"f","bp":"e","cat":"ac2g","name":"ac2g","id":3,"pid":0,"tid":7,"ts":30})";
  const std::vector<std::string> lines = rows(all);
  ASSERT_EQ(lines.size(), 6u);
  EXPECT_EQ(lines[1], start);
  EXPECT_EQ(lines[5], other);
  EXPECT_THAT(all.changes, ElementsAre(Pair("flows_added", 2)));
}

TEST(KinetoRows, CountATimeInQuotesOnceThoughItsFlowHasItToo) {
  const Converted all = converted({launch("\"1\"", "3"), kernel("20", "3")});
  EXPECT_THAT(rows(all)[1], HasSubstr(R"("ts":1})"));
  EXPECT_THAT(all.changes, ElementsAre(Pair("flows_added", 2), Pair("times_repaired", 1)));
}

TEST(KinetoRows, GetNoFlowWhereOneOfAnotherIdJoinsThem) {
  const Converted all = converted({launch("0", "3"), flow("s", "0", "77"), kernel("20", "3"),
                                   flow("f", "20", "77").with("pid", "0").with("tid", "7")});
  EXPECT_THAT(all.changes, IsEmpty());
}

TEST(KinetoRows, GetNoFlowWithoutACorrelationOrBackInTime) {
  EXPECT_THAT(converted({launch("0", "0"), kernel("20", "0")}).changes, IsEmpty());
  EXPECT_THAT(converted({launch("0", "4"), kernel("20", "5")}).changes, IsEmpty());
  EXPECT_THAT(converted({launch("30", "4"), kernel("20", "4")}).changes, IsEmpty());
}

TEST(KinetoRows, OfLaunchesNameTheirOperatorsWhereTheFileNamesNone) {
  // As some releases wrote it: launches and kernels repeat their correlations.
  std::vector<ChromeEvent> events = {op("aten::mm", "0", "50").arg("External id", "901"),
                                     op("aten::add", "60", "50").arg("External id", "902")};
  const auto with_flow = [&](std::string_view start, std::string_view end, std::string_view id) {
    events.push_back(launch(start, id).arg("External id", id));
    events.push_back(flow("s", start, id));
    events.push_back(kernel(end, id).arg("External id", id));
    events.push_back(flow("f", end, id).with("pid", "0").with("tid", "7"));
  };
  with_flow("10", "200", "12");
  with_flow("70", "300", "901");
  with_flow("120", "400", "902");  // of no operator
  with_flow("130", "500", "5");    // likewise
  const Converted all = converted(events);
  const auto of = [&](std::size_t row) {
    return rows(all)[row].substr(rows(all)[row].find("args"));
  };
  EXPECT_EQ(of(0), R"(args":{"External id":901}})");
  EXPECT_EQ(of(1), R"(args":{"External id":902}})");
  for (const std::size_t row : {2, 4}) {
    EXPECT_EQ(of(row), R"(args":{"correlation":12,"External id":901}})");
  }
  for (const std::size_t row : {6, 8}) {
    EXPECT_EQ(of(row), R"(args":{"correlation":901,"External id":902}})");
  }
  for (const std::size_t row : {10, 12}) EXPECT_EQ(of(row), R"(args":{"correlation":902}})");
  for (const std::size_t row : {14, 16}) {
    EXPECT_EQ(of(row), R"(args":{"correlation":5,"External id":5}})") << "names no operator";
  }
  EXPECT_THAT(all.changes, ElementsAre(Pair("external_ids_repaired", 6)));
}

TEST(KinetoRows, OfLaunchesNameAnOperatorThatMovesToALane) {
  const std::vector<ChromeEvent> events = {op("frame", "0", "10").arg("External id", "1"),
                                           op("aten::mm", "5", "10").arg("External id", "2"),
                                           launch("12", "3"), kernel("40", "3")};
  const Converted all = converted(events);
  EXPECT_THAT(rows(all)[2], HasSubstr(R"("args":{"correlation":3,"External id":2})"));
  EXPECT_THAT(all.changes, ElementsAre(Pair("external_ids_repaired", 1), Pair("flows_added", 2),
                                       Pair("ranges_moved_to_lanes", 1)));
}

TEST(KinetoRows, OfInferredStepsKeepTheirNamesAsArguments) {
  std::vector<ChromeEvent> events;
  for (const std::string_view name : {"Iteration 1", "Iteration 2"}) {
    events.push_back(op(name, name.ends_with('1') ? "0" : "20").with("cat", "\"user_annotation\""));
  }
  events[1].arg("own", "1");
  const Converted all = converted(events, true);
  EXPECT_THAT(rows(all)[0], HasSubstr(R"("name":"ProfilerStep#1")"));
  EXPECT_THAT(rows(all)[0], HasSubstr(R"("args":{"Annotation":"Iteration 1"})"));
  EXPECT_THAT(rows(all)[1], HasSubstr(R"("args":{"own":1,"Annotation":"Iteration 2"})"));
  EXPECT_THAT(all.changes, ElementsAre(Pair("steps_inferred", 2)));
}

}  // namespace
}  // namespace tbtrace::chrome
