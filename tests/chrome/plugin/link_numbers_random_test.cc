// Random traces with sound and broken ids: by the new ids alone, every launch and all work are
// found at the operator that the model knows, also after what the plugin does to its tree.
#include <cstddef>
#include <cstdint>
#include <map>
#include <random>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "chrome/plugin/link_numbers.h"
#include "fixtures/random_rounds.h"
#include "fixtures/trace_rows.h"
#include "trace/call_tree.h"
#include "trace/links.h"

namespace tbtrace::chrome {
namespace {

using fixtures::add;
using fixtures::finished;

class RandomLaunches {
 public:
  explicit RandomLaunches(unsigned seed) : random_(seed), ids_(seed % 5) {}

  Trace make() {
    for (int root = 0; root < 3; ++root) nest(root * 60, root * 60 + 60, 4);
    for (int count = below(12); count-- > 0;) {
      const int correlation = 1 + below(10);
      add(builder_, {.category = below(3) == 0 ? "cuda_driver" : "cuda_runtime",
                     .name = "launch",
                     .start = below(200),
                     .duration = below(3),
                     .thread = 1 + below(2),
                     .external_id = external_id(correlation),
                     .correlation = correlation});
    }
    for (int count = below(12); count-- > 0;) {
      const int correlation = 1 + below(14);
      add(builder_, {.category = below(4) == 0 ? "gpu_memcpy" : "kernel",
                     .name = "gemm",
                     .start = below(400),
                     .duration = below(9),
                     .thread = 7,
                     .process = 0,
                     .external_id = external_id(correlation),
                     .correlation = correlation});
    }
    return finished(builder_);
  }

 private:
  int below(int limit) { return static_cast<int>(random_() % static_cast<unsigned>(limit)); }

  void nest(int start, int end, int depth) {
    constexpr std::string_view kNames[] = {"a", "a", "b", "ProfilerStep#1", "mine"};
    const std::string_view name = kNames[below(5)];
    const bool annotation = name == "mine" || name == "ProfilerStep#1";
    add(builder_, {.category = annotation ? "user_annotation" : "cpu_op",
                   .name = name,
                   .start = start,
                   .duration = end - start,
                   .external_id = ids_ == 1   ? 1 + below(6)
                                  : ids_ == 2 ? 0
                                              : ++last_});
    int at = start;
    for (int child = depth > 0 ? below(3) : 0; child > 0 && at < end; --child) {
      const int child_start = at + 1 + below(end - at);
      const int child_end = child_start + below(end - child_start + 1);
      if (child_start >= end) return;
      nest(child_start, child_end, depth - 1);
      at = child_end;
    }
  }

  /// Sound ids, ids that are used twice, none, those of correlations, ids of nobody.
  std::int64_t external_id(int correlation) {
    if (ids_ == 3) return correlation;
    if (ids_ == 4) return 1000 + correlation;
    return ids_ == 2 ? 0 : below(last_ + 2);
  }

  std::mt19937 random_;
  unsigned ids_;
  TraceBuilder builder_;
  int last_ = 0;
};

/// The plugin's tree, as far as it decides who takes launches: an operator with an only child that
/// is an operator of the same name goes away, and its launches with it.
class PluginTree {
 public:
  PluginTree(const Trace& trace, const Roles& roles) {
    std::map<EventId, std::vector<EventId>> children;
    for (const EventId event : call_tree_of(trace).ranges()) {
      if (!is_node(roles.role(event))) continue;
      EventId parent = call_tree_of(trace).parent(event);
      while (parent != EventId::none && !is_node(roles.role(parent))) {
        parent = call_tree_of(trace).parent(parent);
      }
      if (parent != EventId::none) children[parent].push_back(event);
    }
    for (const auto& [parent, all] : children) {
      const bool same = all.size() == 1 && trace.kind(parent) == EventKind::cpu_op &&
                        trace.kind(all[0]) == EventKind::cpu_op &&
                        trace.name(parent) == trace.name(all[0]);
      if (same) replaced_by_[parent] = all[0];
    }
  }

