// The parts of CUPTI's and the driver's binary interfaces that are used, so that neither is needed
// to build. Layouts and numbers are those of CUDA 11.8 to 13.0: newer records keep the fields of
// older ones in place and add others at the end, so the prefixes here fit all of them
// (cupti_activity.h of each release; a test compares them with an installed header).
#pragma once

#include <cstddef>
#include <cstdint>

namespace tbtrace::cupti {

using ResultCode = int;  ///< CUptiResult or CUresult

namespace results {
inline constexpr ResultCode kSuccess = 0;
inline constexpr ResultCode kMaxLimitReached = 12;
inline constexpr ResultCode kNotInitialized = 15;
inline constexpr ResultCode kInvalidKind = 21;
inline constexpr ResultCode kVirtualizedDevice = 33;
inline constexpr ResultCode kInsufficientPrivileges = 35;
inline constexpr ResultCode kOtherSubscriber = 39;
inline constexpr ResultCode kVirtualizedPrivileges = 40;
inline constexpr ResultCode kConfidentialComputing = 41;
inline constexpr ResultCode kMigDevice = 43;
inline constexpr ResultCode kWslDevice = 45;
inline constexpr ResultCode kUnknown = 999;
}  // namespace results

/// CUpti_ActivityKind.
enum class ActivityKind : std::uint32_t {
  invalid = 0,
  memcpy = 1,
  memset = 2,
  driver = 4,
  runtime = 5,
  kernel = 10,  // CONCURRENT_KERNEL
  marker = 12,
  overhead = 17,
  memcpy_peer = 22,  // MEMCPY2
  cuda_event = 36,
  synchronization = 38,
  external_correlation = 39,
};
inline constexpr std::uint32_t kKinds = 64;  ///< an upper bound

// CUpti_ActivityAttribute.
inline constexpr int kZeroedOutBuffers = 5;
inline constexpr int kPerThreadBuffers = 9;

inline constexpr int kSystemThreadIds = 1;  ///< CUpti_ActivityThreadIdType
inline constexpr int kDriverDomain = 1;     ///< CUpti_CallbackDomain
inline constexpr int kRuntimeDomain = 2;
inline constexpr int kOperatorIds = 3;  ///< CUpti_ExternalCorrelationKind: CUSTOM0
inline constexpr std::uint32_t kFlushForced = 1;

// CUpti_ActivityFlag, of markers.
inline constexpr std::uint32_t kMarkerStart = 2;
inline constexpr std::uint32_t kMarkerEnd = 4;

/// CUpti_CallbackData, as far as it is read.
struct CallbackData {
  int site;  ///< CUpti_ApiCallbackSite
};
inline constexpr int kCallExit = 1;

// Records, as far as they are read. Sizes and addresses are multiples of 8 bytes.

struct KernelRecord {
  ActivityKind kind;
  std::uint8_t cache_config;
  std::uint8_t shared_memory_config;
  std::uint16_t registers_per_thread;
  std::uint32_t global_cache_requested;
  std::uint32_t global_cache_executed;
  std::uint64_t start;
  std::uint64_t end;
  std::uint64_t completed;
  std::uint32_t device;
  std::uint32_t context;
  std::uint32_t stream;
  std::int32_t grid[3];
  std::int32_t block[3];
  std::int32_t static_shared_bytes;
  std::int32_t dynamic_shared_bytes;
  std::uint32_t local_bytes_per_thread;
  std::uint32_t local_bytes;
  std::uint32_t correlation;
  std::int64_t grid_id;
  const char* name;
  void* reserved;
  std::uint64_t queued;
  std::uint64_t submitted;
  std::uint8_t launch_type;
  std::uint8_t carveout_is_requested;
  std::uint8_t carveout;
  std::uint8_t padding;
  std::uint32_t shared_bytes_executed;
  std::uint64_t graph_node;
  std::uint32_t shared_memory_limit;
  std::uint32_t graph;
  void* access_policy;
  std::uint32_t channel;
  std::uint32_t channel_type;
};
static_assert(offsetof(KernelRecord, start) == 16);
static_assert(sizeof(KernelRecord) == 176);  // since CUDA 11.6

struct MemcpyRecord {
  ActivityKind kind;
  std::uint8_t copy_kind;
  std::uint8_t from_memory;
  std::uint8_t to_memory;
  std::uint8_t flags;
  std::uint64_t bytes;
  std::uint64_t start;
  std::uint64_t end;
  std::uint32_t device;
  std::uint32_t context;
  std::uint32_t stream;
  std::uint32_t correlation;
  std::uint32_t runtime_correlation;
  std::uint32_t padding;
  void* reserved;
  std::uint64_t graph_node;
  std::uint32_t graph;
  std::uint32_t channel;
  std::uint32_t channel_type;
  std::uint32_t padding_2;
};
static_assert(sizeof(MemcpyRecord) == 88);

struct MemcpyPeerRecord {
  ActivityKind kind;
  std::uint8_t copy_kind;
  std::uint8_t from_memory;
  std::uint8_t to_memory;
  std::uint8_t flags;
  std::uint64_t bytes;
  std::uint64_t start;
  std::uint64_t end;
  std::uint32_t device;
  std::uint32_t context;
  std::uint32_t stream;
  std::uint32_t from_device;
  std::uint32_t from_context;
  std::uint32_t to_device;
  std::uint32_t to_context;
  std::uint32_t correlation;
  void* reserved;
  std::uint64_t graph_node;
  std::uint32_t graph;
  std::uint32_t channel;
  std::uint32_t channel_type;
  std::uint32_t padding;
};
static_assert(sizeof(MemcpyPeerRecord) == 96);

struct MemsetRecord {
  ActivityKind kind;
  std::uint32_t value;
  std::uint64_t bytes;
  std::uint64_t start;
  std::uint64_t end;
  std::uint32_t device;
  std::uint32_t context;
  std::uint32_t stream;
  std::uint32_t correlation;
  std::uint16_t flags;
  std::uint16_t memory;
  std::uint32_t padding;
  void* reserved;
  std::uint64_t graph_node;
  std::uint32_t graph;
  std::uint32_t channel;
  std::uint32_t channel_type;
  std::uint32_t padding_2;
};
static_assert(sizeof(MemsetRecord) == 88);

struct ApiRecord {
  ActivityKind kind;
  std::uint32_t number;
  std::uint64_t start;
  std::uint64_t end;
  std::uint32_t process;
  std::uint32_t thread;
  std::uint32_t correlation;
  std::uint32_t result;
};
static_assert(sizeof(ApiRecord) == 40);

struct ExternalCorrelationRecord {
  ActivityKind kind;
  std::uint32_t external_kind;
  std::uint64_t external_id;
  std::uint32_t correlation;
  std::uint32_t reserved;
};
static_assert(sizeof(ExternalCorrelationRecord) == 24);

struct OverheadRecord {
  ActivityKind kind;
  std::uint32_t overhead_kind;
  std::uint32_t object_kind;
  std::uint32_t object[3];
  std::uint64_t start;
  std::uint64_t end;
  // Since CUDA 12.4.
  std::uint32_t correlation;
  std::uint32_t reserved;
  void* data;  ///< from malloc(); the reader of the record frees it
};
static_assert(offsetof(OverheadRecord, correlation) == 40);
static_assert(sizeof(OverheadRecord) == 56);

struct SynchronizationRecord {
  ActivityKind kind;
  std::uint32_t wait_kind;
  std::uint64_t start;
  std::uint64_t end;
  std::uint32_t correlation;
  std::uint32_t context;
  std::uint32_t stream;
  std::uint32_t event;
};
static_assert(sizeof(SynchronizationRecord) == 40);

struct CudaEventRecord {
  ActivityKind kind;
  std::uint32_t correlation;
  std::uint32_t context;
  std::uint32_t stream;
  std::uint32_t event;
  std::uint32_t padding;
};
static_assert(sizeof(CudaEventRecord) == 24);

struct MarkerRecord {
  ActivityKind kind;
  std::uint32_t flags;
  std::uint64_t timestamp;
  std::uint32_t id;
  std::uint32_t object_kind;
  std::uint32_t object[3];  ///< of a thread: process, thread
  std::uint32_t padding;
  const char* name;
  const char* domain;
};
static_assert(sizeof(MarkerRecord) == 56);

// CUdevice_attribute (cuda.h).
namespace attributes {
inline constexpr int kMaxThreadsPerBlock = 1;
inline constexpr int kMaxSharedMemoryPerBlock = 8;
inline constexpr int kWarpSize = 10;
inline constexpr int kMaxRegistersPerBlock = 12;
inline constexpr int kMultiprocessors = 16;
inline constexpr int kMaxThreadsPerMultiprocessor = 39;
inline constexpr int kComputeMajor = 75;
inline constexpr int kComputeMinor = 76;
inline constexpr int kMaxSharedMemoryPerMultiprocessor = 81;
inline constexpr int kMaxRegistersPerMultiprocessor = 82;
inline constexpr int kMaxSharedMemoryPerBlockOptin = 97;
inline constexpr int kMaxBlocksPerMultiprocessor = 106;
inline constexpr int kReservedSharedMemoryPerBlock = 111;
}  // namespace attributes

}  // namespace tbtrace::cupti
