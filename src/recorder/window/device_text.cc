#include "recorder/window/device_text.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <set>
#include <string_view>

#include "recorder/log/record.h"
#include "recorder/window/collective_lines.h"
#include "recorder/window/device_names.h"
#include "recorder/window/device_order.h"
#include "recorder/window/occupancy.h"
#include "symbols/names/demangle.h"
#include "wire/json_text.h"

namespace tbtrace::recorder {

namespace {

// Kineto's own: processes of devices stand below all others.
constexpr std::int64_t kFirstDevice = 5'000'000;
constexpr std::int64_t kOverheadPlace = 0x100000a;

/// As a C++ stream writes it with eight digits; what JSON has no number for is text.
std::string float_text(float value) {
  return std::isfinite(value) ? fmt::format("{:.8g}", value) : "\"inf\"";
}

std::uint64_t pair_of(std::uint32_t high, std::uint32_t low) {
  return std::uint64_t{high} << 32 | low;
}

}  // namespace

std::string device_properties_json(const std::vector<DeviceProperties>& devices) {
  std::string json = "[";
  for (const DeviceProperties& device : devices) {
    if (json.size() > 1) json += ",";
    json += fmt::format("\n{{\"id\": {}, \"name\": ", device.id);
    wire::append_json_string(json, device.name);
    json += fmt::format(
        R"(, "totalGlobalMem": {}, "computeMajor": {}, "computeMinor": {}, )"
        R"("maxThreadsPerBlock": {}, "maxThreadsPerMultiprocessor": {}, "regsPerBlock": {}, )"
        R"("warpSize": {}, "sharedMemPerBlock": {}, "numSms": {}, "regsPerMultiprocessor": {}, )"
        R"("sharedMemPerBlockOptin": {}, "sharedMemPerMultiprocessor": {}}})",
        device.total_memory_bytes, device.compute_major, device.compute_minor,
        device.max_threads_per_block, device.max_threads_per_multiprocessor,
        device.registers_per_block, device.warp_size, device.shared_bytes_per_block,
        device.multiprocessors, device.registers_per_multiprocessor,
        device.shared_bytes_per_block_optin, device.shared_bytes_per_multiprocessor);
  }
  return json + "]";
}

DeviceText::DeviceText(const Window& window, EventLines& lines, std::int64_t process,
                       std::uint64_t first_id, std::string program)
    : window_(window),
      trace_(*window.device_trace()),
      links_(window.device_links()),
      lines_(lines),
      process_(process),
      first_id_(first_id),
      program_(std::move(program)),
      calls_(calls_by_start(trace_)),
      activities_(activities_by_start(trace_)),
      has_work_(calls_with_activity(trace_, links_)),
      devices_(devices_of_contexts(trace_)) {
  for (const DeviceEvent& event : trace_.events) {
    events_[pair_of(event.context, event.event)] = &event;
  }
}

void DeviceText::append_names() {
  const auto named = [&](std::string_view kind, std::int64_t process, std::int64_t thread,
                         std::string_view what, std::string_view value_json) {
    lines_.begin_event();
    lines_.add(R"({{"ph": "M", "name": "{}", )", kind);
    lines_.add_time("ts", window_.start_ns());
    lines_.add(R"(, "pid": {}, "tid": {}, "args": {{"{}": {}}}}})", process, thread, what,
               value_json);
  };
  std::set<std::int64_t> devices;
  for (std::size_t row = 0; row < trace_.activities.size(); ++row) {
    devices.insert(trace_.activities[row].place.device);
  }
  std::string program;
  wire::append_json_string(program, program_);
  for (const std::int64_t device : devices) {
    named("process_name", device, 0, "name", program);
    named("process_labels", device, 0, "labels", fmt::format("\"GPU {}\"", device));
    named("process_sort_index", device, 0, "sort_index", std::to_string(kFirstDevice + device));
  }
  for (const auto& [place, name] : stream_names(trace_)) {
    named("thread_name", place.first, place.second, "name", "\"" + name + "\"");
    named("thread_sort_index", place.first, place.second, "sort_index",
          std::to_string(place.second));
  }
  if (!trace_.overheads.empty()) {
    named("process_name", kOverheadProcess, 0, "name", program);
    named("process_labels", kOverheadProcess, 0, "labels", "\"CUPTI Overhead\"");
    named("process_sort_index", kOverheadProcess, 0, "sort_index", std::to_string(kOverheadPlace));
  }
}

std::size_t DeviceText::rows_of(Part part) const {
  switch (part) {
    case Part::calls:
      return calls_.size();
    case Part::activities:
      return activities_.size();
    case Part::synchronizations:
      return trace_.synchronizations.size();
    case Part::overheads:
      return trace_.overheads.size();
    case Part::markers:
      return trace_.markers.size();
    case Part::annotations:
      return links_.annotations.size();
    case Part::end:
      break;
  }
  return 0;
}

bool DeviceText::append_next() {
  while (part_ != Part::end && next_ == rows_of(part_)) {
    part_ = static_cast<Part>(static_cast<unsigned char>(part_) + 1);
    next_ = 0;
  }
  const std::size_t row = next_++;
  switch (part_) {
    case Part::calls:
      append_call(trace_.calls[calls_[row]], calls_[row]);
      return true;
    case Part::activities:
      append_activity(trace_.activities[activities_[row]], activities_[row]);
      return true;
    case Part::synchronizations:
      append_synchronization(trace_.synchronizations[row]);
      return true;
    case Part::overheads:
      append_overhead(trace_.overheads[row]);
      return true;
    case Part::markers:
      append_marker(trace_.markers[row]);
      return true;
    case Part::annotations:
      append_annotation(links_.annotations[row]);
      return true;
    case Part::end:
      break;
  }
  return false;
}

void DeviceText::append_times(std::uint64_t start_ticks, std::uint64_t end_ticks) {
  lines_.add_times(window_.unix_ns(start_ticks), window_.unix_ns(end_ticks));
}

/// `"External id": n, ` of the call's operator, if it has one.
void DeviceText::append_external_id(std::uint32_t call) {
  if (call == DeviceLinks::kNone || links_.call_operator[call] == DeviceLinks::kNone) return;
  lines_.add("\"External id\": {}, ", first_id_ + links_.call_operator[call]);
}

/// What is said of the collective that the call's operator is, if it is one.
void DeviceText::append_collective(std::uint32_t call) {
  if (call == DeviceLinks::kNone || links_.call_operator[call] == DeviceLinks::kNone) return;
  const Name& name = window_.name(window_.ranges()[links_.call_operator[call]]);
  if (name.collective != nullptr) append_collective_of_kernel(lines_, *name.collective);
}

void DeviceText::append_call(const ApiCall& call, std::uint32_t row) {
  const ApiFunction& function = trace_.functions[call.function];
  lines_.begin_event();
  lines_.add(R"({{"ph": "X", "cat": "{}", "name": )",
             function.library == ApiLibrary::runtime ? "cuda_runtime" : "cuda_driver");
  lines_.add_quoted(trace_.names[function.name]);
  lines_.add(R"(, "pid": {}, "tid": {})", process_, call.thread);
  append_times(call.start_ticks, call.end_ticks);
  lines_.add(R"(, "args": {{)");
  append_external_id(row);
  lines_.add(R"("cbid": {}, "correlation": {}}}}})", function.number, call.correlation);
  if (has_work_[row]) {
    append_arrow_end(true, call.correlation, call.start_ticks, process_, call.thread);
  }
}

void DeviceText::append_activity(const DeviceActivity& activity, std::uint32_t row) {
  lines_.begin_event();
  const std::uint32_t call = links_.activity_call[row];
  const DevicePlace& place = activity.place;
  const DeviceTransfer& transfer = activity.transfer;
  switch (activity.kind) {
    case DeviceActivityKind::kernel:
      lines_.add(R"({{"ph": "X", "cat": "kernel", "name": )");
      lines_.add_quoted(kernel_name(trace_.launches[activity.launch].name));
      break;
    case DeviceActivityKind::memcpy:
    case DeviceActivityKind::memset:
      lines_.add(R"({{"ph": "X", "cat": "{}", "name": "{}")",
                 activity.kind == DeviceActivityKind::memcpy ? "gpu_memcpy" : "gpu_memset",
                 transfer_name(activity.kind, transfer));
      break;
  }
  lines_.add(R"(, "pid": {}, "tid": {})", place.device, place.stream);
  append_times(activity.start_ticks, activity.end_ticks);
  lines_.add(R"(, "args": {{)");
  append_external_id(call);
  if (activity.kind == DeviceActivityKind::kernel) lines_.add(R"("queued": 0, )");
  lines_.add(R"("device": {}, "context": {}, "stream": {}, "correlation": {})", place.device,
             place.context, place.stream, activity.correlation);
  if (activity.kind == DeviceActivityKind::kernel) {
    lines_.add("{}", launch_text(place.device, activity.launch));
  } else {
    lines_.add(R"(, "bytes": {})", transfer.bytes);
    const std::int64_t ns =
        window_.unix_ns(activity.end_ticks) - window_.unix_ns(activity.start_ticks);
    if (ns > 0) {
      lines_.add(R"json(, "memory bandwidth (GB/s)": {})json",
                 static_cast<double>(transfer.bytes) / static_cast<double>(ns));
    }
  }
  if (transfer.peers != 0) {
    const DevicePeers& peers = trace_.peers[transfer.peers - 1];
    lines_.add(R"(, "fromDevice": {}, "inDevice": {}, "toDevice": {}, "fromContext": {}, )"
               R"("inContext": {}, "toContext": {})",
               peers.from_device, place.device, peers.to_device, peers.from_context, place.context,
               peers.to_context);
  }
  if (place.graph != 0 || place.graph_node != 0) {
    lines_.add(R"(, "graph id": {}, "graph node id": {})", place.graph, place.graph_node);
  }
  lines_.add(R"(, "channel": {}, "channel_type": {})", place.channel, place.channel_type);
  if (activity.kind == DeviceActivityKind::kernel) append_collective(call);
  lines_.add("}}}}");
  if (call != DeviceLinks::kNone) {
    append_arrow_end(false, activity.correlation, activity.start_ticks, place.device, place.stream);
  }
}

void DeviceText::append_arrow_end(bool is_start, std::uint32_t correlation, std::uint64_t ticks,
                                  std::int64_t process, std::int64_t thread) {
  lines_.begin_event();
  lines_.add(R"({{"ph": "{}", "id": {}, "pid": {}, "tid": {}, )", is_start ? 's' : 'f', correlation,
             process, thread);
  lines_.add_time("ts", window_.unix_ns(ticks));
  lines_.add(R"(, "cat": "ac2g", "name": "ac2g"{}}})", is_start ? "" : R"(, "bp": "e")");
}

void DeviceText::append_synchronization(const DeviceSynchronization& wait) {
  const std::string_view name = wait_name(wait.kind);
  const std::uint32_t device = device_of(devices_, wait.context);
  lines_.begin_event();
  lines_.add(R"({{"ph": "X", "cat": "cuda_sync", "name": "{}", "pid": {}, "tid": {})", name, device,
             thread_of_wait(wait));
  append_times(wait.start_ticks, wait.end_ticks);
  lines_.add(R"(, "args": {{"cuda_sync_kind": "{}", )", name);
  if (is_wait_for_event(wait) && wait.event != DeviceSynchronization::kNoEvent) {
    const auto event = events_.find(pair_of(wait.context, wait.event));
    if (event != events_.end()) {
      lines_.add(R"("wait_on_stream": {}, "wait_on_cuda_event_record_corr_id": {}, )",
                 event->second->stream, event->second->correlation);
    }
    lines_.add(R"("wait_on_cuda_event_id": {}, )", wait.event);
  }
  lines_.add(R"("stream": {}, "correlation": {}, "device": {}, "context": {}}}}})",
             wait.stream == DeviceSynchronization::kNoStream ? -1 : std::int64_t{wait.stream},
             wait.correlation, device, wait.context);
}

void DeviceText::append_overhead(const DeviceOverhead& overhead) {
  lines_.begin_event();
  lines_.add(R"({{"ph": "X", "cat": "overhead", "name": "{}", "pid": {}, "tid": 0)",
             overhead_name(overhead.kind), kOverheadProcess);
  append_times(overhead.start_ticks, overhead.end_ticks);
  lines_.add(R"(, "args": {{}}}})");
}

void DeviceText::append_marker(const DeviceMarker& marker) {
  lines_.begin_event();
  lines_.add(R"({{"ph": "X", "cat": "user_annotation", "name": )");
  lines_.add_quoted(trace_.names[marker.name]);
  lines_.add(R"(, "pid": {}, "tid": {})", process_, marker.thread);
  append_times(marker.start_ticks, marker.end_ticks);
  lines_.add(R"(, "args": {{"NVTX domain": )");
  lines_.add_quoted(trace_.names[marker.domain]);
  lines_.add("}}}}");
}

/// Kineto has it begin 1 ns before its first activity and end 1 ns after its last one, so that it
/// is around both.
void DeviceText::append_annotation(const DeviceLinks::Annotation& annotation) {
  lines_.begin_event();
  lines_.add(R"({{"ph": "X", "cat": "gpu_user_annotation", "name": )");
  lines_.add_quoted(window_.name(window_.ranges()[annotation.range]).text);
  lines_.add(R"(, "pid": {}, "tid": {})", annotation.device, annotation.stream);
  lines_.add_times(window_.unix_ns(annotation.start_ticks) - 1,
                   window_.unix_ns(annotation.end_ticks) + 1);
  lines_.add(R"(, "args": {{"External id": {}}}}})", first_id_ + annotation.range);
}

const std::string& DeviceText::kernel_name(std::uint32_t name) {
  const auto [place, is_new] = kernel_names_.try_emplace(name);
  if (is_new) place->second = demangled_own_name(trace_.names[name]);
  return place->second;
}

/// What is the same for all kernels that are launched alike on a device.
const std::string& DeviceText::launch_text(std::uint32_t device, std::uint32_t launch) {
  const auto [place, is_new] = launch_texts_.try_emplace(pair_of(device, launch));
  if (!is_new) return place->second;
  const KernelLaunch& kernel = trace_.launches[launch];
  DeviceProperties properties;
  for (const DeviceProperties& one : trace_.devices) {
    if (one.id == device) properties = one;
  }
  const Occupancy kineto = find_occupancy(properties, kernel, SharedMemoryRule::kineto);
  const Occupancy corrected = find_occupancy(properties, kernel, SharedMemoryRule::opt_in);
  place->second = fmt::format(
      R"(, "registers per thread": {}, "shared memory": {}, "blocks per SM": {}, )"
      R"("warps per SM": {}, "grid": [{}, {}, {}], "block": [{}, {}, {}], )"
      R"("est. achieved occupancy %": {}, "occupancy": {{"activeBlocksPerMultiprocessor": {}, )"
      R"("limitingFactors": "{}", "blockLimitRegs": {}, "blockLimitSharedMem": {}, )"
      R"("blockLimitWarps": {}, "blockLimitBlocks": {}, "blockLimitBarriers": {}, )"
      R"("allocatedRegistersPerBlock": {}, "allocatedSharedMemPerBlock": {}}}, )"
      R"("corrected occupancy %": {})",
      kernel.registers_per_thread,
      std::int64_t{kernel.static_shared_bytes} + kernel.dynamic_shared_bytes,
      float_text(blocks_per_multiprocessor(properties, kernel)),
      float_text(warps_per_multiprocessor(properties, kernel)), kernel.grid[0], kernel.grid[1],
      kernel.grid[2], kernel.block[0], kernel.block[1], kernel.block[2],
      occupancy_percent(properties, kernel, kineto), kineto.active_blocks,
      limiting_factors_text(kineto.limiting_factors), kineto.block_limit_registers,
      kineto.block_limit_shared_memory, kineto.block_limit_warps, kineto.block_limit_blocks,
      kineto.block_limit_barriers, kineto.allocated_registers_per_block,
      kineto.allocated_shared_bytes_per_block, occupancy_percent(properties, kernel, corrected));
  return place->second;
}

}  // namespace tbtrace::recorder
