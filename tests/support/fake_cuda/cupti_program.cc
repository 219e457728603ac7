// The program under trace: calls of CUDA that make no device work, but the records of it.
// Structs and texts are the caller's; texts are kept. Any thread.
// Nothing is checked: a test may have any number in a record.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include <unistd.h>

#include "support/fake_cuda/cupti_state.h"
#include "support/fake_cuda/exported.h"
#include "support/fake_cuda/fake_cuda.h"

namespace tbtrace::fake_cuda {

namespace {

// CUpti_runtime_api_trace_cbid.
constexpr std::uint32_t kMemcpy = 31;
constexpr std::uint32_t kMemcpyAsync = 41;
constexpr std::uint32_t kMemsetAsync = 51;
constexpr std::uint32_t kStreamSynchronizeCall = 131;
constexpr std::uint32_t kEventRecordCall = 135;
constexpr std::uint32_t kEventSynchronizeCall = 137;
constexpr std::uint32_t kStreamWaitEventCall = 147;
constexpr std::uint32_t kMemcpyPeerAsync = 161;
constexpr std::uint32_t kDeviceSynchronizeCall = 165;
constexpr std::uint32_t kLaunchKernel = 211;
constexpr std::uint32_t kGraphLaunch = 311;

bool enabled(std::uint32_t kind) { return state().kinds[kind]; }

/// A call of the program from its begin on.
class Running {
 public:
  Running(const Call& call, std::uint32_t usual_cbid)
      : Running(call, usual_cbid, state().next_correlation++) {}
  Running(const Call& call, std::uint32_t usual_cbid, std::uint32_t correlation)
      : call_(call),
        cbid_(call.cbid == 0 ? usual_cbid : call.cbid),
        correlation_(correlation),
        start_(call.start_ns == 0 ? state().clock.now() : call.start_ns) {}

  Running(const Running&) = delete;
  Running& operator=(const Running&) = delete;
  ~Running() { state().call_ends(call_.domain, cbid_); }

  std::uint32_t correlation() const { return correlation_; }
  std::uint64_t start() const { return start_; }
  std::uint64_t end() const { return end_; }

  /// To be called before the Writer is made, since others may wait for that.
  void finish() { end_ = call_.end_ns == 0 ? std::max(state().clock.now(), start_) : call_.end_ns; }

  /// Of what was enabled.
  void write(Writer& writer) const {
    if (!state().records_call(call_.domain, cbid_)) return;
    if (enabled(kind::kExternalCorrelation)) write_external_ids(writer);
    writer.write_call(record());
  }

  ApiRecord record() const {
    ApiRecord record;
    record.kind = call_.domain == kDriverApi ? kind::kDriver : kind::kRuntime;
    record.cbid = cbid_;
    record.start = start_;
    record.end = end_;
    record.process = static_cast<std::uint32_t>(::getpid());
    record.thread = thread_id();
    record.correlation = correlation_;
    record.result = call_.result;
    return record;
  }

 private:
  void write_external_ids(Writer& writer) const {
    const auto& ids = this_thread().external_ids;
    for (std::uint32_t external_kind = 1; external_kind < ids.size(); ++external_kind) {
      if (ids[external_kind].empty()) continue;
      ExternalCorrelationRecord record;
      record.external_kind = external_kind;
      record.external_id = ids[external_kind].back();
      record.correlation = correlation_;
      writer.write_call(record);
    }
  }

