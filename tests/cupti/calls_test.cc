#include "cupti/calls.h"

#include <gtest/gtest.h>

#include "cupti/fake_gpu.h"

namespace tbtrace::cupti {
namespace {

using recorder::ApiLibrary;

TEST(CuptiCalls, NamesLoseTheReleaseAndNothingElse) {
  EXPECT_EQ(call_name("cudaLaunchKernel_v7000"), "cudaLaunchKernel");
  EXPECT_EQ(call_name("cudaMemcpyAsync_ptsz_v7000"), "cudaMemcpyAsync_ptsz");
  EXPECT_EQ(call_name("cudaMemcpyBatchAsync_v13000"), "cudaMemcpyBatchAsync");
  EXPECT_EQ(call_name("cuMemcpyHtoD_v2"), "cuMemcpyHtoD_v2");
  EXPECT_EQ(call_name("cuStreamWaitValue32_v2_ptsz"), "cuStreamWaitValue32_v2_ptsz");
  EXPECT_EQ(call_name("cuLaunchKernel"), "cuLaunchKernel");
  EXPECT_EQ(call_name("_v7000"), "");
  EXPECT_EQ(call_name(""), "");
}

TEST(CuptiCalls, LaunchesCopiesWaitsMemoryCodeGraphsAndStreamsAreChosen) {
  for (const char* name :
       {"cudaLaunchKernel_v7000", "cudaLaunchKernelExC_v11060", "cudaLaunchCooperativeKernel_v9000",
        "cudaGraphLaunch_v10000", "cudaMemcpyAsync_v3020", "cudaMemset_v3020",
        "cudaStreamSynchronize_v3020", "cudaStreamWaitEvent_v3020", "cudaEventRecord_v3020",
        "cudaEventSynchronize_v3020", "cudaDeviceSynchronize_v3020", "cudaMalloc_v3020",
        "cudaFree_v3020", "cudaHostAlloc_v3020", "__cudaLaunchKernel_v13000",
        "cudaGraphInstantiate_v12000", "cudaGraphInstantiateWithFlags_v11040",
        "cudaStreamCreateWithPriority_v5050", "cudaLibraryLoadData_v12060"}) {
    EXPECT_TRUE(is_chosen(ApiLibrary::runtime, name)) << name;
  }
  for (const char* name :
       {"cudaGetDevice_v3020", "cudaSetDevice_v3020", "cudaGetLastError_v3020",
        "cudaStreamIsCapturing_v10000", "cudaEventQuery_v3020", "cudaEventCreate_v3020",
        "cudaDeviceGetAttribute_v5000", "cudaFuncGetAttributes_v3020", "cuLaunchKernel"}) {
    EXPECT_FALSE(is_chosen(ApiLibrary::runtime, name)) << name;
  }
  for (const char* name :
       {"cuLaunchKernel", "cuLaunchKernelEx", "cuGraphLaunch", "cuMemcpyAsync", "cuMemCreate",
        "cuMemMap", "cuCtxSynchronize", "cuModuleLoadData", "cuLibraryLoadData",
        "cuGraphInstantiateWithParams", "cuStreamCreateWithPriority", "cuLinkComplete"}) {
    EXPECT_TRUE(is_chosen(ApiLibrary::driver, name)) << name;
  }
  for (const char* name : {"cuCtxGetCurrent", "cuDevicePrimaryCtxGetState", "cuKernelGetAttribute",
                           "cuMemGetInfo", "cudaLaunchKernel_v7000"}) {
    EXPECT_FALSE(is_chosen(ApiLibrary::driver, name)) << name;
  }
}

TEST(CuptiCalls, AreFoundByWhatTheLibraryCallsThem) {
  FakeGpu gpu;
  const Calls calls(gpu.library());
  const auto& runtime = calls.functions(ApiLibrary::runtime);
  ASSERT_GT(runtime.size(), 311U);
  EXPECT_EQ(runtime[211].name, "cudaLaunchKernel");  // cupti_runtime_cbid.h
  EXPECT_TRUE(runtime[211].is_chosen);
  EXPECT_EQ(runtime[311].name, "cudaGraphLaunch");
  EXPECT_EQ(runtime[17].name, "cudaGetDevice");
  EXPECT_FALSE(runtime[17].is_chosen);
  const auto& driver = calls.functions(ApiLibrary::driver);
  ASSERT_GT(driver.size(), 307U);
  EXPECT_EQ(driver[307].name, "cuLaunchKernel");  // cupti_driver_cbid.h
  EXPECT_TRUE(driver[307].is_chosen);
}

}  // namespace
}  // namespace tbtrace::cupti
