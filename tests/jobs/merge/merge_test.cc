#include <cstdint>
#include <filesystem>
#include <optional>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <tbtrace/merge.h>

#include "fixtures/chrome_text.h"
#include "fixtures/gzip_member.h"
#include "fixtures/json_tree.h"
#include "fixtures/scratch_folder.h"
#include "fixtures/whole_file.h"

namespace tbtrace {
namespace {

using fixtures::JsonTree;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

constexpr std::int64_t kCommonBase = 1'700'000'000'000'000'000;

class MergeTest : public testing::Test {
 protected:
  /// A part with these events. Its base is that of all, unless it is said otherwise.
  MergePart part(std::int64_t rank, std::vector<fixtures::ChromeEvent> events,
                 std::int64_t base = kCommonBase) {
    fixtures::ChromeText text;
    text.before.emplace_back("baseTimeNanoseconds", std::to_string(base));
    text.events = std::move(events);
    return part_of_text("rank" + std::to_string(rank) + ".json", text.text(), rank, base);
  }

  MergePart part_of_text(const std::string& name, const std::string& text,
                         std::optional<std::int64_t> rank, std::optional<std::int64_t> base = {}) {
    fixtures::write_whole_file(folder.path(name), text);
    MergePart part;
    part.file.path = folder.path(name);
    part.file.rank = rank;
    part.file.base_time_ns = base;
    return part;
  }

  /// The merged document; fails the test if there is none.
  JsonTree merged(const std::vector<MergePart>& parts, const MergeOptions& options = {}) {
    MergeOptions again = options;
    again.overwrite = true;
    const Result<MergeReport> result = merge_traces(parts, output(), again);
    EXPECT_TRUE(result.ok()) << result.status().message();
    if (!result.ok()) return {};
    report = *result;
    return fixtures::parse_json_tree(fixtures::read_whole_file(output())).value();
  }

  Status failure(const std::vector<MergePart>& parts, const MergeOptions& options = {}) {
    const Result<MergeReport> result = merge_traces(parts, output(), options);
    return result.ok() ? Status() : result.status();
  }

  std::string output() const { return folder.path("merged.json"); }

  /// A member of each event that has it.
  static std::vector<std::string> values(const JsonTree& document, const std::string& key) {
    std::vector<std::string> values;
    const JsonTree* const events = document.find("traceEvents");
    if (events == nullptr) return values;
    for (const JsonTree& event : events->items) {
      const JsonTree* const phase = event.find("ph");
      if (phase != nullptr && phase->text == "M") continue;
      if (const JsonTree* const value = event.find(key)) values.push_back(value->text);
    }
    return values;
  }

  /// The names that viewers show, in order.
  static std::vector<std::string> process_names(const JsonTree& document) {
    std::vector<std::string> names;
    for (const JsonTree& event : document.find("traceEvents")->items) {
      if (event.find("name")->text == "process_name") {
        names.push_back(event.find("args")->find("name")->text);
      }
    }
    return names;
  }

