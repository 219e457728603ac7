#include "jobs/collectives/recorded.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "analyses/attribution/collective_names.h"
#include "analyses/attribution/communication.h"
#include "analyses/kernels/collective_operations.h"
#include "trace/call_tree.h"
#include "trace/links.h"

namespace tbtrace::jobs {
namespace {

constexpr std::string_view kParameters = "record_param_comms";
constexpr std::size_t kNotAdded = SIZE_MAX;

/// Backends that run collectives as kernels; what the host shows of them is only the call.
bool runs_kernels(std::string_view backend) {
  constexpr std::array<std::string_view, 4> kBackends = {"nccl", "xccl", "hccl", "rccl"};
  return std::ranges::any_of(kBackends, [&](std::string_view name) {
    return backend.find(name) != std::string_view::npos;
  });
}

class Collector {
 public:
  explicit Collector(const Trace& trace)
      : trace_(trace),
        tree_(call_tree_of(trace)),
        names_(trace.argument(Argument::collective_name)) {
    result_.is_part.assign(trace.events().size(), false);
  }

  RecordedCollectives run() {
    add_kernels();
    const bool has_kernels = !result_.collectives.empty();
    add_host_ranges(has_kernels);
    std::ranges::stable_sort(result_.collectives, {}, [&](const RecordedCollective& one) {
      return trace_.events().start_ns(one.event);
    });
    return std::move(result_);
  }

 private:
  bool is_bookkeeping_call(EventId event) const {
    return event != EventId::none && analyses::is_bookkeeping(trace_.string(names_.text(event)));
  }

  void add_kernels() {
    const std::vector<bool> communicates = analyses::communication_work(trace_);
    std::vector<RecordedCollective> all;
    std::map<EventId, std::size_t> copying;  // the calls that launched copies, in collectives
    for (const DeviceLink& link : links_of(trace_).placed_work()) {
      if (!communicates[index(link.activity)]) continue;
      RecordedCollective& one =
          all.emplace_back(RecordedCollective{.event = link.activity, .launch = link.launch});
      if (names_.has(link.activity)) one.details = link.activity;
      find_around(one, link.launch == EventId::none ? link.op : link.launch);
      if (one.details == EventId::none && link.op != EventId::none && names_.has(link.op)) {
        one.details = link.op;
      }
      if (trace_.kind(link.activity) != EventKind::kernel) copying[call_of(one)] = kNotAdded;
    }
    for (const RecordedCollective& one : all) {
      const auto copies = copying.find(call_of(one));
      if (copies == copying.end() || copies->second == kNotAdded) {
        if (copies != copying.end()) copies->second = result_.collectives.size();
        add(one);
        if (copies != copying.end()) result_.collectives.back().last_copy = one.event;
        continue;
      }
      result_.is_part[index(one.event)] = true;
      EventId& last = result_.collectives[copies->second].last_copy;
      if (trace_.events().end_ns(one.event) > trace_.events().end_ns(last)) last = one.event;
    }
  }

  /// What stands for the call of a collective on the host; its activity if that is not known.
  static EventId call_of(const RecordedCollective& one) {
    for (const EventId event : {one.details, one.annotation, one.symmetric, one.launch}) {
      if (event != EventId::none) return event;
    }
    return one.event;
  }

  /// What the ranges around the launch say.
  void find_around(RecordedCollective& one, EventId range) {
    for (; range != EventId::none; range = tree_.parent(range)) {
      if (one.details == EventId::none && names_.has(range)) one.details = range;
      if (one.annotation == EventId::none && analyses::is_collective_name(trace_.name(range))) {
        one.annotation = range;
      }
      if (trace_.name(range).starts_with(analyses::kSymmetricMemory)) one.symmetric = range;
      if (one.details != EventId::none && one.annotation != EventId::none) return;
    }
  }

  void add_host_ranges(bool has_kernels) {
    std::vector<EventId> calls;  // record_param_comms
    std::vector<EventId> annotations;
    for (const EventId event : trace_.by_start()) {
      if (!is_host_range(trace_.kind(event))) continue;
      const std::string_view name = trace_.name(event);
      if (name == kParameters) {
        if (!is_bookkeeping_call(event)) calls.push_back(event);
        continue;
      }
      const analyses::CollectiveBackend* const backend = analyses::collective_backend(name);
      if (backend != nullptr && !analyses::is_bookkeeping(name.substr(backend->prefix.size()))) {
        annotations.push_back(event);
      }
    }
    bool any = false;
    for (const EventId event : annotations) {
      if (runs_kernels(trace_.name(event))) {
        result_.calls_without_kernel += has_kernels ? 0 : 1;
        continue;
      }
      any = true;
      RecordedCollective one = {.event = event, .launch = event, .annotation = event};
      one.details = names_.has(event) ? event : parameters_of(event, calls);
      add(one);
    }
    if (any || has_kernels || result_.calls_without_kernel > 0) return;
    add_calls(calls);
  }

  void add_calls(const std::vector<EventId>& calls) {
    const auto distributed = trace_.metadata().find("distributedInfo");
    const bool has_kernels_elsewhere =
        distributed == trace_.metadata().end() || runs_kernels(distributed->second);
    for (const EventId event : calls) {
      // The same call, recorded by an inner layer.
      const EventId around = tree_.parent(event);
      if (around != EventId::none && trace_.name(around) == kParameters) continue;
      if (has_kernels_elsewhere) {
        ++result_.calls_without_kernel;
      } else {
        add({.event = event, .launch = event, .details = event});
      }
    }
  }

  /// The call on the same thread that was open when an annotation began; the annotation may end on
  /// another thread. `calls` are by start.
  EventId parameters_of(EventId annotation, const std::vector<EventId>& calls) const {
    const Events& events = trace_.events();
    const std::int64_t start = events.start_ns(annotation);
    auto after = std::ranges::upper_bound(calls, start, {},
                                          [&](EventId call) { return events.start_ns(call); });
    for (int steps = 0; after != calls.begin() && steps < 8; ++steps) {
      --after;
      if (events.track(*after) == events.track(annotation) && events.end_ns(*after) >= start) {
        return *after;
      }
    }
    return EventId::none;
  }

  void add(const RecordedCollective& one) {
    result_.is_part[index(one.event)] = true;
    result_.collectives.push_back(one);
  }

  const Trace& trace_;
  const CallTree& tree_;
  const ArgumentColumn& names_;
  RecordedCollectives result_;
};

}  // namespace

RecordedCollectives recorded_collectives(const Trace& trace) { return Collector(trace).run(); }

}  // namespace tbtrace::jobs
