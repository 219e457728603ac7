// Recording while memory runs out. Allocations of the threads that ask for it fail here, so these
// tests are a program of their own.
#include <cstddef>
#include <cstdlib>
#include <mutex>
#include <new>
#include <string>
#include <thread>
#include <vector>

#include <ATen/record_function.h>
#include <c10/core/CPUAllocator.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <torch/torch.h>

#include <tbtrace/profiler.h>

#include "fixtures/failing_new.h"
#include "libtorch/record/recorded.h"

namespace tbtrace {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;

/// A range with a short name and a block of memory: LibTorch allocates nothing by `new` for them.
void run_something() {
  {
    at::RecordFunction range(at::RecordScope::FUNCTION);
    range.before("a");
  }
  {
    at::RecordFunction range(at::RecordScope::USER_SCOPE);
    range.before("b");
  }
  const c10::DataPtr block = c10::GetCPUAllocator()->allocate(64);
}

// A thread whose log there is no memory for, or only a part of it.
TEST(ObserverMemory, AThreadWithoutMemoryForItsLogGoesOn) {
  for (const bool shapes : {false, true}) {
    int needed = 0;
    int losses = 0;
    for (bool enough = false; !enough; ++needed) {
      ASSERT_LT(needed, 200);
      std::mutex mutex;
      std::vector<std::string> warnings;
      ProfilerOptions options = {.activities = {Activity::cpu},
                                 .record_shapes = shapes,
                                 .profile_memory = true,
                                 .all_threads = true};
      options.experimental.on_warning = [&](std::string_view sentence) {
        const std::lock_guard lock(mutex);
        warnings.emplace_back(sentence);
      };
      Profiler profiler(options);
      profiler.start();
      std::thread([&] {
        run_something();  // so that LibTorch has what it needs for the thread
        allocations_left = needed;
        run_something();
        enough = allocations_left > 0;
        allocations_left = kEndless;
      }).join();
      std::thread([&] {
        at::getStepCallbacks(at::RecordScope::FUNCTION);
        at::getStepCallbacks(at::RecordScope::USER_SCOPE);
        allocations_left = needed;
        run_something();
        enough = allocations_left > 0;
        allocations_left = kEndless;
      }).join();
      profiler.stop();
      // Blocks of memory that could not be watched are not missed.
      if (enough || warnings.empty()) {
        EXPECT_EQ(testing::count(profiler, "b"), 3) << needed;
      } else {
        EXPECT_THAT(warnings, Contains(HasSubstr("records were lost"))) << needed;
        ++losses;
      }
    }
    EXPECT_GT(losses, 2) << "nothing failed";
  }
}

}  // namespace
}  // namespace tbtrace
