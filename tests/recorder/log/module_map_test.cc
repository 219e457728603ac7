#include "recorder/log/module_map.h"

#include <cstddef>
#include <cstdint>
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
  std::uint32_t add(std::size_t instance, const char* path, const char* type = "3Net",
                    std::int64_t parent = ModuleMap::kNone) {
    return map.add(&bytes[instance], type, path, parent);
  }
  void own(std::size_t storage, std::uint32_t module, std::size_t begin, std::size_t end) {
    map.own(&bytes[storage], {.module = module, .begin = &bytes[begin], .end = &bytes[end]});
  }

  std::vector<char> bytes = std::vector<char>(32);
  ModuleMap map;
};

TEST_F(ModuleMapTest, KeepsWhatItIsGiven) {
  const auto net = add(0, "my.net");
  const auto block = add(1, "my.net.block", "5Block", net);
  EXPECT_EQ(map.modules()[net].parent, ModuleMap::kNone);
  EXPECT_EQ(map.modules()[block].parent, net);
  EXPECT_EQ(map.modules()[block].path, "my.net.block");
  EXPECT_EQ(map.modules()[block].class_name, "Block");
}

TEST_F(ModuleMapTest, NumbersEachClassByItself) {
  add(0, "a", "3Net");
  add(1, "a.b", "6Linear");
  const auto second = add(2, "a.c", "6Linear");
  EXPECT_EQ(map.modules()[second].number, 1);
  EXPECT_EQ(map.modules()[0].number, 0);
}

TEST_F(ModuleMapTest, AModuleIsItsPlaceAndItsClass) {
  const auto first = add(0, "a");
  EXPECT_EQ(add(0, "b"), first);
  EXPECT_EQ(map.modules().size(), 1);
  EXPECT_EQ(map.modules()[first].path, "a");
  EXPECT_NE(add(0, "c", "5Other"), first);
}

TEST_F(ModuleMapTest, AStorageOfOneTensorIsItsWhole) {
  const auto net = add(0, "a");
  own(5, net, 10, 12);
  ASSERT_NE(map.tensor(&bytes[5], &bytes[20]), nullptr);
  EXPECT_EQ(map.tensor(&bytes[5], &bytes[20])->module, net);
  EXPECT_EQ(map.tensor(&bytes[6], &bytes[10]), nullptr);
}

TEST_F(ModuleMapTest, TensorsInOneStorageAreToldByTheirBytes) {
  const auto first = add(0, "a");
  const auto second = add(1, "b");
  own(5, first, 10, 12);
  own(5, second, 12, 14);
  own(5, second, 10, 12);  // the same as the first
  EXPECT_EQ(map.tensor(&bytes[5], &bytes[11])->module, first);
  EXPECT_EQ(map.tensor(&bytes[5], &bytes[12])->module, second);
  EXPECT_EQ(map.tensor(&bytes[5], &bytes[14]), nullptr);
  EXPECT_EQ(map.tensor(&bytes[5], &bytes[9]), nullptr);
}

TEST_F(ModuleMapTest, ASharedTensorIsOfTheModuleWhoseClassIsNamedAsTheOperator) {
  const auto embedding = add(0, "a.embedding", "9Embedding");
  const auto custom = add(1, "a.custom", "6Custom");
  const auto head = add(2, "a.head", "6Linear");
  own(5, embedding, 10, 12);
  own(5, head, 12, 14);
  own(5, custom, 10, 12);
  own(5, head, 10, 12);
  own(5, embedding, 10, 12);
  const auto number = map.tensor(&bytes[5], &bytes[10])->number;
  EXPECT_EQ(map.module_of(number, "aten::embedding"), embedding);
  EXPECT_EQ(map.module_of(number, "aten::linear"), head);
  EXPECT_EQ(map.module_of(number, "aten::t"), custom);
  const auto other = map.tensor(&bytes[5], &bytes[12])->number;
  EXPECT_EQ(map.module_of(other, "aten::embedding"), head);
}

TEST_F(ModuleMapTest, OfModulesOfOneClassTheFirstHasASharedTensor) {
  const auto first = add(0, "a.first", "9Embedding");
  own(5, first, 10, 12);
  own(5, add(1, "a.second", "9Embedding"), 10, 12);
  const auto number = map.tensor(&bytes[5], &bytes[10])->number;
  EXPECT_EQ(map.module_of(number, "aten::embedding"), first);
  EXPECT_EQ(map.module_of(number, "aten::t"), first);
}

}  // namespace
}  // namespace tbtrace::recorder
