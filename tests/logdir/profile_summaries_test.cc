#include "logdir/profile_summaries.h"

#include <cstdint>
#include <limits>
#include <map>
#include <set>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <tbtrace/capabilities.h>
#include <tbtrace/steps.h>
#include <tbtrace/trace.h>

#include "fixtures/event_reading.h"
#include "fixtures/trace_rows.h"

namespace tbtrace::logdir {
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

/// All that is said of a window that begins a run.
std::string records_of(const Trace& trace) {
  ProfileSummaries events(trace);
  events.place_at(0);
  return events.about_run() + events.steps() + events.details().records();
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

TEST(ProfileSummaries, HaveTheBreakdownOfEachStep) {
  const Trace read = trace("gpu_step.json");
  const StepBreakdown breakdown = step_breakdown(read, {.keep_tail_steps = true});
  ASSERT_THAT(breakdown.steps, Not(IsEmpty()));
  const auto tags = by_tag(records_of(read));
  const auto& times = tags.at("profile/step_time_ms");
  ASSERT_EQ(times.size(), breakdown.steps.size());
  for (std::size_t at = 0; at < times.size(); ++at) {
    const StepTime& step = breakdown.steps[at];
    EXPECT_EQ(times[at].step(), step.number);
    EXPECT_FLOAT_EQ(scalar(times[at]),
                    static_cast<float>(static_cast<double>(step.duration_ns()) / 1e6));
    double sum = 0;
    for (std::size_t role = 0; role < kStepRoles; ++role) {
      const std::string name(step_role_name(static_cast<StepRole>(role)));
      const auto part = tags.find("profile/step_part/" + name + "_ms");
      if (part != tags.end()) sum += static_cast<double>(scalar(part->second.at(at)));
    }
    EXPECT_NEAR(sum, static_cast<double>(step.duration_ns()) / 1e6, 1e-3);
  }
  EXPECT_EQ(tags.count("profile/gpu/utilization_pct"), 1);
}

TEST(ProfileSummaries, HaveTablesDurationsAndPictures) {
  const auto tags = by_tag(records_of(trace("gpu_step.json")));
  const auto text = [&](const std::string& tag) {
    return tags.at(tag + "/text_summary").at(0).summary().value(0).tensor().string_val(0);
  };
  EXPECT_THAT(text("profile/operators"), HasSubstr("<pre>Name</pre>"));
  EXPECT_THAT(text("profile/kernels"), HasSubstr("<pre>Kernel</pre>"));
  EXPECT_THAT(text("profile/steps"), HasSubstr("ProfilerStep#"));
  EXPECT_EQ(tags.count("profile_durations/log10_operator_us"), 1);
  EXPECT_EQ(tags.count("profile_durations/log10_kernel_us"), 1);
  EXPECT_EQ(tags.count("custom_scalars__config__"), 1);
  EXPECT_EQ(tags.count("profile_flame_graph/cpu"), capabilities().pictures ? 1 : 0);
}

TEST(ProfileSummaries, ShowChartsOfWhatThereIs) {
  const auto charts = [](const Trace& trace) {
    return by_tag(records_of(trace))
        .at("custom_scalars__config__")
        .at(0)
        .summary()
        .value(0)
        .tensor()
        .string_val(0);
  };
  EXPECT_THAT(charts(trace("gpu_step.json")), HasSubstr("GPU utilization"));
  TraceBuilder builder;
  fixtures::add(builder, {.start = 0, .duration = 10});
  const std::string host_only = charts(fixtures::finished(builder));
  EXPECT_THAT(host_only, HasSubstr("Step time"));
  EXPECT_THAT(host_only, Not(HasSubstr("GPU")));
  EXPECT_THAT(host_only, Not(HasSubstr("Memory")));
}

TEST(ProfileSummaries, StandBehindThoseOfTheWindowBefore) {
  const Trace read = trace("gpu_step.json");
  ProfileSummaries window(read);
  std::int64_t first = 0;
  std::map<std::string, std::int64_t> last;
  for (int number = 0; number < 3; ++number) {
    const std::int64_t next = window.place_at(first);
    EXPECT_EQ(window.moved_steps() > 0, number > 0);
    for (const auto& [tag, events] : by_tag(window.steps() + window.details().records())) {
      for (const proto::Event& event : events) {
        if (last.contains(tag)) {
          EXPECT_GT(event.step(), last[tag]) << tag;
        }
        EXPECT_GE(event.step(), first);
        EXPECT_LT(event.step(), next);
        last[tag] = event.step();
        EXPECT_GT(event.wall_time(), 0);
      }
    }
    first = next;
  }
}

TEST(ProfileSummaries, TakeStepsOfAnyNumber) {
  TraceBuilder builder;
  std::int64_t start = 0;
  for (const char* const number : {"9223372036854775807", "3", "-9223372036854775808", "3"}) {
    fixtures::add(builder, {.category = "user_annotation",
                            .name = std::string("ProfilerStep#") + number,
                            .start = start += 10,
                            .duration = 5});
  }
  const Trace read = fixtures::finished(builder);
  ProfileSummaries window(read);
  for (const std::int64_t first :
       {std::int64_t{0}, std::int64_t{-1}, std::numeric_limits<std::int64_t>::max()}) {
    const std::int64_t next = window.place_at(first);
    std::int64_t last = -1;
    const auto tags = by_tag(window.steps());
    for (const proto::Event& event : tags.at("profile/step_time_ms")) {
      EXPECT_GT(event.step(), last);
      last = event.step();
    }
    EXPECT_EQ(next, last + 1);
  }
}

TEST(ProfileSummaries, TakeAnnotationsForStepsIfTheyShall) {
  TraceBuilder builder;
  for (const int number : {7, 8}) {
    fixtures::add(builder, {.category = "user_annotation",
                            .name = "Iteration " + std::to_string(number),
                            .start = number * 100,
                            .duration = 50});
    fixtures::add(builder, {.start = number * 100 + 10, .duration = 20});
  }
  const Trace read = fixtures::finished(builder);
  ProfileSummaries as_they_are(read);
  EXPECT_EQ(as_they_are.place_at(0), 1);
  ProfileSummaries window(read, true);
  EXPECT_EQ(window.place_at(0), 9);
  const auto tags = by_tag(window.steps());
  const auto& times = tags.at("profile/step_time_ms");
  ASSERT_EQ(times.size(), 2);
  EXPECT_EQ(times[0].step(), 7);
  EXPECT_FLOAT_EQ(scalar(times[0]), 50e-6F);
  EXPECT_FLOAT_EQ(scalar(tags.at("profile/step_part/cpu_op_ms").at(0)), 20e-6F);
}

TEST(KeepsDetails, OfFewInAThousandWindows) {
  std::vector<std::int64_t> kept;
  for (std::int64_t window = 1; window <= 3000; ++window) {
    if (keeps_details(window)) kept.push_back(window);
  }
  EXPECT_THAT(kept, testing::ElementsAre(1, 2, 3, 4, 5, 10, 30, 100, 300, 1000, 3000));
}

TEST(ProfileSummaries, OfNothingAreNearlyNone) {
  TraceBuilder builder;
  const Trace nothing = fixtures::finished(builder);
  const auto tags = by_tag(records_of(nothing));
  EXPECT_EQ(tags.count("profile/step_time_ms"), 0);
  EXPECT_EQ(tags.count("profile/operators/text_summary"), 0);
}

}  // namespace
}  // namespace tbtrace::logdir
