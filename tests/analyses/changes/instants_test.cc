// Whose each instant of a step is: against the breakdown of steps, and against counting instants
// one by one.
#include "analyses/changes/instants.h"

#include <array>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "analyses/random_recording.h"
#include "analyses/steps/rules.h"
#include "analyses/steps/step_threads.h"

namespace tbtrace::analyses {
namespace {

/// How much a range holds the steps up; the smaller the more.
int claim_of(const Trace& trace, const StepRules& rules, EventId event) {
  if (is_device_work(trace.kind(event))) return 0;
  bool on_step_thread = false;
  bool in_step_process = false;
  bool has_nodes = false;
  const TrackId track = trace.events().track(event);
  std::vector<EventId> steps;
  for (const Step& step : rules.steps()) steps.push_back(step.event);
  const std::vector<bool> threads = step_threads(trace, steps);
  for (std::size_t other = 0; other < threads.size(); ++other) {
    if (!threads[other]) continue;
    on_step_thread = on_step_thread || static_cast<TrackId>(other) == track;
    in_step_process =
        in_step_process || trace.tracks()[other].process == trace.track(track).process;
  }
  for (const EventId other : trace.by_start()) {
    has_nodes = has_nodes || (trace.events().track(other) == track &&
                              trace.name(other).starts_with("autograd::engine::evaluate_function"));
  }
  if (on_step_thread) return trace.kind(event) == EventKind::user_annotation ? 2 : 0;
  if (!in_step_process) return 4;
  return has_nodes ? 1 : 3;
}

/// The owner of the instant from `time_ns` on, by looking at every event.
EventId owner_at(const Trace& trace, const StepRules& rules, std::int64_t time_ns) {
  EventId owner = EventId::none;
  std::optional<StepRole> role_of_owner;
  int best = 0;
  for (const EventId event : trace.by_start()) {
    const std::optional<StepRole> role = rules.role(event);
    if (!role || rules.start_ns(event) > time_ns || rules.end_ns(event) <= time_ns) continue;
    const bool is_host = *role > StepRole::memset;
    const int claim = is_host ? claim_of(trace, rules, event) : 0;
    const bool is_better =
        !role_of_owner || std::pair(*role, claim) < std::pair(*role_of_owner, best);
    if (is_better || (*role == *role_of_owner && claim == best && is_host)) {
      best = claim;
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
