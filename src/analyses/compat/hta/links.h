// Which host row HolisticTraceAnalysis links to an activity of a device.
// Owns its tables; the Trace must outlive it. Immutable.
// Source: HolisticTraceAnalysis 0.5.0, hta/common/trace.py (transform_correlation_to_index).
#pragma once

#include <tbtrace/trace.h>

#include "base/id_map.h"

namespace tbtrace::analyses {

/// By correlation alone, among all rows of the file: also those that hta_rows() leaves out.
/// Needs ArgumentGroup::placement.
class HtaLinks {
 public:
  explicit HtaLinks(const Trace& trace);

  /// The last host row in the file with the activity's correlation; EventId::none without one, and
  /// for rows that are not activities.
  EventId host_row(EventId activity) const;

  /// Whether a host row has the correlation of an activity.
  bool has_activity(EventId host_row) const;

 private:
  const Trace& trace_;
  IdMap host_rows_;  // by correlation
  IdMap activities_;
};

}  // namespace tbtrace::analyses
