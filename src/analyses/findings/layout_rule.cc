// Kernels that only turn tensors from one memory layout into the other, around convolutions.
#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "analyses/findings/event_text.h"
#include "analyses/findings/rules.h"
#include "base/bounded_sum.h"
#include "base/share.h"
#include "trace/times.h"

namespace tbtrace::analyses {
namespace {

constexpr double kLayout = 0.1;

/// Of cuDNN and MIOpen.
bool is_layout_conversion(std::string_view kernel) {
  constexpr auto kNames = std::to_array<std::string_view>(
      {"nchwToNhwc", "nhwcToNchw", "nchwTo8nhw", "nhwcToFold", "batched_transpose_"});
  for (const std::string_view name : kNames) {
    if (kernel.find(name) != std::string_view::npos) return true;
  }
  return false;
}

}  // namespace

std::optional<Finding> layout_conversions(const FindingFacts& facts) {
  if (!facts.device) return std::nullopt;
  const Events& events = facts.trace.events();
  std::unordered_map<StringId, bool> names;  // whether each is one
  std::int64_t all_ns = 0;
  std::vector<EventId> kernels;
  EventId longest = EventId::none;
  for (const DeviceLink* const link : facts.activities) {
    if (facts.trace.kind(link->activity) != EventKind::kernel) continue;
    const auto [name, is_new] = names.try_emplace(events.name(link->activity), false);
    if (is_new) name->second = is_layout_conversion(facts.trace.name(link->activity));
    if (!name->second) continue;
    kernels.push_back(link->activity);
    add_bounded(all_ns, events.duration_ns(link->activity));
    const bool is_longer = longest == EventId::none ||
                           events.duration_ns(link->activity) > events.duration_ns(longest);
    if (is_longer) longest = link->activity;
  }
  const double part = share(all_ns, facts.device->window_ns);
  if (part < kLayout) return std::nullopt;
  Finding finding = {
      .id = "layout_conversions",
      .title = "Kernels convert between memory layouts around convolutions",
      .remedy =
          "keep the model and its inputs in channels_last "
          "(.to(memory_format=torch.channels_last)), so that the library has nothing to "
          "convert",
      .evidence = {{"GPU time of them", all_ns, "ns", event_text(facts.trace, longest),
                    since_start(facts.trace, events.start_ns(longest)),
                    since_start(facts.trace, events.end_ns(longest))},
                   {"such kernels", static_cast<std::uint64_t>(kernels.size()), "", ""}},
      .share = part};
  return with_gain(facts, std::move(finding), all_ns, "if they were not needed",
                   of_one_device(facts, {.work = std::move(kernels), .factor = 0}));
}

}  // namespace tbtrace::analyses
