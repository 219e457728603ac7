// Which operator each host range's time belongs to, so that every piece of work is in one, and
// which operators nothing counts. The only definition of these; docs/formats/flops.md has it.
// Owns its columns; immutable. Made from a Trace and valid for it alone.
#pragma once

#include <cstdint>
#include <vector>

#include <tbtrace/flops.h>
#include <tbtrace/trace.h>

#include "analyses/flops/counted_operators.h"
#include "base/column.h"

namespace tbtrace::analyses {

/// In which pass an operator ran.
enum class WorkPhase : std::uint8_t {
  forward,
  backward,
  recomputed,  ///< a forward operator in the backward pass: activation checkpointing
};

struct WorkOwner {
  EventId op = EventId::none;
  WorkState state = WorkState::no_rule;
  WorkPhase phase = WorkPhase::forward;
  CountedOperator work;  ///< if it is counted
};

class WorkOwners {
 public:
  static constexpr std::uint32_t kNone = UINT32_MAX;

  explicit WorkOwners(const Trace& trace);

  const std::vector<WorkOwner>& owners() const { return owners_; }

  /// The number of the owner of a host range; kNone if it is inside no operator.
  std::uint32_t of(EventId range) const {
    return range == EventId::none ? kNone : owner_of_[index(range)];
  }

 private:
  /// Device work of a caller is its own: nothing counts it.
  void find_callers_that_work(const Trace& trace);

  std::vector<WorkOwner> owners_;
  Column<std::uint32_t> owner_of_;  // by event
};

}  // namespace tbtrace::analyses
