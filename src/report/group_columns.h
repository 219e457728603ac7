// The columns that rows have for what they are grouped by: one definition for kernels, operators
// and all formats.
// Pure functions.
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include <tbtrace/group_keys.h>
#include <tbtrace/report.h>

namespace tbtrace::report {

/// All keys in the order of their columns.
inline constexpr std::array<GroupKey, kGroupKeys> kGroupColumns = {
    GroupKey::shape,  GroupKey::stack,  GroupKey::module, GroupKey::line, GroupKey::device,
    GroupKey::stream, GroupKey::thread, GroupKey::rank,   GroupKey::step};

/// A column that rows have for a key; by stream there are two: its number, and its name in the
/// file.
struct GroupColumn {
  std::string_view name;
  GroupKey key = {};

  /// Null if there is no value.
  Cell cell(const GroupValues& values) const;
};

/// In the order of the table. Rows grouped by stream name the device, too.
std::vector<GroupColumn> group_columns(GroupKeySet keys);

/// What rows are told apart by, of a stream its name. Null if there is no value.
Cell group_cell(const GroupValues& values, GroupKey key);

/// For people; empty if there is no value. A stack is its innermost frame.
std::string group_text(const GroupValues& values, GroupKey key);

/// Whether rows grouped by these have the column: those by stream name the device, too.
bool has_group_column(GroupKeySet keys, GroupKey key);

}  // namespace tbtrace::report
