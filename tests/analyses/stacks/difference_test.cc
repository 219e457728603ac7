// The two sides of a flame graph of a comparison in one tree: sums, means, what is gone and new,
// frames whose line differs; random trees against their paths.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <tbtrace/flame_difference.h>
#include <tbtrace/flame_graph.h>

#include "analyses/stacks/stack_paths.h"
#include "fixtures/chrome_text.h"
#include "fixtures/random_rounds.h"
#include "fixtures/read_text.h"
#include "fixtures/stack_path.h"

namespace tbtrace::analyses {
namespace {

using fixtures::add_path;
using fixtures::ChromeEvent;
using testing::ElementsAre;

struct Sides {
  std::int64_t base_self = 0;
  std::int64_t new_self = 0;
  std::int64_t base = 0;
  std::int64_t now = 0;
  bool operator==(const Sides&) const = default;
};

std::ostream& operator<<(std::ostream& out, const Sides& sides) {
  return out << sides.base_self << '/' << sides.new_self << ' ' << sides.base << '/' << sides.now;
}

RunStacks run_of(StackTree cpu, std::uint64_t steps = 1) {
  RunStacks run;
  run.steps = steps;
  run.has_steps = steps > 0;
  run.cpu = std::move(cpu);
  return run;
}

StackTree tree_of(
    const std::vector<std::pair<std::vector<std::string_view>, std::int64_t>>& paths) {
  StackTree tree("ns");
  for (const auto& [path, weight] : paths) add_path(tree, path, weight);
  return tree;
}

FlameDifference difference_of(const std::vector<RunStacks>& base,
                              const std::vector<RunStacks>& changed,
                              const FlameDifferenceOptions& options = {}) {
  Result<FlameDifference> found = flame_difference(base, changed, options);
  EXPECT_TRUE(found.ok()) << found.status().message();
  return found.ok() ? *std::move(found) : FlameDifference();
}

StackPath path_in(const FlameDifference& found, std::size_t at) {
  StackPath path;
  for (; at != 0; at = found.nodes[at].parent) {
    path.insert(path.begin(), found.frames[found.nodes[at].frame]);
  }
  return path;
}

std::map<StackPath, Sides> by_path(const FlameDifference& found) {
  std::map<StackPath, Sides> all;
  for (std::size_t at = 0; at < found.nodes.size(); ++at) {
    const DifferenceNode& node = found.nodes[at];
    const bool is_new = all.emplace(path_in(found, at), Sides{node.base_self_ns, node.new_self_ns,
                                                              node.base_ns, node.new_ns})
                            .second;
    EXPECT_TRUE(is_new) << "a path twice";
  }
  return all;
}

/// Own times and those of the children make up each node, on both sides.
void expect_sums(const FlameDifference& found) {
  std::vector<Sides> sums(found.nodes.size());
  for (std::size_t at = found.nodes.size(); at-- > 0;) {
    const DifferenceNode& node = found.nodes[at];
    EXPECT_GE(node.base_self_ns, 0);
    EXPECT_GE(node.new_self_ns, 0);
    EXPECT_EQ(sums[at].base + node.base_self_ns, node.base_ns);
    EXPECT_EQ(sums[at].now + node.new_self_ns, node.new_ns);
    if (at == 0) continue;
    ASSERT_LT(node.parent, at);
    sums[node.parent].base += node.base_ns;
    sums[node.parent].now += node.new_ns;
  }
}

TEST(FlameDifference, MergesByPathAndKeepsWhatIsGone) {
  const FlameDifference found =
      difference_of({run_of(tree_of({{{"a"}, 10}, {{"a", "b"}, 5}, {{"a", "c"}, 7}}))},
                    {run_of(tree_of({{{"a"}, 12}, {{"a", "b"}, 5}, {{"d", "b"}, 1}}))});
  expect_sums(found);
  EXPECT_EQ(by_path(found), (std::map<StackPath, Sides>{{{}, {0, 0, 22, 18}},
                                                        {{"a"}, {10, 12, 22, 17}},
                                                        {{"a", "b"}, {5, 5, 5, 5}},
                                                        {{"a", "c"}, {7, 0, 7, 0}},
                                                        {{"d"}, {0, 0, 0, 1}},
                                                        {{"d", "b"}, {0, 1, 0, 1}}}));
  for (std::size_t at = 0; at < found.nodes.size(); ++at) {
    const StackPath path = path_in(found, at);
    EXPECT_EQ(found.nodes[at].in_base, path.empty() || path[0] == "a");
    EXPECT_EQ(found.nodes[at].in_new, path != StackPath({"a", "c"}));
  }
}

TEST(FlameDifference, IsPerStepIfAllRunsHaveSteps) {
  const StackTree six = tree_of({{{"a"}, 6}});
  const StackTree eight = tree_of({{{"a"}, 8}});
  const FlameDifference per_step =
      difference_of({run_of(six, 2)}, {run_of(eight, 4)}, {.step_ns = 30});
  EXPECT_TRUE(per_step.is_per_step);
  EXPECT_EQ(by_path(per_step)[{"a"}], (Sides{3, 2, 3, 2}));
  EXPECT_EQ(per_step.whole_ns, 30);
  const FlameDifference totals =
      difference_of({run_of(six, 2)}, {run_of(eight, 0)}, {.step_ns = 30});
  EXPECT_FALSE(totals.is_per_step);
  EXPECT_EQ(by_path(totals)[{"a"}], (Sides{6, 8, 6, 8}));
  EXPECT_EQ(totals.whole_ns, 6);
}

TEST(FlameDifference, RunsOfASideAreAMeanOfTheirMeans) {
  const FlameDifference found =
      difference_of({run_of(tree_of({{{"a"}, 10}}), 1), run_of(tree_of({{{"a"}, 60}}), 2)},
                    {run_of(tree_of({{{"b"}, 9}}), 1), run_of(tree_of({{{"a"}, 1}}), 1)});
  expect_sums(found);
  EXPECT_EQ(by_path(found)[{"a"}].base, 20);
  EXPECT_EQ(found.root().new_ns, 5);
}

TEST(FlameDifference, RoundsTheSumsUpToEachNode) {
  std::vector<std::pair<std::vector<std::string_view>, std::int64_t>> paths;
  const std::vector<std::string> names = {"a", "b", "c", "d", "e", "f", "g"};
  for (const std::string& name : names) paths.push_back({{name}, 1});
  const FlameDifference found = difference_of({run_of(tree_of(paths), 3)}, {run_of(tree_of({}))});
  expect_sums(found);
  EXPECT_EQ(found.root().base_ns, 2) << "7 ns in 3 steps";
  for (const auto& [path, sides] : by_path(found)) {
    if (!path.empty()) EXPECT_LE(sides.base, 1);
  }
}

TEST(FlameDifference, FunctionsWhoseLineMovedAreTheSame) {
  const FlameDifference found = difference_of(
      {run_of(tree_of({{{"net.py(9): forward", "aten::mm"}, 4}, {{"net.py(10): forward"}, 2}}))},
      {run_of(tree_of({{{"net.py(12): forward", "aten::mm"}, 5}, {{"net.py(13): forward"}, 2}}))});
  expect_sums(found);
  const std::map<StackPath, Sides> all = by_path(found);
  EXPECT_EQ(all.size(), 4U);
  EXPECT_EQ(all.at({"net.py(12): forward", "aten::mm"}), (Sides{4, 5, 4, 5}));
  EXPECT_EQ(all.at({"net.py(13): forward"}), (Sides{2, 2, 2, 2}));
  std::map<std::string, std::string> was;
  for (const DifferenceNode& node : found.nodes) {
    if (node.base_frame) was[found.frames[node.frame]] = found.frames[*node.base_frame];
  }
  EXPECT_EQ(was,
            (std::map<std::string, std::string>{{"net.py(12): forward", "net.py(9): forward"},
                                                {"net.py(13): forward", "net.py(10): forward"}}));
}

TEST(FlameDifference, FunctionsWithMoreCallsThanBeforeAreNotGuessed) {
  const FlameDifference found = difference_of(
      {run_of(tree_of({{{"net.py(9): forward"}, 4}}))},
      {run_of(tree_of({{{"net.py(12): forward"}, 5}, {{"net.py(13): forward"}, 2}}))});
  EXPECT_EQ(by_path(found).size(), 4U);
  for (const DifferenceNode& node : found.nodes) EXPECT_FALSE(node.base_frame);
}

TEST(FlameDifference, HugeTimesAreClamped) {
  const std::int64_t most = INT64_MAX;
  const FlameDifference found =
      difference_of({run_of(tree_of({{{"a"}, most}, {{"b"}, most}}))},
                    {run_of(tree_of({{{"a"}, most}}), 1), run_of(tree_of({{{"a"}, most}}), 1)});
  EXPECT_GT(found.root().base_ns, 9'000'000'000'000'000'000);
  EXPECT_GT(found.root().new_ns, 9'000'000'000'000'000'000);
}

TEST(FlameDifference, NeedsRunsOnBothSides) {
  const std::vector<RunStacks> none;
  const std::vector<RunStacks> one = {RunStacks{}};
  EXPECT_FALSE(flame_difference(none, one).ok());
  EXPECT_FALSE(flame_difference(one, none).ok());
}

TEST(FlameDifference, ShowsDeviceTimeIfThatChanged) {
  const auto with = [](std::int64_t base, std::int64_t now) {
    return difference_of({run_of(tree_of({{{"a"}, base}}))}, {run_of(tree_of({{{"a"}, now}}))});
  };
  EXPECT_EQ(telling_weight(with(10, 20), with(10, 15)), StackWeight::device);
  EXPECT_EQ(telling_weight(with(10, 20), with(10, 14)), StackWeight::cpu);
  EXPECT_EQ(telling_weight(with(10, 10), with(0, 0)), StackWeight::cpu);
}

/// By path, the sums of the weights of the runs: no tree is walked but by whole paths.
using Exact = std::map<StackPath, std::vector<std::int64_t>>;

TEST(FlameDifference, RandomTreesAgreeWithTheirPaths) {
  std::mt19937 random(7);
  const auto below = [&](std::uint32_t limit) { return random() % limit; };
  for (int round = 0; round < fixtures::random_rounds(400); ++round) {
    std::vector<std::vector<RunStacks>> sides(2);
    std::vector<Exact> exact(2);
    for (std::size_t side = 0; side < 2; ++side) {
      const std::size_t runs = 1 + below(3);
      for (std::size_t run = 0; run < runs; ++run) {
        StackTree tree("ns");
        for (std::uint32_t path = below(12); path > 0; --path) {
          StackPath frames;
          for (std::uint32_t depth = below(5); depth > 0; --depth) {
            frames.push_back(std::string(1, static_cast<char>('a' + below(4))));
          }
          const std::int64_t weight = below(1000);
          add_path(tree, {frames.begin(), frames.end()}, weight);
          if (weight == 0) continue;
          for (std::size_t length = 0; length <= frames.size(); ++length) {
            std::vector<std::int64_t>& sums =
                exact[side][{frames.begin(), frames.begin() + static_cast<std::ptrdiff_t>(length)}];
            sums.resize(runs);
            sums[run] += weight;
          }
        }
        sides[side].push_back(run_of(std::move(tree), 1 + below(4)));
      }
    }
    const FlameDifference found = difference_of(sides[0], sides[1]);
    expect_sums(found);
    const auto mean = [&](std::size_t side, const StackPath& path) {
      double sum = 0;
      const auto known = exact[side].find(path);
      if (known == exact[side].end()) return 0.0;
      for (std::size_t run = 0; run < sides[side].size(); ++run) {
        sum +=
            static_cast<double>(known->second[run]) / static_cast<double>(sides[side][run].steps);
      }
      return sum / static_cast<double>(sides[side].size());
    };
    const std::map<StackPath, Sides> all = by_path(found);
    for (const auto& [path, times] : all) {
      // An own time is what the children leave of the whole.
      double base_self = mean(0, path);
      double new_self = mean(1, path);
      for (const auto& [other, ignored] : all) {
        if (other.size() != path.size() + 1) continue;
        if (!std::equal(path.begin(), path.end(), other.begin())) continue;
        base_self -= mean(0, other);
        new_self -= mean(1, other);
      }
      EXPECT_NEAR(static_cast<double>(times.base_self), base_self, 1.001);
      EXPECT_NEAR(static_cast<double>(times.new_self), new_self, 1.001);
    }
    EXPECT_EQ(found.root().base_ns, std::llround(mean(0, {})));
    EXPECT_EQ(found.root().new_ns, std::llround(mean(1, {})));
    for (std::size_t at = 1; at < found.nodes.size(); ++at) {
      const StackPath path = path_in(found, at);
      EXPECT_EQ(found.nodes[at].in_base, exact[0].contains(path));
      EXPECT_EQ(found.nodes[at].in_new, exact[1].contains(path));
    }
    for (const Exact& side : exact) {
      for (const auto& [path, sums] : side) EXPECT_TRUE(all.contains(path));
    }
  }
}

ChromeEvent annotation(const std::string& name, int from_us, int to_us) {
  ChromeEvent event = fixtures::op(name, std::to_string(from_us), std::to_string(to_us - from_us));
  event.with("cat", "\"user_annotation\"");
  return event;
}

ChromeEvent step(int number, int from_us, int to_us) {
  return annotation("ProfilerStep#" + std::to_string(number), from_us, to_us);
}

RunStacks stacks_of(const std::vector<ChromeEvent>& events) {
  RunStacks run;
  const Status added =
      add_stacks(run, fixtures::read(fixtures::trace_text(events),
                                     {.threads = 1, .arguments = run_stacks_arguments()}));
  EXPECT_TRUE(added.ok()) << added.message();
  return run;
}

TEST(RunStacks, OnlyWhatIsInStepsCountsAndAllStepsAreOneFrame) {
  const RunStacks run =
      stacks_of({fixtures::op("warmup", "0", "50"), step(7, 100, 200), step(8, 200, 300),
                 fixtures::op("aten::mm", "110", "20"), fixtures::op("aten::mm", "210", "30"),
                 fixtures::op("after", "310", "5")});
  EXPECT_EQ(run.steps, 2U);
  EXPECT_TRUE(run.has_steps);
  EXPECT_EQ(paths_of(run.cpu),
            (StackPaths{{{"ProfilerStep*"}, 150'000}, {{"ProfilerStep*", "aten::mm"}, 50'000}}));
}

TEST(RunStacks, AnnotationsThatAreStepsAreOneFrame) {
  std::vector<ChromeEvent> events = {annotation("Iteration 7", 100, 200),
                                     annotation("Iteration 8", 200, 300),
                                     fixtures::op("aten::mm", "110", "20")};
  const RunStacks run = stacks_of(events);
  EXPECT_EQ(run.steps, 2U);
  EXPECT_EQ(paths_of(run.cpu),
            (StackPaths{{{"[step]"}, 180'000}, {{"[step]", "aten::mm"}, 20'000}}));
}

TEST(RunStacks, WithoutStepsEverythingCounts) {
  const RunStacks run = stacks_of({fixtures::op("aten::mm", "110", "20")});
  EXPECT_EQ(run.steps, 0U);
  EXPECT_FALSE(run.has_steps);
  EXPECT_EQ(paths_of(run.stacks(StackWeight::cpu)), (StackPaths{{{"aten::mm"}, 20'000}}));
  EXPECT_EQ(paths_of(run.stacks(StackWeight::device)), StackPaths());
}

TEST(RunStacks, FailsForATraceReadWithoutItsArguments) {
  RunStacks run;
  EXPECT_FALSE(add_stacks(run, fixtures::read(fixtures::trace_text({fixtures::op("a", "1", "2")}),
                                              {.threads = 1, .arguments = {}}))
                   .ok());
}

}  // namespace
}  // namespace tbtrace::analyses
