// Which events of a part are merged: those of the device or of the host, those of some steps.
// Keeps no reference to the trace. Immutable once made; the category table is filled as it is used,
// so one thread at a time.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include <tbtrace/merge.h>
#include <tbtrace/trace.h>

#include "trace/event_batch.h"

namespace tbtrace::jobs {

/// What runs during some steps of a trace, and the device activities that were launched then.
class StepSelection {
 public:
  /// Fails if the trace does not have one of the steps.
  static Result<StepSelection> of(const Trace& trace, StepRange steps);

  bool takes_range(std::size_t number) const { return number < ranges_.size() && ranges_[number]; }
  /// Of a range that ends with a row of its own: it gets its end at once.
  std::int64_t duration_ns(std::size_t number) const { return durations_[number]; }
  bool takes_time(std::int64_t ns) const { return ns >= start_ns_ && ns < end_ns_; }
  bool takes_flow(const FlowEnd& end) const;

 private:
  void choose(const Trace& trace);
  void choose_flows(const Trace& trace);

  std::int64_t start_ns_ = 0;
  std::int64_t end_ns_ = 0;
  std::vector<bool> ranges_;
  std::vector<std::int64_t> durations_;
  std::unordered_set<std::int64_t> launched_;  // correlations of device activities that are taken
  std::array<std::unordered_set<std::int64_t>, 3> flows_;  // by type: both ends are in the time
};

/// Whether categories are those of devices. Texts are JSON.
class DeviceCategories {
 public:
  bool is_device(std::string_view json);

 private:
  std::unordered_map<std::string, bool> known_;
  std::string last_;
  bool last_is_device_ = false;
};

}  // namespace tbtrace::jobs
