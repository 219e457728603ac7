#include "analyses/steps/trace_part.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "trace/trace_data.h"

namespace tbtrace::analyses {
namespace {

bool contains(const TimeRange& time, std::int64_t ns) { return time.start <= ns && ns < time.end; }

bool is_of_device(EventKind kind) {
  return is_device_work(kind) || kind == EventKind::device_other ||
         kind == EventKind::gpu_user_annotation;
}

class TracePart {
 public:
  TracePart(const Trace& trace, const PartTime& time)
      : trace_(trace), from_(DerivedOfTrace::data(trace)), time_(time) {}

  Trace run() && {
    take_what_stays();
    take_ranges();
    take_order();
    take_records();
    return DerivedOfTrace::made(std::move(part_));
  }

 private:
  void take_what_stays() {
    // Distinct texts in the same order have the same numbers.
    for (std::size_t text = 0; text < from_.strings.size(); ++text) {
      part_->strings.intern(from_.strings[static_cast<std::uint32_t>(text)]);
    }
    part_->arguments_read = from_.arguments_read;
    part_->tracks = from_.tracks;
    part_->categories = from_.categories;
    part_->metadata = from_.metadata;
    part_->issues = from_.issues;
    part_->device = from_.device;
    part_->base_time_ns = from_.base_time_ns;
    part_->first_time_ns = from_.first_time_ns;
    part_->window_start_ns = from_.window_start_ns;
    part_->window_end_ns = from_.window_end_ns;
    part_->has_window = from_.has_window;
    part_->part = time_;
  }

  /// What of an event is in the part; nullopt if nothing is.
  std::optional<TimeRange> time_in_part(EventId event) const {
    const TimeRange time = {trace_.events().start_ns(event), trace_.events().end_ns(event)};
    const EventKind kind = trace_.kind(event);
    if (kind == EventKind::trace_span) return std::nullopt;
    if (is_of_device(kind)) {
      return contains(time_.devices, time.start) ? std::optional(time) : std::nullopt;
    }
    const bool is_open = time.start < time_.host.end &&
                         (time.start >= time_.host.start || time.end > time_.host.start);
    if (!is_open) return std::nullopt;
    return TimeRange{std::max(time.start, time_.host.start), std::min(time.end, time_.host.end)};
  }

  void take_ranges() {
    part_->in_part.resize(from_.start_ns.size(), EventId::none);
    std::size_t row = 0;
    for (std::size_t number = 0; number < part_->in_part.size(); ++number) {
      const auto event = static_cast<EventId>(number);
      const std::optional<TimeRange> time = time_in_part(event);
      if (!time) continue;
      part_->start_ns.push_back(time->start);
      part_->duration_ns.push_back(time->end - time->start);
      part_->name.push_back(from_.name[number]);
      part_->track.push_back(from_.track[number]);
      part_->category.push_back(from_.category[number]);
      part_->flags.push_back(from_.flags[number]);
      part_->external_id.set(row, from_.external_id[number]);
      part_->correlation.set(row, from_.correlation[number]);
      part_->in_part[number] = static_cast<EventId>(row++);
    }
    for (std::size_t argument = 0; argument < kArgumentCount; ++argument) {
      const ArgumentColumn values = from_.arguments[argument].view();
      values.for_each([&](EventId event) {
        const EventId taken = part_->in_part[index(event)];
        if (taken == EventId::none) return;
        part_->arguments[argument].copy(index(taken), values, index(event));
      });
    }
  }

  /// Ranges that began before the part all begin with it now, those around others first.
  void take_order() {
    for (const EventId event : from_.by_start) {
      if (part_->in_part[index(event)] != EventId::none)
        part_->by_start.push_back(part_->in_part[index(event)]);
    }
    for (const Step& step : from_.steps) {
      const EventId taken = part_->in_part[index(step.event)];
      const bool is_chosen = time_.first_step <= step.number && step.number <= time_.last_step;
      if (is_chosen && taken != EventId::none) part_->steps.push_back({step.number, taken});
    }
  }

  void take_records() {
    for (std::size_t record = 0; record < from_.memory.size(); ++record) {
      if (!contains(time_.host, from_.memory[record].time_ns)) continue;
      for (std::size_t argument = 0; argument < kArgumentCount; ++argument) {
        part_->memory_arguments[argument].copy(part_->memory.size(),
                                               from_.memory_arguments[argument].view(), record);
      }
      part_->memory.push_back(from_.memory[record]);
    }
    for (const FlowEnd& end : from_.flows) {
      const bool is_on_device = end.type == FlowEnd::Type::launch && !end.start;
      if (contains(is_on_device ? time_.devices : time_.host, end.time_ns)) {
        part_->flows.push_back(end);
      }
    }
    for (const Instant& instant : from_.instants) {
      if (contains(time_.host, instant.time_ns)) part_->instants.push_back(instant);
    }
    for (const CounterValue& value : from_.counter_values) {
      if (contains(time_.host, value.time_ns)) part_->counter_values.push_back(value);
    }
  }

  const Trace& trace_;
  const TraceData& from_;
  const PartTime time_;
  std::unique_ptr<TraceData> part_ = std::make_unique<TraceData>();
};

}  // namespace

Trace part_of(const Trace& trace, const PartTime& time) { return TracePart(trace, time).run(); }

}  // namespace tbtrace::analyses
