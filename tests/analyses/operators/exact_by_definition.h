// The exact figures of a small trace by their definition, piece of time by piece of time: each
// belongs to the open range that started last.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <tbtrace/trace.h>

#include "trace/links.h"

namespace tbtrace::analyses {

class ExactByDefinition {
 public:
  explicit ExactByDefinition(const Trace& trace) : trace_(trace), events_(trace.events()) {
    for (const EventId event : trace.by_start()) {
      if (is_host_range(trace.kind(event))) opened_.push_back(event);
      instants_.insert(events_.start_ns(event));
      instants_.insert(events_.end_ns(event));
    }
    std::stable_sort(opened_.begin(), opened_.end(), [&](EventId a, EventId b) {
      if (events_.start_ns(a) != events_.start_ns(b)) {
        return events_.start_ns(a) < events_.start_ns(b);
      }
      if (events_.end_ns(a) != events_.end_ns(b)) return events_.end_ns(a) > events_.end_ns(b);
      return level(trace.kind(a)) < level(trace.kind(b));
    });
  }

  /// Ranges of the host in the order in which they opened.
  const std::vector<EventId>& ranges() const { return opened_; }

  /// Calls `visit(start, length)` for each piece of time in which nothing begins or ends.
  template <typename Visit>
  void for_each_piece(Visit visit) const {
    for (auto instant = instants_.begin(); instant != instants_.end(); ++instant) {
      const auto next = std::next(instant);
      if (next != instants_.end()) visit(*instant, *next - *instant);
    }
  }

  /// Whose the time right after an instant is, on a thread.
  EventId owner(TrackId thread, std::int64_t instant) const {
    return last_opened(opened_.size(), [&](EventId event) {
      return events_.track(event) == thread && is_open(event, instant);
    });
  }

  bool is_open(EventId event, std::int64_t instant) const {
    return events_.start_ns(event) <= instant && instant < events_.end_ns(event);
  }

  /// The last that opened of those that hold the whole range; of a launch, those that hold its
  /// start.
  EventId parent(EventId event) const {
    const auto own = std::find(opened_.begin(), opened_.end(), event);
    const bool launch = trace_.kind(event) == EventKind::runtime;
    return last_opened(static_cast<std::size_t>(own - opened_.begin()), [&](EventId other) {
      return events_.track(other) == events_.track(event) &&
             is_open(other, events_.start_ns(event)) &&
             (launch || events_.end_ns(other) >= events_.end_ns(event));
    });
  }

  EventId owner_of_work(const DeviceLink& link) const {
    if (link.op != EventId::none || link.launch == EventId::none) return link.op;
    const EventId holder = parent(link.launch);
    return holder == EventId::none ? link.launch : holder;
  }

  /// The last range that had started and had not ended before.
  EventId owner_of_memory(const MemoryRecord& record) const {
    return last_opened(opened_.size(), [&](EventId event) {
      return events_.track(event) == record.track && events_.start_ns(event) <= record.time_ns &&
             events_.end_ns(event) >= record.time_ns;
    });
  }

  /// As torch and we show it.
  std::string name(EventId event) const {
    const std::string_view name = trace_.name(event);
    if (trace_.kind(event) == EventKind::cpu_op && name == "aten::add.Tensor") return "aten::add";
    if (name == "_Z3foov") return "foo()";
    if (name.starts_with("ProfilerStep#")) return "ProfilerStep*";
    return std::string(name);
  }

 private:
  static int level(EventKind kind) {
    if (kind == EventKind::user_annotation) return 0;
    if (kind == EventKind::python_function) return 1;
    return kind == EventKind::runtime ? 3 : 2;
  }

  template <typename Test>
  EventId last_opened(std::size_t among, Test test) const {
    for (std::size_t row = among; row-- > 0;) {
      if (test(opened_[row])) return opened_[row];
    }
    return EventId::none;
  }

  const Trace& trace_;
  const Events& events_;
  std::vector<EventId> opened_;
  std::set<std::int64_t> instants_;
};

}  // namespace tbtrace::analyses
