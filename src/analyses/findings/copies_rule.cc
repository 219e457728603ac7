// Copies and memsets that nothing hides.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "analyses/findings/exposed_time.h"
#include "analyses/findings/rules.h"
#include "analyses/kernels/copy_names.h"
#include "base/bounded_sum.h"
#include "base/share.h"

namespace tbtrace::analyses {
namespace {

constexpr double kExposedCopies = 0.10;

struct CopyKind {
  bool is_memset = false;
  CopyDirection direction = CopyDirection::unknown;
  HostMemory memory = HostMemory::unknown;

  auto operator<=>(const CopyKind&) const = default;  // NOLINT(modernize-use-nullptr): in std

  bool has_host() const {
    return direction == CopyDirection::to_device || direction == CopyDirection::to_host;
  }
};

struct CopySum {
  std::vector<TimeRange> times;
  std::int64_t exposed_ns = 0;
  std::uint64_t count = 0;
  std::int64_t bytes = 0;     ///< of those whose size is known
  std::int64_t sized_ns = 0;  ///< the sum of their durations
};

std::string kind_text(const CopyKind& kind) {
  if (kind.is_memset) return "memsets";
  constexpr auto kTexts =
      std::to_array<const char*>({"copies to the GPU", "copies to the host",
                                  "copies within the GPU", "copies between GPUs", "copies"});
  std::string text = kTexts[static_cast<std::size_t>(kind.direction)];
  if (!kind.has_host() || kind.memory == HostMemory::unknown) return text;
  text += kind.direction == CopyDirection::to_device ? " from " : " in ";
  return text + (kind.memory == HostMemory::pageable ? "pageable" : "pinned") + " memory";
}

/// `may_repeat`: most of the time is not of one step.
std::string remedy_of(const CopyKind& kind, bool may_repeat) {
  if (kind.is_memset) {
    return "use torch.empty() where all values are written anyway, and "
           "zero_grad(set_to_none=True)";
  }
  std::string remedy;
  if (kind.has_host()) {
    const bool to_device = kind.direction == CopyDirection::to_device;
    if (kind.memory == HostMemory::pageable) {
      remedy = to_device ? "copy from pinned memory (pin_memory=True) with non_blocking=True"
                         : "copy to pinned memory with non_blocking=True";
    } else if (kind.memory == HostMemory::unknown) {
      remedy = "copy with non_blocking=True and pinned memory on the host";
    }
    if (!remedy.empty()) remedy += "; ";
    remedy += to_device ? "on a stream of its own, copy what comes next (the next layer or batch) "
                          "while the GPU computes"
                        : "copy on a stream of its own while the GPU computes, and less often";
    if (!may_repeat) return remedy + "; most of it is in one step: record later ones as well";
    return remedy + (to_device ? "; keep on the GPU what is copied again in every step, such as "
                                 "weights, if it fits"
                               : "; leave on the GPU what the host does not need");
  }
  if (kind.direction == CopyDirection::between_devices) {
    return "copy on a stream of its own while both GPUs compute; put layers that exchange much on "
           "one GPU";
  }
  return "write in place, with fewer copies within the GPU: clone(), contiguous(), cat(); `tbtrace "
         "ops` has the operators that copy";
}

}  // namespace

std::optional<Finding> exposed_copies(const FindingFacts& facts) {
  if (!facts.device) return std::nullopt;
  const GpuUse& device = *facts.device;
  const double part = share(device.exposed_memory_ns, device.window_ns);
  if (part < kExposedCopies) return std::nullopt;
  const Events& events = facts.trace.events();
  const ArgumentColumn& bytes = facts.trace.argument(Argument::copied_bytes);
  const DeviceTimes times(facts.trace, facts.activities);
  std::map<CopyKind, CopySum> sums;
  for (const DeviceLink* link : facts.activities) {
    const StepRole role = times.role(link->activity);
    if (role == StepRole::kernel || role == StepRole::communication) continue;
    const std::string_view name = facts.trace.name(link->activity);
    const bool is_memset = facts.trace.kind(link->activity) == EventKind::gpu_memset;
    const CopyKind kind = is_memset ? CopyKind{.is_memset = true}
                                    : CopyKind{.direction = copy_direction(name),
                                               .memory = host_memory_of_copy(name)};
    CopySum& sum = sums[kind];
    add_range(sum.times, {events.start_ns(link->activity), events.end_ns(link->activity)});
    ++sum.count;
    if (const auto size = bytes.integer(link->activity)) {
      add_bounded(sum.bytes, *size);
      add_bounded(sum.sized_ns, events.duration_ns(link->activity));
    }
  }
  std::vector<std::pair<CopyKind, CopySum>> kinds(sums.begin(), sums.end());
  for (auto& [kind, sum] : kinds) {
    sum.times = times.exposed_copies(sum.times);
    sum.exposed_ns = total_length(sum.times);
  }
  std::erase_if(kinds, [](const auto& kind) { return kind.second.exposed_ns == 0; });
  if (kinds.empty()) return std::nullopt;
  std::ranges::stable_sort(kinds, std::ranges::greater(),
                           [](const auto& kind) { return kind.second.exposed_ns; });
  const auto& [first, largest] = kinds.front();
  Finding finding = {.id = "exposed_copies",
                     .title = first.is_memset ? "Memsets run while nothing computes"
                                              : "Copies run while nothing computes",
                     .remedy = remedy_of(first, ns_of_one_step(facts, largest.times) == 0),
                     .evidence = {},
                     .share = part};
  for (const auto& [kind, sum] : kinds) {
    finding.evidence.push_back({kind_text(kind), sum.exposed_ns, "ns", ""});
  }
  finding.evidence.push_back({"number of " + kind_text(first), largest.count, "", ""});
  if (largest.sized_ns > 0) {
    finding.evidence.push_back({"their size", largest.bytes, "bytes", ""});
    finding.evidence.push_back(
        {"their rate",
         static_cast<double>(largest.bytes) * 1e9 / static_cast<double>(largest.sized_ns),
         "bytes_per_s", ""});
  }
  return with_gain(facts, std::move(finding), device.exposed_memory_ns,
                   "if all of it ran beside computation",
                   ChangedWork{.changes = {{.kind = ChangeKind::copy, .factor = 0}}});
}

}  // namespace tbtrace::analyses
