#include "analyses/changes/instants.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <deque>
#include <optional>

#include "analyses/steps/inferred.h"
#include "analyses/steps/rules.h"
#include "trace/times.h"

namespace tbtrace::analyses {
namespace {

/// The events of a role that are open, the one that owns the instant at one end.
class OpenEvents {
 public:
  explicit OpenEvents(bool first_owns = true) : first_owns_(first_owns) {}

  void add(EventId event) { events_.push_back(event); }

  /// EventId::none if none is open at this time.
  EventId owner(const StepRules& rules, std::int64_t time_ns) {
    while (!events_.empty()) {
      const EventId event = first_owns_ ? events_.front() : events_.back();
      if (rules.end_ns(event) > time_ns) return event;
      first_owns_ ? events_.pop_front() : events_.pop_back();
    }
    return EventId::none;
  }

 private:
  bool first_owns_;
  std::deque<EventId> events_;  // by start
};

bool is_of_device(StepRole role) { return role <= StepRole::memset; }

class InstantSweep {
 public:
  InstantSweep(const Trace& trace, const StepRules& rules, const StepBreakdown& breakdown)
      : rules_(rules), steps_(breakdown.steps) {
    for (std::size_t role = 0; role < kStepRoles; ++role) {
      open_[role] = OpenEvents(is_of_device(static_cast<StepRole>(role)));
    }
    instants_.ns.resize(trace.events().size(), 0);
    instants_.role.resize(trace.events().size(), StepRole::other);
    for (const EventId event : trace.by_start()) {
      const std::optional<StepRole> role = rules.role(event);
      if (!role) continue;
      go_to(rules.start_ns(event));
      instants_.role[index(event)] = *role;
      open_[static_cast<std::size_t>(*role)].add(event);
    }
    if (!steps_.empty()) {
      std::int64_t end = steps_.front().end_ns;
      for (const StepTime& step : steps_) end = std::max(end, step.end_ns);
      go_to(end);
    }
  }

  StepInstants take() { return std::move(instants_); }

 private:
  void go_to(std::int64_t time_ns) {
    while (now_ns_ < time_ns) {
      EventId owner = EventId::none;
      for (OpenEvents& open : open_) {
        owner = open.owner(rules_, now_ns_);
        if (owner != EventId::none) break;
      }
      const std::int64_t end =
          owner == EventId::none ? time_ns : std::min(time_ns, rules_.end_ns(owner));
      count(owner, now_ns_, end);
      now_ns_ = end;
    }
  }

  void count(EventId owner, std::int64_t start_ns, std::int64_t end_ns) {
    std::int64_t ns = 0;
    while (first_ < steps_.size() && steps_[first_].end_ns <= start_ns) ++first_;
    for (std::size_t at = first_; at < steps_.size() && steps_[at].start_ns < end_ns; ++at) {
      ns += std::max<std::int64_t>(
          0, std::min(end_ns, steps_[at].end_ns) - std::max(start_ns, steps_[at].start_ns));
    }
    (owner == EventId::none ? instants_.nothing_ns : instants_.ns[index(owner)]) += ns;
  }

  const StepRules& rules_;
  const std::vector<StepTime>& steps_;  // by start
  std::size_t first_ = 0;               // all steps before it have ended
  std::int64_t now_ns_ = -kFarthestNs;
  std::array<OpenEvents, kStepRoles> open_;
  StepInstants instants_;
};

}  // namespace

StepInstants step_instants(const Trace& trace, const StepBreakdown& breakdown) {
  const bool is_inferred = trace.steps().empty() && !breakdown.steps.empty() &&
                           !breakdown.steps.front().is_whole_trace();
  const StepRules rules(trace, exact_step_policy(),
                        is_inferred ? inferred_steps(trace) : std::vector<Step>{});
  return InstantSweep(trace, rules, breakdown).take();
}

}  // namespace tbtrace::analyses
