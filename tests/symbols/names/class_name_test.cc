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

}  // namespace
}  // namespace tbtrace
