// How the events of a trace belong together: which range is inside which, which call launched which
// kernel, and in which operator, module and step.
// An AnalysisContext refers to its Trace, which must outlive it and may be moved. Immutable: any
// number of threads may read one.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include <tbtrace/export.h>
#include <tbtrace/trace.h>

namespace TBTRACE_EXPORT tbtrace {

/// Every function takes EventId::none as well, and then finds nothing.
class AnalysisContext {
 public:
  /// Takes time and memory in proportion to the trace: about 16 bytes per event, and as much again
  /// that the Trace keeps.
  explicit AnalysisContext(const Trace& trace);
  AnalysisContext(const Trace&&) = delete;  // would refer to a Trace that is gone
  AnalysisContext(AnalysisContext&&) noexcept;
  AnalysisContext& operator=(AnalysisContext&&) noexcept;
  ~AnalysisContext();

  /// The range around a host range: the one that started last among those open from its start to
  /// its end on its thread. For a launch only its start counts, because the driver's clock sets its
  /// end. EventId::none for the outermost ranges and for events that are not host ranges.
  EventId parent(EventId event) const;

  /// All host ranges, parents first; within a thread in the order of their starts.
  std::span<const EventId> host_ranges() const;

  /// Time in which a host range was the one that started last among those open on its thread; 0 for
  /// other events. The self times of a thread add up to busy_ns().
  std::int64_t self_time_ns(EventId event) const;

  /// Time in which at least one range was open on a thread of the host.
  std::int64_t busy_ns(TrackId thread) const;

  /// All device activities, by start.
  std::span<const DeviceLink> device_links() const;

  /// nullptr for an event that is not a device activity.
  const DeviceLink* device_link(EventId activity) const;

  /// The innermost operator that a host range is or is inside. Of a device activity: the innermost
  /// operator that DeviceLink::op is or is inside.
  EventId operator_of(EventId event) const;

  /// The innermost `nn.Module` frame that a host range is or is inside; of a device activity, the
  /// one around its launch. EventId::none in a backward pass, which autograd runs on a thread of
  /// its own.
  EventId module_of(EventId event) const;

  /// The `ProfilerStep#N` of the same process that was open when a host range started, or when a
  /// device activity was launched; if several were, the one that started last. nullptr if none was.
  const Step* step_of(EventId event) const;

 private:
  struct Data;
  std::unique_ptr<const Data> data_;
};

}  // namespace tbtrace
