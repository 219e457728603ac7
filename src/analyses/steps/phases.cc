#include "analyses/steps/phases.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analyses/attribution/operator_kind.h"
#include "analyses/steps/step_threads.h"
#include "base/time_ranges.h"
#include "trace/call_tree.h"

namespace tbtrace::analyses {
namespace {

/// What a name says about the phase of its range.
enum class Sign : unsigned char {
  none,
  forward,
  backward,
  optimizer,
  data,
  backward_node,  ///< one node of autograd's graph, as an operator
};

struct AnnotationName {
  std::string_view name;
  Sign sign;
};

/// Names that people give their ranges, in lower case.
constexpr std::array kAnnotationNames = std::to_array<AnnotationName>({
    {"forward", Sign::forward},
    {"forward_pass", Sign::forward},
    {"fwd", Sign::forward},
    {"backward", Sign::backward},
    {"backward_pass", Sign::backward},
    {"bwd", Sign::backward},
    {"optimizer", Sign::optimizer},
    {"optimizer_step", Sign::optimizer},
    {"optimizer.step", Sign::optimizer},
    {"data", Sign::data},
    {"data_loading", Sign::data},
    {"dataloader", Sign::data},
    {"load_data", Sign::data},
    {"get_batch", Sign::data},
});

/// In lower case, without what people put around names (`## forward ##`); blanks become `_`.
std::string plain_name(std::string_view name) {
  constexpr std::string_view kAround = " #*-=:<>[]";
  const std::size_t first = name.find_first_not_of(kAround);
  if (first == std::string_view::npos) return {};
  name = name.substr(first, name.find_last_not_of(kAround) - first + 1);
  std::string plain(name);
  for (char& c : plain) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c + ('a' - 'A'));
    if (c == ' ') c = '_';
  }
  return plain;
}

Sign sign_of_annotation(std::string_view name) {
  constexpr std::size_t kLongest = 40;
  if (name.size() > kLongest) return Sign::none;
  const std::string plain = plain_name(name);
  const auto found = std::find_if(kAnnotationNames.begin(), kAnnotationNames.end(),
                                  [&](const AnnotationName& known) { return known.name == plain; });
  return found == kAnnotationNames.end() ? Sign::none : found->sign;
}

/// `MulBackward0`, `AddmmBackward`: what traces of 2020 and 2021 have instead of the engine's rows.
bool is_backward_node(std::string_view name) {
  if (name.starts_with("autograd::engine::evaluate_function")) return true;
  if (name.starts_with("torch::autograd::")) return true;
  while (!name.empty() && name.back() >= '0' && name.back() <= '9') name.remove_suffix(1);
  return name.ends_with("Backward") && name.find(':') == std::string_view::npos;
}

/// Operators that optimizers consist of: in-place updates, fused and foreach ones. Source:
/// torch/optim and torch/csrc/api/src/optim. Of what runs after a backward pass with gradients off,
/// others may be anything: metrics, logging, the next batch.
bool is_optimizer_operator(std::string_view name) {
  constexpr auto kNames = std::to_array<std::string_view>(
      {"aten::add_", "aten::sub_", "aten::mul_", "aten::div_", "aten::addcmul_", "aten::addcdiv_",
       "aten::lerp_", "aten::sqrt", "aten::sqrt_", "aten::clamp_", "aten::maximum"});
  constexpr auto kBeginnings =
      std::to_array<std::string_view>({"aten::_foreach_", "aten::_fused_adam", "aten::_fused_sgd",
                                       "aten::_fused_adagrad", "aten::_amp_foreach_"});
  return std::ranges::find(kNames, name) != kNames.end() ||
         std::ranges::any_of(kBeginnings,
                             [&](std::string_view begin) { return name.starts_with(begin); });
}

/// The signs of all names of a trace, found once.
class Signs {
 public:
  explicit Signs(const Trace& trace) : trace_(trace) {}

  Sign of(EventId event) {
    const EventKind kind = trace_.kind(event);
    if (kind != EventKind::cpu_op && kind != EventKind::user_annotation) return Sign::none;
    std::vector<Known>& signs = kind == EventKind::cpu_op ? operators_ : annotations_;
    const std::size_t name = index(trace_.events().name(event));
    if (name >= signs.size()) signs.resize(name + 1);
    if (!signs[name].is_known) signs[name] = {find(trace_.name(event), kind), true};
    return signs[name].sign;
  }

