#include "dialects/profile_events.h"

#include <map>
#include <set>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <tbtrace/capabilities.h>
#include <tbtrace/step_breakdown.h>
#include <tbtrace/trace.h>

#include "fixtures/event_reading.h"

namespace tbtrace::dialects {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

Trace trace(const std::string& name) {
  Result<Trace> read = read_trace(TBTRACE_TEST_DATA "/" + name);
  EXPECT_TRUE(read.ok()) << read.status().message();
  return *std::move(read);
}

/// Values by tag, in the order of the records.
std::map<std::string, std::vector<proto::Event>> by_tag(const std::string& records) {
  std::map<std::string, std::vector<proto::Event>> tags;
  for (proto::Event& event : fixtures::events_of(records)) {
    EXPECT_EQ(event.summary().value_size(), 1);
    tags[event.summary().value(0).tag()].push_back(std::move(event));
  }
  return tags;
}

float scalar(const proto::Event& event) { return event.summary().value(0).tensor().float_val(0); }

TEST(ProfileEvents, HaveTheBreakdownOfEachStep) {
  const Trace read = trace("gpu_step.json");
  const StepBreakdown breakdown = step_breakdown(read, {.keep_tail_steps = true});
  ASSERT_THAT(breakdown.steps, Not(IsEmpty()));
  const auto tags = by_tag(profile_events(read));
  const auto& times = tags.at("profile/step_time_ms");
  ASSERT_EQ(times.size(), breakdown.steps.size());
  for (std::size_t at = 0; at < times.size(); ++at) {
    const StepTime& step = breakdown.steps[at];
    EXPECT_EQ(times[at].step(), step.number);
    EXPECT_FLOAT_EQ(scalar(times[at]),
                    static_cast<float>(static_cast<double>(step.length_ns()) / 1e6));
    double sum = 0;
    for (std::size_t role = 0; role < kStepRoles; ++role) {
      const std::string name(step_role_name(static_cast<StepRole>(role)));
      sum += static_cast<double>(scalar(tags.at("profile/step_part/" + name + "_ms").at(at)));
    }
    EXPECT_NEAR(sum, static_cast<double>(step.length_ns()) / 1e6, 1e-3);
  }
  EXPECT_EQ(tags.count("profile/gpu0/busy_pct"), 1);
}

TEST(ProfileEvents, HaveTablesDurationsAndPictures) {
  const auto tags = by_tag(profile_events(trace("gpu_step.json")));
  const auto text = [&](const std::string& tag) {
    return tags.at(tag + "/text_summary").at(0).summary().value(0).tensor().string_val(0);
  };
  EXPECT_THAT(text("profile/operators"), HasSubstr("| Name |"));
  EXPECT_THAT(text("profile/kernels"), HasSubstr("| Kernel |"));
  EXPECT_THAT(text("profile/steps"), HasSubstr("ProfilerStep#"));
  EXPECT_EQ(tags.count("profile/log10_operator_us"), 1);
  EXPECT_EQ(tags.count("profile/log10_kernel_us"), 1);
  EXPECT_EQ(tags.count("custom_scalars__config__"), 1);
  EXPECT_EQ(tags.count("profile/flame_graph"), capabilities().pictures ? 1 : 0);
}

TEST(ProfileEvents, SayWhatStandsInARunOnlyOnce) {
  const auto tags = by_tag(profile_events(trace("gpu_step.json"), {.first_of_run = false}));
  EXPECT_EQ(tags.count("custom_scalars__config__"), 0);
  EXPECT_EQ(tags.count("_hparams_/session_start_info"), 0);
}

TEST(ProfileEvents, StandBehindThoseOfTheTraceBefore) {
  const Trace read = trace("gpu_step.json");
  std::int64_t first = 0;
  std::map<std::string, std::int64_t> last;
  for (int window = 0; window < 3; ++window) {
    std::set<std::string> seen;
    for (const auto& [tag, events] :
         by_tag(profile_events(read, {.first_step = first, .first_of_run = window == 0}))) {
      for (const proto::Event& event : events) {
        if (last.contains(tag)) EXPECT_GT(event.step(), last[tag]) << tag;
        last[tag] = event.step();
        EXPECT_GT(event.wall_time(), 0);
      }
    }
    const std::int64_t next = next_first_step(read, first);
    for (const auto& [tag, step] : last) EXPECT_LT(step, next) << tag;
    first = next;
  }
}

TEST(ProfileEvents, OfNothingAreNearlyNone) {
  const auto tags = by_tag(profile_events(trace("empty.json")));
  EXPECT_EQ(tags.count("profile/step_time_ms"), 0);
  EXPECT_EQ(tags.count("profile/operators/text_summary"), 0);
}

}  // namespace
}  // namespace tbtrace::dialects
