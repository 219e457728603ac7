#include "writers/flame/notes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tbtrace::writers {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

const FlameLayout kLayout = {
    .boxes = {{0, 0, 1500, 0, "all"},
              {1, 0, 1000, 500, "main.py(3): main"},
              {2, 0, 500, 500, "aten::mm"},
              {1, 1000, 500, 500, "main.py(4): other"}},
    .total = 1500,
    .levels = 3,
    .too_narrow = 0,
};

TEST(FlameGraphNotes, CountWithoutTheRoot) {
  EXPECT_EQ(summary_note(kLayout, "ns"), "total 1.500 us (1500 ns), 3 frames, 2 levels");
  const FlameLayout one = {
      .boxes = {{0, 0, 7, 0, "all"}, {1, 0, 7, 7, "a"}}, .total = 7, .levels = 2, .too_narrow = 0};
  EXPECT_EQ(summary_note(one, "bytes"), "total 7 bytes, 1 frame, 1 level");
}

TEST(FlameGraphNotes, TellWhatIsTooNarrow) {
  FlameLayout layout = kLayout;
  EXPECT_EQ(too_narrow_note(layout, 0.1), "");
  layout.too_narrow = 1;
  EXPECT_EQ(too_narrow_note(layout, 0.1), "1 frame narrower than 0.1 px not drawn");
  layout.too_narrow = 12;
  EXPECT_EQ(too_narrow_note(layout, 0.25), "12 frames narrower than 0.25 px not drawn");
}

TEST(FlameGraphNotes, TellWhatIsLeftOut) {
  FlameLayout layout = kLayout;
  EXPECT_EQ(left_out_note(layout, 3), "");
  layout.too_narrow = 1;
  EXPECT_EQ(left_out_note(layout, 3),
            "the narrowest frame is not in this picture, which has at most 3");
  layout.too_narrow = 12;
  EXPECT_EQ(left_out_note(layout, 3),
            "the 12 narrowest frames are not in this picture, which has at most 3");
}

TEST(FlameGraphNotes, KindsAreThoseThatOccur) {
  EXPECT_THAT(kinds_in(kLayout), ElementsAre(FrameKind::op, FrameKind::python));
  EXPECT_THAT(kinds_in({}), IsEmpty());
  // The root is of no kind.
  EXPECT_THAT(kinds_in({.boxes = {{0, 0, 1, 1, "all"}}, .total = 1, .levels = 1}), IsEmpty());
}

}  // namespace
}  // namespace tbtrace::writers
