// The line of the user's own code that a host range or a device activity came from: the only
// definition, for all tables that name a line beside something else.
// Owns what it computed; refers to its Trace, which must outlive it. Immutable.
// Needs ArgumentGroup::autograd and ArgumentGroup::call_stacks; without them fewer lines are known.
#pragma once

#include <string>
#include <vector>

#include <tbtrace/trace.h>

#include "analyses/attribution/forward_operators.h"
#include "analyses/attribution/line_places.h"
#include "analyses/attribution/range_places.h"
#include "trace/links.h"

namespace tbtrace::analyses {

/// The innermost line of the user's own code around a range. A backward pass has the lines of the
/// forward operators whose gradients it computes.
class OwnLines {
 public:
  using Line = LinePlaces::Line;

  OwnLines(const Trace& trace, const ForwardOperators& forward);

  /// 0: none.
  Line of(EventId range) const {
    return range == EventId::none ? 0 : places_.lines()[where_.place[index(range)]];
  }

  /// The same of device work.
  Line of_work(const DeviceLink& link) const { return of(owner_of(link)); }

  /// The range that device work belongs to: its operator or its launch. EventId::none also for
  /// communication that hooks of parameters began when gradients were ready, which is of no place.
  EventId owner_of(const DeviceLink& link) const;

  /// `train.py(46): forward`; empty for 0.
  std::string text(Line line) const;

 private:
  const Trace& trace_;
  LinePlaces places_;
  WorkPlaces where_;
  std::vector<bool> communicates_;  // by event; empty if nothing accumulates gradients
};

}  // namespace tbtrace::analyses
