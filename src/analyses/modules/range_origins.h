// The module and the line that each range of the host came from, for tables that name them.
// Own what they computed; refer to their Trace, which must outlive them. Immutable.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <tbtrace/trace.h>

#include "analyses/attribution/forward_operators.h"
#include "analyses/modules/line_places.h"
#include "analyses/modules/work_places.h"

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

/// The innermost line of the user's own code around each range.
class LinesOfRanges {
 public:
  LinesOfRanges(const Trace& trace, const ForwardOperators& forward);

  /// 0: none.
  LinePlaces::Line of(EventId range) const {
    return range == EventId::none ? 0 : places_.lines()[where_.place[index(range)]];
  }

  /// Whether it belongs to what hooks of parameters do when gradients are ready.
  bool accumulates(EventId range) const { return where_.accumulates[index(range)] != 0; }

  /// `train.py(46): forward`; empty for 0.
  std::string text(LinePlaces::Line line) const;

 private:
  LinePlaces places_;
  WorkPlaces where_;
};

}  // namespace tbtrace::analyses
