// The plugin's operator table on random recordings against its rules, taken literally.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "analyses/compat/plugin/operators.h"
#include "analyses/random_recording.h"
#include "fixtures/random_rounds.h"

namespace tbtrace::analyses {
namespace {

using fixtures::random_rounds;

struct Call {
  double start, end, device = 0;
  std::optional<std::int64_t> id;
  bool taken = false;
};

struct Node {
  EventId event;
  double start, end;
  bool is_operator = false;  // else a step or another range
  Node* parent = nullptr;
  std::vector<Node*> children;
  std::vector<Call*> calls;

  double device() const {
    double sum = self_device();
    for (const Node* child : children) sum += child->device();
    return sum;
  }
  double self_device() const {
    double sum = 0;
    for (const Call* call : calls) sum += call->device;
    return sum;
  }
  double self_host() const {
    double self = end - start;
    for (const Node* child : children) self -= child->end - child->start;
    for (const Call* call : calls) self -= call->end - call->start;
    return self;
  }
};

struct Sums {
  std::int64_t count = 0;
  double host = 0, self_host = 0, device = 0, self_device = 0;
};

class PluginByTheRules {
 public:
  explicit PluginByTheRules(const Trace& trace) : trace_(trace) {
    for (std::size_t row = 0; row < trace.events().size(); ++row) {
      order_.push_back(static_cast<EventId>(row));
    }
    std::stable_sort(order_.begin(), order_.end(), [&](EventId a, EventId b) {
      return trace.events().start_ns(a) < trace.events().start_ns(b);
    });
    find_calls();
    find_ranges();
    for (std::vector<Node>& thread : threads_) nest(thread);
  }

  std::map<std::string, Sums> sums() const {
    std::map<std::string, Sums> sums;
    for (const std::vector<Node>& thread : threads_) {
      for (const Node& node : thread) {
        if (!node.is_operator || dropped(node)) continue;
        Sums& row = sums[std::string(trace_.name(node.event))];
        ++row.count;
        row.host += node.end - node.start;
        row.self_host += node.self_host();
        row.device += node.device();
        row.self_device += node.self_device();
      }
    }
    return sums;
  }

 private:
  double us(std::int64_t ns) const { return static_cast<double>(ns) / 1000.0; }
  double start(EventId event) const { return us(trace_.events().start_ns(event)); }
  double end(EventId event) const { return start(event) + us(trace_.events().duration_ns(event)); }

  std::optional<std::int64_t> id(EventId event) const {
    if (trace_.external_id(event) == 0) return std::nullopt;
    return trace_.external_id(event);
  }

  /// Device time goes to the last call before it with its correlation, else to the first behind it.
  void find_calls() {
    calls_.reserve(order_.size());
    std::vector<std::pair<std::size_t, Call*>> places;
    for (std::size_t at = 0; at < order_.size(); ++at) {
      if (trace_.kind(order_[at]) != EventKind::runtime) continue;
      calls_.push_back({start(order_[at]), end(order_[at]), 0, id(order_[at])});
      places.emplace_back(at, &calls_.back());
    }
    for (std::size_t at = 0; at < order_.size(); ++at) {
      if (!is_device_work(trace_.kind(order_[at]))) continue;
      Call* call = nullptr;
      for (const auto& [place, candidate] : places) {
        const bool same = trace_.correlation(order_[place]) == trace_.correlation(order_[at]);
        if (same && (place < at || call == nullptr)) call = candidate;
      }
      if (call != nullptr) call->device += end(order_[at]) - start(order_[at]);
    }
  }

  bool is_range(EventId event) const {
    const std::string_view name = trace_.name(event);
    const EventKind kind = trace_.kind(event);
    if (kind == EventKind::cpu_op) return true;
    if (kind != EventKind::user_annotation && kind != EventKind::gpu_user_annotation) return false;
    return name.starts_with("ProfilerStep#") || name == "nccl:all_reduce";
  }

