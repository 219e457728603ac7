#include "analyses/summary/kernel_origins.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>

#include "analyses/attribution/own_lines.h"
#include "analyses/kernels/runs.h"
#include "analyses/modules/range_origins.h"
#include "base/bounded_sum.h"
#include "trace/step_names.h"

namespace tbtrace::analyses {
namespace {

struct Sum {
  std::uint64_t count = 0;
  WideInteger total_ns = 0;
};

}  // namespace

std::vector<KernelOrigin> kernel_origins(const Trace& trace, std::span<const KernelGroup> groups,
                                         const std::optional<TimeRange>& window) {
  std::vector<KernelOrigin> origins(groups.size());
  if (groups.empty()) return origins;
  std::map<std::string_view, std::size_t> by_name;
  for (std::size_t group = 0; group < groups.size(); ++group) by_name[groups[group].name] = group;
  std::unordered_map<StringId, std::size_t> by_id;  // the same, by the name's number
  const auto group_of = [&](EventId kernel) {
    const StringId name = trace.events().name(kernel);
    const auto [entry, added] = by_id.try_emplace(name, groups.size());
    if (added) {
      const auto found = by_name.find(trace.string(name));
      if (found != by_name.end()) entry->second = found->second;
    }
    return entry->second;
  };

  const ForwardOperators forward(trace);
  const ModulesOfRanges modules(trace, forward);
  const OwnLines lines(trace, forward);
  using Key = std::tuple<std::string_view, std::string_view, OwnLines::Line, std::string_view>;
  std::vector<std::map<Key, Sum>> sums(groups.size());
  for (const KernelRun& run : kernel_runs(trace, window)) {
    const std::size_t group = group_of(run.event);
    if (group == groups.size()) continue;
    const DeviceLink link = {.activity = run.event, .launch = run.launch, .op = run.op};
    const EventId owner = lines.owner_of(link);
    // A replayed graph is launched by no operator, only in the range of an iteration.
    const bool has_operator = run.op != EventId::none && !is_step_range(trace.name(run.op));
    Sum& sum = sums[group][{
        has_operator ? trace.name(run.op) : std::string_view(),
        has_operator ? trace.argument_text(run.op, Argument::input_dims) : std::string_view(),
        lines.of(owner), modules.of(owner)}];
    ++sum.count;
    sum.total_ns += run.duration_ns;
  }
  for (std::size_t group = 0; group < groups.size(); ++group) {
    WideInteger most = -1;
    for (const auto& [key, sum] : sums[group]) {
      if (sum.total_ns <= most) continue;
      most = sum.total_ns;
      const auto& [op, shapes, line, module] = key;
      origins[group] = {.op = std::string(op),
                        .input_shapes = std::string(shapes),
                        .line = lines.text(line),
                        .module = std::string(module),
                        .count = sum.count,
                        .total_ns = bounded(sum.total_ns)};
    }
  }
  return origins;
}

}  // namespace tbtrace::analyses
