// The process's collector, of which there is one: whatever else is in this program has its own.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cupti/collector.h"
#include "cupti/fake_gpu.h"

namespace tbtrace::cupti {
namespace {

TEST(CuptiProcessCollector, RetriesAfterAFailureAndKeepsASuccess) {
  FakeGpu gpu;
  fake_cuda::DriverSetup setup;
  setup.init_result = 999;
  gpu.driver().set_up(setup);
  push_operator(1);  // does not try anything
  EXPECT_EQ(gpu.driver().calls("cuInit"), 0U);
  const Result<Collector*> refused = process_collector();
  ASSERT_FALSE(refused.ok());
  EXPECT_THAT(refused.status().message(), testing::HasSubstr("cuInit() said CUDA_ERROR_UNKNOWN"));
  gpu.driver().set_up({});
  const Result<Collector*> made = process_collector();
  ASSERT_TRUE(made.ok()) << made.status().message();
  gpu.driver().set_up(setup);
  const Result<Collector*> again = process_collector();
  ASSERT_TRUE(again.ok());
  EXPECT_EQ(*again, *made);
  shut_down_process_collector();
  shut_down_process_collector();
}

}  // namespace
}  // namespace tbtrace::cupti
