// Views of a memory snapshot as rows of `tbtrace.memory_snapshot/1`.
#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

#include <tbtrace/memory_snapshot.h>

#include "base/bounded_sum.h"
#include "report/optional_cell.h"
#include "report/table_list.h"
#include "snapshots/bands.h"
#include "snapshots/failure.h"
#include "snapshots/growth.h"
#include "snapshots/keepers.h"
#include "snapshots/moments.h"
#include "snapshots/notes.h"
#include "snapshots/snapshot.h"

namespace tbtrace {
namespace {

using report::optional_cell;
using snapshots::Allocation;
using snapshots::Categories;
using snapshots::DeviceReplay;
using snapshots::Grouping;
using snapshots::Holder;
using snapshots::kNone;
using snapshots::Moment;
using snapshots::Origins;
using Row = std::vector<Cell>;

/// What is needed for the rows of a device.
struct DeviceRows {
  const MemorySnapshot& snapshot;
  const DeviceReplay& replay;
  Origins& origins;
  Categories categories;
  Grouping grouping;
  const OptionValues& options;
  std::vector<Row>& rows;

  Row& add_row() { return rows.emplace_back(Row{optional_cell(snapshot.rank()), replay.device()}); }
};

void append(Row& row, std::initializer_list<Cell> cells) {
  row.insert(row.end(), cells.begin(), cells.end());
}

void append_key(Row& row, const snapshots::HolderKey& key) {
  append(row, {optional_cell(key.line), optional_cell(key.category), optional_cell(key.stack),
               optional_cell(key.size), optional_cell(key.stream), optional_cell(key.pool)});
}

Cell stream_cell(const DeviceReplay& replay, std::uint32_t stream) {
  return stream == 0 ? Cell() : Cell(replay.data().streams[stream]);
}

void add_alive(DeviceRows& device) {
  const auto chosen = snapshots::chosen_moment(device.replay, device.options);
  if (!chosen) return;
  const std::vector<Holder> holders =
      snapshots::holders_at(device.replay, device.grouping, chosen->moment);
  std::int64_t total = 0;
  for (const Holder& holder : holders) total += holder.bytes;
  for (const Holder& holder : holders) {
    Row& row = device.add_row();
    row.emplace_back(std::string(chosen->name));
    append_key(row, holder.key);
    const double share =
        total == 0 ? 0 : static_cast<double>(holder.bytes) / static_cast<double>(total);
    append(row, {holder.bytes, share, holder.allocations, holder.pending_bytes});
  }
}

void add_peak(DeviceRows& device) {
  const DeviceReplay& replay = device.replay;
  const std::vector<Holder> holders = snapshots::holders_at(replay, device.grouping, replay.peak());
  std::int64_t pending = 0;
  for (const Holder& holder : holders) pending += holder.pending_bytes;
  const auto reserved = snapshots::reserved_memory(replay, replay.peak());
  std::optional<std::int64_t> most_reserved = replay.reserved_at(0);
  for (const std::int64_t bytes : replay.reserved_curve()) {
    most_reserved = std::max(most_reserved.value_or(0), bytes);
  }
  const snapshots::StepEnds steps = snapshots::step_ends(replay, device.origins);
  std::vector<std::int64_t> at_ends;
  const std::vector<std::int64_t> curve = replay.allocated_curve();
  for (const Moment moment : steps.moments) {
    at_ends.push_back(moment == 0 ? replay.before_bytes() : curve[moment - 1]);
  }
  const bool held = !holders.empty();
  const bool has_history = replay.end() > 0;
  const bool is_known = replay.knows_allocated();
  Row& row = device.add_row();
  append(row, {has_history ? Cell(replay.peak_bytes()) : Cell(),
               has_history ? Cell(snapshots::time_of_moment_ns(replay, replay.peak())) : Cell(),
               is_known ? Cell(replay.allocated_at(replay.end())) : Cell(),
               is_known ? Cell(replay.before_bytes()) : Cell(),
               reserved ? Cell(reserved->reserved_bytes()) : Cell(),
               reserved ? Cell(reserved->free_bytes()) : Cell(), optional_cell(most_reserved),
               pending, at_ends.size() < 2 ? Cell() : Cell(snapshots::mean_difference(at_ends)),
               held ? optional_cell(holders[0].key.line) : Cell(),
               held ? holders[0].bytes : std::int64_t{0},
               static_cast<std::int64_t>(replay.out_of_memory().size()),
               static_cast<std::int64_t>(replay.end()),
               snapshots::time_of_moment_ns(replay, replay.end())});
}

void add_failures(DeviceRows& device) {
  const DeviceReplay& replay = device.replay;
  for (const snapshots::Failure& failure : snapshots::failures_of(replay)) {
    const std::vector<Holder> holders =
        snapshots::holders_at(replay, device.grouping, failure.place);
    const std::uint32_t stack = replay.data().entries.stack[replay.row(failure.place)];
    const std::string& line = device.origins.own_line(stack);
    const auto keeper = snapshots::keeper_at(replay, failure, device.grouping);
    Row& row = device.add_row();
    append(row, {snapshots::time_ns(replay, failure.place),
                 failure.asked_bytes,
                 failure.device_free_bytes,
                 failure.allocated_bytes,
                 optional_cell(failure.reserved_bytes),
                 optional_cell(failure.free_bytes),
                 optional_cell(failure.largest_free_bytes),
                 optional_cell(failure.usable_free_bytes),
                 optional_cell(failure.largest_usable_bytes),
                 optional_cell(failure.other_streams_free_bytes),
                 optional_cell(failure.private_reserved_bytes),
                 optional_cell(failure.private_free_bytes),
                 failure.pending_bytes,
                 std::string(snapshots::cause_name(failure.cause)),
                 snapshots::advice_on(failure),
                 keeper ? Cell(keeper->line) : Cell(),
                 keeper ? Cell(keeper->segments) : Cell(),
                 keeper ? Cell(keeper->free_bytes) : Cell(),
                 line.empty() ? snapshots::kUnattributed : line,
                 holders.empty() ? Cell() : optional_cell(holders[0].key.line),
                 holders.empty() ? std::int64_t{0} : holders[0].bytes});
  }
}

std::string address_text(std::uint64_t address) {
  constexpr int kHexadecimal = 16;
  std::array<char, 16> digits;
  const auto end =
      std::to_chars(digits.data(), digits.data() + digits.size(), address, kHexadecimal);
  return "0x" + std::string(digits.data(), end.ptr);
}

void add_segments(DeviceRows& device) {
  const DeviceReplay& replay = device.replay;
  const auto chosen = snapshots::chosen_moment(replay, device.options);
  const auto memory = chosen ? snapshots::reserved_memory(replay, chosen->moment) : std::nullopt;
  if (!memory) return;
  std::vector<std::int64_t> free(memory->ranges.size(), 0);
  std::vector<std::int64_t> largest(memory->ranges.size(), 0);
  for (const snapshots::Gap& gap : memory->gaps) {
    free[gap.range] += gap.size;
    largest[gap.range] = std::max(largest[gap.range], gap.size);
  }
  std::vector<std::size_t> order;
  for (std::size_t number = 0; number < free.size(); ++number) order.push_back(number);
  std::ranges::stable_sort(order, std::ranges::greater(),
                           [&](std::size_t number) { return free[number]; });
  for (const std::size_t number : order) {
    const snapshots::ReservedRange& range = memory->ranges[number];
    const Allocation* const keeper = snapshots::keeper_of(replay, *memory, number);
    Row& row = device.add_row();
    append(row,
           {std::string(chosen->name), address_text(range.address), range.size,
            range.size - free[number], free[number], largest[number],
            static_cast<std::int64_t>(memory->allocations[number].size()),
            stream_cell(replay, range.stream), report::text_cell(device.grouping.pool(range.pool)),
            std::string(range.is_expandable ? "expandable"
                        : range.is_small    ? "small"
                                            : "large"),
            keeper == nullptr ? Cell() : Cell(device.grouping.line(*keeper)),
            keeper == nullptr ? Cell() : Cell(replay.size(*keeper)),
            report::text_cell(device.origins.own_line(range.stack))});
  }
}

void add_blocks(DeviceRows& device) {
  const DeviceReplay& replay = device.replay;
  const auto chosen = snapshots::chosen_moment(replay, device.options);
  const auto memory = chosen ? snapshots::reserved_memory(replay, chosen->moment) : std::nullopt;
  if (!memory) return;
  constexpr std::string_view kStates[] = {"allocated", "pending", "free"};
  for (const snapshots::Piece& piece : snapshots::pieces_of(replay, *memory, chosen->moment)) {
    const snapshots::ReservedRange& range = memory->ranges[piece.range];
    const bool is_free = piece.allocation == kNone;
    const Allocation& allocation = replay.allocations()[is_free ? 0 : piece.allocation];
    Row& row = device.add_row();
    append(row, {std::string(chosen->name), address_text(range.address), piece.offset, piece.size,
                 std::string(kStates[static_cast<std::size_t>(piece.state)]),
                 is_free ? Cell() : Cell(device.grouping.line(allocation)),
                 is_free ? Cell() : Cell(std::string(device.categories.of(allocation))),
                 stream_cell(replay, range.stream),
                 report::text_cell(device.grouping.pool(range.pool))});
  }
}

/// Of what is in no band of its own.
snapshots::HolderKey key_of_others(const snapshots::GroupBy& by) {
  snapshots::HolderKey key;
  if (by.line) key.line = snapshots::kOthers;
  if (by.category) key.category = snapshots::kOthers;
  if (by.stack) key.stack = snapshots::kOthers;
  return key;
}

void add_bands(DeviceRows& device) {
  const snapshots::Bands bands = snapshots::bands_of(device.replay, device.grouping);
  for (std::size_t number = 0; number < bands.bands.size(); ++number) {
    const snapshots::Band& band = bands.bands[number];
    const snapshots::HolderKey key = band.group
                                         ? device.grouping.key(*band.group)
                                         : key_of_others(snapshots::chosen_groups(device.options));
    for (std::size_t place = 0; place < bands.moments.size(); ++place) {
      Row& row = device.add_row();
      row.emplace_back(static_cast<std::int64_t>(number + 1));
      append_key(row, key);
      append(row, {snapshots::time_of_moment_ns(device.replay, bands.moments[place]),
                   band.bytes[place]});
    }
  }
}

void add_growth(DeviceRows& device) {
  const snapshots::StepEnds steps = snapshots::step_ends(device.replay, device.origins);
  for (const snapshots::Growth& growth :
       snapshots::growth_of(device.replay, device.grouping, steps)) {
    Row& row = device.add_row();
    append_key(row, growth.key);
    append(row, {growth.per_step_bytes, growth.first_bytes, growth.last_bytes, growth.rises,
                 growth.steps, growth.since_step});
  }
}

void add_curve(DeviceRows& device) {
  const DeviceReplay& replay = device.replay;
  const std::vector<std::int64_t> allocated = replay.allocated_curve();
  const std::vector<std::int64_t> reserved = replay.reserved_curve();
  for (std::uint32_t place = 0; place < replay.end(); ++place) {
    Row& row = device.add_row();
    const snapshots::Action action = replay.data().entries.action[replay.row(place)];
    append(row, {snapshots::time_ns(replay, place), std::string(snapshots::action_name(action)),
                 allocated[place], reserved.empty() ? Cell() : Cell(reserved[place])});
  }
}

void add_allocations(DeviceRows& device) {
  const DeviceReplay& replay = device.replay;
  const auto time = [&](std::uint32_t place) {
    return place == kNone ? Cell() : Cell(snapshots::time_ns(replay, place));
  };
  for (const Allocation& allocation : replay.allocations()) {
    Row& row = device.add_row();
    const bool is_known = allocation.start != kNone && allocation.freed != kNone;
    append(row, {replay.size(allocation), device.grouping.line(allocation),
                 std::string(device.categories.of(allocation)),
                 stream_cell(replay, replay.stream(allocation)),
                 report::text_cell(device.grouping.pool(replay.pool(allocation))),
                 time(allocation.start), time(allocation.requested), time(allocation.freed),
                 is_known ? Cell(bounded(WideInteger{snapshots::time_ns(replay, allocation.freed)} -
                                         snapshots::time_ns(replay, allocation.start)))
                          : Cell()});
  }
}

struct View {
  std::string_view name;
  void (*add)(DeviceRows& device);
  std::vector<std::string> shown;
};

const View& view_named(std::string_view name) {
  static const std::array kViews = std::to_array<View>({
      {"alive",
       add_alive,
       {"rank", "device", "bytes", "share", "allocations", "source_line", "category", "stack",
        "size_bytes", "stream", "pool"}},
      {"peak",
       add_peak,
       {"rank", "device", "peak_bytes", "end_bytes", "peak_reserved_bytes", "before_bytes",
        "growth_per_step_bytes", "largest_line", "largest_bytes", "peak_at_ns", "out_of_memory"}},
      {"oom",
       add_failures,
       {"rank", "device", "asked_bytes", "device_free_bytes", "allocated_bytes", "free_bytes",
        "largest_usable_bytes", "cause", "source_line", "kept_by_line", "largest_line",
        "largest_bytes"}},
      {"segments",
       add_segments,
       {"rank", "device", "bytes", "free_bytes", "largest_free_bytes", "blocks", "kind",
        "kept_by_line", "kept_by_bytes", "reserved_by_line", "pool", "stream"}},
      {"blocks",
       add_blocks,
       {"rank", "device", "address", "offset_bytes", "bytes", "state", "source_line", "category",
        "pool", "stream"}},
      {"bands",
       add_bands,
       {"rank", "device", "band", "source_line", "category", "stack", "size_bytes", "stream",
        "pool", "at_ns", "bytes"}},
      {"growth",
       add_growth,
       {"rank", "device", "growth_per_step_bytes", "first_bytes", "last_bytes", "rises", "steps",
        "since_step", "source_line", "category", "stack", "size_bytes", "stream", "pool"}},
      {"curve",
       add_curve,
       {"rank", "device", "at_ns", "action", "allocated_bytes", "reserved_bytes"}},
      {"allocations",
       add_allocations,
       {"rank", "device", "bytes", "source_line", "category", "held_ns", "allocated_at_ns",
        "freed_at_ns", "stream", "pool"}},
  });
  const auto* const found = std::ranges::find(kViews, name, &View::name);
  return found == kViews.end() ? kViews[0] : *found;
}

/// Sums of the columns that the description has totals of.
void add_totals(AnalysisReport& report) {
  for (const ColumnDescription& total : analyses::memory_snapshot_table().totals) {
    const auto column = std::ranges::find(report.table.columns, total.name);
    WideInteger sum = 0;
    for (const Row& row : report.table.rows) {
      sum += std::get<std::int64_t>(
          row[static_cast<std::size_t>(column - report.table.columns.begin())]);
    }
    report.totals.emplace_back(total.name, bounded(sum));
  }
}

}  // namespace

Result<AnalysisReport> memory_snapshot_report(const MemorySnapshot& snapshot,
                                              const OptionValues& given) {
  const TableDescription& table = analyses::memory_snapshot_table();
  const Result<OptionValues> options = snapshots::checked_options(table, given);
  if (!options.ok()) return options.status();
  const View& view = view_named(options->text("view"));
  AnalysisReport report;
  report.schema = table.schema;
  report.table.columns = table.column_names(view.name == "alive" ? "" : view.name);
  report.shown = view.shown;
  Origins origins(snapshot.data().content);
  for (const DeviceReplay& replay : snapshot.data().devices) {
    Categories categories(replay, origins);
    DeviceRows rows = {snapshot,
                       replay,
                       origins,
                       categories,
                       Grouping(replay, origins, categories, snapshots::chosen_groups(*options)),
                       *options,
                       report.table.rows};
    view.add(rows);
  }
  const bool is_alive = view.name == "alive";
  if (is_alive) add_totals(report);
  if (snapshot.data().devices.size() < 2) std::erase(report.shown, "device");
  report.notes = snapshots::notes_on(snapshot, *options);
  for (const Issue& issue : snapshot.issues()) report.source.issues.emplace(issue.id, issue.count);
  return report;
}

}  // namespace tbtrace
