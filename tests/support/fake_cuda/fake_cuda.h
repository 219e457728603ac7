// A CUPTI and a CUDA driver that have no GPU: what their device does and what goes wrong with it.
// A handle controls the library at a path, the very copy that the program under test loads from
// there; it is never unloaded. Any thread, but reset() only while no other uses the library. A
// library without the functions, or the name of a function that it has not, ends the program.
#pragma once

#include <array>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace tbtrace::fake_cuda {

/// CUpti_CallbackDomain.
inline constexpr std::uint32_t kDriverApi = 1;
inline constexpr std::uint32_t kRuntimeApi = 2;

/// A call of the program on the calling thread. Calls that work belongs to (a launch, a copy) need
/// no number. Times are in the clock of CUPTI's user; 0: now.
struct Call {
  std::uint32_t cbid = 0;
  std::uint32_t domain = kRuntimeApi;
  std::uint64_t start_ns = 0;
  std::uint64_t end_ns = 0;
  std::uint32_t result = 0;
};

struct Stream {
  std::uint32_t device = 0;
  std::uint32_t context = 1;
  std::uint32_t stream = 7;
};

/// When the device works: `latency_ns` after the call's end or when the stream is free, for
/// `duration_ns`. With an end, exactly from `start_ns` to `end_ns`, and complete at once.
struct Span {
  std::uint64_t latency_ns = 2000;
  std::uint64_t duration_ns = 5000;
  std::uint64_t start_ns = 0;
  std::uint64_t end_ns = 0;
};

struct Channel {
  std::uint32_t channel = 0;
  std::uint32_t type = 0;
};

struct Kernel {
  const char* name = "kernel";  ///< may be null
  std::array<std::int32_t, 3> grid = {1, 1, 1};
  std::array<std::int32_t, 3> block = {32, 1, 1};
  std::uint16_t registers = 16;
  std::int32_t static_shared = 0;
  std::int32_t dynamic_shared = 0;
  Stream on = {};
  Span time = {};
  Call call = {};           ///< cudaLaunchKernel
  std::uint32_t graph = 0;  ///< in a Graph: 0 is the graph's, and a node numbered by its place
  std::uint64_t node = 0;
  Channel channel = {};
};

/// Kinds are CUpti_ActivityMemcpyKind and CUpti_ActivityMemoryKind.
struct Copy {
  std::uint64_t bytes = 0;
  std::uint8_t kind = 1;  ///< host to device
  std::uint8_t from_memory = 1;
  std::uint8_t to_memory = 3;
  bool async = true;  ///< otherwise the call waits for the stream
  Stream on = {};
  Span time = {};
  Call call = {};  ///< cudaMemcpyAsync or cudaMemcpy
  std::uint32_t graph = 0;
  std::uint64_t node = 0;
  Channel channel = {};
};

struct PeerCopy {
  std::uint64_t bytes = 0;
  std::uint32_t from_device = 0;
  std::uint32_t from_context = 1;
  std::uint32_t to_device = 1;
  std::uint32_t to_context = 2;
  Stream on = {};
  Span time = {};
  Call call = {};  ///< cudaMemcpyPeerAsync
};

struct Fill {
  std::uint64_t bytes = 0;
  std::uint32_t value = 0;
  std::uint16_t memory = 3;
  Stream on = {};
  Span time = {};
  Call call = {};  ///< cudaMemsetAsync
};

/// Kernels one after another, of one call.
struct Graph {
  std::uint32_t graph = 1;
  std::vector<Kernel> kernels = {};
  Call call = {};  ///< cudaGraphLaunch
};

/// CUpti_ActivitySynchronizationType.
inline constexpr std::uint32_t kEventSynchronize = 1;
inline constexpr std::uint32_t kStreamWaitEvent = 2;
inline constexpr std::uint32_t kStreamSynchronize = 3;
inline constexpr std::uint32_t kContextSynchronize = 4;

/// Waits as the type says, kStreamWaitEvent apart; events are waited for as their streams are.
struct Sync {
  std::uint32_t type = kStreamSynchronize;
  Stream on = {};
  std::uint32_t event = 1;
  Call call = {};  ///< the runtime's of that type
};

struct Event {
  std::uint32_t event = 1;
  Stream on = {};
  Call call = {};  ///< cudaEventRecord
};

