// If memory runs out while simdjson is used for the first time, it ends the program; so its first
// use must not be the reading of a text.
#include <cstdlib>
#include <new>

#include <gtest/gtest.h>

#include "fixtures/failing_new.h"
#include "wire/json_index.h"

namespace tbtrace::wire {
namespace {

TEST(JsonIndexMemory, RunningOutOfItOnTheFirstTextIsAnException) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");  // a program of its own, which has read nothing
  EXPECT_EXIT(
      {
        for (int failed = 0;; ++failed) {
          JsonIndex index;
          allocations_left = failed;
          try {
            static_cast<void>(index.build("{}"));
            std::_Exit(failed > 0 ? 0 : 1);
          } catch (const std::bad_alloc&) {
            // The next round has one more allocation.
          }
          allocations_left = kEndless;
        }
      },
      testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace tbtrace::wire