 private:
  struct Known {
    Sign sign = Sign::none;
    bool is_known = false;
  };

  static Sign find(std::string_view name, EventKind kind) {
    if (is_data_loading(name)) return Sign::data;
    if (name.starts_with("Optimizer.step#") || name.starts_with("Optimizer.zero_grad#")) {
      return Sign::optimizer;
    }
    if (kind == EventKind::user_annotation) return sign_of_annotation(name);
    return is_backward_node(name) ? Sign::backward_node : Sign::none;
  }

  const Trace& trace_;
  std::vector<Known> operators_;
  std::vector<Known> annotations_;
};

/// By event, whether it is a step; until torch 1.8, and in traces of JAX, steps are operators.
std::vector<bool> steps_among(const Trace& trace, std::span<const EventId> step_events) {
  std::vector<bool> is_step(trace.events().size(), false);
  for (const EventId event : step_events) {
    if (event != EventId::none) is_step[index(event)] = true;
  }
  return is_step;
}

/// Whether a host range is inside an operator.
std::vector<bool> ranges_in_operators(const Trace& trace, const std::vector<bool>& is_step) {
  const CallTree& tree = call_tree_of(trace);
  std::vector<bool> is_inside(trace.events().size(), false);
  for (const EventId event : tree.ranges()) {  // parents first
    const EventId around = tree.parent(event);
    if (around == EventId::none) continue;
    const bool is_operator = trace.kind(around) == EventKind::cpu_op && !is_step[index(around)];
    is_inside[index(event)] = is_operator || is_inside[index(around)];
  }
  return is_inside;
}

using PhaseRanges = std::array<std::vector<TimeRange>, kStepPhases>;

std::vector<TimeRange>& of(PhaseRanges& ranges, StepPhase phase) {
  return ranges[static_cast<std::size_t>(phase)];
}

/// Walks all ranges by start and collects those that show a phase.
class PhaseSearch {
 public:
  PhaseSearch(const Trace& trace, std::span<const StepTime> steps,
              std::span<const EventId> step_events)
      : trace_(trace),
        events_(trace.events()),
        sequence_numbers_(trace.argument(Argument::sequence_number)),
        signs_(trace),
        is_step_(steps_among(trace, step_events)),
        is_inside_operator_(ranges_in_operators(trace, is_step_)),
        is_step_thread_(step_threads(trace, step_events)),
        steps_(steps) {
    for (const EventId event : trace.by_start()) {
      if (signs_.of(event) == Sign::optimizer) marks_optimizer_ = true;
    }
  }

  PhaseRanges run() {
    for (const EventId event : trace_.by_start()) {
      if (!is_host_range(trace_.kind(event))) continue;
      enter_step(events_.start_ns(event));
      if (const std::optional<StepPhase> phase = phase_of(event)) {
        add_range(of(ranges_, *phase), {events_.start_ns(event), events_.end_ns(event)});
      }
    }
    return std::move(ranges_);
  }

 private:
  /// Forgets what was seen in the step before.
  void enter_step(std::int64_t time) {
    if (next_step_ == steps_.size() || time < steps_[next_step_].host_start_ns) return;
    while (next_step_ < steps_.size() && time >= steps_[next_step_].host_start_ns) ++next_step_;
    has_forward_with_gradients_ = false;
    backward_end_.reset();
  }

  std::optional<StepPhase> phase_of(EventId event) {
    if (is_step_[index(event)]) return std::nullopt;
    const Sign sign = signs_.of(event);
    if (sign == Sign::backward_node) return backward(event);
    // Hooks run optimizers on the threads of the backward pass.
    if (sign == Sign::optimizer) return StepPhase::optimizer;
    if (!is_step_thread_[index(events_.track(event))]) return std::nullopt;
    switch (sign) {
      case Sign::forward:
        return StepPhase::forward;
      case Sign::backward:
        return backward(event);
      case Sign::data:
        return StepPhase::data;
      default:
        return trace_.kind(event) == EventKind::cpu_op ? phase_of_operator(event) : std::nullopt;
    }
  }

