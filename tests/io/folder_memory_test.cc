#include <filesystem>
#include <new>

#include <gtest/gtest.h>

#include "fixtures/failing_new.h"
#include "fixtures/scratch_folder.h"
#include "fixtures/whole_file.h"
#include "io/folder.h"

namespace tbtrace::io {
namespace {

TEST(Folder, RunningOutOfMemoryAnywhereIsAnException) {
  const fixtures::ScratchFolder scratch;
  fixtures::write_whole_file(scratch.path("a.json"), "{}");
  std::filesystem::create_directories(scratch.path("below/empty"));
  fixtures::write_whole_file(scratch.path("below/b"), "");
  int failed = 0;
  for (bool is_done = false; !is_done; failed += is_done ? 0 : 1) {
    allocations_left = failed;
    try {
      static_cast<void>(all_entries_below(scratch.root()));
      is_done = true;
    } catch (const std::bad_alloc&) {
      // The next round has one more allocation.
    }
    allocations_left = kEndless;
  }
  EXPECT_GT(failed, 5);
}

}  // namespace
}  // namespace tbtrace::io
