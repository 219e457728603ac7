#include <array>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <future>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <torch/torch.h>

#include <tbtrace/profiler.h>

#include "libtorch/record/recorded.h"
#include "libtorch/record/training_step.h"

namespace tbtrace {
namespace {

using testing::count;
using ::testing::ElementsAre;
using testing::Folder;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

class ProfilerTest : public ::testing::Test {
 protected:
  ProfilerOptions options(ProfilerOptions options = {}) {
    options.activities = {Activity::cpu};
    options.experimental.on_warning = [this](std::string_view sentence) {
      warnings_.emplace_back(sentence);
    };
    return options;
  }

  static void work() { torch::ones({4, 4}).mul_(torch::ones({4, 4})); }

  std::vector<std::string> warnings_;
};

TEST_F(ProfilerTest, RecordsWhatRunsBetweenStartAndStop) {
  Profiler profiler(options());
  work();
  profiler.start();
  work();
  work();
  profiler.stop();
  work();
  EXPECT_EQ(count(profiler, "aten::mul_"), 2);
  EXPECT_EQ(count(profiler, "aten::ones"), 4);
  EXPECT_THAT(warnings_, IsEmpty());
}

/// The table of a recording, by shapes or not, live and from its file.
std::array<std::string, 2> tables_of(Profiler& profiler, const Trace& trace, bool by_shape) {
  const SummaryOptions how = {.group_by_input_shape = by_shape};
  const TableOptions all = {.sort_by = "cpu_time_total", .row_limit = -1};
  return {*profiler.key_averages(how).table(all), *operator_summary(trace, how).table(all)};
}

// A range that ends in the same nanosecond as the one around it may be 1 ns shorter in the file
// (chrome/rows/crossings.h), as in one of ten recordings: one of some without such ranges is
// awaited.
TEST_F(ProfilerTest, ATableReadsTheSameFromTheFile) {
  const Folder folder;
  testing::TrainingStep step;
  bool are_equal = false;
  for (int attempt = 0; attempt < 10 && !are_equal; ++attempt) {
    Profiler profiler(options({.record_shapes = true, .profile_memory = true, .with_flops = true}));
    {
      const auto recording = profiler.record();
      for (int number = 0; number < 3; ++number) step.run();
    }
    const std::string path = folder / ("trace" + std::to_string(attempt) + ".json.gz");
    ASSERT_TRUE(profiler.export_chrome_trace(path).ok());
    const Result<Trace> trace = read_trace(path, {.strict = true});
    ASSERT_TRUE(trace.ok()) << trace.status().message();
    are_equal = true;
    for (const bool by_shape : {false, true}) {
      const auto [live, read] = tables_of(profiler, *trace, by_shape);
      are_equal &= live == read;
      EXPECT_THAT(live, HasSubstr("aten::convolution_backward"));
      EXPECT_THAT(live, HasSubstr("CPU Mem"));
    }
  }
  EXPECT_TRUE(are_equal);
  EXPECT_THAT(warnings_, IsEmpty());
}

TEST_F(ProfilerTest, EachCycleIsHandedOverOnce) {
  std::vector<std::string> steps;
  Profiler profiler(options(
      {.schedule = schedule({.skip_first = 1, .wait = 1, .warmup = 1, .active = 2, .repeat = 2}),
       .on_trace_ready = [&](Profiler& ready) {
         std::string words = std::to_string(ready.step_num()) + ":";
         for (const std::string& name : testing::names(ready)) {
           if (name == "ProfilerStep*" || name == "aten::mul_") words += " " + name;
         }
         steps.push_back(words);
       }}));
  profiler.start();
  for (int step = 0; step < 12; ++step) {
    work();
    profiler.step();
  }
  profiler.stop();
  const std::string both = " ProfilerStep* aten::mul_ ProfilerStep* aten::mul_";
  EXPECT_THAT(steps, ElementsAre("5:" + both, "9:" + both));
  EXPECT_EQ(profiler.step_num(), 12);
  EXPECT_THAT(warnings_, ElementsAre(HasSubstr("clears events at the end of each cycle")));
}

TEST_F(ProfilerTest, AStopFromTheHandlerKeepsTheResultsOfItsWindow) {
  int handed_over = 0;
  Profiler profiler(
      options({.schedule = schedule({.active = 1}), .on_trace_ready = [&](Profiler& ready) {
                 ++handed_over;
                 ready.stop();
               }}));
  profiler.start();
  work();
  profiler.step();
  EXPECT_EQ(handed_over, 1);
  EXPECT_EQ(count(profiler, "aten::mul_"), 1);
  work();
  profiler.stop();
  EXPECT_THAT(warnings_, ElementsAre(HasSubstr("not running")));
  profiler.start();
  work();
  work();
  profiler.step();
  EXPECT_EQ(handed_over, 2);
  EXPECT_EQ(count(profiler, "aten::mul_"), 2);
}

TEST_F(ProfilerTest, EventsOfAllCyclesCanBeKept) {
  Profiler profiler(
      options({.schedule = schedule({.warmup = 1, .active = 1}), .acc_events = true}));
  profiler.start();
  for (int step = 0; step < 6; ++step) {
    work();
    profiler.step();
  }
  profiler.stop();
  EXPECT_EQ(count(profiler, "aten::mul_"), 3);
  EXPECT_THAT(warnings_, IsEmpty());
}

TEST_F(ProfilerTest, MayBeStartedAgain) {
  Profiler profiler(options());
  for (int run = 1; run <= 20; ++run) {
    profiler.start();
    for (int times = 0; times < run; ++times) work();
    profiler.stop();
    EXPECT_EQ(count(profiler, "aten::mul_"), run);
  }
}

TEST_F(ProfilerTest, TellsThatNoCycleWasRecorded) {
  {
    Profiler profiler(options({.schedule = schedule({.wait = 1, .warmup = 1, .active = 1})}));
    profiler.start();
    work();
    profiler.stop();
    ASSERT_THAT(warnings_, ElementsAre(HasSubstr("stopped in step 0 (NONE)")));
    EXPECT_EQ(count(profiler, "aten::mul_"), 0);
    EXPECT_THAT(warnings_, ElementsAre(HasSubstr("step 0"), HasSubstr("nothing was recorded")));
  }
  EXPECT_EQ(warnings_.size(), 2);
}

TEST_F(ProfilerTest, PreparesWhereTheScheduleForgotTo) {
  Profiler profiler(options({.schedule = [](std::int64_t step) {
    return step == 0   ? ProfilerAction::record
           : step == 1 ? ProfilerAction::warmup
                       : ProfilerAction::record_and_save;
  }}));
  profiler.start();
  torch::ones({2});
  profiler.step();
  profiler.step();
  work();
  profiler.stop();
  EXPECT_EQ(count(profiler, "aten::mul_"), 1);
  EXPECT_THAT(warnings_,
              ElementsAre(HasSubstr("RECORD followed by WARMUP"), HasSubstr("it is prepared now")));
}

TEST_F(ProfilerTest, RefusesWrongArguments) {
  EXPECT_THROW(Profiler({.activities = {Activity::cpu, Activity::cpu}}), std::invalid_argument);
  EXPECT_THROW(
      Profiler(options({.schedule = [](std::int64_t) { return ProfilerAction::device_stopped; }})),
      std::invalid_argument);
  Profiler profiler(options({.schedule = [](std::int64_t step) {
    return step == 1 ? static_cast<ProfilerAction>(9) : ProfilerAction::record;
  }}));
  profiler.start();
  EXPECT_THROW(profiler.step(), std::invalid_argument);
  EXPECT_EQ(profiler.step_num(), 0);
  work();
  profiler.stop();
  EXPECT_EQ(count(profiler, "aten::mul_"), 1);
  EXPECT_EQ(profiler.export_stacks("stacks.txt").code(), StatusCode::invalid_argument);
}

TEST_F(ProfilerTest, RefusesSignalsThatItCannotWaitFor) {
  struct sigaction before = {};
  ASSERT_EQ(::sigaction(SIGXCPU, nullptr, &before), 0);
  for (const int signal : {SIGKILL, SIGSEGV, 0, 1000}) {
    EXPECT_THROW(Profiler(options({.process = {.close_on = {SIGXCPU, signal}}})),
                 std::invalid_argument)
        << signal;
  }
  struct sigaction now = {};
  ASSERT_EQ(::sigaction(SIGXCPU, nullptr, &now), 0);
  EXPECT_EQ(now.sa_handler, before.sa_handler);  // of a list that is refused nothing is watched
  EXPECT_THAT(warnings_, IsEmpty());
}

TEST_F(ProfilerTest, OtherThreadsReadTheStepWhileAHandlerRuns) {
  std::vector<std::int64_t> steps;
  std::thread reader;
  Profiler profiler(options({.on_trace_ready = [&](Profiler& ready) {
    std::promise<std::int64_t> step;
    std::future<std::int64_t> read = step.get_future();
    reader = std::thread(
        [&ready, step = std::move(step)]() mutable { step.set_value(ready.step_num()); });
    if (read.wait_for(std::chrono::seconds(30)) == std::future_status::ready) {
      steps.push_back(read.get());
    }
  }}));
  profiler.start();
  profiler.step();
  work();
  profiler.stop();
  reader.join();
  EXPECT_THAT(steps, ElementsAre(1));
}

TEST_F(ProfilerTest, AWrongColumnIsPrintedAndTheProgramGoesOn) {
  Profiler profiler(options());
  profiler.start();
  work();
  profiler.stop();
  std::ostringstream printed;
  printed << profiler.key_averages().table({.sort_by = "wrong"}) << "next";
  EXPECT_THAT(printed.str(), HasSubstr("wrong"));
  EXPECT_TRUE(printed.str().ends_with("\nnext"));
}

TEST_F(ProfilerTest, FailuresOfExportsNameTheFile) {
  Profiler profiler(options());
  profiler.start();
  work();
  profiler.stop();
  EXPECT_THAT(profiler.export_chrome_trace("/nonexistent/x.json").message(),
              StartsWith("/nonexistent/x.json: "));
}

TEST_F(ProfilerTest, MetadataIsInTheFile) {
  const Folder folder;
  Profiler profiler(options({.record_shapes = true}));
  profiler.add_metadata("early", "kept");
  profiler.start();
  profiler.add_metadata("quoted \"key\"", "a \"value\"\n");
  profiler.add_metadata_json("distributedInfo", R"({"rank": 3, "world_size": 8})");
  profiler.add_metadata_json("traceEvents", "[]");
  EXPECT_THAT(warnings_, ElementsAre(HasSubstr("'traceEvents' was dropped")));
  work();
  profiler.stop();
  ASSERT_TRUE(profiler.export_chrome_trace(folder / "trace.json").ok());
  const Result<Trace> trace = read_trace(folder / "trace.json", {.strict = true});
  ASSERT_TRUE(trace.ok()) << trace.status().message();
  EXPECT_EQ(trace->identity().rank, 3);
  EXPECT_EQ(trace->metadata().at("early"), "\"kept\"");
}

TEST_F(ProfilerTest, DistributedInfoStaysForLaterWindows) {
  const Folder folder;
  std::vector<std::string> backends;
  std::vector<std::int64_t> ranks;
  Profiler profiler(options(
      {.schedule = schedule({.warmup = 1, .active = 1}), .on_trace_ready = [&](Profiler& ready) {
         ASSERT_TRUE(ready.export_chrome_trace(folder / "trace.json").ok());
         const Result<Trace> trace = read_trace(folder / "trace.json", {.strict = true});
         ASSERT_TRUE(trace.ok()) << trace.status().message();
         ranks.push_back(trace->identity().rank.value_or(-1));
         backends.push_back(trace->metadata().at("distributedInfo"));
       }}));
  profiler.set_distributed_info({.backend = "a \"b\"", .rank = 5, .world_size = 8});
  profiler.start();
  for (int step = 0; step < 8; ++step) {
    work();
    if (step == 4) profiler.set_distributed_info({.rank = 6});  // the third window is prepared
    if (step == 7) profiler.set_distributed_info({.rank = 7});  // the fourth is recorded
    profiler.step();
  }
  profiler.stop();
  EXPECT_THAT(ranks, ElementsAre(5, 5, 6, 7));
  EXPECT_THAT(backends, ElementsAre(R"({"backend": "a \"b\"", "rank": 5, "world_size": 8})",
                                    backends[0], R"({"backend": "", "rank": 6, "world_size": 1})",
                                    R"({"backend": "", "rank": 7, "world_size": 1})"));
}

