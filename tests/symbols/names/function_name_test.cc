#include "symbols/names/function_name.h"

#include <gtest/gtest.h>

namespace tbtrace {
namespace {

TEST(FunctionName, LosesItsSignature) {
  EXPECT_EQ(without_signature("void at::f<int>(int, g(char))"), "at::f<int>");
  EXPECT_EQ(without_signature("f"), "f");
  EXPECT_EQ(without_signature("int f()"), "int f");
  EXPECT_EQ(without_signature("()"), "()");
  EXPECT_EQ(without_signature("f)"), "f)");
}

TEST(FunctionName, LosesItsNamespaces) {
  EXPECT_EQ(without_namespaces("at::native::f<std::pair<int>>"), "f<std::pair<int>>");
  EXPECT_EQ(without_namespaces("a::operator<<"), "operator<<");
  EXPECT_EQ(without_namespaces("f"), "f");
  EXPECT_EQ(without_namespaces("::"), "");
}

TEST(FunctionName, HasTemplateArguments) {
  EXPECT_EQ(without_template_arguments("at::f<g<int>, 3>"), "at::f");
  EXPECT_EQ(template_arguments("at::f<g<int>, 3>"), "g<int>, 3");
  EXPECT_EQ(template_arguments("f<decltype(a->b)>(int)"), "decltype(a->b)");
  EXPECT_EQ(template_arguments("f"), "");
  EXPECT_EQ(without_template_arguments("operator<"), "operator<");
  EXPECT_EQ(template_arguments("operator<< <int>"), "int");
  EXPECT_EQ(template_arguments("f<cut"), "cut");
  EXPECT_EQ(template_arguments("<"), "");
}

}  // namespace
}  // namespace tbtrace
