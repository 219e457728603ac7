// What all verbs share that show an analysis as a table: `gpu`, `steps` and the like.
// To add one, describe it as an AnalysisVerb and call run_analysis().
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <tbtrace/analysis_report.h>
#include <tbtrace/partial.h>
#include <tbtrace/report.h>
#include <tbtrace/step_range.h>
#include <tbtrace/trace.h>

#include "command.h"
#include "each_input.h"
#include "options.h"
#include "rank_choice.h"

namespace tbtrace::tools {

struct AnalysisVerb {
  std::string name;
  ArgumentSet arguments;  ///< the arguments of events that the analysis reads
  /// Said if no input gives any row, such as `the trace has no device activities`.
  std::string nothing;
  AnalyseTrace analyse;
  /// The rest of that sentence, by the first trace without rows: how to get them, or why they are
  /// not there. Of a partial only `remedy` is said. Empty: nothing to add.
  std::function<std::string(const Trace& trace)> why_nothing = {};
  std::string remedy = {};
  /// Makes the same report from a partial; empty if partials do not have this table.
  std::function<Result<AnalysisReport>(const Partial& partial)> of_partial = {};
  /// The part of a partial that adds up over inputs (`--sum-inputs`), if the verb has one.
  bool PartialParts::*sums = nullptr;
  std::optional<StepRange> steps = {};  ///< that `analyse` selects
};

inline constexpr const char* kRecordDevices = "record CUDA activities too";

/// For `why_nothing` of tables of device activities: how to get them, or, if launches show that
/// they were recorded and lost, what may have taken them. Empty if the trace has some.
std::string missing_device_text(const Trace& trace);

/// What was asked for with the options of tables.
struct TableChoice {
  OutputFormat output;
  ReportOptions report;
  RankChoice rank;

  /// `has_folder`: the output is a directory. A wrong value is a failure.
  static Result<TableChoice> of(const OptionParser& parser, bool has_folder);
};

/// `--sort-by`, `--row-limit` and `--format`.
Option sort_option(std::vector<std::string_view> sort_keys);
Option row_limit_option();
/// What is said of a wrong row limit.
std::string row_limit_range();
Option format_option();

/// These, `--each` and `--rank`; `rows`: the verb's own options
/// that say which rows there are.
std::vector<OptionGroup> analysis_options(std::vector<Option> rows,
                                          std::vector<std::string_view> sort_keys);

/// What a partial says to `--per-event`.
Status no_events_in_partial();

/// `--sum-inputs`, for the verbs whose rows add up.
Option sum_option();

/// `--steps A-B`, for the verbs that take it.
Option steps_option();

/// `--compat`, which takes all figures that there are of a table but its own.
Option compat_option(std::string_view table, std::string_view value, std::string_view help);

/// The figures that it names, or the table's own.
Figures chosen_figures(const OptionParser& parser, std::string_view table);

/// `make` with a partial, which fails for figures that partials do not have.
std::function<Result<AnalysisReport>(const Partial& partial)> in_figures(
    Figures figures, std::function<Result<AnalysisReport>(const Partial& partial)> make);

/// The steps of `--steps A-B` or `--steps A`; nullopt if not given. A wrong text is a failure.
Result<std::optional<StepRange>> chosen_steps(const OptionParser& parser);

/// Reads the inputs one after the other (files, directories and patterns), analyses each and writes
/// one table of all rows; with `--each` one table per input. With several inputs the rows have a
/// first column `input`. Returns the exit code.
int run_analysis(const AnalysisVerb& verb, const OptionParser& parser);

}  // namespace tbtrace::tools
