// What is to be faster or slower: `operator:aten::mm x0.5`.
// Made from a Trace and its graph, which must outlive it. Immutable.
#pragma once

#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include <tbtrace/status.h>
#include <tbtrace/trace.h>

#include "analyses/path/graph.h"
#include "analyses/steps/rules.h"

namespace tbtrace::analyses {

enum class ChangeKind : std::uint8_t {
  op,
  kernel,
  family,
  module,
  line,
  communication,
  data_loader,
  launch,
  copy,
  rank,  ///< all work of a rank of a job that is not communication
};

struct PathChange {
  ChangeKind kind = ChangeKind::op;
  std::string name = {};  ///< of an operator, a kernel, a family, a module or a line
  double factor = 1;
  std::optional<std::int64_t> time_ns = {};  ///< instead of a factor, of each piece of work
  bool is_as_others = false;  ///< instead of a factor, of a rank: the pace of the others

  /// Of a change of a rank.
  std::optional<std::int64_t> rank() const;
};

/// By event, how long a collective takes without its wait for other ranks.
using TransferTimes = std::unordered_map<EventId, std::int64_t>;

/// `operator:aten::mm x0.5`, `communication x0`, `kernel:gemm =10us`, `rank:3 =others`; several
/// with commas. Fails with what is wrong, and how it should be.
Result<std::vector<PathChange>> parse_changes(const std::vector<std::string>& texts);

/// That `what` (`the trace has`) nothing of the name in a change.
Status missing_of_change(const PathChange& change, std::string_view what);
/// The same of a change without a name, which then changes nothing.
std::string note_of_nothing(const PathChange& change);

/// By how much each range and each piece of device work of a trace is to be longer or shorter.
class PathChanges {
 public:
  PathChanges() = default;  ///< nothing is

  /// Fails if the trace has nothing of a name, and if a change is of a rank.
  static Result<PathChanges> of(const Trace& trace, const StepRules& rules, const PathGraph& graph,
                                const std::vector<PathChange>& changes);

  /// Of one piece of device work, besides what changes it already.
  void scale(EventId work, double factor) { factors_[index(work)] *= factor; }
  /// Threads take no time outside of operators, calls, Python functions and data loaders: they may
  /// wait there.
  void leave_out_unrecorded(const Trace& trace, const StepRules& rules);

  /// Of a rank of a job, whose collectives take `transfers`: what a rank does not have is left to
  /// the others, as `missing` says, by change. `own_factor`: of all that is not communication.
  static PathChanges of_rank(const Trace& trace, const StepRules& rules, const PathGraph& graph,
                             const std::vector<PathChange>& changes, const TransferTimes& transfers,
                             double own_factor, std::vector<bool>& missing);

  /// Sentences about changes of what the trace does not have.
  const std::vector<std::string>& notes() const { return notes_; }

  /// A time of a range or of device work; EventId::none: between ranges.
  std::int64_t changed_ns(EventId event, std::int64_t ns) const {
    if (factors_.empty()) return ns;
    return scaled(ns, event == EventId::none ? unrecorded_factor_ : factors_[index(event)]);
  }

  /// Of an edge, by the length that it has without a change.
  std::int64_t changed_ns(const PathGraph& graph, const PathEdge& edge, std::int64_t ns) const;

 private:
  static std::int64_t scaled(std::int64_t ns, double factor);
  void mark(const Trace& trace, const PathChange& change, const std::vector<bool>& marked,
            const TransferTimes& transfers);

  std::vector<double> factors_;  // by event; empty: nothing changes
  double launch_factor_ = 1;
  double unrecorded_factor_ = 1;  // of time in which no range was open
  std::vector<std::string> notes_;
};

}  // namespace tbtrace::analyses
