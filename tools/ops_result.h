// The result of `tbtrace ops` from one or several traces.
// Refers to its arguments and, unless figures are exact, to the traces; they must outlive it. One
// thread.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include <tbtrace/operators.h>
#include <tbtrace/partial.h>
#include <tbtrace/trace.h>

#include "console.h"
#include "each_input.h"
#include "inputs.h"
#include "joined_inputs.h"
#include "options.h"
#include "rank_choice.h"

namespace tbtrace::tools {

struct OpsOptions {
  OutputFormat output;
  SummaryOptions summary;
  Figures figures = Figures::torch;
  TableOptions table;
  /// By self time on devices, or on the host if there are none.
  bool sorts_by_self_time = false;
  bool per_event = false;
  bool each = false;
  std::optional<StepRange> steps = {};  ///< that the traces were cut to
  RankChoice rank = {};
};

class OpsResult {
 public:
  OpsResult(const OpsOptions& ops, const StandardOptions& standard, Console& console);

  /// Whether the traces must stay until write().
  static bool keeps_traces(const OpsOptions& ops) { return ops.figures != Figures::exact; }

  void add(const Trace& trace);

  /// Analyses and writes. `inputs`: those of the traces, in the same order.
  Status write(std::span<const JoinedInput> inputs, const std::string& output);

  /// The same of a partial, without add().
  Status write(const Partial& partial, const Subjects& subjects);

 private:
  Status check_limits(std::span<const JoinedInput> inputs);
  Result<OperatorSummary> summary();
  Result<std::string> text_of(const OperatorSummary& summary);
  TableOptions table_of(const OperatorSummary& summary) const;
  Status write_list(const std::string& output);
  void say_if_not_grouped(const OperatorSummary& summary);

  const OpsOptions& ops_;
  const StandardOptions& standard_;
  Console& console_;
  std::optional<ExactSummaryBuilder> exact_;  // if figures are exact
  std::vector<const Trace*> traces_;          // otherwise
  std::string subject_;
  bool any_frames_ = false;
  std::string missing_stacks_;  // how to get them, by the first trace without
  bool lost_stacks_ = false;    // they were recorded
};

}  // namespace tbtrace::tools
