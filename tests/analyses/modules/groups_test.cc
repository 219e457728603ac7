#include "analyses/modules/groups.h"

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tbtrace::analyses {
namespace {

using testing::ElementsAre;

/// Rows of a tree by path, each with its own time; totals are summed up.
class Tree {
 public:
  Tree& add(std::string path, std::string type, std::int64_t own, std::size_t depth) {
    ModuleRow row;
    row.path = std::move(path);
    row.type = std::move(type);
    row.depth = depth;
    row.calls = 1;
    row.self_cpu_time_ns = own;
    row.self_parameters = 10;
    if (depth > 0) row.parent = way_[depth - 1];
    way_.resize(depth);
    way_.push_back(tree_.modules.size());
    tree_.modules.push_back(std::move(row));
    for (const std::size_t around : way_) {
      tree_.modules[around].cpu_time_total_ns += own;
      tree_.modules[around].parameters = tree_.modules[around].parameters.value_or(0) + 10;
    }
    return *this;
  }

  const ModuleTree& made() const { return tree_; }

 private:
  ModuleTree tree_;
  std::vector<std::size_t> way_;
};

Tree resnet() {
  Tree tree;
  tree.add("Net_0", "Net", 1, 0);
  for (int block = 0; block < 3; ++block) {
    const std::string path = "Net_0.Block_" + std::to_string(block);
    tree.add(path, "Block", 10, 1);
    tree.add(path + ".Conv2d_" + std::to_string(2 * block), "Conv2d", 100 + block, 2);
    tree.add(path + ".Conv2d_" + std::to_string(2 * block + 1), "Conv2d", 200, 2);
  }
  tree.add("Net_0.Linear_0", "Linear", 5, 1);
  return tree;
}

TEST(LayerPatterns, JoinEqualPartsOfLayers) {
  EXPECT_THAT(
      layer_patterns(resnet().made().modules),
      ElementsAre("Net", "Net.Block_*", "Net.Block_*.Conv2d_0", "Net.Block_*.Conv2d_1",
                  "Net.Block_*", "Net.Block_*.Conv2d_0", "Net.Block_*.Conv2d_1", "Net.Block_*",
                  "Net.Block_*.Conv2d_0", "Net.Block_*.Conv2d_1", "Net.Linear"));
}

TEST(LayerPatterns, OfAttributesJoinNumbers) {
  Tree tree;
  tree.add("net", "Net", 1, 0)
      .add("net.layers.0", "Block", 1, 1)
      .add("net.layers.0.fc1", "Linear", 1, 2)
      .add("net.layers.10", "Block", 1, 1)
      .add("net.layers.10.fc1", "Linear", 1, 2)
      .add("net.head2", "Linear", 1, 1);
  EXPECT_THAT(layer_patterns(tree.made().modules),
              ElementsAre("net", "net.layers.*", "net.layers.*.fc1", "net.layers.*",
                          "net.layers.*.fc1", "net.head2"));
}

TEST(ModuleGroups, OfLayersSayHowMuchTheyDiffer) {
  const Tree tree = resnet();
  const std::vector<ModuleGroup> groups =
      module_groups(tree.made(), {{}, ModuleGrouping::layer, std::nullopt});
  ASSERT_EQ(groups.size(), 5U);
  EXPECT_EQ(groups[1].sum.path, "Net.Block_*");
  EXPECT_EQ(groups[1].modules, 3U);
  EXPECT_EQ(groups[1].least_ns, 310);
  EXPECT_EQ(groups[1].most_ns, 312);
  EXPECT_EQ(groups[1].slowest, "Net_0.Block_2");
  EXPECT_EQ(groups[1].sum.cpu_time_total_ns, 933);
  EXPECT_EQ(groups[1].sum.self_cpu_time_ns, 30);
  EXPECT_EQ(groups[1].sum.calls, 3U);
  EXPECT_EQ(groups[1].sum.parameters, 90U);
  EXPECT_EQ(groups[2].sum.parent, 1U);
}

TEST(ModuleGroups, OfAClassCountModulesInsideOthersOfItOnce) {
  Tree tree;
  tree.add("a", "Sequential", 1, 0)
      .add("a.0", "Sequential", 10, 1)
      .add("a.0.0", "Linear", 100, 2)
      .add("b", "Sequential", 1000, 0);
  const std::vector<ModuleGroup> groups =
      module_groups(tree.made(), {{}, ModuleGrouping::type, std::nullopt});
  ASSERT_EQ(groups.size(), 2U);
  EXPECT_EQ(groups[0].sum.type, "Sequential");
  EXPECT_EQ(groups[0].modules, 3U);
  EXPECT_EQ(groups[0].sum.cpu_time_total_ns, 1111);
  EXPECT_EQ(groups[0].sum.self_cpu_time_ns, 1011);
  EXPECT_EQ(groups[0].sum.parameters, 40U);
  EXPECT_EQ(groups[1].sum.cpu_time_total_ns, 100);
}

TEST(ModuleGroups, DownToADepthKeepTheSum) {
  const Tree tree = resnet();
  const std::vector<ModuleGroup> groups =
      module_groups(tree.made(), {{}, ModuleGrouping::module, 1});
  ASSERT_EQ(groups.size(), 5U);
  std::int64_t own = 0;
  for (const ModuleGroup& group : groups) own += group.sum.self_cpu_time_ns;
  EXPECT_EQ(own, tree.made().modules[0].cpu_time_total_ns);
  EXPECT_EQ(groups[1].sum.self_cpu_time_ns, 310);
  EXPECT_EQ(groups[1].sum.self_parameters, 30U);
}

}  // namespace
}  // namespace tbtrace::analyses
