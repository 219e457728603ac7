#include <cstdint>
#include <optional>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <tbtrace/kernels.h>

#include "analyses/kernels/launched_kernels.h"

namespace tbtrace {
namespace {

using testing::SizeIs;

TEST(KernelLaunches, AreThoseOfAllKernels) {
  const std::vector<KernelLaunch> rows = *kernel_launches(analyses::launched_kernels());
  ASSERT_THAT(rows, SizeIs(2));
  EXPECT_EQ(rows[0].name, "a");
  EXPECT_EQ(rows[0].launch, "cudaLaunchKernel");
  EXPECT_EQ(rows[0].op, "aten::mm");
  EXPECT_EQ(rows[0].launch_delay_ns, 0);
  EXPECT_EQ(rows[0].step, 12) << "the step that was open when the call started";
  EXPECT_EQ(rows[1].name, "b");
  EXPECT_EQ(rows[1].stream, "7");
  EXPECT_EQ(rows[1].start_ns, 40);
  EXPECT_EQ(rows[1].launch_call_ns, 3);
  EXPECT_EQ(rows[1].launch_start_ns, 20);
  EXPECT_EQ(rows[1].queue_length, 0u);
  EXPECT_EQ(rows[1].duration_ns, 5);
  EXPECT_EQ(rows[1].launch_delay_ns, 17);
  EXPECT_EQ(rows[1].step, std::nullopt);
}

}  // namespace
}  // namespace tbtrace
