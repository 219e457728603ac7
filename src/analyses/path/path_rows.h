// What is on the critical path, in rows: by name, operator, kernel, family, module or line.
// Plain values; made from a Trace and its graph, which must outlive this. Not synchronised.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include <tbtrace/analysis_context.h>
#include <tbtrace/trace.h>

#include "analyses/grouping/keys.h"
#include "analyses/path/changes.h"
#include "analyses/path/critical_path.h"
#include "analyses/path/graph.h"
#include "analyses/steps/rules.h"

namespace tbtrace::analyses {

/// What a part of a path is.
enum class PathKind : std::uint8_t {
  op,               ///< a host thread in an operator
  call,             ///< in a call of the device's runtime
  data_loader,      ///< in a data loader
  code,             ///< in another range, or in none
  kernel,           ///< work on a device
  communication,    ///< the same
  copy,             ///< memcpys and memsets
  launch,           ///< from a launch to the start of the work
  stream,           ///< from work to the next on its stream, or on one that waits for it
  synchronization,  ///< from work to the return of a call that waits for it
  unexplained,      ///< nothing in the recording says what was waited for
};
inline constexpr std::size_t kPathKinds = 11;

/// `operator`, `call`, ...
std::string_view path_kind_name(PathKind kind);

enum class PathGrouping : std::uint8_t { name, kind, op, kernel, family, module, line };

struct PathRow {
  std::optional<PathKind> kind;  ///< by name or kind
  std::string name;
  std::array<std::int64_t, kPathKinds> on_path_ns = {};  ///< by kind
  /// All its work in the steps, on the path or not; nullopt of delays and between ranges.
  std::optional<std::int64_t> total_ns;
  bool has_more = false;  ///< it is also work that no range shows
  /// By how much the least of its work that is not on the path could be later; nullopt: all of it
  /// is on the path, or nothing waits for it.
  std::optional<std::int64_t> slack_ns;

  std::int64_t path_ns() const;
};

class PathRows {
 public:
  PathRows(const Trace& trace, const StepRules& rules, const PathGraph& graph,
           const PathSteps& steps, PathGrouping grouping);
  ~PathRows();

  /// `changes`: what is different from the recording in the times of the path.
  void add(const CriticalPath& path, const PathChanges& changes = {});

  /// The same by its parts, whose edges are those of the graph, and the slack of its points.
  /// `waits`: by work, how much of its start is a wait and no work; empty: none.
  void add(std::span<const PathPiece> pieces, std::span<const std::int64_t> slack,
           const PathChanges& changes, std::span<const std::int64_t> waits = {});

  /// Of a path as recorded: the part of kind `unexplained`, without making rows.
  std::int64_t unexplained_ns(std::span<const PathPiece> pieces) const;

  /// The longest on the path first.
  std::vector<PathRow> run() &&;

 private:
  struct What {
    PathKind kind = PathKind::unexplained;
    EventId event = EventId::none;
  };

  What host_work(EventId range, bool is_unknown) const;
  /// Whether a stretch of a thread's time may be a wait for something that was not recorded.
  bool is_unknown(const PathEdge& edge, EventId range, TimeRange time) const;
  What device_work(EventId activity) const;
  What what_of(const PathPiece& piece) const;
  PathRow& row_of(What what);
  std::string name_of(What what);

  template <typename Give>
  void for_each_part(const PathPiece& piece, const PathChanges& changes, Give give) const;
  void add_totals(const PathChanges& changes, std::span<const std::int64_t> waits);
  void add_slack(std::span<const std::int64_t> slack_ns, const std::vector<bool>& is_on_path);

  const Trace& trace_;
  const StepRules& rules_;
  const PathGraph& graph_;
  const PathSteps& steps_;
  const PathGrouping grouping_;
  const std::vector<bool> communication_;
  std::vector<bool> is_around_;  // by event: a step, or a collective on the host; not work itself
  std::unique_ptr<AnalysisContext> context_;  // by operator
  std::unique_ptr<GroupKeys> keys_;           // by module or line
  struct Known {
    std::uint32_t row = UINT32_MAX;
    PathKind kind = PathKind::unexplained;
  };
  std::vector<Known> known_;  // by event, and of none: the row that it had last
  std::unordered_map<std::string, std::size_t> row_of_name_;
  std::vector<PathRow> rows_;
};

}  // namespace tbtrace::analyses
