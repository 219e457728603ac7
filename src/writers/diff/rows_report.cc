// Rows and quantities of a comparison as tables.
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <tbtrace/diff.h>

#include "report/table_list.h"
#include "report/typed_columns.h"

namespace tbtrace {
namespace {

struct DividedRow : DiffRow {
  DiffBy by;
};

std::optional<std::string> if_any(const std::string& text) {
  return text.empty() ? std::nullopt : std::optional(text);
}

/// On which side alone a row is.
std::optional<std::string> only_on(const DividedRow& row) {
  if (!row.matched_by.empty()) return std::nullopt;
  return row.base_ns == 0 && row.base_count == 0 ? "new" : "base";
}

std::optional<std::string> joined_fuses(const DividedRow& row) {
  std::string text;
  for (const std::string& name : row.fuses) text += (text.empty() ? "" : "; ") + name;
  return if_any(text);
}

using Column = report::TypedColumn<DividedRow>;
constexpr Column kRows[] = {
    Column::of<[](const DividedRow& row) { return diff_by_name(row.by); }>("by", "the division"),
    Column::of<&DiffRow::key>("key", "the name", 1),
    Column::of<&DiffRow::base_count>("base_count", "per step of the base", 6),
    Column::of<&DiffRow::new_count>("new_count", "per step of the new run", 7),
    Column::of<&DiffRow::base_ns>("base_ns", "per step of the base", 4),
    Column::of<&DiffRow::new_ns>("new_ns", "per step of the new run", 5),
    Column::of<&DiffRow::change_ns>("change_ns", "`new_ns` - `base_ns`", 2),
    Column::of<&DiffRow::low_ns>("low_ns", "where the interval of the change begins"),
    Column::of<&DiffRow::high_ns>("high_ns", "where it ends"),
    Column::of<[](const DividedRow& row) { return diff_verdict_name(row.verdict); }>(
        "verdict", "of the row alone", 9),
    Column::of<&DiffRow::share>("share", "of the whole change", 3),
    Column::of<[](const DividedRow& row) { return if_any(std::string(row.matched_by)); }>(
        "matched_by", "how the two sides were found to be the same", 10),
    Column::of<only_on>("only_on", "`base` or `new` of a row on one side", 8),
    Column::of<[](const DividedRow& row) { return if_any(row.base_key); }>(
        "base_key", "the name on the side of the base, if it is another", 11),
    Column::of<joined_fuses>("fuses", "operators in what torch.compile made", 12),
};

using QuantityColumn = report::TypedColumn<DiffQuantity>;
constexpr QuantityColumn kQuantities[] = {
    QuantityColumn::of<&DiffQuantity::name>("name", "of the quantity"),
    QuantityColumn::of<&DiffQuantity::base_value>("base", "of the base"),
    QuantityColumn::of<&DiffQuantity::new_value>("new", "of the new run"),
    QuantityColumn::of<&DiffQuantity::low>("low", "where the interval of the change begins"),
    QuantityColumn::of<&DiffQuantity::high>("high", "where it ends"),
};

using Side = DiffPhaseSide;

template <DiffPhaseSide DiffPhase::*side, auto member>
std::optional<double> if_there(const DiffPhase& phase) {
  const Side& of = phase.*side;
  if (of.steps == 0) return std::nullopt;
  return static_cast<double>(of.*member);
}

template <auto member>
constexpr auto of_base = if_there<&DiffPhase::base, member>;
template <auto member>
constexpr auto of_new = if_there<&DiffPhase::changed, member>;

using PhaseColumn = report::TypedColumn<DiffPhase>;
constexpr PhaseColumn kPhases[] = {
    PhaseColumn::of<&DiffPhase::key>("phase",
                                     "kind, and what the batches have: tokens if they read "
                                     "prompts, requests if they make tokens",
                                     1),
    PhaseColumn::of<[](const DiffPhase& phase) { return phase.base.steps; }>(
        "base_steps", "steps of the base, of all ranks", 2),
    PhaseColumn::of<[](const DiffPhase& phase) { return phase.changed.steps; }>(
        "new_steps", "the same of the new run", 3),
    PhaseColumn::of<of_base<&Side::period_ns>>("base_period_ns",
                                               "of a step and the gap before it, a mean", 4),
    PhaseColumn::of<of_new<&Side::period_ns>>("new_period_ns", "the same of the new run", 5),
    PhaseColumn::of<&DiffPhase::change_ns>("change_ns", "`new_period_ns` - `base_period_ns`", 6),
    PhaseColumn::of<of_base<&Side::gap_ns>>("base_gap_ns", "from the end of the step before"),
    PhaseColumn::of<of_new<&Side::gap_ns>>("new_gap_ns", "the same of the new run"),
    PhaseColumn::of<of_base<&Side::idle_ns>>("base_idle_ns", "of a step, without a kernel"),
    PhaseColumn::of<of_new<&Side::idle_ns>>("new_idle_ns", "the same of the new run"),
    PhaseColumn::of<of_base<&Side::communication_ns>>(
        "base_communication_ns", "a step, exposed; with waiting for other ranks", 7),
    PhaseColumn::of<of_new<&Side::communication_ns>>("new_communication_ns",
                                                     "the same of the new run", 8),
    PhaseColumn::of<of_base<&Side::host_ns>>("base_host_ns", "the step's range on the host", 9),
    PhaseColumn::of<of_new<&Side::host_ns>>("new_host_ns", "the same of the new run", 10),
    PhaseColumn::of<of_base<&Side::launches>>("base_launches", "a step: calls that launch work",
                                              11),
    PhaseColumn::of<of_new<&Side::launches>>("new_launches", "the same of the new run", 12),
    PhaseColumn::of<of_base<&Side::launch_ns>>("base_launch_ns", "of such a call", 13),
    PhaseColumn::of<of_new<&Side::launch_ns>>("new_launch_ns", "the same of the new run", 14),
    PhaseColumn::of<[](const DiffPhase& phase) { return if_any(phase.sentence); }>(
        "why", "what explains that steps take longer"),
};

}  // namespace

const TableDescription& analyses::diff_table() {
  static const TableDescription kTable = {
      .name = "diff",
      .schema = "tbtrace.diff/1",
      .summary = "what changed from one run to another",
      .about = {},
      .columns = report::described(kRows),
      .more_columns = {{"rows", "quantities", report::described(kQuantities)},
                       {"rows", "phases", report::described(kPhases)}}};
  return kTable;
}

AnalysisReport diff_rows_report(const Diff& diff, DiffBy by) {
  AnalysisReport report;
  report.schema = analyses::diff_table().schema;
  std::vector<DividedRow> rows;
  for (const DiffRow& row : diff.rows[static_cast<std::size_t>(by)]) rows.push_back({row, by});
  report::set_rows(report, kRows, rows);
  return report;
}

AnalysisReport diff_phases_report(const Diff& diff) {
  AnalysisReport report;
  report.schema = analyses::diff_table().schema;
  report::set_rows(report, kPhases, diff.phases);
  return report;
}

AnalysisReport diff_quantities_report(const Diff& diff) {
  AnalysisReport report;
  report.schema = analyses::diff_table().schema;
  report::set_rows(report, kQuantities, diff.quantities);
  return report;
}

}  // namespace tbtrace
