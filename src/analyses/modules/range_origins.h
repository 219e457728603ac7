// The module that each range of the host came from, for tables that name them.
// Owns what it computed. Immutable.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <tbtrace/trace.h>

#include "analyses/attribution/forward_operators.h"
#include "analyses/attribution/range_places.h"

namespace tbtrace::analyses {

/// The module of each range, with `*` for what differs between repeated layers.
class ModulesOfRanges {
 public:
  ModulesOfRanges(const Trace& trace, const ForwardOperators& forward);

  /// Empty: none. Valid as long as this.
  std::string_view of(EventId range) const;

 private:
  WorkPlaces where_;
  std::vector<std::string> patterns_;  // by place - 1
};

}  // namespace tbtrace::analyses
