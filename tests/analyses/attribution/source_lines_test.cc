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

TEST(SourceLines, AreInFramesOfWhatWasTypedIn) {
  const auto cell = line_of_frame("<ipython-input-3-0a1b2c>(7): train");
  ASSERT_TRUE(cell);
  EXPECT_EQ(cell->file, "<ipython-input-3-0a1b2c>");
  EXPECT_TRUE(line_of_frame("<stdin>(1): <module>"));
  EXPECT_FALSE(line_of_frame("<eval_with_key>.3(5): forward"));
}

}  // namespace
}  // namespace tbtrace::analyses