  const Call& call_;
  std::uint32_t cbid_;
  std::uint32_t correlation_;
  std::uint64_t start_;
  std::uint64_t end_ = 0;
};

/// When the device works on what a call gave it at `now`.
Timeline::Work work_of(const Stream& on, const Span& time, std::uint64_t now) {
  if (time.end_ns != 0) return {time.start_ns, time.end_ns};
  return state().timeline.schedule(on, time, now);
}

/// What records of a device's work have in common.
template <typename Record, typename Work>
Record work_record(const Work& work, std::uint32_t correlation, const Timeline::Work& done) {
  Record record;
  record.start = done.start;
  record.end = done.end;
  record.device = work.on.device;
  record.context = work.on.context;
  record.stream = work.on.stream;
  record.correlation = correlation;
  return record;
}

KernelRecord kernel_record(const Kernel& kernel, std::uint32_t correlation,
                           const Timeline::Work& done) {
  auto record = work_record<KernelRecord>(kernel, correlation, done);
  record.completed = done.end;
  record.registers = kernel.registers;
  record.grid = kernel.grid;
  record.block = kernel.block;
  record.static_shared = kernel.static_shared;
  record.dynamic_shared = kernel.dynamic_shared;
  record.name = state().keep(kernel.name);
  record.graph = kernel.graph;
  record.graph_node = kernel.node;
  record.channel = kernel.channel.channel;
  record.channel_type = kernel.channel.type;
  return record;
}

template <typename Record>
void write_work(Writer& writer, const Record& record, const Span& time) {
  writer.write_work(record, time.end_ns != 0);
}

bool stream_is_waited_for(std::uint32_t type) {
  return type == kStreamSynchronize || type == kEventSynchronize;
}

std::uint32_t usual_call(std::uint32_t sync_type) {
  switch (sync_type) {
    case kEventSynchronize:
      return kEventSynchronizeCall;
    case kStreamWaitEvent:
      return kStreamWaitEventCall;
    case kStreamSynchronize:
      return kStreamSynchronizeCall;
    default:
      return kDeviceSynchronizeCall;
  }
}

template <typename Record>
void name_thread(Record& record) {
  record.object[0] = static_cast<std::uint32_t>(::getpid());
  record.object[1] = thread_id();
}

void write_marker(MarkerRecord record) {
  record.timestamp = state().clock.now();
  name_thread(record);
  if (enabled(kind::kMarker)) Writer(state().buffers).write(record);
}

}  // namespace

extern "C" {

FAKE_EXPORTED std::uint32_t fake_cupti_call(const Call& call) {
  Running running(call, 0);
  running.finish();
  Writer writer(state().buffers);
  running.write(writer);
  return running.correlation();
}

FAKE_EXPORTED std::uint32_t fake_cupti_launch(const Kernel& kernel) {
  Running call(kernel.call, kLaunchKernel);
  call.finish();
  const Timeline::Work done = work_of(kernel.on, kernel.time, call.end());
  Writer writer(state().buffers);
  call.write(writer);
  if (enabled(kind::kConcurrentKernel)) {
    write_work(writer, kernel_record(kernel, call.correlation(), done), kernel.time);
  }
  return call.correlation();
}

FAKE_EXPORTED std::uint32_t fake_cupti_copy(const Copy& copy) {
  Running call(copy.call, copy.async ? kMemcpyAsync : kMemcpy);
  if (copy.async) call.finish();
  const Timeline::Work done = work_of(copy.on, copy.time, copy.async ? call.end() : call.start());
  if (!copy.async) {
    state().timeline.wait(copy.on);
    call.finish();
  }
  Writer writer(state().buffers);
  call.write(writer);
  if (enabled(kind::kMemcpy)) {
    auto record = work_record<MemcpyRecord>(copy, call.correlation(), done);
    record.copy_kind = copy.kind;
    record.from_memory = copy.from_memory;
    record.to_memory = copy.to_memory;
    record.flags = copy.async ? 1 : 0;
    record.bytes = copy.bytes;
    record.graph = copy.graph;
    record.graph_node = copy.node;
    record.channel = copy.channel.channel;
    record.channel_type = copy.channel.type;
    write_work(writer, record, copy.time);
  }
  return call.correlation();
}

FAKE_EXPORTED std::uint32_t fake_cupti_copy_peer(const PeerCopy& copy) {
  Running call(copy.call, kMemcpyPeerAsync);
  call.finish();
  const Timeline::Work done = work_of(copy.on, copy.time, call.end());
  Writer writer(state().buffers);
  call.write(writer);
  if (enabled(kind::kMemcpy) || enabled(kind::kMemcpy2)) {
    auto record = work_record<Memcpy2Record>(copy, call.correlation(), done);
    record.bytes = copy.bytes;
    record.from_device = copy.from_device;
    record.from_context = copy.from_context;
    record.to_device = copy.to_device;
    record.to_context = copy.to_context;
    write_work(writer, record, copy.time);
  }
  return call.correlation();
}

FAKE_EXPORTED std::uint32_t fake_cupti_fill(const Fill& fill) {
  Running call(fill.call, kMemsetAsync);
  call.finish();
  const Timeline::Work done = work_of(fill.on, fill.time, call.end());
  Writer writer(state().buffers);
  call.write(writer);
  if (enabled(kind::kMemset)) {
    auto record = work_record<MemsetRecord>(fill, call.correlation(), done);
    record.value = fill.value;
    record.bytes = fill.bytes;
    record.memory = fill.memory;
    write_work(writer, record, fill.time);
  }
  return call.correlation();
}

FAKE_EXPORTED std::uint32_t fake_cupti_launch_graph(const Graph& graph) {
  Running call(graph.call, kGraphLaunch);
  call.finish();
  Writer writer(state().buffers);
  call.write(writer);
  std::uint64_t node = 0;
  for (const Kernel& kernel : graph.kernels) {
    const Timeline::Work done = work_of(kernel.on, kernel.time, call.end());
    ++node;
    if (!enabled(kind::kConcurrentKernel)) continue;
    KernelRecord record = kernel_record(kernel, call.correlation(), done);
    if (record.graph == 0) record.graph = graph.graph;
    if (record.graph_node == 0) record.graph_node = (std::uint64_t{graph.graph} << 32U) | node;
    write_work(writer, record, kernel.time);
  }
  return call.correlation();
}

FAKE_EXPORTED std::uint32_t fake_cupti_sync(const Sync& sync) {
  Running call(sync.call, usual_call(sync.type));
  if (stream_is_waited_for(sync.type)) state().timeline.wait(sync.on);
  if (sync.type == kContextSynchronize) {
    state().timeline.wait_for_device(static_cast<int>(sync.on.device));
  }
  call.finish();
  Writer writer(state().buffers);
  call.write(writer);
  if (enabled(kind::kSynchronization)) {
    SynchronizationRecord record;
    record.type = sync.type;
    record.start = call.start();
    record.end = call.end();
    record.correlation = call.correlation();
    record.context = sync.on.context;
    if (sync.type == kStreamSynchronize || sync.type == kStreamWaitEvent) {
      record.stream = sync.on.stream;
    }
    if (sync.type == kEventSynchronize || sync.type == kStreamWaitEvent) {
      record.event = sync.event;
      record.event_sync_id = state().event_sync_id(sync.event);
    }
    record.result = sync.call.result;
    writer.write(record);
  }
  return call.correlation();
}

FAKE_EXPORTED std::uint32_t fake_cupti_record_event(const Event& event) {
  Running call(event.call, kEventRecordCall);
  call.finish();
  const std::uint64_t id = state().next_event_sync_id++;
  state().set_event_sync_id(event.event, id);
  Writer writer(state().buffers);
  call.write(writer);
  if (enabled(kind::kSynchronization) || enabled(kind::kCudaEvent)) {
    CudaEventRecord record;
    record.correlation = call.correlation();
    record.context = event.on.context;
    record.stream = event.on.stream;
    record.event = event.event;
    record.device = event.on.device;
    record.event_sync_id = id;
    writer.write(record);
  }
  return call.correlation();
}

FAKE_EXPORTED void fake_cupti_overhead(const Overhead& overhead) {
  if (!enabled(kind::kOverhead)) return;
  constexpr std::size_t kDataBytes = 12;
  OverheadRecord record;
  record.overhead = overhead.kind;
  record.start = overhead.start_ns == 0 ? state().clock.now() : overhead.start_ns;
  record.end = overhead.end_ns == 0 ? std::max(state().clock.now(), record.start) : overhead.end_ns;
  name_thread(record);
  if (overhead.data && FAKE_CUPTI_VERSION >= 124) record.data = std::calloc(1, kDataBytes);
  if (!Writer(state().buffers).write(record)) std::free(record.data);
}

FAKE_EXPORTED void fake_cupti_push_range(const char* name, const char* domain) {
  constexpr std::uint32_t kRangeStart = 2;
  MarkerRecord record;
  record.flags = kRangeStart;
  record.id = state().next_marker++;
  record.name = state().keep(name);
  record.domain = state().keep(domain);
  this_thread().ranges.push_back({record.id, record.domain});
  write_marker(record);
}

FAKE_EXPORTED void fake_cupti_pop_range() {
  constexpr std::uint32_t kRangeEnd = 4;
  if (this_thread().ranges.empty()) return;
  const Thread::Range range = this_thread().ranges.back();
  this_thread().ranges.pop_back();
  MarkerRecord record;
  record.flags = kRangeEnd;
  record.id = range.marker;
  record.domain = range.domain;
  write_marker(record);
}

FAKE_EXPORTED std::uint32_t fake_cupti_generate(std::uint64_t count, const Kernel& kernel) {
  constexpr std::uint64_t kAtOnce = 1024;  // before others get at the buffer
  const bool calls = state().records_call(kernel.call.domain,
                                          kernel.call.cbid == 0 ? kLaunchKernel : kernel.call.cbid);
  const bool kernels = enabled(kind::kConcurrentKernel);
  const Clock& clock = state().clock;
  const std::uint32_t first = state().next_correlation.fetch_add(static_cast<std::uint32_t>(count));
  ApiRecord call = Running(kernel.call, kLaunchKernel, first).record();
  KernelRecord work = kernel_record(kernel, 0, {0, 0});

  std::uint32_t correlation = first;
  while (count != 0) {
    const std::uint64_t now_many = std::min(count, kAtOnce);
    std::uint64_t end = state().timeline.end_of(kernel.on);
    Writer writer(state().buffers);
    for (std::uint64_t i = 0; i < now_many; ++i) {
      call.start = clock.now();
      call.end = clock.now();
      call.correlation = correlation;
      if (calls) writer.write_call(call);
      work.start = std::max(end, call.end + kernel.time.latency_ns);
      end = work.start + kernel.time.duration_ns;
      work.end = end;
      work.completed = end;
      work.correlation = correlation++;
      if (kernels) writer.write_work(work, false);
    }
    state().timeline.set_end(kernel.on, end, call.end);
    count -= now_many;
  }
  return first;
}

}  // extern "C"

}  // namespace tbtrace::fake_cuda
