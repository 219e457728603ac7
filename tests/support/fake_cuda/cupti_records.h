// Records as CUPTI lays them out, and how long each kind is in the version that this is a fake of.
// Values only. Any thread. A kind that there is not has the size 0.
// FAKE_CUPTI_VERSION is 118, 124, 130 (CUDA 11.8, 12.4, 13.0) or 134, which stands for versions to
// come: as 130, with every record longer.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#ifndef FAKE_CUPTI_VERSION
#error "FAKE_CUPTI_VERSION is not defined"
#endif

namespace tbtrace::fake_cuda {

/// CUpti_ActivityKind, those that the fake writes.
namespace kind {
inline constexpr std::uint32_t kMemcpy = 1;
inline constexpr std::uint32_t kMemset = 2;
inline constexpr std::uint32_t kDriver = 4;
inline constexpr std::uint32_t kRuntime = 5;
inline constexpr std::uint32_t kConcurrentKernel = 10;
inline constexpr std::uint32_t kMarker = 12;
inline constexpr std::uint32_t kOverhead = 17;
inline constexpr std::uint32_t kMemcpy2 = 22;
inline constexpr std::uint32_t kCudaEvent = 36;
inline constexpr std::uint32_t kSynchronization = 38;
inline constexpr std::uint32_t kExternalCorrelation = 39;
}  // namespace kind
inline constexpr std::uint32_t kKinds = 64;

inline constexpr std::uint32_t kNone = 0xffffffff;  ///< of a stream or an event

struct KernelRecord {
  std::uint32_t kind = kind::kConcurrentKernel;
  std::uint8_t cache[2] = {};
  std::uint16_t registers = 0;
  std::uint32_t partitioned_cache[2] = {};
  std::uint64_t start = 0;
  std::uint64_t end = 0;
  std::uint64_t completed = 0;
  std::uint32_t device = 0;
  std::uint32_t context = 0;
  std::uint32_t stream = 0;
  std::array<std::int32_t, 3> grid = {};
  std::array<std::int32_t, 3> block = {};
  std::int32_t static_shared = 0;
  std::int32_t dynamic_shared = 0;
  std::uint32_t local_per_thread = 0;
  std::uint32_t local_total = 0;
  std::uint32_t correlation = 0;
  std::int64_t grid_id = 0;
  const char* name = nullptr;
  std::uint64_t reserved = 0;
  std::uint64_t queued = 0;
  std::uint64_t submitted = 0;
  std::uint8_t launch[4] = {};
  std::uint32_t shared_executed = 0;
  std::uint64_t graph_node = 0;
  std::uint32_t shared_limit = 0;
  std::uint32_t graph = 0;
  std::uint64_t access_policy = 0;
  std::uint32_t channel = 0;
  std::uint32_t channel_type = 0;
  std::uint32_t cluster[3] = {1, 1, 1};
  std::uint32_t cluster_policy = 0;
  std::uint64_t local_total_wide = 0;
  std::uint32_t cluster_limits[2] = {};  // since CUDA 12.0
  std::uint8_t launched_by_device = 0;   // since CUDA 13.0
  std::uint8_t padding[7] = {};
};
static_assert(offsetof(KernelRecord, start) == 16 && offsetof(KernelRecord, device) == 40);
static_assert(offsetof(KernelRecord, correlation) == 92 && offsetof(KernelRecord, name) == 104);
static_assert(offsetof(KernelRecord, graph_node) == 144 && offsetof(KernelRecord, graph) == 156);
static_assert(offsetof(KernelRecord, channel) == 168 && sizeof(KernelRecord) == 216);

struct MemcpyRecord {
  std::uint32_t kind = kind::kMemcpy;
  std::uint8_t copy_kind = 0;
  std::uint8_t from_memory = 0;
  std::uint8_t to_memory = 0;
  std::uint8_t flags = 0;
  std::uint64_t bytes = 0;
  std::uint64_t start = 0;
  std::uint64_t end = 0;
  std::uint32_t device = 0;
  std::uint32_t context = 0;
  std::uint32_t stream = 0;
  std::uint32_t correlation = 0;
  std::uint32_t runtime_correlation[2] = {};
  std::uint64_t reserved = 0;
  std::uint64_t graph_node = 0;
  std::uint32_t graph = 0;
  std::uint32_t channel = 0;
  std::uint32_t channel_type = 0;
  std::uint32_t launched_by_device = 0;
  std::uint64_t copies = 1;  // since CUDA 12.8
};
static_assert(offsetof(MemcpyRecord, correlation) == 44 && offsetof(MemcpyRecord, graph) == 72);
static_assert(offsetof(MemcpyRecord, copies) == 88 && sizeof(MemcpyRecord) == 96);

struct Memcpy2Record {
  std::uint32_t kind = kind::kMemcpy2;
  std::uint8_t copy_kind = 10;
  std::uint8_t from_memory = 3;
  std::uint8_t to_memory = 3;
  std::uint8_t flags = 1;
  std::uint64_t bytes = 0;
  std::uint64_t start = 0;
  std::uint64_t end = 0;
  std::uint32_t device = 0;
  std::uint32_t context = 0;
  std::uint32_t stream = 0;
  std::uint32_t from_device = 0;
  std::uint32_t from_context = 0;
  std::uint32_t to_device = 0;
  std::uint32_t to_context = 0;
  std::uint32_t correlation = 0;
  std::uint64_t reserved = 0;
  std::uint64_t graph_node = 0;
  std::uint32_t graph = 0;
  std::uint32_t channel = 0;
  std::uint32_t channel_type = 0;
  std::uint32_t padding = 0;
};
static_assert(offsetof(Memcpy2Record, correlation) == 60 && sizeof(Memcpy2Record) == 96);

struct MemsetRecord {
  std::uint32_t kind = kind::kMemset;
  std::uint32_t value = 0;
  std::uint64_t bytes = 0;
  std::uint64_t start = 0;
  std::uint64_t end = 0;
  std::uint32_t device = 0;
  std::uint32_t context = 0;
  std::uint32_t stream = 0;
  std::uint32_t correlation = 0;
  std::uint16_t flags = 1;
  std::uint16_t memory = 0;
  std::uint32_t padding = 0;
  std::uint64_t reserved = 0;
  std::uint64_t graph_node = 0;
  std::uint32_t graph = 0;
  std::uint32_t channel = 0;
  std::uint32_t channel_type = 0;
  std::uint32_t launched_by_device = 0;
};
static_assert(offsetof(MemsetRecord, graph_node) == 64 && sizeof(MemsetRecord) == 88);

struct ApiRecord {
  std::uint32_t kind = kind::kRuntime;
  std::uint32_t cbid = 0;
  std::uint64_t start = 0;
  std::uint64_t end = 0;
  std::uint32_t process = 0;
  std::uint32_t thread = 0;
  std::uint32_t correlation = 0;
  std::uint32_t result = 0;
};
static_assert(sizeof(ApiRecord) == 40);

struct ExternalCorrelationRecord {
  std::uint32_t kind = kind::kExternalCorrelation;
  std::uint32_t external_kind = 0;
  std::uint64_t external_id = 0;
  std::uint32_t correlation = 0;
  std::uint32_t reserved = 0;
};
static_assert(sizeof(ExternalCorrelationRecord) == 24);

struct OverheadRecord {
  std::uint32_t kind = kind::kOverhead;
  std::uint32_t overhead = 0;
  std::uint32_t object_kind = 2;  // a thread: its process and its number
  std::uint32_t object[3] = {};
  std::uint64_t start = 0;
  std::uint64_t end = 0;
  std::uint32_t correlation = 0;  // from here on since CUDA 12.4
  std::uint32_t reserved = 0;
  void* data = nullptr;
};
static_assert(offsetof(OverheadRecord, start) == 24 && sizeof(OverheadRecord) == 56);

struct SynchronizationRecord {
  std::uint32_t kind = kind::kSynchronization;
  std::uint32_t type = 0;
  std::uint64_t start = 0;
  std::uint64_t end = 0;
  std::uint32_t correlation = 0;
  std::uint32_t context = 0;
  std::uint32_t stream = kNone;
  std::uint32_t event = kNone;
  std::uint64_t event_sync_id = kNone;  // from here on since CUDA 12.8
  std::uint32_t result = 0;
  std::uint32_t padding = 0;
};
static_assert(offsetof(SynchronizationRecord, event) == 36 && sizeof(SynchronizationRecord) == 56);

struct CudaEventRecord {
  std::uint32_t kind = kind::kCudaEvent;
  std::uint32_t correlation = 0;
  std::uint32_t context = 0;
  std::uint32_t stream = 0;
  std::uint32_t event = 0;
  std::uint32_t padding = 0;
  std::uint32_t device = 0;  // from here on since CUDA 12.8
  std::uint32_t padding_too = 0;
  std::uint64_t reserved = 0;
  std::uint64_t device_timestamp = 0;
  std::uint64_t event_sync_id = 0;
};
static_assert(offsetof(CudaEventRecord, device) == 24 && sizeof(CudaEventRecord) == 56);

struct MarkerRecord {
  std::uint32_t kind = kind::kMarker;
  std::uint32_t flags = 0;
  std::uint64_t timestamp = 0;
  std::uint32_t id = 0;
  std::uint32_t object_kind = 2;
  std::uint32_t object[3] = {};
  std::uint32_t padding = 0;
  const char* name = nullptr;
  const char* domain = nullptr;
};
static_assert(offsetof(MarkerRecord, object) == 24 && sizeof(MarkerRecord) == 56);

/// What all records of a device's work have, so that they can be blanked.
inline constexpr std::size_t kWorkStart = 16;
static_assert(offsetof(MemcpyRecord, start) == kWorkStart);
static_assert(offsetof(Memcpy2Record, start) == kWorkStart);
static_assert(offsetof(MemsetRecord, start) == kWorkStart);

/// What a record of versions to come has more.
inline constexpr std::size_t kExtraBytes = FAKE_CUPTI_VERSION > 130 ? 24 : 0;

namespace records_detail {

struct Sizes {
  std::uint32_t kind;
  std::uint16_t in_118;
  std::uint16_t in_124;
  std::uint16_t in_130;
};

inline constexpr Sizes kSizes[] = {
    {1, 88, 88, 96},  {2, 88, 88, 88},    {3, 200, 208, 216},  {4, 40, 40, 40},
    {5, 40, 40, 40},  {8, 184, 184, 184}, {9, 16, 24, 32},     {10, 200, 208, 216},
    {12, 56, 56, 56}, {13, 32, 32, 40},   {17, 40, 56, 56},    {20, 40, 40, 40},
    {22, 96, 96, 96}, {36, 24, 24, 56},   {37, 24, 24, 24},    {38, 40, 40, 56},
    {39, 24, 24, 24}, {48, 40, 40, 40},   {49, 120, 120, 128}, {50, 72, 72, 80},
    {51, 48, 56, 56}, {52, 64, 72, 72},
};

constexpr std::array<std::size_t, kKinds> table() {
  std::array<std::size_t, kKinds> sizes = {};
  for (const Sizes& row : kSizes) {
    sizes[row.kind] = kExtraBytes + (FAKE_CUPTI_VERSION == 118   ? row.in_118
                                     : FAKE_CUPTI_VERSION == 124 ? row.in_124
                                                                 : row.in_130);
  }
  return sizes;
}

inline constexpr std::array<std::size_t, kKinds> kTable = table();

}  // namespace records_detail

constexpr std::size_t record_size(std::uint32_t kind) {
  return kind < kKinds ? records_detail::kTable[kind] : 0;
}

}  // namespace tbtrace::fake_cuda
