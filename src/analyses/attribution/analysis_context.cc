#include <cstddef>
#include <map>
#include <utility>
#include <vector>

#include <tbtrace/analysis_context.h>

#include "base/column.h"
#include "trace/links.h"
#include "trace/nearest_range.h"
#include "trace/self_times.h"

namespace tbtrace {
namespace {

constexpr std::uint32_t kNone = UINT32_MAX;

/// The step that was open when each host range started, as a number in Trace::steps(). Each process
/// has a stack of steps by start. One that has ended is removed when it comes to the top, so the
/// top is always the last started of those that are open.
Column<std::uint32_t> steps_by_event(const Trace& trace) {
  const Events& events = trace.events();
  const std::span<const Step> steps = trace.steps();
  Column<std::uint32_t> step_of;
  if (steps.empty()) return step_of;
  step_of.resize(events.size(), kNone);
  using Process = std::pair<std::int64_t, StringId>;
  const auto process_of = [&](EventId event) {
    const TrackKey& process = trace.track(events.track(event)).process;
    return Process(process.number, process.text);
  };
  std::map<Process, std::vector<std::uint32_t>> open;
  std::size_t next = 0;
  for (const EventId event : trace.by_start()) {
    if (!is_host_range(trace.kind(event))) continue;
    const std::int64_t start = events.start_ns(event);
    for (; next < steps.size() && events.start_ns(steps[next].event) <= start; ++next) {
      open[process_of(steps[next].event)].push_back(static_cast<std::uint32_t>(next));
    }
    const auto found = open.find(process_of(event));
    if (found == open.end()) continue;
    std::vector<std::uint32_t>& stack = found->second;
    const auto has_ended = [&](std::uint32_t step) {
      const EventId range = steps[step].event;
      return events.end_ns(range) <= start && events.start_ns(range) < start;
    };
    while (!stack.empty() && has_ended(stack.back())) stack.pop_back();
    if (!stack.empty()) step_of[index(event)] = stack.back();
  }
  return step_of;
}

}  // namespace

struct AnalysisContext::Data {
  explicit Data(const Trace& trace)
      : tree(call_tree_of(trace)),
        self_times(self_times_of(trace)),
        links(links_of(trace).device_work()),
        steps(trace.steps()),
        operators(nearest_ranges(
            trace, [&](EventId event) { return trace.kind(event) == EventKind::cpu_op; })),
        modules(
            nearest_ranges(trace, [&](EventId event) { return trace.events().is_module(event); })),
        step_of(steps_by_event(trace)) {
    link_of.resize(trace.events().size(), kNone);
    for (std::size_t row = 0; row < links.size(); ++row) {
      link_of[index(links[row].activity)] = static_cast<std::uint32_t>(row);
    }
  }

  const DeviceLink* link(EventId event) const {
    if (event == EventId::none) return nullptr;
    const std::uint32_t row = link_of[index(event)];
    return row == kNone ? nullptr : &links[row];
  }

  /// The host range whose place counts for an event: itself; of a device activity its launch, or
  /// its operator if the launch is not known.
  EventId host_side(EventId event) const {
    const DeviceLink* const found = link(event);
    if (found == nullptr) return event;
    return found->launch != EventId::none ? found->launch : found->op;
  }

  const CallTree& tree;
  const SelfTimes& self_times;
  std::span<const DeviceLink> links;
  std::span<const Step> steps;
  Column<std::uint32_t> link_of;  // by event
  Column<EventId> operators;
  Column<EventId> modules;
  Column<std::uint32_t> step_of;  // empty if the trace has no steps
};

AnalysisContext::AnalysisContext(const Trace& trace) : data_(std::make_unique<Data>(trace)) {}
AnalysisContext::AnalysisContext(AnalysisContext&&) noexcept = default;
AnalysisContext& AnalysisContext::operator=(AnalysisContext&&) noexcept = default;
AnalysisContext::~AnalysisContext() = default;

EventId AnalysisContext::parent(EventId event) const {
  return event == EventId::none ? event : data_->tree.parent(event);
}

std::span<const EventId> AnalysisContext::host_ranges() const& { return data_->tree.ranges(); }

std::int64_t AnalysisContext::self_time_ns(EventId event) const {
  return event == EventId::none ? 0 : data_->self_times.ns(event);
}

std::int64_t AnalysisContext::busy_ns(TrackId thread) const {
  return data_->self_times.busy_ns()[index(thread)];
}

std::span<const DeviceLink> AnalysisContext::device_links() const& { return data_->links; }

const DeviceLink* AnalysisContext::device_link(EventId activity) const& {
  return data_->link(activity);
}

EventId AnalysisContext::operator_of(EventId event) const {
  if (const DeviceLink* const link = data_->link(event)) event = link->op;
  return entry_of(data_->operators, event);
}

EventId AnalysisContext::module_of(EventId event) const {
  return entry_of(data_->modules, data_->host_side(event));
}

const Step* AnalysisContext::step_of(EventId event) const {
  const EventId range = data_->host_side(event);
  if (range == EventId::none || data_->step_of.empty()) return nullptr;
  const std::uint32_t step = data_->step_of[index(range)];
  return step == kNone ? nullptr : &data_->steps[step];
}

}  // namespace tbtrace
