#include "symbols/names/code_place.h"

#include <gtest/gtest.h>

namespace tbtrace {
namespace {

TEST(CodePlace, HasAFileALineAndAFunction) {
  const CodePlace place = code_place("/a (b)/model.py(12): forward(x): y");
  EXPECT_EQ(place.file, "/a (b)/model.py");
  EXPECT_EQ(place.line, "12");
  EXPECT_EQ(place.function, "forward(x): y");
}

TEST(CodePlace, OfOtherTextsIsEmpty) {
  for (const char* text : {"", "): ", "<built-in method relu>", "nn.Module: Linear_0", "a.py(12)",
                           "a.py(): f", "a.py(x): f", "a.py(1x): f", "12): f"}) {
    EXPECT_TRUE(code_place(text).line.empty()) << text;
  }
}

}  // namespace
}  // namespace tbtrace
