// What a process holds of CUPTI, in a process of its own: nobody has asked for CUPTI before, and a
// second copy of tbtrace comes.
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <dlfcn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <torch/torch.h>

#include <tbtrace/profiler.h>

#include "fixtures/whole_file.h"
#include "libtorch/record/recorded.h"
#include "support/fake_cuda/fake_cuda.h"

namespace tbtrace {
namespace {

using testing::Folder;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr std::uint32_t kKernels = 10;  // CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL

const fake_cuda::FakeCuda& gpu() {
  static const fake_cuda::FakeCuda gpu(FAKE_CUPTI_130, FAKE_CUDA_DRIVER);
  return gpu;
}

// Before the other test: a driver that was found is kept.
TEST(GpuCopies, ADriverWithoutGpuIsAskedOncePerProfiler) {
  fake_cuda::DriverSetup no_gpu;
  no_gpu.init_result = 100;  // CUDA_ERROR_NO_DEVICE
  gpu().driver.set_up(no_gpu);
  std::vector<std::string> warnings;
  {
    Profiler profiler({.schedule = schedule({.warmup = 1, .active = 1}),
                       .experimental = {.on_warning = [&](std::string_view sentence) {
                         if (!sentence.starts_with("Warning: Profiler clears events")) {
                           warnings.emplace_back(sentence);
                         }
                       }}});
    profiler.start();
    for (int step = 0; step < 10; ++step) {
      torch::ones({2});
      profiler.step();
    }
    profiler.stop();
  }
  EXPECT_EQ(gpu().driver.calls("cuInit"), 1U);
  EXPECT_THAT(warnings, IsEmpty()) << "nobody asked for a GPU by name";
  gpu().driver.set_up({});
}

TEST(GpuCopies, ASecondCopyLeavesCuptiToTheFirst) {
  void* const library = ::dlopen(TBTRACE_SECOND_COPY, RTLD_NOW | RTLD_LOCAL);
  ASSERT_NE(library, nullptr) << ::dlerror();
  auto* const second_records =
      reinterpret_cast<int (*)(bool)>(::dlsym(library, "tbtrace_second_copy_records"));
  ASSERT_NE(second_records, nullptr);
  std::vector<std::string> warnings;
  const Folder folder;
  {
    Profiler profiler({.activities = {Activity::cpu, Activity::cuda},
                       .experimental = {.on_warning = [&](std::string_view sentence) {
                         warnings.emplace_back(sentence);
                       }}});
    profiler.start();
    gpu().cupti.launch({.name = "before"});
    const std::uint64_t registered = gpu().cupti.calls("cuptiActivityRegisterCallbacks");
    for (const bool attach_early : {false, true}) {
      EXPECT_GT(second_records(attach_early), 0);
      EXPECT_EQ(gpu().cupti.calls("cuptiActivityRegisterCallbacks"), registered);
      EXPECT_TRUE(gpu().cupti.enabled(kKernels));
    }
    gpu().cupti.launch({.name = "after"});
    profiler.stop();
    ASSERT_TRUE(profiler.export_chrome_trace(folder / "trace.json").ok());
  }
  EXPECT_THAT(warnings, IsEmpty());
  const std::string text = fixtures::read_whole_file(folder / "trace.json");
  EXPECT_THAT(text, HasSubstr(R"("name":"before")"));
  EXPECT_THAT(text, HasSubstr(R"("name":"after")"));
}

}  // namespace
}  // namespace tbtrace
