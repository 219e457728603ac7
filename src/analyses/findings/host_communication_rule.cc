// Waits for other processes in a trace without a GPU.
#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "analyses/findings/communication_rule.h"
#include "analyses/findings/event_text.h"
#include "analyses/findings/rules.h"
#include "analyses/gpu/host_causes.h"
#include "analyses/steps/step_threads.h"
#include "base/bounded_sum.h"
#include "base/share.h"
#include "base/time_ranges.h"
#include "trace/call_tree.h"

namespace tbtrace::analyses {
namespace {

constexpr double kHostCommunication = 0.1;  // of the steps

/// The calls that communicate, of one name.
struct Calls {
  std::int64_t ns = 0;
  std::uint64_t calls = 0;
};
using CallsByName = std::unordered_map<StringId, Calls>;

struct Times {
  std::vector<TimeRange> communication;  ///< of any thread
  std::vector<TimeRange> operators;      ///< of the threads of the steps, without communication
  std::vector<TimeRange> steps;
};

Times times_of(const FindingFacts& facts, CallsByName& names) {
  const Trace& trace = facts.trace;
  const Events& events = trace.events();
  const StepRules rules(trace, exact_step_policy());
  const HostCauses causes(trace, rules);
  std::vector<EventId> step_events;
  for (const Step& step : trace.steps()) step_events.push_back(step.event);
  const std::vector<bool> is_of_steps = step_threads(trace, step_events);
  Times times;
  const std::span<const EventId> in_tree = call_tree_of(trace).ranges();
  std::vector<EventId> ranges(in_tree.begin(), in_tree.end());
  std::ranges::stable_sort(ranges, {}, [&](EventId event) { return events.start_ns(event); });
  for (const StepTime& step : facts.steps.steps) {
    add_range(times.steps, {step.host_start_ns, step.host_end_ns});
  }
  const RangeLengths in_steps(times.steps);
  for (const EventId event : ranges) {
    const TimeRange time = {events.start_ns(event), events.end_ns(event)};
    if (in_steps.within(time) == 0) continue;
    const HostMeaning meaning = causes.meaning(event);
    if (meaning.doing == Doing::decided && meaning.cause == IdleCause::host_communication) {
      add_range(times.communication, time);
      if (meaning.call != event) continue;
      Calls& calls = names[events.name(event)];
      add_bounded(calls.ns, time.end - time.start);
      ++calls.calls;
    } else if (trace.kind(event) == EventKind::cpu_op && is_of_steps[index(events.track(event))] &&
               !trace.name(event).starts_with("c10d::")) {
      add_range(times.operators, time);
    }
  }
  return times;
}

}  // namespace

std::optional<Finding> host_communication_of_steps(const FindingFacts& facts) {
  CallsByName names;
  const Times times = times_of(facts, names);
  // Without operators nothing says whether the program waits.
  if (names.empty() || times.operators.empty()) return std::nullopt;
  const std::int64_t alone =
      total_length(intersection(difference(times.communication, times.operators), times.steps));
  const double its_share = share(alone, total_length(times.steps));
  if (its_share < kHostCommunication) return std::nullopt;
  Finding finding = {
      .id = "host_communication",
      .title = "The program waits for other processes",
      .remedy =
          "let collectives run beside the backward pass, or send less: larger batches per process, "
          "gradient accumulation (DDP: no_sync()), larger or fewer buckets; check the network" +
          std::string(kWaitingIsUnknown),
      .evidence = {{"communication without an operator beside it", alone, "ns", ""},
                   {"all communication",
                    total_length(intersection(times.communication, times.steps)), "ns", ""}},
      .share = its_share,
      .share_of = facts.steps.has_steps() ? ShareOf::step_time : ShareOf::recording};
  const auto longest = std::ranges::max_element(
      names, {}, [](const auto& each) { return std::pair(each.second.ns, index(each.first)); });
  finding.evidence.push_back(
      {"calls of " + name_text(facts.trace.string(longest->first)), longest->second.calls, "", ""});
  return with_gain(facts, std::move(finding), alone, "if all of it ran beside operators");
}

}  // namespace tbtrace::analyses
