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
  std::uint32_t before_run = 0;  // last_of_step_ before the backward that runs
  bool runs_backward = false;
  replay.trace().for_each([&](std::uint32_t row) {
    const std::uint32_t here = place++;
    if (entries.action[row] != Action::alloc) return;
    const StackSigns& signs = origins.signs(entries.stack[row]);
    const bool is_backward =
        signs.doing != Doing::forward && (signs.in_backward || entries.forward[row] != 0);
    if (is_backward && !runs_backward) before_run = last_of_step_;
    runs_backward = is_backward || (runs_backward && signs.in_backward);
    if (is_backward) backward_.push_back(here);
    if (is_backward || signs.doing == Doing::optimizer) last_of_step_ = here + 1;
  });
  has_steps_ = last_of_step_ > 0;
  // A backward that failed still needs what its forward made.
  const std::vector<std::uint32_t>& failures = replay.out_of_memory();
  if (runs_backward && !failures.empty() && failures.back() >= last_of_step_) {
    last_of_step_ = before_run;
  }
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
  const bool is_freed = allocation.freed != kNone;
  switch (origins_.signs(replay_.stack(allocation)).doing) {
    case Doing::gradient:
      return "gradient";
    case Doing::loader:
      return "input";
    case Doing::workspace:
      return "workspace";
    case Doing::optimizer:
      return is_freed ? "temporary" : "optimizer_state";
    case Doing::communication:
      return "communication";
    case Doing::unsharding:
      return "parameter";
    case Doing::setup:
      return is_freed ? kUnknown : "parameter";
    case Doing::forward:
      return of_forward(allocation);
    case Doing::backward:
      return of_backward(allocation);
    case Doing::unknown:
      break;
  }
  const bool has_forward = allocation.start != kNone &&
                           replay_.data().entries.forward[replay_.row(allocation.start)] != 0;
  return has_forward ? of_backward(allocation) : kUnknown;
}

std::string_view Categories::of_backward(const Allocation& allocation) {
  if (allocation.freed == kNone) return "gradient";
  // Without the stack of who freed it, the entry has that of who allocated it.
  const std::uint32_t freed_in = replay_.data().entries.stack[replay_.row(allocation.freed)];
  if (freed_in == replay_.stack(allocation)) return kUnknown;
  return origins_.signs(freed_in).in_backward ? "temporary" : "gradient";
}

std::string_view Categories::of_forward(const Allocation& allocation) {
  if (allocation.start == kNone) return kUnknown;
  if (allocation.freed == kNone) {
    // The forward that still runs at the end needs it, or the backward that recomputed it.
    const bool is_needed = allocation.start >= last_of_step_ && has_steps_;
    return is_needed || origins_.signs(replay_.stack(allocation)).in_backward ? "activation"
                                                                              : kUnknown;
  }
  const auto next = std::ranges::upper_bound(backward_, allocation.start);
  if (next != backward_.end() && *next < allocation.freed) return "activation";
  return backward_.empty() ? kUnknown : "temporary";
}

}  // namespace tbtrace::snapshots