/// CUpti_ActivityOverheadKind. With `data` newer versions attach memory for the user to free().
struct Overhead {
  std::uint32_t kind = 1U << 16U;
  std::uint64_t start_ns = 0;  ///< 0: now
  std::uint64_t end_ns = 0;
  bool data = false;
};

/// What goes wrong from now on, besides calls that fail. Counts start when they are set.
struct Faults {
  std::uint64_t drop_records = 0;      ///< the next so many
  std::uint64_t zero_times_every = 0;  ///< of device records, each so-manieth
  bool calls_last = false;             ///< records of calls come one flush after their work's
  bool newest_first = false;           ///< full buffers come two at a time, the newer one first
  std::uint32_t late_ms = 0;           ///< buffers come so late, and never from a flush itself
  std::uint64_t truncate_buffers = 0;  ///< of the next so many
  std::size_t truncate_bytes = 8;      ///< so much is missing at the end
  std::uint64_t crash_at_buffer = 0;   ///< before this completion, the first being 1
  int crash_signal = SIGSEGV;
  bool no_driver = false;  ///< calls that need a driver answer as without one
};

struct Counters {
  std::uint64_t buffers_requested = 0;
  std::uint64_t buffers_refused = 0;    ///< the user gave none
  std::uint64_t buffers_completed = 0;  ///< came back to the user
  std::uint64_t buffers_swallowed = 0;  ///< came back to somebody else
  std::uint64_t buffers_in_flight = 0;  ///< of the user's
  std::uint64_t buffers_unzeroed = 0;   ///< though the user had promised zeros
  std::uint64_t buffers_unaligned = 0;  ///< not at a multiple of 8
  std::uint64_t buffers_twice = 0;      ///< given while they were in flight
  std::uint64_t records_written = 0;
  std::uint64_t records_dropped = 0;
  std::uint64_t forced_flushes = 0;
};

extern "C" {
void fake_cupti_reset();
void fake_cupti_set_faults(const Faults& faults);
/// The nth call of the function since reset() answers `code`; 0: every call.
void fake_cupti_fail(const char* function, std::uint64_t nth, int code);
/// The nth call of all does. Calls that only look something up do not count here:
/// cuptiGetCallbackName, GetResultString, GetErrorMessage and ActivityGetNextRecord.
void fake_cupti_fail_call(std::uint64_t nth, int code);
/// What enabling a kind answers; 0: it works again.
void fake_cupti_fail_enable(std::uint32_t kind, int code);
/// Since reset(); null: all, without those that only look something up.
std::uint64_t fake_cupti_calls(const char* function);
void fake_cupti_counters(Counters& counters);
bool fake_cupti_enabled(std::uint32_t kind);
std::size_t fake_cupti_enabled_kinds();
bool fake_cupti_call_enabled(std::uint32_t domain, std::uint32_t cbid);
/// How many are on: all 1024 numbers when their kind is.
std::size_t fake_cupti_enabled_calls(std::uint32_t domain);
std::size_t fake_cupti_record_size(std::uint32_t kind);
/// Whether the program has a CUDA context; it has one after reset().
void fake_cupti_set_context(bool has_context);
/// Another profiler of the process registers callbacks, and keeps what it is given.
void fake_cupti_take_over();
/// The next call has this correlation id.
void fake_cupti_set_correlation(std::uint32_t next);
/// Of the device, -1 for all: waits until it has done its work. Answers CUDA's success.
int fake_cupti_synchronize(int device);
/// Waiting takes no time from now on: the work counts as done, though its end may be to come.
void fake_cupti_skip_waits(bool skip);
/// Puts bytes into the calling thread's buffer as they are, a multiple of 8 of them.
void fake_cupti_put_bytes(const void* bytes, std::size_t size);

// The program under trace. The answer is the correlation id.
std::uint32_t fake_cupti_call(const Call& call);
std::uint32_t fake_cupti_launch(const Kernel& kernel);
std::uint32_t fake_cupti_copy(const Copy& copy);
std::uint32_t fake_cupti_copy_peer(const PeerCopy& copy);
std::uint32_t fake_cupti_fill(const Fill& fill);
std::uint32_t fake_cupti_launch_graph(const Graph& graph);
std::uint32_t fake_cupti_sync(const Sync& sync);
std::uint32_t fake_cupti_record_event(const Event& event);
void fake_cupti_overhead(const Overhead& overhead);
/// As NVTX's, on the calling thread; a null domain is the default one.
void fake_cupti_push_range(const char* name, const char* domain);
void fake_cupti_pop_range();
/// Launches so many on the calling thread, as fast as it can. Answers the first correlation id.
std::uint32_t fake_cupti_generate(std::uint64_t count, const Kernel& kernel);
}

