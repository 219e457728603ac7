// The two ids by which the plugin joins rows: `External id` (a launch and its work to an operator)
// and `correlation` (work to its launch), from the model's links, whatever the file's ids are. Made
// from a Trace, which must outlive it. Immutable. Owns its columns. The file's ids are kept if they
// are consistent with the links; otherwise all ids of that kind are renumbered.
#pragma once

#include <cstdint>
#include <vector>

#include <tbtrace/trace.h>

#include "base/column.h"
#include "chrome/rows/roles.h"

namespace tbtrace::chrome {

class LinkNumbers {
 public:
  LinkNumbers(const Trace& trace, const Roles& roles);

  /// 0: belongs to no operator.
  std::uint32_t external_id(EventId event) const { return external_id_[index(event)]; }
  /// 0: not part of a launch.
  std::uint32_t correlation(EventId event) const { return correlation_[index(event)]; }

  /// Nodes so deep in the plugin's tree that it would hang; they must be hidden from it.
  bool too_deep(EventId event) const {
    return !depth_.empty() && depth_[index(event)] > kDeepestNode;
  }
  std::uint64_t too_deep_count() const { return too_deep_; }

  /// A collective's annotation that is written as an operator, so that the time of its kernels is
  /// listed: its operator also launches other kernels, or contains several collectives.
  bool is_listed_collective(EventId event) const;

  /// Work whose operator is known but whose launch is not in the file; sorted by event. The plugin
  /// ignores work without a launch.
  struct Missing {
    EventId work = EventId::none;
    EventId op = EventId::none;
  };
  const std::vector<Missing>& missing_launches() const { return missing_; }

  bool external_ids_kept() const { return external_ids_kept_; }
  bool correlations_kept() const { return correlations_kept_; }

 private:
  static constexpr std::uint16_t kDeepestNode = 180;  // at 196 the plugin never finishes loading

  void measure_depth();
  void number_operators();
  void join_collectives();
  Column<EventId> merged_children() const;
  void find_owners();
  void number_launches();
  void find_takers();
  EventId owner(EventId launch, EventId op) const;
  bool keeps_external_ids() const;
  bool keeps_correlations() const;

  const Trace& trace_;
  const Roles& roles_;
  Column<std::uint32_t> external_id_;
  Column<std::uint32_t> correlation_;
  Column<std::uint16_t> depth_;
  Column<EventId> takers_;       // during find_owners(): the nearest that takes launches
  Column<EventId> collectives_;  // likewise: the nearest collective or operator
  std::vector<EventId> listed_collectives_;  // sorted
  std::vector<Missing> missing_;
  std::uint64_t too_deep_ = 0;
  bool external_ids_kept_ = true;
  bool correlations_kept_ = true;
};

}  // namespace tbtrace::chrome
