// What has to change in a file so that readers of Kineto's files take all of it: host ranges that
// cross another one, External ids of launches and kernels that name a wrong operator, launches
// without flow events, categories of 2020 and 2021. Everything else stays as the file has it.
// Made from a Trace, which must outlive it. Immutable.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <tbtrace/convert.h>
#include <tbtrace/trace.h>

#include "chrome/rows/crossings.h"
#include "chrome/rows/roles.h"

namespace tbtrace::chrome {

class KinetoRepairs {
 public:
  /// `infer_steps`: if the trace has no steps, annotations that count iterations become steps.
  KinetoRepairs(const Trace& trace, bool infer_steps);

  /// The thread id of a lane beside the range's thread, if the range moves there.
  std::optional<std::int64_t> lane(EventId event) const;
  /// The duration of a range that is shortened.
  std::optional<std::int64_t> shorter_ns(EventId event) const;
  /// The External id of a launch or of device work that has a wrong one, or lacks one; 0: none.
  std::optional<std::int64_t> external_id(EventId event) const;
  /// The number of the step that an annotation becomes.
  std::optional<std::int64_t> inferred_step(EventId event) const;
  /// Another name of a range's category, and as what its change counts.
  struct NewCategory {
    std::string_view name = {};  ///< empty: the range keeps the file's
    const char* change = "";
  };
  NewCategory category(EventId event) const;

  /// Flow events that a launch, or its work, lacks.
  struct Flow {
    EventId event = EventId::none;
    std::int64_t id = 0;  ///< the correlation of both
    bool start = false;
  };
  std::span<const Flow> missing_flows(EventId event) const;

  /// The lane of the range at whose start the file has this flow event. Ids in the file's form.
  std::optional<std::int64_t> lane_of_flow(std::string_view process, std::string_view thread,
                                           const FlowEnd& end) const;

  struct LaneName {
    TrackKey process;
    std::int64_t thread = 0;
    std::string name;
  };
  std::span<const LaneName> lane_names() const { return lane_names_; }

  /// Those that follow from the trace alone.
  Changes changes() const;

 private:
  struct NewId {
    EventId event = EventId::none;
    std::int64_t id = 0;
  };

  class OperatorIds;

  void place_lanes();
  void repair_external_ids();
  void name_operators_on_lanes(const OperatorIds& operators);
  void rename_operators(const OperatorIds& operators);
  void add_flows();

  const Trace& trace_;
  Roles roles_;
  Crossings crossings_;
  std::map<std::pair<std::size_t, std::uint32_t>, std::int64_t> lanes_;  // by track and lane
  std::vector<LaneName> lane_names_;
  std::map<std::pair<std::string, std::string>, TrackId> crossed_tracks_;  // by process and thread
  std::vector<EventId> moved_by_place_;  // operators and launches, by track and start
  std::vector<NewId> external_ids_;      // sorted by event
  std::vector<Flow> flows_;              // likewise
  std::vector<Step> inferred_steps_;     // likewise
};

}  // namespace tbtrace::chrome
