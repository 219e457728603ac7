#include <optional>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <tbtrace/kernels.h>

#include "analyses/compat/hta/kernels.h"
#include "analyses/kernels/launched_kernels.h"
#include "fixtures/trace_rows.h"

namespace tbtrace::analyses {
namespace {

using testing::SizeIs;

TEST(HtaKernelLaunches, AreThoseOfFiveCalls) {
  const std::vector<KernelLaunch> rows = *hta_kernel_launches(launched_kernels());
  ASSERT_THAT(rows, SizeIs(2));
  EXPECT_EQ(rows[0].name, "a");
  EXPECT_EQ(rows[0].step, std::nullopt);
  EXPECT_EQ(rows[1].name, "Memcpy HtoD");
  EXPECT_EQ(rows[1].correlation, 3);
  EXPECT_EQ(rows[1].launch_delay_ns, 27);
}

TEST(HtaKernelLaunches, JoinEveryHostRowWithTheCorrelation) {
  TraceBuilder builder;
  add_call(builder, "cudaLaunchKernel", 10, 1);
  add_call(builder, "something else", 20, 1);
  add_launched(builder, "kernel", "a", 30, 1);
  add_launched(builder, "kernel", "b", 40, 1);
  EXPECT_THAT(*hta_kernel_launches(fixtures::finished(builder)), SizeIs(4));
}

}  // namespace
}  // namespace tbtrace::analyses
