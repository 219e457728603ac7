// What a view shows, before it is written: tables and trees of stacks.
// Plain values that own what they hold.
#pragma once

#include <cstddef>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <tbtrace/report.h>
#include <tbtrace/tables.h>
#include <tbtrace/views.h>

#include "analyses/timeline/timeline.h"

namespace tbtrace::pages {

/// What a view is made of.
struct ViewedTrace {
  const Trace& trace;
  /// trace_of_steps(), if there are `steps`; otherwise the trace. For what cannot choose steps
  /// itself.
  const Trace& part;
  std::optional<StepRange> steps = std::nullopt;
};

struct TableContent {
  std::string_view name;
  std::string_view title;
  std::string command;            ///< without the input; empty if no verb prints this table alone
  AnalysisReport report;          ///< its rows in the order in which they are shown
  std::string_view sort_by = {};  ///< that order; empty: the table's own
  /// If rows are left out, those of a curve are thinned between its extremes instead of at the end.
  bool is_curve = false;
  std::size_t most_rows = std::numeric_limits<std::size_t>::max();
  std::size_t left_out = 0;                     ///< rows that are not in the report any more
  std::vector<ColumnDescription> columns = {};  ///< what is known of the columns
  std::string empty = {};                       ///< without rows: why
  bool is_of_job = false;  ///< of several ranks, so that people see the column `rank`
};

struct StacksContent {
  std::string_view name;
  std::string_view title;
  StackTree tree;
  std::string empty = {};  ///< without weight: why
};

struct ViewContent {
  const ViewDescription* view = nullptr;
  std::vector<TableContent> tables = {};
  std::vector<StacksContent> stacks = {};
  /// Of the view `timeline`, which has nothing else.
  std::shared_ptr<const analyses::Timeline> timeline = {};
  std::optional<analyses::TimelinePart> timeline_part = {};
};

/// Fails as the view's tables do. Rows beyond the limits are not kept; of the other limits only
/// those of a timeline count.
Result<ViewContent> view_content(const ViewDescription& view, const ViewedTrace& viewed,
                                 const ViewLimits& limits);

/// The document of docs/formats/views.md or timeline.md.
std::string view_text(const ViewContent& content, const ViewLimits& limits);

}  // namespace tbtrace::pages
