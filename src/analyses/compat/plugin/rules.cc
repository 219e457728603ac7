#include "analyses/compat/plugin/rules.h"

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

}  // namespace tbtrace::analyses
