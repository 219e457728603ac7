// Whose each instant of a step is: against the breakdown of steps, and against counting instants
// one by one.
#include "analyses/changes/instants.h"

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include <gtest/gtest.h>

#include "analyses/random_recording.h"
#include "analyses/steps/rules.h"

namespace tbtrace::analyses {
namespace {

/// The owner of the instant from `time_ns` on, by looking at every event.
EventId owner_at(const Trace& trace, const StepRules& rules, std::int64_t time_ns) {
  EventId owner = EventId::none;
  std::optional<StepRole> role_of_owner;
  for (const EventId event : trace.by_start()) {
    const std::optional<StepRole> role = rules.role(event);
    if (!role || rules.start_ns(event) > time_ns || rules.end_ns(event) <= time_ns) continue;
    const bool is_better = !role_of_owner || *role < *role_of_owner;
    const bool is_host = *role > StepRole::memset;
    if (is_better || (*role == *role_of_owner && is_host)) {
      owner = event;
      role_of_owner = role;
    }
  }
  return owner;
}

TEST(StepInstants, AddUpToThePartsOfTheSteps) {
  for (unsigned seed = 0; seed < 1000; ++seed) {
    RandomRecording::Options options;
    options.ranges = 20;
    const Trace trace = RandomRecording(seed, options).make();
    const StepBreakdown breakdown = step_breakdown(trace);
    const StepInstants instants = step_instants(trace, breakdown);
    std::array<std::int64_t, kStepRoles> by_role = {};
    for (std::size_t event = 0; event < trace.events().size(); ++event) {
      by_role[static_cast<std::size_t>(instants.role[event])] += instants.ns[event];
    }
    by_role[static_cast<std::size_t>(StepRole::other)] += instants.nothing_ns;
    for (std::size_t role = 0; role < kStepRoles; ++role) {
      std::int64_t expected = 0;
      for (const StepTime& step : breakdown.steps) expected += step.role_ns[role];
      EXPECT_EQ(by_role[role], expected) << seed << " " << step_role_name(StepRole(role));
    }
  }
}

TEST(StepInstants, BelongToOneEventEach) {
  for (unsigned seed = 0; seed < 200; ++seed) {
    const Trace trace = RandomRecording(seed, {}).make();
    const StepBreakdown breakdown = step_breakdown(trace);
    const StepInstants instants = step_instants(trace, breakdown);
    const StepRules rules(trace, exact_step_policy());
    std::vector<std::int64_t> expected(trace.events().size(), 0);
    std::vector<std::int64_t> times;
    for (const EventId event : trace.by_start()) {
      times.push_back(rules.start_ns(event));
      times.push_back(rules.end_ns(event));
    }
    for (const StepTime& step : breakdown.steps) {
      times.push_back(step.start_ns);
      times.push_back(step.end_ns);
    }
    std::ranges::sort(times);
    for (std::size_t at = 0; at + 1 < times.size(); ++at) {
      const EventId owner = owner_at(trace, rules, times[at]);
      if (owner == EventId::none) continue;
      for (const StepTime& step : breakdown.steps) {
        if (times[at] < step.start_ns || times[at] >= step.end_ns) continue;
        expected[index(owner)] += times[at + 1] - times[at];
      }
    }
    for (std::size_t event = 0; event < expected.size(); ++event) {
      EXPECT_EQ(instants.ns[event], expected[event]) << seed << " " << event;
    }
  }
}

}  // namespace
}  // namespace tbtrace::analyses
