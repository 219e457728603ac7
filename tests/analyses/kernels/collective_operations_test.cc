#include "analyses/kernels/collective_operations.h"

#include <string>

#include <gtest/gtest.h>

namespace tbtrace::analyses {
namespace {

TEST(OperationNamed, KnowsC10dsNamesAndKernels) {
  EXPECT_EQ(operation_named("allreduce"), CollectiveKind::all_reduce);
  EXPECT_EQ(operation_named("allreduce_coalesced"), CollectiveKind::all_reduce);
  EXPECT_EQ(operation_named("_allgather_base"), CollectiveKind::all_gather);
  EXPECT_EQ(operation_named("_reduce_scatter_base"), CollectiveKind::reduce_scatter);
  EXPECT_EQ(operation_named("all_to_allv"), CollectiveKind::all_to_all);
  EXPECT_EQ(operation_named("reduce"), CollectiveKind::reduce);
  EXPECT_EQ(operation_named("send 0->1"), CollectiveKind::send);
  EXPECT_EQ(operation_named("recv 1<-0"), CollectiveKind::receive);
  EXPECT_EQ(operation_named("ncclDevKernel_AllReduce_Sum_f32_RING_LL"), CollectiveKind::all_reduce);
  EXPECT_EQ(operation_named("ncclKernel_SendRecv_RING_SIMPLE_Sum_int8_t"), CollectiveKind::other);
  EXPECT_EQ(operation_named("ncclDevKernel_Generic_1"), CollectiveKind::other);
  EXPECT_EQ(operation_named("void vllm::cross_device_reduce_1stage<__nv_bfloat16, 8>(int)"),
            CollectiveKind::all_reduce);
  EXPECT_EQ(operation_named("coalesced"), CollectiveKind::other);
  EXPECT_EQ(operation_named(""), CollectiveKind::other);
}

TEST(KernelOperationName, IsTheSameOnAllRanks) {
  EXPECT_EQ(kernel_operation_name("ncclKernel_AllReduce_RING_LL_Sum_float(ncclWorkElem)"),
            "all_reduce");
  EXPECT_EQ(kernel_operation_name("ncclKernel_SendRecv_RING_SIMPLE_Sum_int8_t(ncclDevComm*)"),
            kSendReceive);
  EXPECT_EQ(kernel_operation_name("void vllm::cross_device_reduce_1stage<__nv_bfloat16, 8>(int)"),
            "cross_device_reduce_1stage");
}

TEST(IsBookkeeping, IsWhatMovesNoData) {
  EXPECT_TRUE(is_bookkeeping("wait"));
  EXPECT_TRUE(is_bookkeeping("init"));
  EXPECT_FALSE(is_bookkeeping("allreduce"));
  EXPECT_FALSE(is_bookkeeping(""));
}

}  // namespace
}  // namespace tbtrace::analyses
