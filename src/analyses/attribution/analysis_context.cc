#include <cstddef>
#include <optional>

#include <tbtrace/analysis_context.h>

#include "analyses/attribution/open_steps.h"
#include "base/column.h"
#include "trace/links.h"
#include "trace/nearest_range.h"
#include "trace/self_times.h"

namespace tbtrace {
namespace {

constexpr std::uint32_t kNone = UINT32_MAX;

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
        step_of(trace, steps) {
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
    return analyses::launching_range(*found);
  }

  const CallTree& tree;
  const SelfTimes& self_times;
  std::span<const DeviceLink> links;
  std::span<const Step> steps;
  Column<std::uint32_t> link_of;  // by event
  Column<EventId> operators;
  Column<EventId> modules;
  analyses::OpenSteps step_of;
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
  const std::optional<std::size_t> step = data_->step_of.at_start_of(range);
  return step ? &data_->steps[*step] : nullptr;
}

}  // namespace tbtrace
