#include "partials/tables.h"

namespace tbtrace::partials {
namespace {

constexpr std::string_view kFactKeys[] = {"fact"};
constexpr FigureShape kFacts[] = {{"sum", Fold::sum}, {"least", Fold::least}, {"most", Fold::most}};
static_assert(std::size(kFacts) == kFactFigures);

constexpr std::string_view kThreadKeys[] = {"process", "thread", "name", "source"};
constexpr FigureShape kThreads[] = {{"self_cpu_time_total_ns"}, {"idle_ns"}};
static_assert(std::size(kThreads) == kThreadFigures);

constexpr std::string_view kOperatorKeys[] = {"key",           "device_type",  "is_user_annotation",
                                              "overload_name", "input_shapes", "stack"};
constexpr FigureShape kOperators[] = {{"kind", Fold::least},
                                      {"has_cpu_parent", Fold::least},
                                      {"first", Fold::least},
                                      {"count"},
                                      {"cpu_time_total_ns"},
                                      {"self_cpu_time_total_ns"},
                                      {"device_time_total_ns"},
                                      {"self_device_time_total_ns"},
                                      {"cpu_memory_usage_bytes"},
                                      {"self_cpu_memory_usage_bytes"},
                                      {"device_memory_usage_bytes"},
                                      {"self_device_memory_usage_bytes"},
                                      {"flops"}};
static_assert(std::size(kOperators) == kOperatorFigures);

constexpr std::string_view kKernelKeys[] = {
    "name", "operator", "family", "grid", "block", "registers", "shared_memory_bytes"};
constexpr FigureShape kKernels[] = {{"count"},
                                    {"launches"},
                                    {"without_launch"},
                                    {"short_kernels"},
                                    {"min_ns", Fold::least},
                                    {"max_ns", Fold::most},
                                    {"launch_delay_max_ns", Fold::most},
                                    {"total_ns"},
                                    {"squares_ns2"},
                                    {"tensor_core_ns"},
                                    {"launch_call_ns"},
                                    {"launch_delay_total_ns"},
                                    {"blocks_per_sm_weighted"},
                                    {"blocks_per_sm_weight_ns"},
                                    {"blocks_per_sm_plain"},
                                    {"blocks_per_sm_count"},
                                    {"occupancy_weighted"},
                                    {"occupancy_weight_ns"},
                                    {"occupancy_plain"},
                                    {"occupancy_count"}};
static_assert(std::size(kKernels) == kKernelFigures);

// clang-format off
#define TBTRACE_COSTS                                                                        \
  {"cpu_time_total_ns"}, {"self_cpu_time_ns"}, {"device_time_total_ns"},                     \
  {"self_device_time_ns"}, {"backward_cpu_time_ns"}, {"backward_device_time_ns"},            \
  {"cpu_memory_bytes"}, {"device_memory_bytes"}, {"self_cpu_memory_bytes"},                  \
  {"self_device_memory_bytes"}, {"macs"}, {"flops"}, {"backward_macs"}, {"backward_flops"}
// clang-format on
constexpr std::string_view kCostKeys[] = {"table", "of"};
constexpr FigureShape kCosts[] = {TBTRACE_COSTS};
static_assert(std::size(kCosts) == kCostFigures);

constexpr std::string_view kModuleKeys[] = {"chain"};
constexpr FigureShape kModules[] = {TBTRACE_COSTS,
                                    {"first", Fold::least},
                                    {"calls"},
                                    {"self_parameters_least", Fold::least},
                                    {"self_parameters_most", Fold::most},
                                    {"parameters_least", Fold::least},
                                    {"parameters_most", Fold::most}};
static_assert(std::size(kModules) == kModuleFigures);

constexpr std::string_view kLineKeys[] = {"file", "line", "function", "level"};
constexpr FigureShape kLines[] = {TBTRACE_COSTS, {"calls"}};
static_assert(std::size(kLines) == kLineFigures);
#undef TBTRACE_COSTS

constexpr TableShape kShapes[] = {
    {"facts", kFactKeys, kFacts},
    {"threads", kThreadKeys, kThreads},
    {"operators", kOperatorKeys, kOperators},
    {"operators.overload", kOperatorKeys, kOperators},
    {"operators.shape", kOperatorKeys, kOperators},
    {"operators.shape.overload", kOperatorKeys, kOperators},
    {"operators.stack", kOperatorKeys, kOperators},
    {"operators.stack.overload", kOperatorKeys, kOperators},
    {"operators.stack.shape", kOperatorKeys, kOperators},
    {"operators.stack.shape.overload", kOperatorKeys, kOperators},
    {"kernels.name", kKernelKeys, kKernels, true},
    {"kernels.launch", kKernelKeys, kKernels, true},
    {"kernels.operator", kKernelKeys, kKernels, true},
    {"kernels.family", kKernelKeys, kKernels, true},
    {"kernels.label", kKernelKeys, kKernels, true},
    {"kernels.all", kKernelKeys, kKernels, true},
    {"modules", kModuleKeys, kModules},
    {"lines", kLineKeys, kLines},
    {"lines.own", kLineKeys, kLines},
    {"costs", kCostKeys, kCosts},
};
static_assert(std::size(kShapes) == kTables);

}  // namespace

const TableShape& shape_of(TableId table) { return kShapes[index(table)]; }

std::optional<TableId> table_named(std::string_view name) {
  for (std::size_t table = 0; table < kTables; ++table) {
    if (kShapes[table].name == name) return static_cast<TableId>(table);
  }
  return std::nullopt;
}

}  // namespace tbtrace::partials
