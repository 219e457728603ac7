// Stacks of host ranges from the exact tree, each weighted by its own time or memory. Device work
// that no range owns has a frame of its own, so the device stacks add up to all device work. Above
// kernels of a CUDA graph that have a label is a frame for it.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include <tbtrace/flame_graph.h>
#include <tbtrace/operators.h>

#include "analyses/attribution/graph_labels.h"
#include "analyses/attribution/owners.h"
#include "analyses/attribution/thread_choice.h"
#include "analyses/stacks/flame_graph_in.h"
#include "analyses/stacks/frame_noise.h"
#include "analyses/stacks/merged_recursion.h"
#include "analyses/stacks/recorded_stacks.h"
#include "analyses/steps/selection.h"
#include "analyses/torch/names.h"
#include "base/column.h"
#include "base/time_ranges.h"
#include "report/row_order.h"
#include "trace/call_tree.h"
#include "trace/links.h"
#include "trace/self_times.h"

namespace tbtrace {
namespace {

using analyses::NameId;
using analyses::TorchNames;
using Node = StackTree::Node;

/// What of a trace counts.
struct Selection {
  TimeRange window = {INT64_MIN, INT64_MAX};
  std::vector<bool> threads;  // by track; empty: all

  bool is_part() const { return window.start != INT64_MIN || window.end != INT64_MAX; }

  bool takes(TrackId thread) const { return threads.empty() || threads[index(thread)]; }
  bool takes_all_threads() const { return threads.empty(); }
  bool contains(std::int64_t time) const { return window.start <= time && time < window.end; }
};

class FlameGraph {
 public:
  FlameGraph(const Trace& trace, const FlameGraphOptions& options, Selection selection,
             std::string unit)
      : trace_(trace),
        options_(options),
        selection_(std::move(selection)),
        tree_(call_tree_of(trace)),
        labels_(trace),
        names_(trace),
        stacks_(std::move(unit)),
        is_shown_(trace.events().size()) {}

  StackTree by_self_time() && {
    if (selection_.is_part()) {
      add_self_times(SelfTimes(trace_, tree_, selection_.window.start, selection_.window.end));
    } else {
      add_self_times(self_times_of(trace_));
    }
    return std::move(stacks_);
  }

  StackTree by_device_time() && {
    const Events& events = trace_.events();
    for (const DeviceLink& link : links_of(trace_).device_work()) {
      const std::int64_t time = events.duration_ns(link.activity);
      const EventId owner = analyses::owner_of_work(tree_, link);
      const bool is_chosen = owner == EventId::none ? selection_.takes_all_threads()
                                                    : selection_.takes(events.track(owner));
      if (!is_chosen || time == 0 || !selection_.contains(events.start_ns(cause_of(link))))
        continue;
      if (owner != EventId::none) is_shown_[index(owner)] = true;
      work_.push_back({.activity = link.activity, .owner = owner, .time_ns = time});
    }
    place_all();
    return std::move(stacks_);
  }

  StackTree by_allocated_memory() && {
    std::vector<std::pair<EventId, std::int64_t>> allocations;
    analyses::for_each_memory_owner(trace_, tree_, [&](const MemoryRecord& record, EventId owner) {
      const bool allocated = record.bytes > 0 && !record.out_of_memory;
      if (owner == EventId::none || !allocated) return;
      if (!analyses::is_cpu_memory(record.device_type)) return;
      if (!selection_.contains(record.time_ns) || !selection_.takes(record.track)) return;
      is_shown_[index(owner)] = true;
      allocations.emplace_back(owner, record.bytes);
    });
    place_all();
    for (const auto& [owner, bytes] : allocations) stacks_.add(node_of_[index(owner)], bytes);
    return std::move(stacks_);
  }

 private:
  /// What on the host began the work; the work itself if that is not known.
  static EventId cause_of(const DeviceLink& link) {
    if (link.launch != EventId::none) return link.launch;
    return link.op != EventId::none ? link.op : link.activity;
  }

  /// Device work that counts.
  struct Work {
    EventId activity;
    EventId owner;
    std::int64_t time_ns;
  };

  /// A range or device work, for the order of nodes.
  struct Call {
    std::int64_t start_ns;  ///< not before that of its parent, whatever the device's clock says
    std::int64_t own_start_ns;
    EventId range;     ///< none for device work
    std::size_t work;  ///< index in work_
    auto order() const { return std::tuple(start_ns, range == EventId::none, own_start_ns); }
  };

