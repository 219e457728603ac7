// What we use of CUPTI's and the driver's binary interfaces, so that neither is needed to build.
// Layouts and numbers are those of CUDA 11.8 to 13.0: newer records keep the fields of older ones
// where they are and add others behind them, so that the prefixes here fit all of them
// (cupti_activity.h of each release; a test compares them with the header where there is one).
#pragma once

#include <cstddef>
#include <cstdint>

namespace tbtrace::cupti {

using Answer = int;  ///< CUptiResult, CUresult; 0: done

namespace answers {
inline constexpr Answer kDone = 0;
inline constexpr Answer kMaxLimitReached = 12;
inline constexpr Answer kNotInitialized = 15;
inline constexpr Answer kInvalidKind = 21;
inline constexpr Answer kVirtualizedDevice = 33;
inline constexpr Answer kInsufficientPrivileges = 35;
inline constexpr Answer kOtherSubscriber = 39;
inline constexpr Answer kVirtualizedPrivileges = 40;
inline constexpr Answer kConfidentialComputing = 41;
inline constexpr Answer kMigDevice = 43;
inline constexpr Answer kWslDevice = 45;
inline constexpr Answer kUnknown = 999;
}  // namespace answers

/// CUpti_ActivityKind.
enum class Kind : std::uint32_t {
  invalid = 0,
  copy = 1,
  set = 2,
  driver = 4,
  runtime = 5,
  kernel = 10,  // CONCURRENT_KERNEL
  marker = 12,
  overhead = 17,
  peer_copy = 22,  // MEMCPY2
  event = 36,      // CUDA_EVENT
  wait = 38,       // SYNCHRONIZATION
  external = 39,   // EXTERNAL_CORRELATION
};
inline constexpr std::uint32_t kKinds = 64;  ///< more than there are

// CUpti_ActivityAttribute.
inline constexpr int kZeroedOutBuffers = 5;
inline constexpr int kPerThreadBuffers = 9;

inline constexpr int kSystemThreadIds = 1;  ///< CUpti_ActivityThreadIdType
inline constexpr int kDriverDomain = 1;     ///< CUpti_CallbackDomain
inline constexpr int kRuntimeDomain = 2;
inline constexpr int kOperatorIds = 3;  ///< CUpti_ExternalCorrelationKind: CUSTOM0
inline constexpr std::uint32_t kFlushAll = 1;

// CUpti_ActivityFlag, of markers.
inline constexpr std::uint32_t kMarkerStart = 2;
inline constexpr std::uint32_t kMarkerEnd = 4;

// Records, as far as they are read. All are multiples of 8 bytes in size and lie at such addresses.

struct KernelRecord {
  Kind kind;
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

struct CopyRecord {
  Kind kind;
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
static_assert(sizeof(CopyRecord) == 88);

struct PeerCopyRecord {
  Kind kind;
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
static_assert(sizeof(PeerCopyRecord) == 96);

struct SetRecord {
  Kind kind;
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
static_assert(sizeof(SetRecord) == 88);

struct CallRecord {
  Kind kind;
  std::uint32_t number;
  std::uint64_t start;
  std::uint64_t end;
  std::uint32_t process;
  std::uint32_t thread;
  std::uint32_t correlation;
  std::uint32_t answer;
};
static_assert(sizeof(CallRecord) == 40);

struct ExternalRecord {
  Kind kind;
  std::uint32_t external_kind;
  std::uint64_t external_id;
  std::uint32_t correlation;
  std::uint32_t reserved;
};
static_assert(sizeof(ExternalRecord) == 24);

struct OverheadRecord {
  Kind kind;
  std::uint32_t overhead_kind;
  std::uint32_t object_kind;
  std::uint32_t object[3];
  std::uint64_t start;
  std::uint64_t end;
  // Since CUDA 12.4.
  std::uint32_t correlation;
  std::uint32_t reserved;
  void* data;  ///< from malloc(); whoever reads the record frees it
};
static_assert(offsetof(OverheadRecord, correlation) == 40);
static_assert(sizeof(OverheadRecord) == 56);

struct WaitRecord {
  Kind kind;
  std::uint32_t wait_kind;
  std::uint64_t start;
  std::uint64_t end;
  std::uint32_t correlation;
  std::uint32_t context;
  std::uint32_t stream;
  std::uint32_t event;
};
static_assert(sizeof(WaitRecord) == 40);

struct EventRecord {
  Kind kind;
  std::uint32_t correlation;
  std::uint32_t context;
  std::uint32_t stream;
  std::uint32_t event;
  std::uint32_t padding;
};
static_assert(sizeof(EventRecord) == 24);

struct MarkerRecord {
  Kind kind;
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