  std::optional<StepPhase> backward(EventId event) {
    backward_end_ = std::max(backward_end_.value_or(INT64_MIN), events_.end_ns(event));
    return StepPhase::backward;
  }

  /// Programs that do not mark the optimizer, as LibTorch's own do not: it runs with gradients off,
  /// so its operators have no sequence number.
  std::optional<StepPhase> phase_of_operator(EventId event) {
    const bool after_backward = backward_end_ && events_.start_ns(event) >= *backward_end_;
    const bool has_gradients = sequence_numbers_.has(event);
    const bool is_outermost = !is_inside_operator_[index(event)];
    if (!marks_optimizer_ && after_backward && has_forward_with_gradients_ && !has_gradients &&
        is_outermost) {
      return is_optimizer_operator(trace_.name(event)) ? std::optional(StepPhase::optimizer)
                                                       : std::nullopt;
    }
    if (has_gradients) has_forward_with_gradients_ = true;
    return is_outermost ? std::optional(StepPhase::forward) : std::nullopt;
  }

  const Trace& trace_;
  const Events& events_;
  const ArgumentColumn& sequence_numbers_;
  Signs signs_;
  std::vector<bool> is_step_;
  std::vector<bool> is_inside_operator_;
  std::vector<bool> is_step_thread_;
  std::span<const StepTime> steps_;
  bool marks_optimizer_ = false;  // the program, in any step
  PhaseRanges ranges_;

  std::size_t next_step_ = 0;
  bool has_forward_with_gradients_ = false;
  std::optional<std::int64_t> backward_end_;  // of the nodes seen in this step
};

struct PhaseRange {
  TimeRange time;
  StepPhase phase = StepPhase::forward;
};

/// Ranges that do not overlap, by start: data loading wins over the optimizer, the optimizer over
/// the backward pass, and that over the forward pass.
std::vector<PhaseRange> without_overlaps(PhaseRanges ranges) {
  constexpr std::array kByPriority = {StepPhase::data, StepPhase::optimizer, StepPhase::backward,
                                      StepPhase::forward};
  std::vector<PhaseRange> all;
  for (std::size_t first = 0; first < kByPriority.size(); ++first) {
    const std::vector<TimeRange>& own = of(ranges, kByPriority[first]);
    for (const TimeRange& time : own) {
      if (time.start < time.end) all.push_back({time, kByPriority[first]});
    }
    for (std::size_t later = first + 1; later < kByPriority.size(); ++later) {
      std::vector<TimeRange>& other = of(ranges, kByPriority[later]);
      other = difference(other, own);
    }
  }
  std::sort(all.begin(), all.end(), [](const PhaseRange& one, const PhaseRange& two) {
    return one.time.start < two.time.start;
  });
  return all;
}

/// Adds the ranges' time in the step; `fill`: also the time between two of the same phase.
void add_step(StepTime& step, std::span<const PhaseRange> ranges, bool fill) {
  const PhaseRange* before = nullptr;
  for (const PhaseRange& range : ranges) {
    const std::int64_t start = std::max(range.time.start, step.host_start_ns);
    const std::int64_t end = std::min(range.time.end, step.host_end_ns);
    if (start >= end) continue;
    std::int64_t& sum = step.phase_ns[static_cast<std::size_t>(range.phase)];
    sum += end - start;
    if (fill && before != nullptr && before->phase == range.phase) {
      sum += start - before->time.end;  // both lie in the step at least in part
    }
    before = &range;
  }
}

}  // namespace

void add_phases(StepBreakdown& breakdown, const Trace& trace,
                std::span<const EventId> step_events) {
  const std::vector<PhaseRange> ranges =
      without_overlaps(PhaseSearch(trace, breakdown.steps, step_events).run());
  for (std::size_t number = 0; number < breakdown.steps.size(); ++number) {
    StepTime& step = breakdown.steps[number];
    // The ranges do not overlap, so they are sorted by their ends as well.
    const auto first = std::partition_point(
        ranges.begin(), ranges.end(),
        [&](const PhaseRange& range) { return range.time.end <= step.host_start_ns; });
    const auto last = std::partition_point(first, ranges.end(), [&](const PhaseRange& range) {
      return range.time.start < step.host_end_ns;
    });
    add_step(step, {first, last}, step_events[number] != EventId::none);
  }
}

}  // namespace tbtrace::analyses
