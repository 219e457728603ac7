#include "analyses/changes/instants.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>

#include "analyses/steps/inferred.h"
#include "analyses/steps/rules.h"
#include "analyses/steps/step_threads.h"
#include "trace/times.h"

namespace tbtrace::analyses {
namespace {

/// Whose time a range of the host takes before others of its role: what holds the step up first.
enum class Claim : std::uint8_t {
  step_operator,  ///< an operator or call on a thread of the steps; also all device work
  autograd,       ///< one on a thread that runs backward nodes
  annotation,     ///< an annotation on a thread of the steps
  other_thread,   ///< anything on another thread of a process with steps
  other_process,
};
constexpr std::size_t kClaims = 5;

/// What each track's ranges claim.
class Claims {
 public:
  Claims(const Trace& trace, const StepRules& rules) : trace_(trace) {
    std::vector<EventId> steps;
    for (const Step& step : rules.steps()) steps.push_back(step.event);
    is_of_steps_ = step_threads(trace, steps);
    runs_nodes_.resize(trace.tracks().size());
    for (const EventId event : trace.by_start()) {
      if (trace.name(event).starts_with("autograd::engine::evaluate_function")) {
        runs_nodes_[index(trace.events().track(event))] = true;
      }
    }
  }

  Claim of(EventId event, StepRole role) const {
    if (role <= StepRole::memset || is_device_work(trace_.kind(event))) {
      return Claim::step_operator;
    }
    const TrackId track = trace_.events().track(event);
    const bool is_annotation = trace_.kind(event) == EventKind::user_annotation;
    if (is_of_steps_[index(track)]) {
      return is_annotation ? Claim::annotation : Claim::step_operator;
    }
    if (!is_in_process_of_steps(track)) return Claim::other_process;
    return runs_nodes_[index(track)] ? Claim::autograd : Claim::other_thread;
  }

 private:
  bool is_in_process_of_steps(TrackId track) const {
    for (std::size_t other = 0; other < is_of_steps_.size(); ++other) {
      if (is_of_steps_[other] && trace_.tracks()[other].process == trace_.track(track).process) {
        return true;
      }
    }
    return false;
  }

  const Trace& trace_;
  std::vector<bool> is_of_steps_;  // by track
  std::vector<bool> runs_nodes_;   // by track
};

/// The events of a role and claim that are open, the one that owns the instant at one end.
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
      open_[role].fill(OpenEvents(is_of_device(static_cast<StepRole>(role))));
    }
    first_start_.resize(steps_.size());
    std::int64_t start = INT64_MAX;
    for (std::size_t at = steps_.size(); at-- > 0;) {
      first_start_[at] = start = std::min(start, steps_[at].start_ns);
    }
    const Claims claims(trace, rules);
    instants_.ns.resize(trace.events().size(), 0);
    instants_.role.resize(trace.events().size(), StepRole::other);
    for (const EventId event : trace.by_start()) {
      const std::optional<StepRole> role = rules.role(event);
      if (!role) continue;
      go_to(rules.start_ns(event));
      instants_.role[index(event)] = *role;
      open_[static_cast<std::size_t>(*role)][static_cast<std::size_t>(claims.of(event, *role))].add(
          event);
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
      const EventId owner = owner_now();
      const std::int64_t end =
          owner == EventId::none ? time_ns : std::min(time_ns, rules_.end_ns(owner));
      count(owner, now_ns_, end);
      now_ns_ = end;
    }
  }

  EventId owner_now() {
    for (std::array<OpenEvents, kClaims>& of_role : open_) {
      for (OpenEvents& open : of_role) {
        const EventId owner = open.owner(rules_, now_ns_);
        if (owner != EventId::none) return owner;
      }
    }
    return EventId::none;
  }

  void count(EventId owner, std::int64_t start_ns, std::int64_t end_ns) {
    std::int64_t ns = 0;
    while (first_ < steps_.size() && steps_[first_].end_ns <= start_ns) ++first_;
    for (std::size_t at = first_; at < steps_.size() && first_start_[at] < end_ns; ++at) {
      ns += std::max<std::int64_t>(
          0, std::min(end_ns, steps_[at].end_ns) - std::max(start_ns, steps_[at].start_ns));
    }
    (owner == EventId::none ? instants_.nothing_ns : instants_.ns[index(owner)]) += ns;
  }

  const StepRules& rules_;
  const std::vector<StepTime>& steps_;     // by their starts on the host
  std::vector<std::int64_t> first_start_;  // of a step and all after it
  std::size_t first_ = 0;                  // all steps before it have ended
  std::int64_t now_ns_ = -kFarthestNs;
  std::array<std::array<OpenEvents, kClaims>, kStepRoles> open_;  // by role and claim
  StepInstants instants_;
};

}  // namespace

StepInstants step_instants(const Trace& trace, const StepBreakdown& breakdown) {
  const bool is_inferred = trace.steps().empty() && breakdown.has_steps();
  const StepRules rules(trace, exact_step_policy(),
                        is_inferred ? inferred_steps(trace) : std::vector<Step>{});
  return InstantSweep(trace, rules, breakdown).take();
}

}  // namespace tbtrace::analyses
