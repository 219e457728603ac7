// What src/cupti/abi.h says of CUPTI, held against its header where there is one.
#include "cupti/abi.h"

#include <gtest/gtest.h>

#if __has_include(<cupti.h>) && __has_include(<cuda.h>)
#include <cuda.h>
#include <cupti.h>

namespace tbtrace::cupti {
namespace {

#define SAME(Ours, ours, Theirs, theirs)                            \
  static_assert(offsetof(Ours, ours) == offsetof(Theirs, theirs) && \
                sizeof(Ours::ours) == sizeof(Theirs::theirs))
#define SAME_WORK(Ours, Theirs)                   \
  SAME(Ours, start, Theirs, start);               \
  SAME(Ours, end, Theirs, end);                   \
  SAME(Ours, device, Theirs, deviceId);           \
  SAME(Ours, context, Theirs, contextId);         \
  SAME(Ours, stream, Theirs, streamId);           \
  SAME(Ours, correlation, Theirs, correlationId); \
  SAME(Ours, graph_node, Theirs, graphNodeId);    \
  SAME(Ours, graph, Theirs, graphId);             \
  SAME(Ours, channel, Theirs, channelID);         \
  SAME(Ours, channel_type, Theirs, channelType)

SAME_WORK(KernelRecord, CUpti_ActivityKernel9);
SAME(KernelRecord, registers_per_thread, CUpti_ActivityKernel9, registersPerThread);
SAME(KernelRecord, static_shared_bytes, CUpti_ActivityKernel9, staticSharedMemory);
SAME(KernelRecord, dynamic_shared_bytes, CUpti_ActivityKernel9, dynamicSharedMemory);
SAME(KernelRecord, name, CUpti_ActivityKernel9, name);
static_assert(offsetof(KernelRecord, grid) == offsetof(CUpti_ActivityKernel9, gridX));
static_assert(offsetof(KernelRecord, block) == offsetof(CUpti_ActivityKernel9, blockX));
SAME_WORK(CopyRecord, CUpti_ActivityMemcpy5);
SAME(CopyRecord, bytes, CUpti_ActivityMemcpy5, bytes);
SAME(CopyRecord, copy_kind, CUpti_ActivityMemcpy5, copyKind);
SAME(CopyRecord, from_memory, CUpti_ActivityMemcpy5, srcKind);
SAME(CopyRecord, to_memory, CUpti_ActivityMemcpy5, dstKind);
SAME_WORK(PeerCopyRecord, CUpti_ActivityMemcpyPtoP4);
SAME(PeerCopyRecord, from_device, CUpti_ActivityMemcpyPtoP4, srcDeviceId);
SAME(PeerCopyRecord, to_context, CUpti_ActivityMemcpyPtoP4, dstContextId);
SAME_WORK(SetRecord, CUpti_ActivityMemset4);
SAME(SetRecord, bytes, CUpti_ActivityMemset4, bytes);
SAME(SetRecord, memory, CUpti_ActivityMemset4, memoryKind);
SAME(CallRecord, number, CUpti_ActivityAPI, cbid);
SAME(CallRecord, start, CUpti_ActivityAPI, start);
SAME(CallRecord, thread, CUpti_ActivityAPI, threadId);
SAME(CallRecord, correlation, CUpti_ActivityAPI, correlationId);
SAME(ExternalRecord, external_kind, CUpti_ActivityExternalCorrelation, externalKind);
SAME(ExternalRecord, external_id, CUpti_ActivityExternalCorrelation, externalId);
SAME(ExternalRecord, correlation, CUpti_ActivityExternalCorrelation, correlationId);
SAME(OverheadRecord, overhead_kind, CUpti_ActivityOverhead, overheadKind);
SAME(OverheadRecord, start, CUpti_ActivityOverhead, start);
SAME(OverheadRecord, end, CUpti_ActivityOverhead, end);
SAME(OverheadRecord, data, CUpti_ActivityOverhead3, overheadData);
SAME(WaitRecord, wait_kind, CUpti_ActivitySynchronization, type);
SAME(WaitRecord, stream, CUpti_ActivitySynchronization, streamId);
SAME(WaitRecord, event, CUpti_ActivitySynchronization, cudaEventId);
SAME(EventRecord, stream, CUpti_ActivityCudaEvent, streamId);
SAME(EventRecord, event, CUpti_ActivityCudaEvent, eventId);
SAME(MarkerRecord, flags, CUpti_ActivityMarker2, flags);
SAME(MarkerRecord, timestamp, CUpti_ActivityMarker2, timestamp);
SAME(MarkerRecord, name, CUpti_ActivityMarker2, name);
SAME(MarkerRecord, domain, CUpti_ActivityMarker2, domain);

TEST(CuptiAbi, NumbersAreThoseOfTheHeaders) {
  EXPECT_EQ(static_cast<int>(Kind::copy), CUPTI_ACTIVITY_KIND_MEMCPY);
  EXPECT_EQ(static_cast<int>(Kind::set), CUPTI_ACTIVITY_KIND_MEMSET);
  EXPECT_EQ(static_cast<int>(Kind::driver), CUPTI_ACTIVITY_KIND_DRIVER);
  EXPECT_EQ(static_cast<int>(Kind::runtime), CUPTI_ACTIVITY_KIND_RUNTIME);
  EXPECT_EQ(static_cast<int>(Kind::kernel), CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
  EXPECT_EQ(static_cast<int>(Kind::marker), CUPTI_ACTIVITY_KIND_MARKER);
  EXPECT_EQ(static_cast<int>(Kind::overhead), CUPTI_ACTIVITY_KIND_OVERHEAD);
  EXPECT_EQ(static_cast<int>(Kind::peer_copy), CUPTI_ACTIVITY_KIND_MEMCPY2);
  EXPECT_EQ(static_cast<int>(Kind::event), CUPTI_ACTIVITY_KIND_CUDA_EVENT);
  EXPECT_EQ(static_cast<int>(Kind::wait), CUPTI_ACTIVITY_KIND_SYNCHRONIZATION);
  EXPECT_EQ(static_cast<int>(Kind::external), CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION);
  EXPECT_EQ(kZeroedOutBuffers, CUPTI_ACTIVITY_ATTR_ZEROED_OUT_ACTIVITY_BUFFER);
  EXPECT_EQ(kPerThreadBuffers, CUPTI_ACTIVITY_ATTR_PER_THREAD_ACTIVITY_BUFFER);
  EXPECT_EQ(kSystemThreadIds, CUPTI_ACTIVITY_THREAD_ID_TYPE_SYSTEM);
  EXPECT_EQ(kOperatorIds, CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM0);
  EXPECT_EQ(kRuntimeDomain, CUPTI_CB_DOMAIN_RUNTIME_API);
  EXPECT_EQ(kDriverDomain, CUPTI_CB_DOMAIN_DRIVER_API);
  EXPECT_EQ(answers::kMigDevice, CUPTI_ERROR_MIG_DEVICE_NOT_SUPPORTED);
  EXPECT_EQ(answers::kInsufficientPrivileges, CUPTI_ERROR_INSUFFICIENT_PRIVILEGES);
  EXPECT_EQ(answers::kOtherSubscriber, CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED);
  EXPECT_EQ(attributes::kMaxBlocksPerMultiprocessor,
            CU_DEVICE_ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR);
  EXPECT_EQ(attributes::kReservedSharedMemoryPerBlock,
            CU_DEVICE_ATTRIBUTE_RESERVED_SHARED_MEMORY_PER_BLOCK);
  EXPECT_EQ(attributes::kMaxSharedMemoryPerBlockOptin,
            CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN);
}

}  // namespace
}  // namespace tbtrace::cupti
#else
TEST(CuptiAbi, IsNotComparedWithoutTheHeaders) { EXPECT_EQ(sizeof(void*), 8U); }
#endif