  fixtures::ScratchFolder folder;
  MergeReport report;
};

fixtures::ChromeEvent label(const std::string& what, const std::string& key,
                            const std::string& value, const std::string& process = "1") {
  return {{{"ph", "\"M\""},
           {"name", fixtures::in_quotes(what)},
           {"pid", process},
           {"tid", "0"},
           {"ts", "0"}},
          {{key, value}}};
}

TEST_F(MergeTest, PartsFollowEachOtherWithProcessesOfTheirOwn) {
  const JsonTree document =
      merged({part(0, {fixtures::op("a")}), part(12, {fixtures::op("b"), fixtures::op("c")})});
  EXPECT_THAT(values(document, "name"), ElementsAre("a", "b", "c"));
  EXPECT_THAT(values(document, "pid"), ElementsAre("100", "112", "112"));
  EXPECT_THAT(process_names(document), ElementsAre("rank 0: (pid 1)", "rank 12: (pid 1)"));
  ASSERT_THAT(report.parts, SizeIs(2));
  EXPECT_EQ(report.parts[1].number, 12);
  EXPECT_EQ(report.parts[1].events, 2U);
  EXPECT_FALSE(report.are_clocks_aligned);
  const JsonTree* const ranks = document.find(kMergedRanks);
  ASSERT_NE(ranks, nullptr);
  EXPECT_EQ(ranks->find("digits")->text, "2");
  EXPECT_EQ(ranks->find("clocks")->text, "recorded");
  EXPECT_EQ(ranks->find("parts")->items[1].find("file")->text, "rank12.json");
  EXPECT_EQ(document.find(kMergedMetadata)
                ->find("12")
                ->find("members")
                ->find("baseTimeNanoseconds")
                ->text,
            std::to_string(kCommonBase));
}

TEST_F(MergeTest, NamesOfProcessesSayTheRankAndTheDevice) {
  const auto events = [] {
    return std::vector<fixtures::ChromeEvent>{
        label("process_name", "name", "\"python\\n\\\"x\\\"\""),
        label("process_labels", "labels", "\"CPU\""),
        label("process_name", "name", "\"python\"", "0"),
        label("process_labels", "labels", "\"GPU 0\"", "0"),
        label("process_sort_index", "sort_index", "16777216", "0"),
        label("process_name", "name", "\"later\"", "5"),  // has no labels
        fixtures::op("k").with("cat", "\"kernel\"").with("pid", "5"),
        fixtures::op("a")};
  };
  const JsonTree document = merged({part(0, events()), part(1, events())});
  EXPECT_THAT(process_names(document),
              ElementsAre("rank 0: python\n\"x\" (pid 1)", "rank 0: python (GPU 0)",
                          "rank 0: later (GPU 5)", "rank 1: python\n\"x\" (pid 1)",
                          "rank 1: python (GPU 0)", "rank 1: later (GPU 5)"));
  std::vector<std::string> order;
  for (const JsonTree& event : document.find("traceEvents")->items) {
    if (event.find("name")->text != "process_sort_index") continue;
    order.push_back(event.find("pid")->text + "@" + event.find("args")->find("sort_index")->text);
  }
  EXPECT_THAT(order, ElementsAre("0@16777216", "10@0", "50@16777218", "1@4311744512",
                                 "11@4294967296", "51@4311744514"));
}

TEST_F(MergeTest, FilesOfUnknownRanksAreNumberedAndNamedByTheirFiles) {
  const std::string text = fixtures::ChromeText{.events = {fixtures::op("a")}}.text();
  const JsonTree document = merged(
      {part_of_text("x.json", text, std::nullopt), part_of_text("y.json", text, std::nullopt)});
  EXPECT_THAT(values(document, "pid"), ElementsAre("10", "11"));
  EXPECT_THAT(process_names(document), ElementsAre("x.json: (pid 1)", "y.json: (pid 1)"));
  EXPECT_FALSE(report.parts[0].has_wall_clock);
}

TEST_F(MergeTest, RecordingsOfOneRankAreNumberedByTheirPlaces) {
  MergePart first = part(3, {fixtures::op("a")});
  MergePart second = first;
  second.file.window = 1;
  const JsonTree document = merged({first, second});
  EXPECT_THAT(values(document, "pid"), ElementsAre("10", "11"));
  EXPECT_THAT(process_names(document),
              ElementsAre("rank 3, recording 1: (pid 1)", "rank 3, recording 2: (pid 1)"));
}

TEST_F(MergeTest, TimesCountFromTheEarliestBase) {
  const JsonTree document = merged({part(0, {fixtures::op("a", "10.125")}, kCommonBase + 2'000'001),
                                    part(1, {fixtures::op("b", "10.125")}, kCommonBase)});
  EXPECT_THAT(values(document, "ts"), ElementsAre("2010.126", "10.125"));
  EXPECT_EQ(document.find("baseTimeNanoseconds")->text, std::to_string(kCommonBase));
}

TEST_F(MergeTest, TimesSince1970JoinTheBaseOfOthers) {
  MergePart absolute = part_of_text(
      "rank1.json",
      fixtures::ChromeText{.events = {fixtures::op("b", "1700000000000500.5")}}.text(), 1);
  absolute.file.start_ns = kCommonBase + 500'500;
  EXPECT_THAT(values(merged({part(0, {fixtures::op("a")}), absolute}), "ts"),
              ElementsAre("10", "500.5"));
  // Before the base, times would be negative.
  absolute.file.start_ns = kCommonBase - 1;
  const JsonTree document = merged({part(0, {fixtures::op("a")}), absolute});
  EXPECT_THAT(values(document, "ts"), ElementsAre("1700000000000010", "1700000000000500.5"));
  EXPECT_EQ(document.find("baseTimeNanoseconds"), nullptr);
}

TEST_F(MergeTest, ClocksAreCorrectedByOffsetAndDrift) {
  MergePart first = part(0, {fixtures::op("a", "1000", "500")});
  first.clock = ClockCorrection{};
  MergePart second = part(1, {fixtures::op("b", "1000", "500"), fixtures::op("c", "1000", "500")});
  second.clock = ClockCorrection{
      .offset_ns = 250, .drift_ppm = 1000, .error_ns = 7, .at_ns = kCommonBase + 500'000};
  const JsonTree document = merged({first, second});
  // At 1000 us, 500 us after the offset held, the drift adds 0.5 us; over the range another 0.5.
  EXPECT_THAT(values(document, "ts"), ElementsAre("1000", "1000.75", "1000.75"));
  EXPECT_THAT(values(document, "dur"), ElementsAre("500", "500.5", "500.5"));
  EXPECT_TRUE(report.are_clocks_aligned);
  const JsonTree* const ranks = document.find(kMergedRanks);
  EXPECT_EQ(ranks->find("clocks")->text, "aligned");
  const JsonTree& entry = ranks->find("parts")->items[1];
  EXPECT_EQ(entry.find("clock_offset_ns")->text, "250");
  EXPECT_EQ(entry.find("clock_error_ns")->text, "7");
}

TEST_F(MergeTest, CorrectedRangesStayInOneAnother) {
  MergePart only =
      part(0, {fixtures::op("outer", "0.001", "0.9"), fixtures::op("in", "0.333", "0.5"),
               fixtures::op("last", "0.833", "0.068")});
  only.clock = ClockCorrection{.offset_ns = -3, .drift_ppm = -450'000, .at_ns = kCommonBase};
  const JsonTree document = merged({only});
  const std::vector<std::string> starts = values(document, "ts");
  const std::vector<std::string> durations = values(document, "dur");
  const auto end = [&](std::size_t row) {
    return std::stod(starts[row]) + std::stod(durations[row]);
  };
  EXPECT_LE(std::stod(starts[0]), std::stod(starts[1]));
  EXPECT_NEAR(end(1), std::stod(starts[2]), 1e-9);
  EXPECT_NEAR(end(2), end(0), 1e-9);
}

TEST_F(MergeTest, ARangeOfTwoRowsIsOneWhenStepsAreChosen) {
  const auto step = [](const std::string& number, const std::string& start) {
    return fixtures::op("ProfilerStep#" + number, start, "90").with("cat", "\"user_annotation\"");
  };
  auto begin = fixtures::op("open", "110").with("ph", "\"B\"").without("dur");
  auto end = fixtures::op("open", "250").with("ph", "\"E\"").without("dur");
  const JsonTree document =
      merged({part(0, {step("1", "0"), step("2", "100"), begin, end})}, {.steps = StepRange{2, 2}});
  EXPECT_THAT(values(document, "ph"), ElementsAre("X", "X"));
  EXPECT_THAT(values(document, "dur"), ElementsAre("90", "140"));
  EXPECT_EQ(report.parts[0].left_out, 2U);
}

TEST_F(MergeTest, TextThatIsNotJsonIsWrittenAsJson) {
  // Kineto's writer escapes nothing.
  fixtures::ChromeText text;
  text.before.emplace_back("baseTimeNanoseconds", std::to_string(kCommonBase));
  text.events = {fixtures::op("a \"quoted\" name"), fixtures::op("plain")};
  const MergePart rank =
      part_of_text("rank0.json", text.text(fixtures::Layout::kineto_lines), 0, kCommonBase);
  EXPECT_THAT(values(merged({rank}), "name"), ElementsAre("a \"quoted\" name", "plain"));
  ASSERT_THAT(report.parts[0].issues, SizeIs(1));
  EXPECT_EQ(report.parts[0].issues[0].id, "unescaped_text");
}

TEST_F(MergeTest, DamagedCompressedPartsGiveWhatComesBeforeTheDamage) {
  std::vector<fixtures::ChromeEvent> events;
  for (int event = 0; event < 20'000; ++event) {
    events.push_back(fixtures::op("op" + std::to_string(event * 7919)));
  }
  fixtures::ChromeText text;
  text.before.emplace_back("baseTimeNanoseconds", std::to_string(kCommonBase));
  text.events = events;
  std::string packed = fixtures::gzip_member(text.text());
  packed.resize(packed.size() / 2);
  const MergePart cut = part_of_text("rank1.json.gz", packed, 1, kCommonBase);
  const JsonTree document = merged({part(0, {fixtures::op("a")}), cut});
  const std::size_t count = values(document, "name").size();
  EXPECT_GT(count, 1000U);
  EXPECT_LT(count, 20'001U);
  EXPECT_THAT(report.parts[1].issues, testing::Not(IsEmpty()));
  EXPECT_EQ(failure({cut}, {.overwrite = true, .strict = true}).code(), StatusCode::check_failed);
}

TEST_F(MergeTest, APartThatCannotBeReadIsLeftOut) {
  const MergePart notes = part_of_text("notes.json", "{\"a\": 1}", 1);
  MergePart missing = notes;
  missing.file.path = folder.path("missing.json");
  missing.file.rank = 2;
  const JsonTree document = merged({part(0, {fixtures::op("a")}), notes, missing});
  EXPECT_THAT(values(document, "name"), ElementsAre("a"));
  EXPECT_THAT(report.parts[1].failure.message(), HasSubstr("not a trace"));
  EXPECT_FALSE(report.parts[2].failure.ok());
  const Status none = failure({missing}, {.overwrite = true});
  EXPECT_EQ(none.code(), StatusCode::unreadable_input);
  EXPECT_THAT(none.message(), HasSubstr("missing.json"));
}

TEST_F(MergeTest, NothingIsWrittenIfItFails) {
  const MergePart twice = part_of_text(
      "rank0.json", R"({"traceEvents": [{"ph":"i","name":"a","ts":1}], "traceEvents": []})", 0);
  EXPECT_THAT(failure({twice}).message(), HasSubstr("two arrays"));
  EXPECT_FALSE(std::filesystem::exists(output()));
  EXPECT_EQ(failure({}).code(), StatusCode::invalid_argument);
  // The base that the caller knows is not that of the file.
  MergePart other = part(1, {fixtures::op("a")});
  other.file.base_time_ns = kCommonBase + 1;
  EXPECT_THAT(failure({other}).message(), HasSubstr("time base"));
  EXPECT_FALSE(std::filesystem::exists(output()));
  fixtures::write_whole_file(output(), "mine");
  EXPECT_EQ(failure({part(2, {fixtures::op("a")})}).code(), StatusCode::output_exists);
  EXPECT_EQ(fixtures::read_whole_file(output()), "mine");
  const Result<MergeReport> full = merge_traces({part(2, {fixtures::op("a")})}, "/dev/full");
  EXPECT_EQ(full.status().code(), StatusCode::unwritable_output);
}

TEST_F(MergeTest, CancellingLeavesNoFile) {
  MergeOptions options;
  options.on_progress = [](std::uint64_t, std::uint64_t) { return false; };
  EXPECT_EQ(failure({part(0, {fixtures::op("a")})}, options).code(), StatusCode::cancelled);
  EXPECT_FALSE(std::filesystem::exists(output()));
}

TEST_F(MergeTest, AnyNumberOfThreadsGivesTheSameBytes) {
  std::vector<fixtures::ChromeEvent> events;
  for (int event = 0; event < 30'000; ++event) {
    events.push_back(fixtures::op("op" + std::to_string(event)).arg("External id", "12"));
  }
  const std::vector<MergePart> parts = {part(0, events), part(1, events)};
  std::vector<std::string> texts;
  for (const int threads : {1, 2, 5}) {
    ASSERT_TRUE(merge_traces(parts, output(), {.overwrite = true, .threads = threads}).ok());
    texts.push_back(fixtures::read_whole_file(output()));
  }
  EXPECT_EQ(texts[0], texts[1]);
  EXPECT_EQ(texts[0], texts[2]);
  ASSERT_TRUE(merge_traces(parts, folder.path("merged.json.gz"), {}).ok());
  const std::string packed = fixtures::read_whole_file(folder.path("merged.json.gz"));
  EXPECT_EQ(packed.substr(0, 2), "\x1f\x8b");
}

TEST_F(MergeTest, MergedTracesAreKnownAsSuch) {
  merged({part(0, {fixtures::op("a")}), part(1, {fixtures::op("b")})});
  EXPECT_TRUE(is_merged_trace(output()));
  EXPECT_FALSE(is_merged_trace(folder.path("rank0.json")));
  EXPECT_FALSE(is_merged_trace(folder.path("nothing.json")));
  const Result<Trace> trace = read_trace(output());
  ASSERT_TRUE(trace.ok());
  EXPECT_NE(trace->check_not_merged().message().find("merged timeline of 2 traces"),
            std::string::npos);
  EXPECT_TRUE(read_trace(folder.path("rank0.json"))->check_not_merged().ok());
}

TEST(MergedByOthers, IsAFileWithOneStepInSeveralProcesses) {
  const auto file = [](std::string_view process, int number) {
    const auto step = [](std::string_view of, int with) {
      return R"({"ph": "X", "cat": "user_annotation", "name": "ProfilerStep#)" +
             std::to_string(with) + R"(", "pid": )" + std::string(of) +
             R"(, "tid": 1, "ts": 1, "dur": 5})";
    };
    return R"({"traceEvents": [)" + step("7", 3) + ", " + step(process, number) + "]}";
  };
  const auto state = [](const std::string& text) {
    std::istringstream stream(text);
    return read_trace(stream)->check_not_merged();
  };
  EXPECT_TRUE(state(file("7", 3)).ok());
  EXPECT_TRUE(state(file("8", 4)).ok());
  EXPECT_NE(state(file("8", 3)).message().find("merge of several ranks"), std::string::npos);
  EXPECT_FALSE(state(file(R"("[TP01] 7")", 3)).ok());
}

}  // namespace
}  // namespace tbtrace
