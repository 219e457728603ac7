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
SAME_WORK(MemcpyRecord, CUpti_ActivityMemcpy5);
SAME(MemcpyRecord, bytes, CUpti_ActivityMemcpy5, bytes);
SAME(MemcpyRecord, copy_kind, CUpti_ActivityMemcpy5, copyKind);
SAME(MemcpyRecord, from_memory, CUpti_ActivityMemcpy5, srcKind);
SAME(MemcpyRecord, to_memory, CUpti_ActivityMemcpy5, dstKind);
SAME_WORK(MemcpyPeerRecord, CUpti_ActivityMemcpyPtoP4);
SAME(MemcpyPeerRecord, from_device, CUpti_ActivityMemcpyPtoP4, srcDeviceId);
SAME(MemcpyPeerRecord, to_context, CUpti_ActivityMemcpyPtoP4, dstContextId);
SAME_WORK(MemsetRecord, CUpti_ActivityMemset4);
SAME(MemsetRecord, bytes, CUpti_ActivityMemset4, bytes);
SAME(MemsetRecord, memory, CUpti_ActivityMemset4, memoryKind);
static_assert(offsetof(CallbackData, site) == offsetof(CUpti_CallbackData, callbackSite));
SAME(ApiRecord, number, CUpti_ActivityAPI, cbid);
SAME(ApiRecord, start, CUpti_ActivityAPI, start);
SAME(ApiRecord, thread, CUpti_ActivityAPI, threadId);
SAME(ApiRecord, correlation, CUpti_ActivityAPI, correlationId);
SAME(ExternalCorrelationRecord, external_kind, CUpti_ActivityExternalCorrelation, externalKind);
SAME(ExternalCorrelationRecord, external_id, CUpti_ActivityExternalCorrelation, externalId);
SAME(ExternalCorrelationRecord, correlation, CUpti_ActivityExternalCorrelation, correlationId);
SAME(OverheadRecord, overhead_kind, CUpti_ActivityOverhead, overheadKind);
SAME(OverheadRecord, start, CUpti_ActivityOverhead, start);
SAME(OverheadRecord, end, CUpti_ActivityOverhead, end);
SAME(OverheadRecord, data, CUpti_ActivityOverhead3, overheadData);
SAME(SynchronizationRecord, wait_kind, CUpti_ActivitySynchronization, type);
SAME(SynchronizationRecord, stream, CUpti_ActivitySynchronization, streamId);
SAME(SynchronizationRecord, event, CUpti_ActivitySynchronization, cudaEventId);
SAME(CudaEventRecord, stream, CUpti_ActivityCudaEvent, streamId);
SAME(CudaEventRecord, event, CUpti_ActivityCudaEvent, eventId);
SAME(MarkerRecord, flags, CUpti_ActivityMarker2, flags);
SAME(MarkerRecord, timestamp, CUpti_ActivityMarker2, timestamp);
SAME(MarkerRecord, name, CUpti_ActivityMarker2, name);
SAME(MarkerRecord, domain, CUpti_ActivityMarker2, domain);

TEST(CuptiAbi, NumbersAreThoseOfTheHeaders) {
  EXPECT_EQ(static_cast<int>(ActivityKind::memcpy), CUPTI_ACTIVITY_KIND_MEMCPY);
  EXPECT_EQ(static_cast<int>(ActivityKind::memset), CUPTI_ACTIVITY_KIND_MEMSET);
  EXPECT_EQ(static_cast<int>(ActivityKind::driver), CUPTI_ACTIVITY_KIND_DRIVER);
  EXPECT_EQ(static_cast<int>(ActivityKind::runtime), CUPTI_ACTIVITY_KIND_RUNTIME);
  EXPECT_EQ(static_cast<int>(ActivityKind::kernel), CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
  EXPECT_EQ(static_cast<int>(ActivityKind::marker), CUPTI_ACTIVITY_KIND_MARKER);
  EXPECT_EQ(static_cast<int>(ActivityKind::overhead), CUPTI_ACTIVITY_KIND_OVERHEAD);
  EXPECT_EQ(static_cast<int>(ActivityKind::memcpy_peer), CUPTI_ACTIVITY_KIND_MEMCPY2);
  EXPECT_EQ(static_cast<int>(ActivityKind::cuda_event), CUPTI_ACTIVITY_KIND_CUDA_EVENT);
  EXPECT_EQ(static_cast<int>(ActivityKind::synchronization), CUPTI_ACTIVITY_KIND_SYNCHRONIZATION);
  EXPECT_EQ(static_cast<int>(ActivityKind::external_correlation),
            CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION);
  EXPECT_EQ(kZeroedOutBuffers, CUPTI_ACTIVITY_ATTR_ZEROED_OUT_ACTIVITY_BUFFER);
  EXPECT_EQ(kPerThreadBuffers, CUPTI_ACTIVITY_ATTR_PER_THREAD_ACTIVITY_BUFFER);
  EXPECT_EQ(kSystemThreadIds, CUPTI_ACTIVITY_THREAD_ID_TYPE_SYSTEM);
  EXPECT_EQ(kOperatorIds, CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM0);
  EXPECT_EQ(kRuntimeDomain, CUPTI_CB_DOMAIN_RUNTIME_API);
  EXPECT_EQ(kDriverDomain, CUPTI_CB_DOMAIN_DRIVER_API);
  EXPECT_EQ(kCallExit, CUPTI_API_EXIT);
  EXPECT_EQ(results::kMigDevice, CUPTI_ERROR_MIG_DEVICE_NOT_SUPPORTED);
  EXPECT_EQ(results::kInsufficientPrivileges, CUPTI_ERROR_INSUFFICIENT_PRIVILEGES);
  EXPECT_EQ(results::kOtherSubscriber, CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED);
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
TEST(CuptiAbi, NumbersAreThoseOfTheHeaders) {
  GTEST_SKIP() << "CUDA's headers are not installed, so layouts were not compared";
}
#endif
