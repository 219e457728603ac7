// The stacks of a run that is compared with others.
#include <algorithm>
#include <cstdint>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include <tbtrace/flame_difference.h>
#include <tbtrace/flame_graph.h>
#include <tbtrace/steps.h>

#include "analyses/stacks/flame_graph_in.h"
#include "base/time_ranges.h"

namespace tbtrace {
namespace {

using Node = StackTree::Node;

/// The frame of all steps: their numbers differ from run to run.
constexpr std::string_view kStepFrame = "[step]";

void add_tree(StackTree& sum, const StackTree& stacks, const std::set<std::string_view>& steps) {
  std::vector<Node> place(stacks.size(), StackTree::kRoot);
  for (Node node = 0; node < stacks.size(); ++node) {
    if (node != StackTree::kRoot) {
      const std::string_view frame = stacks.frame(node);
      place[node] = sum.child(place[stacks.parent(node)],
                              sum.frame_number(steps.contains(frame) ? kStepFrame : frame));
    }
    sum.add(place[node], stacks.self(node));
  }
}

/// Names of steps that are annotations such as `Iteration 7`. Those of torch's profiler are all
/// `ProfilerStep*` in a flame graph.
std::set<std::string_view> step_names(const StepBreakdown& breakdown) {
  std::set<std::string_view> names;
  for (const StepTime& step : breakdown.steps) names.insert(step.name);
  return names;
}

}  // namespace

ArgumentSet run_stacks_arguments() {
  return {ArgumentGroup::autograd, ArgumentGroup::call_stacks, ArgumentGroup::modules,
          ArgumentGroup::python,   ArgumentGroup::placement,   ArgumentGroup::graphs};
}

Status add_stacks(RunStacks& run, const Trace& rank) {
  if (Status read = rank.check_read(run_stacks_arguments(), "flame graphs"); !read.ok()) {
    return read;
  }
  const StepBreakdown breakdown = step_breakdown(rank, {.infer_steps = true});
  TimeRange window = {INT64_MIN, INT64_MAX};
  if (breakdown.has_steps()) {
    run.steps += breakdown.steps.size();
    window = {INT64_MAX, INT64_MIN};
    for (const StepTime& step : breakdown.steps) {
      window.start = std::min(window.start, step.host_start_ns);
      window.end = std::max(window.end, step.host_end_ns);
    }
  } else {
    run.has_steps = false;
  }
  const std::set<std::string_view> names = step_names(breakdown);
  for (auto [weight, sum] : {std::pair("self_cpu_time_total", &run.cpu),
                             std::pair("self_device_time_total", &run.device)}) {
    FlameGraphOptions options;
    options.weight = weight;
    const Result<StackTree> stacks = analyses::flame_graph_in(rank, options, window);
    if (!stacks.ok()) return stacks.status();
    add_tree(*sum, *stacks, names);
  }
  return {};
}

}  // namespace tbtrace
