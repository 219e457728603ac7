// What waits for what in a recording: points in time of host threads and devices, and edges between
// them, each with the evidence it comes from. docs/whatif.md has the rules.
// Owns its rows; made from a Trace and valid for it alone. Immutable.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <tbtrace/trace.h>

#include "analyses/path/busy_threads.h"
#include "analyses/path/device_waits.h"
#include "analyses/path/host_time.h"
#include "analyses/path/net.h"
#include "analyses/path/steps.h"
#include "base/column.h"

namespace tbtrace::analyses {

/// A collective that runs on a thread of the host, as those of gloo do.
struct HostCollective {
  EventId range = EventId::none;
  EventId call = EventId::none;  ///< what started it
};

class PathGraph : public PathNet {
 public:
  /// `loader_rests`: where that is unclear (BatchWait), processes of the data loader had rested.
  /// `collectives`: become work like that of devices, and their threads like streams.
  PathGraph(const Trace& trace, const PathSteps& steps, bool loader_rests = false,
            std::span<const HostCollective> collectives = {});

  std::size_t groups() const { return groups_; }

  /// Of devices, then collectives on the host.
  std::span<const DeviceLink> work() const { return work_; }
  bool is_on_host(std::size_t work) const { return work >= streams_.work.size(); }
  static PathNode start_of(std::uint32_t work) { return 2 * work; }
  static PathNode end_of(std::uint32_t work) { return 2 * work + 1; }
  /// By step: its start and its end on the host.
  std::span<const std::array<PathNode, 2>> host_ends() const { return host_ends_; }

  /// Whether it would be another one if the processes of the data loader had rested.
  bool is_loader_unclear() const { return is_loader_unclear_; }

  const HostTime& host() const { return host_; }
  const BusyThreads& threads() const { return threads_; }

 private:
  friend class GraphBuilder;

  StreamOrder streams_;
  HostTime host_;
  BusyThreads threads_;
  std::vector<DeviceLink> work_;
  std::vector<std::array<PathNode, 2>> host_ends_;
  std::size_t groups_ = 0;
  bool is_loader_unclear_ = false;
};

}  // namespace tbtrace::analyses
