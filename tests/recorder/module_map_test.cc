#include "recorder/module_map.h"

#include <cstdint>
#include <optional>
#include <typeinfo>
#include <vector>

#include <gtest/gtest.h>

namespace net {
struct LinearImpl {};
struct Impl {};
template <typename>
struct WrapperImpl {
  struct Inner {};
};
namespace {
struct Hidden {};
}  // namespace
}  // namespace net

namespace tbtrace::recorder {
namespace {

TEST(ModuleClass, IsAsPythonWouldNameIt) {
  struct Local {};
  EXPECT_EQ(module_class(typeid(net::LinearImpl).name()), "Linear");
  EXPECT_EQ(module_class(typeid(net::Impl).name()), "Impl");
  EXPECT_EQ(module_class(typeid(net::Hidden).name()), "Hidden");
  EXPECT_EQ(module_class(typeid(Local).name()), "Local");
  EXPECT_EQ(module_class(typeid(net::WrapperImpl<net::Hidden>::Inner).name()), "Inner");
  EXPECT_EQ(module_class(typeid(net::WrapperImpl<int>).name()), "Wrapper<int>");
  EXPECT_EQ(module_class("no symbol"), "no symbol");
}

class ModuleMapTest : public testing::Test {
 protected:
  std::uint32_t add(int instance, const char* path, const char* type = "3Net") {
    return map.add(&instances[static_cast<std::size_t>(instance)], type, path);
  }

  std::vector<char> instances = std::vector<char>(8);
  ModuleMap map;
};

TEST_F(ModuleMapTest, FindsParentsByTheirPaths) {
  const auto net = add(0, "my.net");
  const auto block = add(1, "my.net.block");
  const auto leaf = add(2, "my.net.block.0");
  const auto other = add(3, "other");
  EXPECT_EQ(map.modules()[net].parent, -1);
  EXPECT_EQ(map.modules()[block].parent, net);
  EXPECT_EQ(map.modules()[leaf].parent, block);
  EXPECT_EQ(map.modules()[other].parent, -1);
}

TEST_F(ModuleMapTest, NumbersEachClassByItself) {
  add(0, "a", "3Net");
  add(1, "a.b", "6Linear");
  const auto second = add(2, "a.c", "6Linear");
  EXPECT_EQ(map.modules()[second].class_name, "Linear");
  EXPECT_EQ(map.modules()[second].number, 1);
  EXPECT_EQ(map.modules()[0].number, 0);
}

TEST_F(ModuleMapTest, AModuleThatIsThereTwiceIsWhereItWasFirst) {
  const auto first = add(0, "a");
  EXPECT_EQ(add(0, "b"), first);
  EXPECT_EQ(map.modules().size(), 1);
  EXPECT_EQ(map.modules()[first].path, "a");
}

TEST_F(ModuleMapTest, ASharedTensorIsOfTheFirstModule) {
  const auto first = add(0, "a");
  const auto second = add(1, "b");
  map.own(&instances[5], first);
  map.own(&instances[5], second);
  map.own(&instances[6], second);
  EXPECT_EQ(map.owner(&instances[5]), first);
  EXPECT_EQ(map.owner(&instances[6]), second);
  EXPECT_EQ(map.owner(&instances[7]), std::nullopt);
  EXPECT_EQ(map.find(&instances[1]), second);
  EXPECT_EQ(map.find(&instances[2]), std::nullopt);
}

}  // namespace
}  // namespace tbtrace::recorder
