#include "analyses/findings/event_text.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

#include "analyses/kernels/names.h"
#include "base/utf8.h"
#include "trace/links.h"
#include "trace/step_names.h"

namespace tbtrace::analyses {

std::string name_text(std::string_view name) {
  constexpr std::size_t kLongest = 80;
  return utf8_shortened(name, kLongest);
}

std::string time_text(std::int64_t ns) {
  const std::int64_t us = ns / 1000;
  return std::to_string(us / 1000) + "." + std::to_string(1000 + us % 1000).substr(1) + " ms";
}

std::string event_name(const Trace& trace, EventId event) {
  if (event == EventId::none) return {};
  const std::span<const DeviceLink> links = links_of(trace).device_work();
  const auto link = std::ranges::find(links, event, &DeviceLink::activity);
  const bool has_operator =
      link != links.end() && link->op != EventId::none && !is_step_range(trace.name(link->op));
  const std::string name =
      has_operator ? std::string(trace.name(link->op)) : short_kernel_name(trace.name(event));
  return name_text(name);
}

std::string event_text(const Trace& trace, EventId event) {
  if (event == EventId::none) return {};
  return event_name(trace, event) + " at " +
         time_text(trace.events().start_ns(event) - trace.window_start_ns());
}

}  // namespace tbtrace::analyses