TEST_F(ProfilerTest, CollectionCanBeToggled) {
  Profiler profiler(options());
  profiler.start();
  work();
  profiler.toggle_collection_dynamic(false, {Activity::cpu});
  work();
  profiler.toggle_collection_dynamic(true, {Activity::cpu});
  work();
  profiler.stop();
  EXPECT_EQ(count(profiler, "aten::mul_"), 2);
}

TEST_F(ProfilerTest, AListenerThatThrowsLosesNoWindow) {
  ProfilerOptions throwing = options({.schedule = [](std::int64_t step) {
    return step == 0 ? ProfilerAction::record : ProfilerAction::none;  // which torch warns of
  }});
  throwing.experimental.on_warning = [](std::string_view) { throw std::runtime_error("mine"); };
  Profiler profiler(throwing);
  profiler.start();
  work();
  EXPECT_THROW(profiler.step(), std::runtime_error);
  work();
  EXPECT_EQ(profiler.step_num(), 1);
  EXPECT_EQ(count(profiler, "aten::mul_"), 1);
  EXPECT_THROW(profiler.stop(), std::runtime_error);
}

TEST_F(ProfilerTest, ADestroyedProfilerStops) {
  int handed_over = 0;
  {
    Profiler profiler(options({.on_trace_ready = [&](Profiler&) { ++handed_over; }}));
    profiler.start();
    work();
  }
  EXPECT_EQ(handed_over, 1);
  work();
}

}  // namespace
}  // namespace tbtrace
