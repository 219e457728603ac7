#include "analyses/plugin_rules.h"

#include <algorithm>
#include <array>

#include "trace/collective_names.h"

namespace tbtrace::analyses {

/// long double holds every nanosecond of 200 years, so only the last step rounds.
double plugin_time(std::int64_t ns) {
  return static_cast<double>(static_cast<long double>(ns) / 1000.0L);
}

bool is_plugin_work(const Category& category) {
  return is_device_work(category.kind) && category.device != DeviceType::mtia &&
         category.device != DeviceType::hpu;
}

bool is_plugin_kernel(const Category& category) {
  return category.kind == EventKind::kernel && is_plugin_work(category);
}

bool is_plugin_launch(const Trace& trace, EventId event) {
  return trace.kind(event) == EventKind::runtime &&
         !trace.string(trace.category(event).name).ends_with("_driver");
}

bool is_data_loading(std::string_view name) {
  return (name.starts_with("enumerate(DataLoader)#") && name.ends_with(".__next__")) ||
         name.starts_with("enumerate(DataPipe)#");
}

std::string_view plugin_operation(std::string_view name) {
  const CollectiveBackend* backend = collective_backend(name);
  if (backend == nullptr || !backend->known_to_plugin) return {};
  return name.substr(backend->prefix.size());
}

bool is_plugin_collective(std::string_view name) {
  constexpr std::array<std::string_view, 5> kOperations = {"broadcast", "reduce", "all_reduce",
                                                           "all_gather", "reduce_scatter"};
  const std::string_view operation = plugin_operation(name);
  return std::find(kOperations.begin(), kOperations.end(), operation) != kOperations.end();
}

}  // namespace tbtrace::analyses
