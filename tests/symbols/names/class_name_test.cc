#include "symbols/names/class_name.h"

#include <gtest/gtest.h>

namespace tbtrace {
namespace {

TEST(ClassName, ScopesInBracketsAreNotTheNames) {
  EXPECT_EQ(last_part("a::b<c::d>"), "b<c::d>");
  EXPECT_EQ(last_part("a::(anonymous namespace)::b"), "b");
  EXPECT_EQ(last_part("f(a::b)::{lambda(c::d)}"), "{lambda(c::d)}");
  EXPECT_EQ(last_part("alone"), "alone");
  EXPECT_EQ(last_part(""), "");
  EXPECT_EQ(scope_of("net::Block<a::b>::forward"), "net::Block<a::b>");
  EXPECT_EQ(scope_of("Net::operator()"), "Net");
  EXPECT_EQ(scope_of("Net::operator<"), "Net");
  EXPECT_EQ(scope_of("main"), "");
}

TEST(ClassName, ShortNamesHaveNoNamespaceAndNoImpl) {
  EXPECT_EQ(short_class_name("torch::nn::LinearImpl"), "Linear");
  EXPECT_EQ(short_class_name("net::BlockImpl<net::HiddenImpl>"), "Block<net::HiddenImpl>");
  EXPECT_EQ(short_class_name("net::Impl"), "Impl");
  EXPECT_EQ(short_class_name("Implement"), "Implement");
  EXPECT_EQ(short_class_name(">::odd"), "odd");
}

TEST(ClassName, LayersAreNamedAsTheirOperators) {
  EXPECT_TRUE(is_named_as("MaxPool2d", "aten::max_pool2d"));
  EXPECT_TRUE(is_named_as("ReLU", "aten::relu_"));
  EXPECT_TRUE(is_named_as("Linear", "linear"));
  EXPECT_FALSE(is_named_as("Linear", "aten::bilinear"));
  EXPECT_FALSE(is_named_as("Embedding", "aten::embedding_bag"));
}

}  // namespace
}  // namespace tbtrace
