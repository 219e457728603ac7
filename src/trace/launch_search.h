// Finds the runtime call that launched device work, by correlation, in a file with several
// processes.
// Made from a Trace, which must outlive it.
#pragma once

#include <cstdint>
#include <span>

#include <tbtrace/trace.h>

#include "base/column.h"
#include "trace/process_scopes.h"

namespace tbtrace {

class LaunchSearch {
 public:
  /// `calls`: runtime calls, by start; `work`: device work. Assigns devices to processes in
  /// `scopes`, which must outlive it.
  LaunchSearch(const Trace& trace, ProcessScopes& scopes, std::span<const EventId> calls,
               std::span<const EventId> work);

  /// The call that launched work. If traces were joined one after another: in the process whose
  /// rows are around it; else in the device's process; else the last call before the work.
  /// EventId::none if no call has the correlation.
  EventId launch_of(EventId work) const;

 private:
  struct Call {
    std::int64_t correlation = 0;
    std::uint32_t scope = 0;
    std::int64_t start_ns = 0;
    EventId event = EventId::none;
  };
  /// The calls with one correlation.
  struct Candidates {
    std::span<const Call> by_scope;
    std::span<const Call> by_start;
  };

  struct Work {
    std::int64_t correlation = 0;
    EventId event = EventId::none;
  };

  void sort_calls(std::span<const EventId> calls);
  void find_neighbours();
  void sort_work(std::span<const EventId> work);
  bool work_stands_with_calls() const;
  void assign_devices(std::span<const EventId> work);
  Candidates candidates(std::int64_t correlation) const;
  static const Call* of_scope(const Candidates& calls, std::uint32_t scope);
  std::uint32_t only_scope_before(const Candidates& calls, std::int64_t time_ns) const;

  const Trace& trace_;
  ProcessScopes& scopes_;
  Column<Call> by_scope_;            // by correlation, scope, start
  Column<Call> by_start_;            // by correlation, start
  Column<std::uint32_t> run_start_;  // by row of by_start_: start of the run of its scope
  Column<std::uint32_t> neighbour_;  // by event: the process whose rows are next to it
  bool is_joined_ = false;           // the rows of a process are together
  Column<Work> work_;                // by correlation, start
  static constexpr std::uint32_t kNoTurn = 0xffffffff;
  Column<std::uint32_t> turn_;  // by event: position among its correlation's work, if one per call
};

}  // namespace tbtrace
