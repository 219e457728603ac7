#include <algorithm>
#include <cstdint>
#include <numeric>
#include <sstream>
#include <string>
#include <string_view>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <tbtrace/collectives.h>
#include <tbtrace/trace.h>

#include "fixtures/chrome_text.h"

namespace tbtrace {
namespace {

using fixtures::ChromeEvent;
using fixtures::op;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

ChromeEvent annotation(std::string_view name, std::string_view start, std::string_view duration) {
  return op(name, start, duration).with("cat", R"("user_annotation")");
}

/// A launch and what it launched.
void launch(fixtures::ChromeText& text, const std::string& correlation, std::string_view at,
            ChromeEvent activity) {
  text.events.push_back(op("cudaLaunchKernel", at, "2")
                            .with("cat", R"("cuda_runtime")")
                            .arg("correlation", correlation));
  text.events.push_back(
      activity.with("pid", "0").arg("correlation", correlation).arg("device", "0"));
}

ChromeEvent kernel(std::string_view name, std::string_view start, std::string_view duration,
                   std::string_view stream = "7") {
  return op(name, start, duration).with("cat", R"("kernel")").with("tid", stream);
}

ChromeEvent nccl(std::string_view start, std::string_view duration, std::string_view sequence) {
  return kernel("ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)", start,
                duration, "20")
      .arg("Collective name", R"("allreduce")")
      .arg("In msg nelems", "1000")
      .arg("Out msg nelems", "1000")
      .arg("Group size", "2")
      .arg("dtype", R"("BFloat16")")
      .arg("Process Group Name", R"("0")")
      .arg("Process Group Description", R"("default_pg")")
      .arg("Process Group Ranks", R"("[0, 1]")")
      .arg("Seq", sequence);
}

RankRecord record_of(const fixtures::ChromeText& text) {
  std::istringstream stream(text.text());
  const Result<Trace> trace = read_trace(stream, {.arguments = kRankArguments});
  return rank_record(*trace, "trace.json");
}

/// Two steps of 1000 us: 100 us until the first kernel, a kernel of 400 us, a collective of 300 us
/// beside its last 100 us, and 300 us of nothing on the device.
fixtures::ChromeText two_steps() {
  fixtures::ChromeText text;
  text.before.emplace_back("distributedInfo", R"({"rank": 1, "world_size": 2})");
  for (int step = 0; step < 2; ++step) {
    const int begin = 10'000 + 1000 * step;
    const auto at = [&](int offset) { return std::to_string(begin + offset); };
    const std::string id = std::to_string(10 * step + 1);
    text.events.push_back(annotation("ProfilerStep#" + std::to_string(step + 5), at(0), "1000"));
    launch(text, id, at(90), kernel("gemm", at(100), "400"));
    launch(text, id + "0", at(95), nccl(at(400), "300", std::to_string(step + 3)));
  }
  return text;
}

/// A range of gloo, which does not say its group.
RankRecord gloo_record(std::string_view distributed) {
  fixtures::ChromeText text;
  text.before.emplace_back("distributedInfo", distributed);
  text.events.push_back(annotation("ProfilerStep#5", "10000", "1000"));
  text.events.push_back(annotation("gloo:all_reduce", "10100", "200").with("tid", "9"));
  return record_of(text);
}

// NCCL's collectives on copy engines: several copies and no kernel.
TEST(RankRecordOfTrace, TheCopiesOfACallAreOneCollective) {
  fixtures::ChromeText text;
  for (int call = 0; call < 2; ++call) {
    const auto at = [&](int offset) { return std::to_string(10'000 + 1000 * call + offset); };
    text.events.push_back(op("record_param_comms", at(0), "100")
                              .arg("Collective name", R"("_allgather_base")")
                              .arg("In msg nelems", "1000")
                              .arg("Out msg nelems", "8000")
                              .arg("Group size", "8")
                              .arg("dtype", R"("BFloat16")"));
    text.events.push_back(annotation("nccl:_all_gather_base", at(5), "90"));
    for (int copy = 0; copy < 3; ++copy) {
      launch(text, std::to_string(10 * call + copy + 1), at(10 + 10 * copy),
             op("Memcpy DtoD (Device -> Device)", at(200 + 100 * copy), "80")
                 .with("cat", R"("gpu_memcpy")")
                 .with("tid", "24"));
    }
  }
  const RankRecord record = record_of(text);
  ASSERT_THAT(record.collectives, SizeIs(2));
  EXPECT_EQ(record.calls_without_kernel, 0);
  const RankCollective& first = record.collectives[0];
  EXPECT_EQ(first.kind, CollectiveKind::all_gather);
  EXPECT_TRUE(first.on_device);
  EXPECT_EQ(first.bytes, 16'000);
  EXPECT_EQ(first.end_ns - first.start_ns, 280'000) << "from the first copy to the last one's end";
}

// A copy for each other rank, by an operator inside.
TEST(RankRecordOfTrace, CollectivesOfSymmetricMemoryMayCopy) {
  fixtures::ChromeText text;
  text.events.push_back(op("symm_mem::low_contention_all_gather", "100", "100"));
  for (int copy = 0; copy < 2; ++copy) {
    launch(text, std::to_string(copy + 1), std::to_string(110 + 10 * copy),
           op("Memcpy DtoD (Device -> Device)", std::to_string(300 + 100 * copy), "80")
               .with("cat", R"("gpu_memcpy")")
               .with("tid", "24"));
  }
  const RankRecord record = record_of(text);
  ASSERT_THAT(record.collectives, SizeIs(1));
  EXPECT_EQ(record.collectives[0].kind, CollectiveKind::all_gather);
}

TEST(RankRecord, TakesTheOnlyGroupOfTheJobWhereNoneIsRecorded) {
  const RankRecord record =
      gloo_record(R"({"rank": 1, "world_size": 2, "pg_count": 1, "pg_config": [{"pg_name": "0", )"
                  R"("pg_desc": "default_pg", "pg_size": 2, "ranks": [0, 1]}]})");
  ASSERT_THAT(record.collectives, SizeIs(1));
  const ProcessGroup& group = record.groups[record.collectives[0].group];
  EXPECT_EQ(group.description, "default_pg");
  EXPECT_EQ(group.ranks_text, "[0, 1]");
  EXPECT_THAT(group.ranks, ElementsAre(0, 1));
}

TEST(RankRecord, KnowsNoGroupIfTheJobHasSeveralOrOneOfSomeRanks) {
  for (const char* const distributed :
       {R"({"rank": 1, "world_size": 2})",
        R"({"rank": 1, "world_size": 4, "pg_config": [{"pg_name": "0", "pg_size": 2}]})",
        R"({"rank": 1, "world_size": 2, "pg_config": [{"pg_size": 2}, {"pg_size": 2}]})",
        R"({"rank": 1, "world_size": 2, "pg_count": 3, "pg_config": [{"pg_size": 2}]})"}) {
    const RankRecord record = gloo_record(distributed);
    ASSERT_THAT(record.collectives, SizeIs(1));
    EXPECT_EQ(record.collectives[0].group, 0U) << distributed;
  }
}

TEST(RankRecord, AStepThatDidNotEndIsNotCompared) {
  fixtures::ChromeText text = two_steps();
  ASSERT_THAT(record_of(text).steps, SizeIs(2));
  for (ChromeEvent& event : text.events) {
    const bool is_last_step = std::ranges::any_of(
        event.members, [](const auto& member) { return member.second == R"("ProfilerStep#6")"; });
    if (is_last_step) event.arg("finished", R"("false")");
  }
  const RankRecord record = record_of(text);
  ASSERT_THAT(record.steps, SizeIs(1));
  EXPECT_EQ(record.steps[0].number, 5);
  EXPECT_THAT(record.collectives, SizeIs(2)) << "what ran in it is there all the same";
}

TEST(RankRecord, HasTheCollectivesWithWhatC10dRecorded) {
  const RankRecord record = record_of(two_steps());
  EXPECT_EQ(record.rank, 1);
  EXPECT_EQ(record.world_size, 2);
  ASSERT_THAT(record.collectives, SizeIs(2));
  const RankCollective& part = record.collectives[0];
  EXPECT_EQ(part.kind, CollectiveKind::all_reduce);
  EXPECT_TRUE(part.on_device);
  EXPECT_EQ(record.texts[part.name], "all_reduce");
  EXPECT_EQ(record.texts[part.type], "BFloat16");
  EXPECT_EQ(part.bytes, 2000);
  EXPECT_EQ(part.sequence, 3);
  EXPECT_EQ(part.step, 5);
  EXPECT_EQ(part.end_ns - part.start_ns, 300'000);
  const ProcessGroup& group = record.groups[part.group];
  EXPECT_EQ(group.name, "0");
  EXPECT_EQ(group.description, "default_pg");
  EXPECT_THAT(group.ranks, ElementsAre(0, 1));
  EXPECT_EQ(group.size, 2);
  EXPECT_EQ(record.collectives[1].step, 6);
}

TEST(RankRecord, ACollectiveIsExposedWhereNothingComputes) {
  const RankRecord record = record_of(two_steps());
  const RankCollective& part = record.collectives[0];
  ASSERT_EQ(part.exposed_ranges, 1);
  const ExposedRange& range = record.exposed[part.first_exposed];
  EXPECT_EQ(range.start_ns - part.start_ns, 100'000);
  EXPECT_EQ(range.end_ns, part.end_ns);
}

TEST(RankRecord, TheTimesOfAStepAddUp) {
  const RankRecord record = record_of(two_steps());
  ASSERT_THAT(record.steps, SizeIs(2));
  for (const RankStep& step : record.steps) {
    EXPECT_EQ(std::accumulate(step.time_ns.begin(), step.time_ns.end(), std::int64_t{0}),
              step.duration_ns());
  }
  // The first one begins on the host, 100 us before its kernel.
  EXPECT_EQ(record.steps[0].number, 5);
  EXPECT_EQ(record.steps[0].duration_ns(), 700'000);
  EXPECT_EQ(record.steps[0].ns(RankTime::compute), 400'000);
  EXPECT_EQ(record.steps[0].ns(RankTime::communication), 200'000);
  EXPECT_EQ(record.steps[0].ns(RankTime::launch), 100'000);
  // The second one goes from the end of one collective to the end of the next.
  EXPECT_EQ(record.steps[1].duration_ns(), 1'000'000);
  EXPECT_EQ(record.steps[1].ns(RankTime::launch), 400'000);
  EXPECT_EQ(record.steps[1].kernels, 1);
  EXPECT_THAT(record.kernels, SizeIs(2));
  EXPECT_EQ(record.kernels[0].key, record.kernels[1].key);
}

TEST(RankRecord, IdleTimeHasItsCause) {
  struct Case {
    ChromeEvent host;
    RankTime time;
  };
  const std::string at = "10720";  // in the idle time before the second step's kernel
  for (const Case& one :
       {Case{annotation("enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__", at, "200"),
             RankTime::input},
        Case{op("Python GC", at, "200").with("cat", R"("python_function")"),
             RankTime::garbage_collection},
        Case{op("cudaFree", at, "200").with("cat", R"("cuda_runtime")"), RankTime::memory}}) {
    fixtures::ChromeText text = two_steps();
    text.events.push_back(one.host);
    // Allocations in the first step only are a cold start.
    text.events.push_back(op("cudaFree", "11990", "5").with("cat", R"("cuda_runtime")"));
    const RankRecord record = record_of(text);
    ASSERT_THAT(record.steps, SizeIs(2));
    EXPECT_EQ(record.steps[1].ns(one.time), 200'000) << rank_time_name(one.time);
    EXPECT_EQ(record.steps[1].ns(RankTime::launch), 200'000) << rank_time_name(one.time);
  }
}

TEST(RankRecord, RangesOfBackendsOnTheHostAreCollectives) {
  fixtures::ChromeText text;
  text.events.push_back(op("aten::mm", "10", "30"));
  text.events.push_back(annotation("gloo:all_reduce", "50", "40")
                            .arg("Input Dims", "[[16, 4]]")
                            .arg("Input type", R"(["float"])"));
  const RankRecord record = record_of(text);
  ASSERT_THAT(record.collectives, SizeIs(1));
  EXPECT_EQ(record.collectives[0].kind, CollectiveKind::all_reduce);
  EXPECT_FALSE(record.collectives[0].on_device);
  EXPECT_EQ(record.collectives[0].bytes, 256);
}

TEST(RankRecord, CallsOfLibrariesWithoutTheirKernelsAreCounted) {
  fixtures::ChromeText text;
  text.events.push_back(annotation("nccl:all_reduce", "50", "40"));
  const RankRecord record = record_of(text);
  EXPECT_THAT(record.collectives, IsEmpty());
  EXPECT_EQ(record.calls_without_kernel, 1);
}

TEST(RankRecord, RanksThatTorchShortenedAreNotKnown) {
  fixtures::ChromeText text = two_steps();
  text.events[2].arg("Process Group Ranks", R"("[0, 1, ..., 63]")");
  for (ChromeEvent& event : text.events) {
    if (!event.arguments.empty()) event.arg("Process Group Ranks", R"("[0, 1, ..., 63]")");
  }
  const RankRecord record = record_of(text);
  ASSERT_THAT(record.collectives, SizeIs(2));
  EXPECT_THAT(record.groups[record.collectives[0].group].ranks, IsEmpty());
  EXPECT_EQ(record.groups[record.collectives[0].group].ranks_text, "[0, 1, ..., 63]");
}

}  // namespace
}  // namespace tbtrace
