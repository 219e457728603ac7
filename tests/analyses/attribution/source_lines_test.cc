#include "analyses/attribution/source_lines.h"

#include <gtest/gtest.h>

namespace tbtrace::analyses {
namespace {

TEST(SourceLines, AreInFramesWithAFileAndANumber) {
  const auto line = line_of_frame("/a (b)/model.py(12): forward(x): y");
  ASSERT_TRUE(line);
  EXPECT_EQ(line->file, "/a (b)/model.py");
  EXPECT_EQ(line->line, 12);
  EXPECT_EQ(line->function, "forward(x): y");
  for (const char* frame : {"<built-in method relu>", "<frozen runpy>(88): _run_code",
                            "nn.Module: Linear_0", "model.py(x): f", "model.py(): f", "(12): f",
                            "model.py(12)", "", "): ", "model.py(99999999999999999999): f"}) {
    EXPECT_FALSE(line_of_frame(frame)) << frame;
  }
}

TEST(SourceLines, AreInPlacesWithAFileAndANumber) {
  const auto line = line_of_place("C:\\model.py:12");
  ASSERT_TRUE(line);
  EXPECT_EQ(line->file, "C:\\model.py");
  EXPECT_EQ(line->line, 12);
  for (const char* place : {"model.py", "model.py:", ":3", "model.py:x", ""}) {
    EXPECT_FALSE(line_of_place(place)) << place;
  }
}

TEST(SourceLines, OfLibrariesAreKnownByTheirPath) {
  for (const char* file : {"torch/nn/functional.py", "/usr/lib/python3.11/typing.py",
                           "/env/lib/python3.9/site-packages/x/y.py",
                           "/usr/lib/python3/dist-packages/z.py", "<frozen runpy>"}) {
    EXPECT_TRUE(is_library(file)) << file;
  }
  for (const char* file : {"train.py", "/home/me/torch/train.py", "models/torch.py"}) {
    EXPECT_FALSE(is_library(file)) << file;
  }
}

}  // namespace
}  // namespace tbtrace::analyses
