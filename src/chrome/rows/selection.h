// Which rows of a file are written, of a part of its recording: by time, thread, kind and name.
// What belongs together stays together: an activity of a device with the call and the operator that
// launched it, both ends of a flow or neither.
// Immutable once made. It keeps a reference to the trace. Any thread.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include <tbtrace/slice.h>
#include <tbtrace/trace.h>

#include "base/id_map.h"
#include "base/time_ranges.h"

namespace tbtrace::chrome {

/// Whether events of the kind are on a device.
bool is_of_device(EventKind kind);

/// What is wanted. Without anything, all.
struct Selected {
  /// Host ranges that are open then, and the device activities that they launched.
  std::optional<TimeRange> host = {};
  /// And the device activities that run then, with the calls and operators that launched them, so
  /// that what the devices did in the time of a part is whole. Without: only those that were
  /// launched.
  std::optional<TimeRange> devices = {};
  /// Ids of threads of the host. Device activities follow the calls that launched them.
  std::set<std::string, std::less<>> threads = {};
  SliceKinds kinds = kAllSliceKinds;
  /// Ranges of these names, what runs in them on their threads, and what that launched.
  std::function<bool(std::string_view name)> accepts_name = {};
};

class RowSelection {
 public:
  /// `trace` must outlive this.
  RowSelection(const Trace& trace, Selected wanted);

  /// Not one range but the recording's window, and no memory record, instant or counter value, is
  /// taken.
  bool is_empty() const;
  bool takes_range(EventId event) const { return ranges_[index(event)]; }
  /// What of a range that is taken lies in the time: all of it on devices.
  TimeRange time(EventId event) const;
  bool cuts(EventId event) const {
    return time(event) != TimeRange{trace_.events().start_ns(event), trace_.events().end_ns(event)};
  }
  /// Rows without a time belong to the whole recording.
  bool takes_time(std::optional<std::int64_t> ns) const {
    return !wanted_.host || (ns && wanted_.host->start <= *ns && *ns < wanted_.host->end);
  }
  /// A thread or process by the ids that the file gives them.
  struct Place {
    std::string process;
    std::string thread;

    bool operator<(const Place& other) const {
      return std::tie(process, thread) < std::tie(other.process, other.thread);
    }
  };
  bool takes_memory(const MemoryRecord& record, const Place& place) const;
  bool takes_flow(const FlowEnd& end, std::string_view process) const;
  /// Of an instant, a counter or a row of an unknown phase. `thread`: nullopt if it belongs to the
  /// process.
  bool takes_other(std::optional<std::int64_t> time_ns,
                   std::optional<std::string_view> thread) const;

 private:
  bool takes(SliceKind kind) const { return wanted_.kinds[static_cast<std::size_t>(kind)]; }
  bool takes_thread(std::string_view id) const {
    return wanted_.threads.empty() || wanted_.threads.contains(id);
  }
  bool is_open(EventId event) const;
  bool overlaps(EventId event, const TimeRange& time) const;
  bool is_in_named(const Place& place, TimeRange time) const;
  std::string id_of(const TrackKey& key) const;
  void find_places();
  void find_named();
  void find_first_memory();
  void choose_host();
  void choose_devices();
  void choose_flows();
  void leave_out_kinds();
  const Place& place_of(TrackId track) const { return places_[index(track)]; }

  const Trace& trace_;
  const Selected wanted_;
  std::vector<Place> places_;  // by track
  std::vector<bool> ranges_;
  std::map<Place, std::vector<TimeRange>> named_;
  /// The last record before the time, by device: how much it had allocated when the time began.
  std::map<std::pair<DeviceType, std::int16_t>, std::int64_t> memory_before_;
  IdMap launched_;  // correlations of device activities that are taken
  /// Of flows with an end in the part, by type: kBothEnds or kOneEnd.
  using FlowIds = std::array<IdMap, 3>;
  std::map<std::string, FlowIds, std::less<>> flows_;  // by process
};

}  // namespace tbtrace::chrome
