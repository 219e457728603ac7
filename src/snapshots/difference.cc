// What is different between two memory snapshots.
#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include <tbtrace/memory_snapshot.h>

#include "base/bounded_sum.h"
#include "report/optional_cell.h"
#include "report/table_list.h"
#include "snapshots/moments.h"
#include "snapshots/snapshot.h"

namespace tbtrace {
namespace {

using snapshots::DeviceReplay;
using snapshots::Holder;
using snapshots::HolderKey;

struct Held {
  std::int64_t bytes = 0;
  std::int64_t allocations = 0;
};
struct Sides {
  Held before;
  Held after;
};
using Groups = std::map<std::pair<std::int64_t, HolderKey>, Sides>;

bool has_failed(const MemorySnapshot& snapshot) {
  return std::ranges::any_of(snapshot.data().devices, [](const DeviceReplay& replay) {
    return !replay.out_of_memory().empty();
  });
}

void add_side(const MemorySnapshot& snapshot, Held Sides::*side, snapshots::Origins& origins,
              const OptionValues& options, std::string_view at,
              const std::optional<std::int64_t>& device, Groups& groups) {
  for (const DeviceReplay& replay : snapshot.data().devices) {
    const auto chosen = snapshots::chosen_moment(replay, at);
    if (!chosen) continue;
    snapshots::Categories categories(replay, origins);
    snapshots::Grouping grouping(replay, origins, categories, snapshots::chosen_groups(options));
    for (const Holder& holder : snapshots::holders_at(replay, grouping, chosen->moment)) {
      Held& held = groups[{device.value_or(replay.device()), holder.key}].*side;
      held.bytes += holder.bytes;
      held.allocations += holder.allocations;
    }
  }
}

/// The number of the only device of two snapshots, by the first: each process may see its own GPU
/// under another number. nullopt if there are more, or the numbers are the same.
std::optional<std::int64_t> device_of_both(const MemorySnapshot& before,
                                           const MemorySnapshot& after) {
  const std::vector<DeviceReplay>& one = before.data().devices;
  const std::vector<DeviceReplay>& other = after.data().devices;
  if (one.size() != 1 || other.size() != 1 || one[0].device() == other[0].device()) {
    return std::nullopt;
  }
  return one[0].device();
}

/// Where one side's own files are below the other's folder, both are named from there.
void share_folder(snapshots::Origins& one, snapshots::Origins& other) {
  if (one.folder().starts_with(other.folder())) one.set_folder(other.folder());
  if (other.folder().starts_with(one.folder())) other.set_folder(one.folder());
}

}  // namespace

Result<AnalysisReport> memory_snapshot_difference(const MemorySnapshot& before,
                                                  const MemorySnapshot& after,
                                                  const OptionValues& given) {
  const TableDescription& table = analyses::memory_snapshot_diff_table();
  const Result<OptionValues> options = complete_options(table, given);
  if (!options.ok()) return options.status();
  snapshots::Origins of_before(before.data().content);
  snapshots::Origins of_after(after.data().content);
  share_folder(of_before, of_after);
  Groups groups;
  // Both sides at the same moment.
  std::string at = options->text("at");
  const std::size_t failed = std::size_t{has_failed(before)} + std::size_t{has_failed(after)};
  if (at.empty()) at = failed == 2 ? "oom" : "peak";
  const std::optional<std::int64_t> device = device_of_both(before, after);
  add_side(before, &Sides::before, of_before, *options, at, device, groups);
  add_side(after, &Sides::after, of_after, *options, at, device, groups);
  AnalysisReport report;
  report.schema = table.schema;
  report.table.columns = table.column_names();
  report.shown = {
      "device", "difference_bytes", "before_bytes", "after_bytes", "source_line", "category",
      "stack",  "size_bytes",       "stream",       "pool"};
  std::vector<std::pair<const Groups::value_type*, std::int64_t>> order;
  WideInteger all_before = 0;
  WideInteger all_after = 0;
  std::set<std::int64_t> devices;
  for (const Groups::value_type& group : groups) {
    order.emplace_back(&group, group.second.after.bytes - group.second.before.bytes);
    all_before += group.second.before.bytes;
    all_after += group.second.after.bytes;
    devices.insert(group.first.first);
  }
  std::ranges::stable_sort(order, std::ranges::greater(), [](const auto& each) {
    return each.second < 0 ? -each.second : each.second;
  });
  for (const auto& [group, difference] : order) {
    const HolderKey& key = group->first.second;
    const Sides& sides = group->second;
    report.table.rows.push_back(
        {group->first.first, report::optional_cell(key.line), report::optional_cell(key.category),
         report::optional_cell(key.stack), report::optional_cell(key.size),
         report::optional_cell(key.stream), report::optional_cell(key.pool), sides.before.bytes,
         sides.after.bytes, difference, sides.before.allocations, sides.after.allocations});
  }
  if (at == "oom" && failed < 2) {
    report.notes.emplace_back("An allocation failed in " +
                              std::string(failed == 0 ? "neither" : "only one") +
                              " of the snapshots: there is nothing to compare.");
  } else if (failed == 1 && at == "peak") {
    report.notes.emplace_back(
        "Both at their peaks, since an allocation failed in only one of them.");
  }
  if (device) {
    report.notes.push_back("GPU " + std::to_string(*device) +
                           " of the first snapshot is compared with GPU " +
                           std::to_string(after.data().devices[0].device()) + " of the second.");
  }
  if (devices.size() < 2) std::erase(report.shown, "device");
  report.totals = {{"before_bytes", bounded(all_before)},
                   {"after_bytes", bounded(all_after)},
                   {"difference_bytes", bounded(all_after - all_before)}};
  return report;
}

}  // namespace tbtrace
