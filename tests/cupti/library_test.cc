#include <cstdlib>
#include <filesystem>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cupti/fake_gpu.h"
#include "cupti/loaded_library.h"
#include "cupti/refusal.h"

namespace tbtrace::cupti {
namespace {

using testing::HasSubstr;

TEST(CuptiLibrary, EachReleaseIsOpenedWithTheFunctionsThatItHas) {
  const struct {
    const char* path;
    std::uint32_t version;
    bool chooses_calls;
    const char* text;
  } releases[] = {{FAKE_CUPTI_118, 18, false, "CUDA 11 (18)"},
                  {FAKE_CUPTI_124, 22, false, "CUDA 12 (22)"},
                  {FAKE_CUPTI_130, 130001, true, "CUDA 13.0 (130001)"},
                  {FAKE_CUPTI_134, 130400, true, "CUDA 13.4 (130400)"}};
  for (const auto& release : releases) {
    const Result<CuptiLibrary> library = open_cupti(release.path);
    ASSERT_TRUE(library.ok()) << library.status().message();
    EXPECT_EQ(library->version, release.version);
    EXPECT_EQ(library->enable_runtime_call != nullptr, release.chooses_calls);
    EXPECT_EQ(cupti_version_text(library->version), release.text);
    EXPECT_TRUE(std::filesystem::equivalent(library->path, release.path)) << library->path;
  }
}

TEST(CuptiLibrary, WhatIsNoLibraryIsRefused) {
  const Result<CuptiLibrary> none = open_cupti("/nowhere/libcupti.so");
  ASSERT_FALSE(none.ok());
  EXPECT_THAT(none.status().message(), HasSubstr("/nowhere/libcupti.so"));
  const Result<CuptiLibrary> other = open_cupti(FAKE_CUDA_DRIVER);
  ASSERT_FALSE(other.ok());
  EXPECT_THAT(other.status().message(), HasSubstr("cuptiGetVersion"));
}

TEST(CuptiLibrary, TheCopyThatIsMappedComesFirst) {
  FakeGpu gpu(FAKE_CUPTI_130);
  ::setenv("TBTRACE_CUPTI", "/nowhere/libcupti.so", 1);
  const Result<CuptiLibrary> found = open_cupti();
  ::unsetenv("TBTRACE_CUPTI");
  ASSERT_TRUE(found.ok()) << found.status().message();
  EXPECT_THAT(found->path, HasSubstr("fake_cuda"));
}

TEST(LoadedLibrary, IsFoundByItsName) {
  EXPECT_THAT(mapped_path("libc.so"), HasSubstr("/libc.so"));
  EXPECT_EQ(mapped_path("libc.s"), "");
  EXPECT_EQ(mapped_path("libnothing.so"), "");
  EXPECT_EQ(mapped_folder("libnothing.so"), "");
  EXPECT_EQ(mapped_folder("libc.so") + "/" +
                std::filesystem::path(mapped_path("libc.so")).filename().string(),
            mapped_path("libc.so"));
}

TEST(CuptiDriver, TellsTheDevices) {
  FakeGpu gpu;
  fake_cuda::DriverSetup two;
  two.devices = 2;
  two.version = 12040;
  gpu.driver().set_up(two);
  const Result<DriverLibrary> driver = DriverLibrary::open(FAKE_CUDA_DRIVER);
  ASSERT_TRUE(driver.ok()) << driver.status().message();
  EXPECT_EQ(driver->version(), 12040);
  EXPECT_EQ(cuda_version_text(driver->version()), "12.4");
  ASSERT_EQ(driver->devices().size(), 2U);
  const recorder::DeviceProperties& h200 = driver->devices()[1];
  EXPECT_EQ(h200.id, 1U);
  EXPECT_EQ(h200.name, "NVIDIA H200");
  EXPECT_EQ(h200.total_memory_bytes, 150121545728U);
  EXPECT_EQ(h200.compute_major, 9);
  EXPECT_EQ(h200.compute_minor, 0);
  EXPECT_EQ(h200.max_threads_per_block, 1024);
  EXPECT_EQ(h200.max_threads_per_multiprocessor, 2048);
  EXPECT_EQ(h200.max_blocks_per_multiprocessor, 32);
  EXPECT_EQ(h200.registers_per_block, 65536);
  EXPECT_EQ(h200.registers_per_multiprocessor, 65536);
  EXPECT_EQ(h200.warp_size, 32);
  EXPECT_EQ(h200.shared_bytes_per_block, 49152);
  EXPECT_EQ(h200.shared_bytes_per_block_optin, 232448);
  EXPECT_EQ(h200.shared_bytes_per_multiprocessor, 233472);
  EXPECT_EQ(h200.reserved_shared_bytes_per_block, 1024);
  EXPECT_EQ(h200.multiprocessors, 132);
}

TEST(CuptiDriver, WithoutAGpuSaysWhatToDo) {
  const struct {
    int result;
    StatusCode code;
    const char* says;
  } cases[] = {{34, StatusCode::unreadable_input, "LD_LIBRARY_PATH"},
               {100, StatusCode::unreadable_input, "--gpus all"},
               {35, StatusCode::check_failed, "update the driver"},
               {803, StatusCode::check_failed, "update the driver"},
               {999, StatusCode::check_failed, "nvidia-smi"}};
  FakeGpu gpu;
  for (const auto& one : cases) {
    fake_cuda::DriverSetup setup;
    setup.init_result = one.result;
    gpu.driver().set_up(setup);
    const Result<DriverLibrary> driver = DriverLibrary::open(FAKE_CUDA_DRIVER);
    ASSERT_FALSE(driver.ok()) << one.result;
    EXPECT_EQ(driver.status().code(), one.code) << one.result;
    EXPECT_THAT(driver.status().message(), HasSubstr(one.says));
  }
  fake_cuda::DriverSetup none;
  none.devices = 0;
  gpu.driver().set_up(none);
  EXPECT_THAT(DriverLibrary::open(FAKE_CUDA_DRIVER).status().message(), HasSubstr("no GPU"));
  EXPECT_THAT(DriverLibrary::open("/nowhere/libcuda.so.1").status().message(),
              HasSubstr("no NVIDIA driver"));
  EXPECT_THAT(DriverLibrary::open(FAKE_CUPTI_130).status().message(), HasSubstr("cuInit"));
}

TEST(CuptiDriver, WaitsInTheContextsThatAreThereAndLeavesThemAsTheyWere) {
  FakeGpu gpu;
  fake_cuda::DriverSetup setup;
  setup.devices = 3;
  setup.active_contexts = 0b101;
  gpu.driver().set_up(setup);
  const Result<DriverLibrary> driver = DriverLibrary::open(FAKE_CUDA_DRIVER);
  ASSERT_TRUE(driver.ok());
  EXPECT_EQ(driver->synchronize(), 0);
  EXPECT_EQ(gpu.driver().calls("cuCtxSynchronize"), 2U);
  EXPECT_EQ(gpu.driver().retained(), 0);
  EXPECT_EQ(gpu.driver().pushed(), 0U);
  for (const char* call : {"cuDevicePrimaryCtxGetState", "cuDevicePrimaryCtxRetain",
                           "cuCtxPushCurrent_v2", "cuCtxSynchronize"}) {
    gpu.driver().reset();
    gpu.driver().set_up(setup);
    const Result<DriverLibrary> again = DriverLibrary::open(FAKE_CUDA_DRIVER);
    ASSERT_TRUE(again.ok());
    gpu.driver().fail(call, 1, 700);
    EXPECT_EQ(again->synchronize(), 700) << call;
    EXPECT_EQ(gpu.driver().retained(), 0) << call;
    EXPECT_EQ(gpu.driver().pushed(), 0U) << call;
  }
}

TEST(CuptiRefusal, SaysWhatEachAnswerMeans) {
  FakeGpu gpu;
  const struct {
    ResultCode result;
    const char* says;
  } cases[] = {{35, "NVreg_RestrictProfilingToAdminUsers=0"},
               {39, "Nsight"},
               {43, "MIG"},
               {33, "vGPU"},
               {40, "SYS_ADMIN"},
               {41, "confidential computing"},
               {45, "WSL"},
               {15, "nvidia-smi"},
               {999, "nvidia-smi"},
               {8, "no other profiler"}};
  for (const auto& one : cases) {
    const std::string sentence = refusal(gpu.library(), "cuptiActivityEnable", one.result);
    EXPECT_THAT(sentence, HasSubstr(one.says));
    EXPECT_THAT(sentence, HasSubstr("cuptiActivityEnable"));
    EXPECT_THAT(sentence, HasSubstr("(" + std::to_string(one.result) + ")"));
  }
}

}  // namespace
}  // namespace tbtrace::cupti