  bool keeps_launches_of(EventId node) const { return !replaced_by_.contains(node); }
  EventId in_place_of(EventId node) const {
    for (auto found = replaced_by_.find(node); found != replaced_by_.end();
         found = replaced_by_.find(node)) {
      node = found->second;
    }
    return node;
  }

 private:
  std::map<EventId, EventId> replaced_by_;
};

/// The node that the plugin should give a launch to: the model's operator, or what is around it and
/// is a node.
EventId expected_owner(const Trace& trace, const Roles& roles, const DeviceLink& link) {
  EventId node = link.op;
  if (node == EventId::none && link.launch != EventId::none) {
    node = call_tree_of(trace).parent(link.launch);
  }
  while (node != EventId::none && !is_node(roles.role(node))) {
    node = call_tree_of(trace).parent(node);
  }
  return node;
}

void check(const Trace& trace) {
  const Roles roles(trace, Dialect::plugin);
  const LinkNumbers numbers(trace, roles);
  const PluginTree tree(trace, roles);
  std::map<std::uint32_t, EventId> of_id;
  std::set<std::uint32_t> correlations;
  for (std::size_t row = 0; row < trace.events().size(); ++row) {
    const auto event = static_cast<EventId>(row);
    const EventKind kind = trace.kind(event);
    if (kind == EventKind::cpu_op || kind == EventKind::user_annotation) {
      ASSERT_NE(numbers.external_id(event), 0u);
      ASSERT_TRUE(of_id.try_emplace(numbers.external_id(event), event).second) << "ids are unique";
      ASSERT_EQ(numbers.correlation(event), 0u);
    } else if (kind == EventKind::runtime) {
      ASSERT_NE(numbers.correlation(event), 0u);
      ASSERT_TRUE(correlations.insert(numbers.correlation(event)).second);
    }
  }
  std::set<EventId> seen;
  std::size_t missing = 0;
  for (const DeviceLink& link : links_of(trace).device_work()) {
    const std::uint32_t id = numbers.external_id(link.activity);
    if (link.launch != EventId::none) {
      ASSERT_EQ(numbers.external_id(link.launch), id);
      ASSERT_EQ(numbers.correlation(link.launch), numbers.correlation(link.activity));
      if (!seen.insert(link.launch).second) continue;  // the first work of a launch decides
    } else {
      ASSERT_FALSE(correlations.contains(numbers.correlation(link.activity)))
          << "work without a launch joins none";
    }
    EventId expected = expected_owner(trace, roles, link);
    if (expected != EventId::none) {
      expected = tree.in_place_of(expected);
      ASSERT_TRUE(tree.keeps_launches_of(expected));
    }
    ASSERT_EQ(id == 0 ? EventId::none : of_id.at(id), expected);
    missing += link.launch == EventId::none && expected != EventId::none ? 1 : 0;
  }
  ASSERT_EQ(numbers.missing_launches().size(), missing);
}

TEST(LinkNumbersRandom, NameTheOperatorThatTheModelKnows) {
  for (unsigned seed = 0; seed < fixtures::random_rounds(3000u); ++seed) {
    SCOPED_TRACE(seed);
    const Trace trace = RandomLaunches(seed).make();
    check(trace);
    if (testing::Test::HasFatalFailure()) return;
  }
}

TEST(LinkNumbersRandom, AreTheSameWhenTheyAreMadeAgain) {
  for (unsigned seed = 0; seed < fixtures::random_rounds(100u); ++seed) {
    const Trace trace = RandomLaunches(seed).make();
    const Roles roles(trace, Dialect::plugin);
    const LinkNumbers first(trace, roles);
    const LinkNumbers second(trace, roles);
    for (std::size_t row = 0; row < trace.events().size(); ++row) {
      const auto event = static_cast<EventId>(row);
      ASSERT_EQ(first.external_id(event), second.external_id(event));
      ASSERT_EQ(first.correlation(event), second.correlation(event));
    }
  }
}

}  // namespace
}  // namespace tbtrace::chrome