  /// Makes the nodes of the ranges that are shown and of those around them, parents first, and the
  /// nodes of device work. Other ranges have none: they would come between frames of call stacks.
  void place_all() {
    const auto ranges = tree_.ranges();
    for (std::size_t row = ranges.size(); row-- > 0;) {
      const EventId parent = tree_.parent(ranges[row]);
      if (parent != EventId::none && is_shown_[index(ranges[row])]) is_shown_[index(parent)] = true;
    }
    const analyses::RecordedStacks recorded(trace_, tree_);
    std::vector<std::uint32_t> numbers(recorded.frame_count());  // 0: not looked up yet
    node_of_.resize(trace_.events().size(), StackTree::kRoot);
    if (options_.in_time_order) {
      for (const Call& call : calls_by_start()) {
        if (call.range != EventId::none) {
          place(call.range, recorded, numbers);
        } else {
          add_work(work_[call.work]);
        }
      }
      return;
    }
    for (const EventId range : ranges) {
      if (is_shown_[index(range)]) place(range, recorded, numbers);
    }
    for (const Work& work : work_) add_work(work);
  }

  std::vector<Call> calls_by_start() const {
    const Events& events = trace_.events();
    std::vector<Call> calls;
    for (const EventId range : tree_.ranges()) {
      if (!is_shown_[index(range)]) continue;
      const std::int64_t start = events.start_ns(range);
      calls.push_back({.start_ns = start, .own_start_ns = start, .range = range, .work = 0});
    }
    for (std::size_t work = 0; work < work_.size(); ++work) {
      const std::int64_t start = events.start_ns(work_[work].activity);
      const EventId owner = work_[work].owner;
      const std::int64_t least = owner == EventId::none ? start : events.start_ns(owner);
      calls.push_back({.start_ns = std::max(start, least),
                       .own_start_ns = start,
                       .range = EventId::none,
                       .work = work});
    }
    std::stable_sort(calls.begin(), calls.end(),
                     [](const Call& a, const Call& b) { return a.order() < b.order(); });
    return calls;
  }

  void place(EventId range, const analyses::RecordedStacks& recorded,
             std::vector<std::uint32_t>& numbers) {
    const EventId parent = tree_.parent(range);
    Node node =
        parent == EventId::none ? root_of(trace_.events().track(range)) : node_of_[index(parent)];
    for (const analyses::RecordedStacks::Frame frame : recorded.before(range)) {
      if (numbers[frame] == 0) numbers[frame] = frame_number(recorded.text(frame), true);
      node = function_on(node, numbers[frame]);
    }
    node_of_[index(range)] = node_on(node, frame_of(range));
  }

  void add_work(const Work& work) {
    Node below = work.owner == EventId::none ? unattributed() : node_of_[index(work.owner)];
    const std::string_view label = labels_.of(work.activity);
    if (!label.empty()) below = function_on(below, frame_number(label, false));
    stacks_.add(node_on(below, frame_of(work.activity)), work.time_ns);
  }

  void add_self_times(const SelfTimes& times) {
    const auto counts = [&](EventId range) {
      return selection_.takes(trace_.events().track(range)) && times.ns(range) > 0;
    };
    for (const EventId range : tree_.ranges()) is_shown_[index(range)] = counts(range);
    place_all();
    for (const EventId range : tree_.ranges()) {
      if (counts(range)) stacks_.add(node_of_[index(range)], times.ns(range));
    }
  }

  /// The node of a range or of device work.
  Node node_on(Node below, std::uint32_t frame) {
    if (is_left_out(below, frame)) return below;
    return options_.in_time_order ? new_node(below, frame) : stacks_.child(below, frame);
  }

  /// The node of a frame of a call stack, which does not say when the function was called.
  Node function_on(Node below, std::uint32_t frame) {
    if (is_left_out(below, frame)) return below;
    if (!options_.in_time_order) return stacks_.child(below, frame);
    if (below < last_on_.size() && last_on_[below].frame == frame) return last_on_[below].node;
    const Node node = stacks_.add_child(below, frame);
    set_last(below, node, frame);
    return node;
  }

  Node new_node(Node below, std::uint32_t frame) {
    const Node node = stacks_.add_child(below, frame);
    set_last(below, node, 0);
    return node;
  }

  void set_last(Node below, Node node, std::uint32_t frame) {
    if (below >= last_on_.size()) last_on_.resize(std::size_t{node} + 1);
    last_on_[below] = {.node = node, .frame = frame};
  }

  bool is_left_out(Node below, std::uint32_t frame) const {
    if (frame >= passes_on_.size() || !passes_on_[frame] || below == StackTree::kRoot) return false;
    return std::find(roots_.begin(), roots_.end(), below) == roots_.end();
  }

  /// The frame for work that no host range owns.
  Node unattributed() { return outermost("[unattributed]"); }

  /// The node that the outermost ranges of a thread are on.
  Node root_of(TrackId thread) {
    if (!options_.by_thread) return StackTree::kRoot;
    if (roots_.empty()) roots_.resize(trace_.tracks().size(), StackTree::kRoot);
    Node& root = roots_[index(thread)];
    if (root == StackTree::kRoot) root = outermost(analyses::thread_label(trace_, thread));
    return root;
  }