struct DriverSetup {
  int init_result = 0;  ///< of cuInit
  int version = 13000;
  int devices = 1;
  std::string name = "NVIDIA H200";
  std::size_t total_memory = 150121545728;
  std::uint32_t active_contexts = 1;  ///< a bit for each device that the program uses
};

extern "C" {
/// As after loading: no device was asked for, one H200.
void fake_driver_reset();
void fake_driver_set_up(const DriverSetup& setup);
/// CUdevice_attribute, of all devices.
void fake_driver_set_attribute(int attribute, int value);
/// As those of CUPTI; cuGetErrorName and cuGetErrorString only look something up.
void fake_driver_fail(const char* function, std::uint64_t nth, int code);
void fake_driver_fail_call(std::uint64_t nth, int code);
std::uint64_t fake_driver_calls(const char* function);
int fake_driver_retained();        ///< primary contexts that nobody released yet
std::size_t fake_driver_pushed();  ///< contexts that the calling thread did not pop yet
/// What cuCtxSynchronize does with the number of a device; null: nothing.
void fake_driver_connect(int (*synchronize)(int device));
}

/// A member is the function of its name: `cupti.launch({.name = "gemm"})`.
struct Cupti {
  explicit Cupti(const std::string& path);
  Counters counters() const;

  decltype(&fake_cupti_reset) reset;
  decltype(&fake_cupti_set_faults) set_faults;
  decltype(&fake_cupti_fail) fail;
  decltype(&fake_cupti_fail_call) fail_call;
  decltype(&fake_cupti_fail_enable) fail_enable;
  decltype(&fake_cupti_calls) calls;
  decltype(&fake_cupti_counters) read_counters;
  decltype(&fake_cupti_enabled) enabled;
  decltype(&fake_cupti_enabled_kinds) enabled_kinds;
  decltype(&fake_cupti_call_enabled) call_enabled;
  decltype(&fake_cupti_enabled_calls) enabled_calls;
  decltype(&fake_cupti_record_size) record_size;
  decltype(&fake_cupti_set_context) set_context;
  decltype(&fake_cupti_take_over) take_over;
  decltype(&fake_cupti_set_correlation) set_correlation;
  decltype(&fake_cupti_synchronize) synchronize;
  decltype(&fake_cupti_skip_waits) skip_waits;
  decltype(&fake_cupti_put_bytes) put_bytes;

  decltype(&fake_cupti_call) call;
  decltype(&fake_cupti_launch) launch;
  decltype(&fake_cupti_copy) copy;
  decltype(&fake_cupti_copy_peer) copy_peer;
  decltype(&fake_cupti_fill) fill;
  decltype(&fake_cupti_launch_graph) launch_graph;
  decltype(&fake_cupti_sync) sync;
  decltype(&fake_cupti_record_event) record_event;
  decltype(&fake_cupti_overhead) overhead;
  decltype(&fake_cupti_push_range) push_range;
  decltype(&fake_cupti_pop_range) pop_range;
  decltype(&fake_cupti_generate) generate;
};

struct Driver {
  explicit Driver(const std::string& path);

  decltype(&fake_driver_reset) reset;
  decltype(&fake_driver_set_up) set_up;
  decltype(&fake_driver_set_attribute) set_attribute;
  decltype(&fake_driver_fail) fail;
  decltype(&fake_driver_fail_call) fail_call;
  decltype(&fake_driver_calls) calls;
  decltype(&fake_driver_retained) retained;
  decltype(&fake_driver_pushed) pushed;
  decltype(&fake_driver_connect) connect;
};

/// Both, as new, and cuCtxSynchronize waits for the work of this CUPTI's devices.
struct FakeCuda {
  FakeCuda(const std::string& cupti_path, const std::string& driver_path);

  Cupti cupti;
  Driver driver;
};

}  // namespace tbtrace::fake_cuda
