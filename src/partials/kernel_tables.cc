#include "partials/kernel_tables.h"

#include <algorithm>
#include <string>
#include <utility>

#include "analyses/kernels/families.h"
#include "analyses/kernels/groups.h"
#include "analyses/kernels/runs.h"
#include "analyses/kernels/sums.h"
#include "partials/key_number.h"

namespace tbtrace::partials {
namespace {

using analyses::KernelSums;
using analyses::SummedKernels;
using analyses::WeightedSum;

constexpr std::pair<KernelGrouping, TableId> kGroupings[] = {
    {KernelGrouping::name, TableId::kernels_name},
    {KernelGrouping::launch, TableId::kernels_launch},
    {KernelGrouping::op, TableId::kernels_operator},
    {KernelGrouping::family, TableId::kernels_family},
    {KernelGrouping::label, TableId::kernels_label}};

struct CopyFact {
  const char* name;
  std::uint64_t KernelSummary::*count;
  std::int64_t KernelSummary::*ns;
};
constexpr CopyFact kCopies[] = {{"memcpy", &KernelSummary::memcpys, &KernelSummary::memcpy_ns},
                                {"memset", &KernelSummary::memsets, &KernelSummary::memset_ns}};

std::string text_of(const std::optional<Dim3>& sizes) {
  if (!sizes) return {};
  return std::to_string(sizes->x) + "," + std::to_string(sizes->y) + "," + std::to_string(sizes->z);
}

std::string text_of(std::optional<std::int64_t> number) {
  return number ? std::to_string(*number) : std::string();
}

std::optional<Dim3> sizes_in(std::string_view text) {
  const std::size_t first = text.find(',');
  const std::size_t second =
      first == std::string_view::npos ? std::string_view::npos : text.find(',', first + 1);
  if (second == std::string_view::npos) return std::nullopt;
  const auto x = key_number<std::uint32_t>(text.substr(0, first));
  const auto y = key_number<std::uint32_t>(text.substr(first + 1, second - first - 1));
  const auto z = key_number<std::uint32_t>(text.substr(second + 1));
  if (!x || !y || !z) return std::nullopt;
  return Dim3{*x, *y, *z};
}

void put(std::array<Figure, kKernelFigures>& figures, KernelFigure first, const WeightedSum& sum) {
  figures[first] = sum.weighted;
  figures[first + 1] = sum.weight_ns;
  figures[first + 2] = sum.plain;
  figures[first + 3] = WideInteger{sum.count};
}

WeightedSum weighted_in(std::span<const Figure> figures, KernelFigure first) {
  return {.weighted = figures[first].value(),
          .weight_ns = figures[first + 1].value(),
          .plain = figures[first + 2].value(),
          .count = figures[first + 3].count()};
}

std::array<Figure, kKernelFigures> figures_of(const KernelSums& sums) {
  std::array<Figure, kKernelFigures> figures;
  figures[kKernelCount] = WideInteger{sums.count};
  figures[kKernelLaunches] = WideInteger{sums.launches};
  figures[kKernelWithoutLaunch] = WideInteger{sums.without_launch};
  figures[kKernelShort] = WideInteger{sums.short_kernels};
  if (sums.count > 0) {
    figures[kKernelMin] = WideInteger{sums.min_ns};
    figures[kKernelMax] = WideInteger{sums.max_ns};
  }
  figures[kKernelDelayMax] = WideInteger{sums.launch_delay_max_ns};
  figures[kKernelTotal] = sums.total_ns;
  figures[kKernelSquares] = sums.squares_ns2;
  figures[kKernelTensorCores] = sums.tensor_core_ns;
  figures[kKernelLaunchCalls] = sums.launch_call_ns;
  figures[kKernelDelayTotal] = sums.launch_delay_total_ns;
  put(figures, kKernelBlocks, sums.blocks_per_sm);
  put(figures, kKernelOccupancy, sums.occupancy);
  return figures;
}

KernelSums sums_of(const SumTable& table, std::size_t row) {
  const std::span<const Figure> figures = table.figures(row);
  KernelSums sums;
  sums.count = figures[kKernelCount].count();
  sums.launches = figures[kKernelLaunches].count();
  sums.without_launch = std::min(figures[kKernelWithoutLaunch].count(), sums.count);
  sums.short_kernels = figures[kKernelShort].count();
  sums.min_ns = figures[kKernelMin].whole();
  sums.max_ns = figures[kKernelMax].whole();
  sums.launch_delay_max_ns = figures[kKernelDelayMax].whole();
  sums.total_ns = figures[kKernelTotal].value();
  sums.squares_ns2 = figures[kKernelSquares].value();
  sums.tensor_core_ns = figures[kKernelTensorCores].value();
  sums.launch_call_ns = figures[kKernelLaunchCalls].value();
  sums.launch_delay_total_ns = figures[kKernelDelayTotal].value();
  sums.blocks_per_sm = weighted_in(figures, kKernelBlocks);
  sums.occupancy = weighted_in(figures, kKernelOccupancy);
  sums.durations = table.durations(row);
  return sums;
}

void add_groups(Content& content, TableId table, const SummedKernels& kernels) {
  for (std::size_t row = 0; row < kernels.groups.size(); ++row) {
    const KernelGroup& group = kernels.groups[row];
    content.add(
        table,
        // A label has the operator's place; no table has both.
        {group.name, group.label.empty() ? group.op : group.label,
         std::to_string(static_cast<int>(group.family)), text_of(group.grid), text_of(group.block),
         text_of(group.registers), text_of(group.shared_memory_bytes)},
        figures_of(kernels.sums[row]), kernels.sums[row].durations);
  }
}

KernelGroup group_of(const Content& content, std::span<const std::uint32_t> key,
                     KernelGrouping group_by) {
  KernelGroup group;
  group.name = content.text(key[0]);
  (group_by == KernelGrouping::label ? group.label : group.op) = content.text(key[1]);
  const int family = key_number<int>(content.texts[key[2]]).value_or(0);
  group.family =
      static_cast<KernelFamily>(std::clamp(family, 0, static_cast<int>(kKernelFamilies) - 1));
  group.grid = sizes_in(content.texts[key[3]]);
  group.block = sizes_in(content.texts[key[4]]);
  group.registers = key_number<std::int64_t>(content.texts[key[5]]);
  group.shared_memory_bytes = key_number<std::int64_t>(content.texts[key[6]]);
  if (group_by == KernelGrouping::name || group_by == KernelGrouping::launch) {
    group.tensor_cores_used = analyses::uses_tensor_cores(group.name);
  }
  return group;
}

}  // namespace

void add_kernels(Content& content, const Trace& trace) {
  for (const auto& [grouping, table] : kGroupings) {
    const KernelsOptions options = {.group_by = grouping};
    analyses::KernelGroups groups(trace, options);
    groups.add(analyses::kernel_runs(trace, std::nullopt));
    const SummedKernels kernels = std::move(groups).release();
    add_groups(content, table, kernels);
    if (grouping == KernelGrouping::name) {
      content.add(TableId::kernels_all, {"", "", "", "", "", "", ""}, figures_of(kernels.all),
                  kernels.all.durations);
    }
  }
  KernelSummary copies;
  analyses::add_copies(copies, trace, std::nullopt);
  for (const CopyFact& fact : kCopies) {
    content.add_fact(fact.name, kFactSum, WideInteger{copies.*fact.count});
    content.add_fact(fact.name + std::string("_ns"), kFactSum, WideInteger{copies.*fact.ns});
  }
}

KernelSummary kernels_of(const Content& content, KernelGrouping group_by) {
  const auto* const grouping =
      std::ranges::find(kGroupings, group_by, [](const auto& row) { return row.first; });
  const SumTable& table = content.table(grouping->second);
  SummedKernels kernels;
  for (std::size_t row = 0; row < table.size(); ++row) {
    kernels.groups.push_back(group_of(content, table.key(row), group_by));
    kernels.sums.push_back(sums_of(table, row));
  }
  const SumTable& all = content.table(TableId::kernels_all);
  if (all.size() > 0) kernels.all = sums_of(all, 0);
  KernelSummary summary = analyses::summary_of(std::move(kernels));
  for (const CopyFact& fact : kCopies) {
    summary.*fact.count = content.fact(fact.name, kFactSum).count();
    summary.*fact.ns = content.fact(fact.name + std::string("_ns"), kFactSum).whole();
  }
  return summary;
}

}  // namespace tbtrace::partials