  Node outermost(std::string_view frame) {
    const std::size_t nodes = stacks_.size();
    const Node node = stacks_.child(StackTree::kRoot, stacks_.frame_number(frame));
    if (options_.in_time_order && stacks_.size() > nodes) set_last(StackTree::kRoot, node, 0);
    return node;
  }

  std::uint32_t frame_of(EventId event) {
    const EventKind kind = trace_.kind(event);
    const bool is_python = kind == EventKind::python_function;
    const NameId name = names_.get(trace_.events().name(event), kind == EventKind::cpu_op).name;
    std::vector<std::uint32_t>& numbers = is_python ? python_numbers_ : frame_numbers_;
    if (name >= numbers.size()) numbers.resize(name + 1, 0);
    if (numbers[name] == 0) numbers[name] = frame_number(names_.text(name), is_python);
    return numbers[name];
  }

  /// Only names of Python functions have addresses of objects.
  std::uint32_t frame_number(std::string_view frame, bool is_python) {
    const std::string text =
        is_python && !options_.all_frames ? analyses::without_addresses(frame) : std::string(frame);
    const std::uint32_t number = stacks_.frame_number(text.empty() ? "(no name)" : text);
    if (!options_.all_frames && analyses::only_passes_on(frame)) {
      if (number >= passes_on_.size()) passes_on_.resize(number + 1);
      passes_on_[number] = true;
    }
    return number;
  }

  struct LastNode {
    Node node = StackTree::kRoot;
    std::uint32_t frame = 0;  // of a call stack; 0 if the node is a range
  };

  const Trace& trace_;
  const FlameGraphOptions& options_;
  Selection selection_;
  const CallTree& tree_;
  analyses::GraphLabels labels_;
  TorchNames names_;
  StackTree stacks_;
  std::vector<bool> is_shown_;  // by event
  std::vector<Work> work_;
  Column<Node> node_of_;                       // by event
  std::vector<std::uint32_t> frame_numbers_;   // by NameId; 0: not looked up yet
  std::vector<std::uint32_t> python_numbers_;  // the same for Python functions
  std::vector<bool> passes_on_;                // by frame
  std::vector<Node> roots_;                    // by track, of threads with ranges; may be empty
  std::vector<LastNode> last_on_;              // by node, in time order: the newest one on it
};

struct Weight {
  std::string_view name;
  const char* unit;
  StackTree (FlameGraph::*stacks)() &&;
};

constexpr std::array<Weight, 3> kWeights = {{
    {"self_cpu_time_total", "ns", &FlameGraph::by_self_time},
    {"self_device_time_total", "ns", &FlameGraph::by_device_time},
    {"cpu_memory", "bytes", &FlameGraph::by_allocated_memory},
}};

/// nullptr if there is no such weight.
const Weight* find_weight(const FlameGraphOptions& options) {
  const auto* const found = std::find_if(
      kWeights.begin(), kWeights.end(),
      [name = report::canonical_key(options.weight)](auto& weight) { return weight.name == name; });
  return found == kWeights.end() ? nullptr : found;
}

}  // namespace

Status check_flame_graph_options(const FlameGraphOptions& options) {
  if (find_weight(options) != nullptr) return {};
  return {StatusCode::invalid_argument,
          "unknown weight '" + options.weight +
              "'; use self_cpu_time_total, self_device_time_total or cpu_memory"};
}

Result<StackTree> flame_graph(const Trace& trace, const FlameGraphOptions& options) {
  if (Status right = check_flame_graph_options(options); !right.ok()) return right;
  const Result<std::optional<TimeRange>> window =
      analyses::host_time_of_steps(trace, options.steps);
  if (!window.ok()) return window.status();
  return analyses::flame_graph_in(trace, options, window->value_or(Selection().window));
}

Result<StackTree> analyses::flame_graph_in(const Trace& trace, const FlameGraphOptions& options,
                                           TimeRange window) {
  const Weight* const weight = find_weight(options);
  if (weight == nullptr) return check_flame_graph_options(options);
  Selection selection{.window = window, .threads = {}};
  if (!options.thread.empty()) {
    Result<std::vector<bool>> threads =
        analyses::chosen_threads(trace, call_tree_of(trace), options.thread);
    if (!threads.ok()) return threads.status();
    selection.threads = *std::move(threads);
  }
  StackTree stacks =
      (FlameGraph(trace, options, std::move(selection), weight->unit).*weight->stacks)();
  if (!options.merge_recursion) return stacks;
  return analyses::merged_recursion(stacks, !options.in_time_order);
}

}  // namespace tbtrace