  void find_ranges() {
    std::vector<std::int64_t> ids;
    for (const EventId event : order_) {
      if (!is_range(event)) continue;
      const std::int64_t thread = trace_.track(trace_.events().track(event)).thread.number;
      std::size_t number = 0;
      while (number < ids.size() && ids[number] != thread) ++number;
      if (number == ids.size()) {
        ids.push_back(thread);
        threads_.emplace_back().reserve(order_.size());
      }
      Node& node = threads_[number].emplace_back();
      node.event = event;
      node.start = start(event);
      node.end = end(event);
      node.is_operator = trace_.kind(event) == EventKind::cpu_op &&
                         !trace_.name(event).starts_with("ProfilerStep#");
    }
    for (std::vector<Node>& thread : threads_) {
      for (Node& node : thread) {
        for (Call& call : calls_) {
          if (call.taken || call.id != id(node.event)) continue;
          node.calls.push_back(&call);
        }
        for (Call* call : node.calls) call->taken = true;
      }
    }
  }

  /// The innermost range so far that a range starts in is its parent, unless it ends later.
  void nest(std::vector<Node>& thread) {
    std::stable_sort(thread.begin(), thread.end(), [](const Node& a, const Node& b) {
      return a.start != b.start ? a.start < b.start : a.end > b.end;
    });
    std::vector<Node*> kept;
    std::vector<Node*> roots;
    for (Node& node : thread) {
      Node* holder = nullptr;
      for (Node* other : kept) {
        if (other->start <= node.start && node.start < other->end) holder = other;
      }
      if (holder != nullptr && node.end > holder->end) {
        dropped_.push_back(&node);
        continue;
      }
      (holder == nullptr ? roots : holder->children).push_back(&node);
      kept.push_back(&node);
    }
    for (Node* root : roots) merge(*root);
  }

  void merge(Node& node) {
    while (node.children.size() == 1 && node.is_operator && node.children[0]->is_operator &&
           trace_.name(node.event) == trace_.name(node.children[0]->event)) {
      Node* child = node.children[0];
      dropped_.push_back(child);
      node.calls = child->calls;
      node.children = std::vector<Node*>(child->children);
    }
    for (Node* child : node.children) merge(*child);
  }

  bool dropped(const Node& node) const {
    return std::find(dropped_.begin(), dropped_.end(), &node) != dropped_.end();
  }

  const Trace& trace_;
  std::vector<EventId> order_;
  std::vector<Call> calls_;
  std::vector<std::vector<Node>> threads_;
  std::vector<const Node*> dropped_;
};

TEST(PluginOperators, FollowTheirRulesOnThousandsOfRandomTraces) {
  std::size_t with_device = 0;
  for (unsigned seed = 0; seed < random_rounds(3000u); ++seed) {
    SCOPED_TRACE(seed);
    const Trace trace = RandomRecording(seed, {.shadows = true}).make();
    const Trace* traces[] = {&trace};
    const OperatorSummary summary = plugin_summary(traces, {});
    const std::map<std::string, Sums> expected = PluginByTheRules(trace).sums();
    ASSERT_EQ(summary.rows().size(), expected.size());
    for (const OperatorRow& row : summary.rows()) {
      SCOPED_TRACE(row.key);
      ASSERT_TRUE(expected.contains(row.key));
      const Sums& sums = expected.at(row.key);
      ASSERT_EQ(row.count, sums.count);
      ASSERT_NEAR(row.cpu_time_total.us, sums.host, 1e-9);
      ASSERT_NEAR(row.self_cpu_time_total.us, sums.self_host, 1e-9);
      ASSERT_NEAR(row.device_time_total.us, sums.device, 1e-9);
      ASSERT_NEAR(row.self_device_time_total.us, sums.self_device, 1e-9);
      with_device += sums.device > 0;
    }
  }
  EXPECT_GT(with_device, random_rounds(500u));
}

}  // namespace
}  // namespace tbtrace::analyses
