#include "snapshots/categories.h"

#include <algorithm>

namespace tbtrace::snapshots {
namespace {

constexpr std::string_view kUnknown = "unknown";

}  // namespace

Categories::Categories(const DeviceReplay& replay, Origins& origins)
    : replay_(replay), origins_(origins) {
  const Entries& entries = replay.data().entries;
  std::uint32_t place = 0;
  replay.trace().for_each([&](std::uint32_t row) {
    const std::uint32_t here = place++;
    if (entries.action[row] != Action::alloc) return;
    const StackSigns& signs = origins.signs(entries.stack[row]);
    const bool is_backward = signs.in_backward || entries.forward[row] != 0;
    if (is_backward) backward_.push_back(here);
    if (is_backward || signs.in_optimizer) last_of_step_ = here + 1;
  });
}

std::string_view Categories::of(const Allocation& allocation) {
  const SnapshotData& data = replay_.data();
  if (allocation.start != kNone) {
    const std::uint32_t said = data.entries.category[replay_.row(allocation.start)];
    if (said > 0 && said <= data.categories.size()) return data.categories[said - 1];
  }
  const std::string_view category = by_stack(allocation);
  if (category != kUnknown) return category;
  return replay_.pool(allocation) > SnapshotData::kDefaultPool ? "private_pool" : kUnknown;
}

std::string_view Categories::by_stack(const Allocation& allocation) {
  const Entries& entries = replay_.data().entries;
  const std::uint32_t stack = replay_.stack(allocation);
  const StackSigns signs = origins_.signs(stack);
  const bool is_freed = allocation.freed != kNone;
  const bool in_backward =
      signs.in_backward ||
      (allocation.start != kNone && entries.forward[replay_.row(allocation.start)] != 0);
  if (signs.accumulates_gradient) return "gradient";
  if (signs.in_loader) return "input";
  if (signs.in_workspace) return "workspace";
  if (signs.in_optimizer) return is_freed ? "temporary" : "optimizer_state";
  if (in_backward) {
    if (!is_freed) return "gradient";
    // Without the stack of who freed it, the entry has that of who allocated it.
    const std::uint32_t freed_in = entries.stack[replay_.row(allocation.freed)];
    if (freed_in == stack) return kUnknown;
    return origins_.signs(freed_in).in_backward ? "temporary" : "gradient";
  }
  if (signs.in_setup && !signs.in_forward) return is_freed ? kUnknown : "parameter";
  if (signs.in_forward) return of_forward(allocation);
  return signs.in_collective ? "communication" : kUnknown;
}

std::string_view Categories::of_forward(const Allocation& allocation) {
  if (allocation.start == kNone) return kUnknown;
  if (allocation.freed == kNone) {
    // The forward that still runs at the end needs it.
    return allocation.start >= last_of_step_ && last_of_step_ > 0 ? "activation" : kUnknown;
  }
  const auto next = std::ranges::upper_bound(backward_, allocation.start);
  if (next != backward_.end() && *next < allocation.freed) return "activation";
  return backward_.empty() ? kUnknown : "temporary";
}

}  // namespace tbtrace::snapshots
