// The tables of a partial, one row each, in the order in which they are written.
// To add one, add a row here and in tables.cc, and a pair of functions that fills it from a trace
// and makes a result of it; a table that older partials lack is empty in them.
// Constants. Any thread.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "partials/sum_table.h"

namespace tbtrace::partials {

enum class TableId : std::uint8_t {
  facts,    ///< single figures, by name
  threads,  ///< host threads of each source
  operators,
  operators_overload,
  operators_shape,
  operators_shape_overload,
  operators_stack,
  operators_stack_overload,
  operators_stack_shape,
  operators_stack_shape_overload,
  kernels_name,
  kernels_launch,
  kernels_operator,
  kernels_family,
  kernels_label,
  kernels_all,
  modules,
  lines,
  own_lines,
  costs,  ///< of all modules and lines together, and what none of them did
};
inline constexpr std::size_t kTables = 20;

constexpr std::size_t index(TableId table) { return static_cast<std::size_t>(table); }

const TableShape& shape_of(TableId table);
/// nullopt if there is none of this name.
std::optional<TableId> table_named(std::string_view name);

// The figures of tables, as indices.

enum FactFigure : std::uint8_t { kFactSum, kFactLeast, kFactMost, kFactFigures };
enum ThreadFigure : std::uint8_t { kThreadSelf, kThreadIdle, kThreadFigures };
enum OperatorFigure : std::uint8_t {
  kOperatorKind,
  kOperatorHasParent,
  kOperatorFirst,
  kOperatorCount,
  kOperatorCpuTotal,
  kOperatorCpuSelf,
  kOperatorDeviceTotal,
  kOperatorDeviceSelf,
  kOperatorCpuMemory,
  kOperatorCpuMemorySelf,
  kOperatorDeviceMemory,
  kOperatorDeviceMemorySelf,
  kOperatorFlops,
  kOperatorFigures
};
enum KernelFigure : std::uint8_t {
  kKernelCount,
  kKernelLaunches,
  kKernelWithoutLaunch,
  kKernelShort,
  kKernelMin,
  kKernelMax,
  kKernelDelayMax,
  kKernelTotal,
  kKernelSquares,
  kKernelTensorCores,
  kKernelLaunchCalls,
  kKernelDelayTotal,
  kKernelBlocks,  ///< the next three with it: WeightedSum
  kKernelBlocksWeight,
  kKernelBlocksPlain,
  kKernelBlocksCount,
  kKernelOccupancy,  ///< likewise
  kKernelOccupancyWeight,
  kKernelOccupancyPlain,
  kKernelOccupancyCount,
  kKernelFigures
};
/// Those of ModuleCost, in its order; modules and lines have more after them.
inline constexpr std::size_t kCostFigures = 14;
enum ModuleFigure : std::uint8_t {
  kModuleFirst = kCostFigures,
  kModuleCalls,
  kModuleOwnParametersLeast,
  kModuleOwnParametersMost,
  kModuleParametersLeast,
  kModuleParametersMost,
  kModuleFigures
};
enum LineFigure : std::uint8_t { kLineCalls = kCostFigures, kLineFigures };

}  // namespace tbtrace::partials
