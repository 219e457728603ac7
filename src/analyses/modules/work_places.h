// What was done in each place of a tree of places (modules, or lines of source).
// Made from a Trace and valid for it alone.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include <tbtrace/report.h>
#include <tbtrace/trace.h>

#include "analyses/attribution/forward_operators.h"
#include "analyses/attribution/idle_threads.h"
#include "analyses/attribution/range_places.h"
#include "base/bounded_sum.h"

namespace tbtrace::analyses {

/// What was done in a place and in no place below it. Whole nanoseconds and bytes.
struct PlaceWork {
  std::uint64_t calls = 0;
  WideInteger cpu_ns = 0;           ///< self times of host ranges
  WideInteger device_ns = 0;        ///< durations of kernels, memcpys and memsets
  WideInteger backward_cpu_ns = 0;  ///< the part in backward passes
  WideInteger backward_device_ns = 0;
  WideInteger cpu_memory_bytes = 0;  ///< allocated, less freed
  WideInteger device_memory_bytes = 0;
  WideInteger macs = 0;
  WideInteger flops = 0;
  WideInteger backward_macs = 0;
  WideInteger backward_flops = 0;

  PlaceWork& operator+=(const PlaceWork& other);
};

/// Which ranges count: all, or those that started in chosen steps.
using CountsRange = std::function<bool(EventId range)>;

/// The place of a device activity that no range with a place launched, which may be a new one; the
/// root if it has none.
using PlaceOfActivity = std::function<Place(EventId activity)>;

/// What was done, and what was not.
struct WorkByPlace {
  std::vector<PlaceWork> work;  // by place
  /// Communication that hooks of parameters began when their gradients were ready. It sends
  /// gradients of many operators, so it is of no place, and not in `work`.
  PlaceWork communication;
  WideInteger waiting_ns = 0;  ///< idle time of threads that do not do the steps; not in `work`
};

/// `places` of them and the new ones. A device activity counts if its launch does, memory if the
/// range in which it was allocated or freed does; without steps all count, also those without a
/// range.
WorkByPlace work_by_place(const Trace& trace, const WorkPlaces& where, std::size_t places,
                          const CountsRange& counts, const PlaceOfActivity& place_of_activity = {});

}  // namespace tbtrace::analyses
