// Of builds without cairo.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "writers/pictures/canvas.h"

namespace tbtrace::writers {
namespace {

TEST(CanvasWithoutCairo, SaysWhatToInstall) {
  EXPECT_FALSE(knows_cairo());
  EXPECT_FALSE(can_draw().ok());
  const Status made = make_canvas(200, 100, 1).status();
  EXPECT_EQ(made.code(), StatusCode::invalid_argument);
  EXPECT_THAT(made.message(), testing::HasSubstr("install libcairo2-dev"));
}

}  // namespace
}  // namespace tbtrace::writers
