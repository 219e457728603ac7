// The table `occupancy`: what keeps a device from holding more threads of a kernel at a time.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <tbtrace/kernels.h>
#include <tbtrace/tables.h>

#include "analyses/attribution/work_times.h"
#include "analyses/kernels/occupancy.h"
#include "analyses/kernels/report.h"
#include "base/share.h"
#include "report/source_report.h"
#include "report/table_list.h"
#include "report/typed_columns.h"

namespace tbtrace {
namespace {

using analyses::DeviceLimits;
using analyses::LaunchSize;
using analyses::Occupancy;

enum class Limit : std::uint8_t { unknown, grid, threads, blocks, registers, shared_memory };
constexpr std::array<std::string_view, 6> kLimitNames = {"",       "grid",      "threads",
                                                         "blocks", "registers", "shared_memory"};

struct Row {
  std::optional<std::int64_t> rank;
  std::int64_t all_ns = 0;  // of all rows
  KernelGroup group;
  Limit limit = Limit::unknown;
  std::optional<std::int64_t> resident_blocks;  // this and the next two unless unknown
  std::optional<double> theoretical_percent;
  std::optional<double> waves;
};

std::optional<double> share_percent(const Row& row) {
  if (row.all_ns == 0) return std::nullopt;
  return 100 * share(row.group.total_ns, row.all_ns);
}

std::optional<std::string> limit_name(const Row& row) {
  if (row.limit == Limit::unknown) return std::nullopt;
  return std::string(kLimitNames[static_cast<std::size_t>(row.limit)]);
}

std::optional<double> wave_share(const Row& row) {
  if (!row.waves || *row.waves == 0) return std::nullopt;
  return *row.waves / std::ceil(*row.waves);
}

using OccupancyColumn = report::TypedColumn<Row>;
constexpr OccupancyColumn kColumns[] = {
    OccupancyColumn::of<&Row::rank>("rank", "from `distributedInfo`", 1),
    OccupancyColumn::of<[](const Row& row) { return row.group.values.device; }>(
        "device", "the device's number: the process id of its streams", 2),
    OccupancyColumn::of<[](const Row& row) { return row.group.name; }>("name",
                                                                       "the kernel's whole name"),
    OccupancyColumn::of<[](const Row& row) { return row.group.short_name; }>(
        "short_name", "the name as people write it, as in the table [kernels](kernels.md)", 3),
    OccupancyColumn::of<[](const Row& row) { return row.group.op; }>(
        "operator", "the operator that launched the kernels, `[unattributed]` if none is known"),
    OccupancyColumn::of<[](const Row& row) { return analyses::sizes_of(row.group.grid); }>(
        "grid", "blocks in x, y and z", 10),
    OccupancyColumn::of<[](const Row& row) { return analyses::sizes_of(row.group.block); }>(
        "block", "threads of a block in x, y and z", 11),
    OccupancyColumn::of<[](const Row& row) { return row.group.registers; }>(
        "registers", "registers of a thread", 12),
    OccupancyColumn::of<[](const Row& row) { return row.group.shared_memory_bytes; }>(
        "shared_memory_bytes", "shared memory of a block", 13),
    OccupancyColumn::of<[](const Row& row) { return row.group.count; }>("count", "kernels", 4),
    OccupancyColumn::of<[](const Row& row) { return row.group.total_ns; }>(
        "total_ns", "sum of their durations", 5),
    OccupancyColumn::of<share_percent>("share_percent",
                                       "`total_ns` as a share of all kernels' time, 0 to 100", 6),
    OccupancyColumn::of<limit_name>("limit",
                                    "what limits how many threads the device holds, see above", 7),
    OccupancyColumn::of<&Row::resident_blocks>(
        "resident_blocks", "blocks that a multiprocessor holds at a time, at most"),
    OccupancyColumn::of<&Row::theoretical_percent>(
        "theoretical_percent",
        "their threads as a share of the threads that a multiprocessor can hold, 0 to 100", 8),
    OccupancyColumn::of<&Row::waves>(
        "waves", "blocks of the grid by the blocks that the device holds at a time", 9),
    OccupancyColumn::of<wave_share>(
        "wave_share",
        "`waves` by the next whole number, 0 to 1: the share of the device's places for blocks "
        "that are used if all blocks take equally long"),
    OccupancyColumn::of<[](const Row& row) { return row.group.occupancy_percent; }>(
        "occupancy_percent",
        "estimated achieved occupancy as the profiler recorded it, 0 to 100: the mean by duration. "
        "See "
        "above for where it differs"),
};

template <Limit kLimit>
constexpr std::int64_t ns_of(const Row& row) {
  return row.limit == kLimit ? row.group.total_ns : 0;
}

using Total = report::TypedTotal<Row>;
constexpr Total kTotals[] = {
    Total::sum_of<[](const Row& row) { return static_cast<std::int64_t>(row.group.count); }>(
        "count", "kernels"),
    Total::sum_of<[](const Row& row) { return row.group.total_ns; }>(
        "total_ns", "sum of their durations, which the following add up to"),
    Total::sum_of<ns_of<Limit::grid>>("grid_ns", "of kernels whose `limit` is `grid`"),
    Total::sum_of<ns_of<Limit::threads>>("threads_ns", "likewise"),
    Total::sum_of<ns_of<Limit::blocks>>("blocks_ns", "likewise"),
    Total::sum_of<ns_of<Limit::registers>>("registers_ns", "likewise"),
    Total::sum_of<ns_of<Limit::shared_memory>>("shared_memory_ns", "likewise"),
    Total::sum_of<ns_of<Limit::unknown>>("unknown_ns", "of kernels whose `limit` is null"),
};

/// 0 for what is unknown or absurd, which occupancy takes for unknown.
template <typename Number>
std::int32_t whole(std::optional<Number> value) {
  const auto number = static_cast<std::int64_t>(value.value_or(0));
  return number < 0 || number > std::numeric_limits<std::int32_t>::max()
             ? 0
             : static_cast<std::int32_t>(number);
}

std::array<std::int32_t, 3> sizes(const Dim3& size) {
  return {whole(std::optional(size.x)), whole(std::optional(size.y)), whole(std::optional(size.z))};
}

/// All zero if the file does not say it, and for devices that work otherwise than NVIDIA's.
DeviceLimits limits_of(const std::vector<DeviceProperties>& devices, std::int64_t id) {
  const auto found = std::ranges::find(devices, id, &DeviceProperties::id);
  if (found == devices.end() || found->name.starts_with("AMD")) return {};
  constexpr int kReserved = 1024;  // by the driver, for each block, from compute capability 8.0 on
  return {.compute_major = whole(found->compute_major),
          .compute_minor = whole(found->compute_minor),
          .max_threads_per_block = whole(found->max_threads_per_block),
          .max_threads_per_multiprocessor = whole(found->max_threads_per_multiprocessor),
          .registers_per_block = whole(found->registers_per_block),
          .registers_per_multiprocessor = whole(found->registers_per_multiprocessor),
          .warp_size = whole(found->warp_size),
          .shared_bytes_per_block = whole(found->shared_bytes_per_block),
          .shared_bytes_per_block_optin = whole(found->shared_bytes_per_block_optin),
          .shared_bytes_per_multiprocessor = whole(found->shared_bytes_per_multiprocessor),
          .reserved_shared_bytes_per_block = whole(found->compute_major) >= 8 ? kReserved : 0,
          .multiprocessors = whole(found->multiprocessors)};
}

/// Sets what follows from the launch and the device.
void find_limit(Row& row, const DeviceLimits& device) {
  const KernelGroup& group = row.group;
  if (!group.grid || !group.block || !group.registers || !group.shared_memory_bytes) return;
  const LaunchSize launch = {
      .grid = sizes(*group.grid),
      .block = sizes(*group.block),
      .registers_per_thread = static_cast<std::uint32_t>(whole(group.registers)),
      .dynamic_shared_bytes = whole(group.shared_memory_bytes)};
  const Occupancy found = find_occupancy(device, launch, analyses::SharedMemoryRule::opt_in);
  if (found.active_blocks == 0) return;  // but it ran
  const auto product = [](const std::array<std::int32_t, 3>& each) {
    return double{1} * each[0] * each[1] * each[2];
  };
  row.resident_blocks = found.active_blocks;
  const double warps = std::ceil(product(launch.block) / device.warp_size) * found.active_blocks;
  row.theoretical_percent = 100 * warps * device.warp_size / device.max_threads_per_multiprocessor;
  row.waves = product(launch.grid) / found.active_blocks / device.multiprocessors;
  constexpr std::pair<std::uint32_t, Limit> kFactors[] = {
      {Occupancy::kWarps, Limit::threads},
      {Occupancy::kBlocks, Limit::blocks},
      {Occupancy::kRegisters, Limit::registers},
      {Occupancy::kSharedMemory, Limit::shared_memory}};
  const auto* const factor = std::ranges::find_if(
      kFactors, [&](const auto& each) { return (found.limiting_factors & each.first) != 0; });
  row.limit = *row.waves < 1 ? Limit::grid : factor->second;
}

Result<AnalysisReport> occupancy_report(const Trace& trace, const OptionValues& values) {
  const TableDescription& table = analyses::occupancy_table();
  if (Status read = trace.check_read(table.arguments, table.name); !read.ok()) return read;
  const Result<KernelSummary> summary = kernel_summary(
      trace,
      {.group_by = KernelGrouping::launch, .by = {GroupKey::device}, .steps = values.steps()});
  if (!summary.ok()) return summary.status();
  const std::vector<DeviceProperties> devices = trace.device_properties();
  std::vector<Row> rows;
  for (const KernelGroup& group : summary->groups) {
    rows.push_back({trace.identity().rank, summary->all.total_ns, group});
    find_limit(rows.back(), limits_of(devices, group.values.device.value_or(-1)));
  }
  AnalysisReport report;
  report.schema = table.schema;
  report::set_rows(report, kColumns, rows);
  report::set_totals<kTotals>(report, rows);
  report.notes = analyses::work_time_notes(trace);
  if (!rows.empty() && std::ranges::all_of(rows, [](const Row& row) { return !row.waves; })) {
    report.notes.emplace_back(
        "what limits the kernels is unknown: it needs their launch configurations and what the "
        "device has (`deviceProperties`), as PyTorch records them for NVIDIA GPUs");
  }
  report.source = report::source_report(trace);
  return report;
}

}  // namespace

const TableDescription& analyses::occupancy_table() {
  static const TableDescription kTable = {
      .name = "occupancy",
      .schema = "tbtrace.occupancy/1",
      .summary = "what keeps a GPU from holding more threads of each kernel",
      .about =
          R"(How full kernels can make an NVIDIA GPU: for each launch configuration, how many blocks a
multiprocessor holds at a time, and what keeps it from holding more: registers, shared memory, the
number of blocks or threads, or a grid with too few blocks for all multiprocessors. Rows add up to
the time of all kernels.
)",
      .columns = report::described(kColumns),
      .totals = report::described(kTotals),
      .arguments = {ArgumentGroup::launches, ArgumentGroup::placement},
      .options = {steps_option()},
      .sort_keys = {"total_ns", "count", "theoretical_percent", "waves"},
      .examples = {{"tbtrace occupancy trace.json.gz", "the kernels that took longest"},
                   {"tbtrace occupancy trace.json.gz --steps 3-5", "those of three steps"},
                   {"tbtrace occupancy traces/ --sort-by total_ns", "those of all ranks"},
                   {"tbtrace occupancy trace.json.gz --format csv -o occupancy.csv",
                    "all, for a spreadsheet"}},
      .no_rows = {"the trace has no kernels", NeededData::device_activities},
      .make = occupancy_report};
  return kTable;
}

}  // namespace tbtrace
