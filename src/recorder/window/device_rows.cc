#include "recorder/window/device_rows.h"

#include <charconv>
#include <cmath>
#include <cstddef>
#include <set>
#include <unordered_map>

#include <fmt/format.h>

#include "analyses/kernels/occupancy.h"
#include "recorder/window/collective_arguments.h"
#include "recorder/window/device_links.h"
#include "recorder/window/device_names.h"
#include "recorder/window/device_order.h"
#include "symbols/names/demangle.h"
#include "wire/json_text.h"

namespace tbtrace::recorder {

namespace {

using analyses::Occupancy;
using analyses::SharedMemoryRule;

// Kineto's own: processes of devices stand below all others.
constexpr std::int64_t kFirstDevice = 5'000'000;
constexpr std::int64_t kOverheadPlace = 0x100000a;

std::uint64_t pair_of(std::uint32_t high, std::uint32_t low) {
  return std::uint64_t{high} << 32 | low;
}

/// As a C++ stream writes it with eight digits; what JSON has no number for is text, without a
/// value.
void add_float(RowBatch& batch, Argument argument, float value) {
  if (!std::isfinite(value)) return batch.argument_json(argument, "\"inf\"");
  const std::string text = fmt::format("{:.8g}", value);
  double number = 0;  // what a reader takes the text for
  std::from_chars(text.data(), text.data() + text.size(), number);
  batch.argument(argument, number, text);
}

Dim3 sizes_of(const std::array<std::int32_t, 3>& sizes) {
  return {static_cast<std::uint32_t>(sizes[0]), static_cast<std::uint32_t>(sizes[1]),
          static_cast<std::uint32_t>(sizes[2])};
}

analyses::DeviceLimits limits_of(const DeviceProperties& device) {
  return {device.compute_major,
          device.compute_minor,
          device.max_threads_per_block,
          device.max_threads_per_multiprocessor,
          device.max_blocks_per_multiprocessor,
          device.registers_per_block,
          device.registers_per_multiprocessor,
          device.warp_size,
          device.shared_bytes_per_block,
          device.shared_bytes_per_block_optin,
          device.shared_bytes_per_multiprocessor,
          device.reserved_shared_bytes_per_block,
          device.multiprocessors};
}

class DeviceRows {
 public:
  DeviceRows(const Window& window, std::int64_t process, std::uint64_t first_id, RowBatch& batch)
      : window_(window),
        trace_(*window.device_trace()),
        links_(window.device_links()),
        process_(process),
        first_id_(static_cast<std::int64_t>(first_id)),
        batch_(batch),
        devices_(devices_of_contexts(trace_)) {
    for (const DeviceEvent& event : trace_.events) {
      events_[pair_of(event.context, event.event)] = &event;
    }
  }

  void add() {
    add_calls();
    for (const std::uint32_t number : activities_by_start(trace_)) add_activity(number);
    for (const DeviceSynchronization& wait : trace_.synchronizations) add_wait(wait);
    for (const DeviceOverhead& overhead : trace_.overheads) {
      add("overhead", overhead_name(overhead.kind), {kOverheadProcess, 0}, overhead);
    }
    for (const DeviceMarker& marker : trace_.markers) {
      batch_.argument_text("NVTX domain", trace_.names[marker.domain]);
      add("user_annotation", trace_.names[marker.name], {process_, marker.thread}, marker);
    }
    for (const DeviceLinks::Annotation& annotation : links_.annotations) add_annotation(annotation);
  }

 private:
  struct Place {
    std::int64_t process;
    std::int64_t thread;
  };

  template <typename Activity>
  void add(std::string_view category, std::string_view name, Place place, const Activity& activity,
           EventRow row = {}) {
    row.name = batch_.text(name);
    row.category = batch_.category(category);
    row.track = batch_.track(place.process, place.thread);
    batch_.add_range(row, window_.unix_ns(activity.start_ticks),
                     window_.unix_ns(activity.end_ticks));
  }

  /// Of the operator that made the call; 0 if there is none.
  std::int64_t operator_id(std::uint32_t call) {
    if (call == DeviceLinks::kNone || links_.call_operator[call] == DeviceLinks::kNone) return 0;
    const std::int64_t id = first_id_ + links_.call_operator[call];
    batch_.argument(Argument::external_id, id);
    return id;
  }

  /// What is said of the collective that the call's operator is, if it is one.
  void add_collective_of(std::uint32_t call) {
    if (call == DeviceLinks::kNone || links_.call_operator[call] == DeviceLinks::kNone) return;
    const Name& name = window_.name(window_.ranges()[links_.call_operator[call]]);
    if (name.collective != nullptr) add_collective_of_kernel(batch_, *name.collective);
  }

  void add_flow(bool is_start, std::uint32_t correlation, std::uint64_t ticks, Place place) {
    FlowEnd end;
    end.type = FlowEnd::Type::launch;
    end.id = correlation;
    end.time_ns = batch_.time(window_.unix_ns(ticks));
    end.track = batch_.track(place.process, place.thread);
    end.start = is_start;
    batch_.add_flow(end, "ac2g");
  }

  void add_calls() {
    const std::vector<bool> has_activity = calls_with_activity(trace_, links_);
    for (const std::uint32_t number : calls_by_start(trace_)) {
      const ApiCall& call = trace_.calls[number];
      const ApiFunction& function = trace_.functions[call.function];
      EventRow row;
      row.external_id = operator_id(number);
      row.correlation = call.correlation;
      batch_.argument("cbid", function.number);
      batch_.argument(Argument::correlation, call.correlation);
      const bool is_runtime = function.library == ApiLibrary::runtime;
      const Place place = {process_, call.thread};
      add(is_runtime ? "cuda_runtime" : "cuda_driver", trace_.names[function.name], place, call,
          row);
      if (has_activity[number]) add_flow(true, call.correlation, call.start_ticks, place);
    }
  }

  void add_activity(std::uint32_t number) {
    const DeviceActivity activity = trace_.activities[number];
    const DevicePlace& at = activity.place;
    const DeviceTransfer& transfer = activity.transfer;
    const bool is_kernel = activity.kind == DeviceActivityKind::kernel;
    const std::uint32_t call = links_.activity_call[number];
    EventRow row;
    row.external_id = operator_id(call);
    row.correlation = activity.correlation;
    if (is_kernel) batch_.argument("queued", 0);
    batch_.argument(Argument::device, at.device);
    batch_.argument(Argument::context, at.context);
    batch_.argument(Argument::stream, at.stream);
    batch_.argument(Argument::correlation, activity.correlation);
    if (is_kernel) {
      add_launch(at.device, activity.launch);
    } else {
      add_transfer(activity);
    }
    if (transfer.peers != 0) {
      const DevicePeers& peers = trace_.peers[transfer.peers - 1];
      batch_.argument("fromDevice", peers.from_device);
      batch_.argument("inDevice", at.device);
      batch_.argument("toDevice", peers.to_device);
      batch_.argument("fromContext", peers.from_context);
      batch_.argument("inContext", at.context);
      batch_.argument("toContext", peers.to_context);
    }
    if (at.graph != 0 || at.graph_node != 0) {
      batch_.argument(Argument::graph_id, at.graph);
      batch_.argument(Argument::graph_node_id, at.graph_node);
    }
    batch_.argument("channel", at.channel);
    batch_.argument("channel_type", at.channel_type);
    if (is_kernel) add_collective_of(call);
    const Place place = {at.device, at.stream};
    if (is_kernel) {
      add("kernel", kernel_name(trace_.launches[activity.launch].name), place, activity, row);
    } else {
      add(activity.kind == DeviceActivityKind::memcpy ? "gpu_memcpy" : "gpu_memset",
          transfer_name(activity.kind, transfer), place, activity, row);
    }
    if (call != DeviceLinks::kNone) {
      add_flow(false, activity.correlation, activity.start_ticks, place);
    }
  }

  void add_transfer(const DeviceActivity& activity) {
    const std::uint64_t bytes = activity.transfer.bytes;
    batch_.argument(Argument::copied_bytes, bytes);
    const std::int64_t ns =
        window_.unix_ns(activity.end_ticks) - window_.unix_ns(activity.start_ticks);
    if (ns <= 0) return;
    const double gigabytes_per_second = static_cast<double>(bytes) / static_cast<double>(ns);
    batch_.argument(Argument::bandwidth, gigabytes_per_second,
                    fmt::format("{}", gigabytes_per_second));
  }

  /// What is the same for all kernels that are launched alike on a device is made once.
  void add_launch(std::uint32_t device, std::uint32_t launch) {
    const auto [place, is_new] = launches_.try_emplace(pair_of(device, launch));
    if (is_new) place->second = launch_arguments(device, trace_.launches[launch]);
    batch_.arguments(place->second);
  }

  RowBatch::SavedArguments launch_arguments(std::uint32_t device, const KernelLaunch& kernel) {
    analyses::DeviceLimits limits;
    for (const DeviceProperties& one : trace_.devices) {
      if (one.id == device) limits = limits_of(one);
    }
    const analyses::LaunchSize size = {kernel.grid, kernel.block, kernel.registers_per_thread,
                                       kernel.static_shared_bytes, kernel.dynamic_shared_bytes};
    const Occupancy kineto = find_occupancy(limits, size, SharedMemoryRule::kineto);
    const Occupancy corrected = find_occupancy(limits, size, SharedMemoryRule::opt_in);
    const RowBatch::SavedArguments before = batch_.take_arguments();
    batch_.argument(Argument::registers_per_thread, kernel.registers_per_thread);
    batch_.argument(Argument::shared_memory,
                    std::int64_t{kernel.static_shared_bytes} + kernel.dynamic_shared_bytes);
    add_float(batch_, Argument::blocks_per_sm, blocks_per_multiprocessor(limits, size));
    add_float(batch_, Argument::warps_per_sm, warps_per_multiprocessor(limits, size));
    batch_.argument(Argument::grid, sizes_of(kernel.grid));
    batch_.argument(Argument::block, sizes_of(kernel.block));
    const int percent = occupancy_percent(limits, size, kineto);
    batch_.argument(Argument::occupancy, percent, std::to_string(percent));
    batch_.argument_json(
        "occupancy",
        fmt::format(R"({{"activeBlocksPerMultiprocessor": {}, "limitingFactors": "{}", )"
                    R"("blockLimitRegs": {}, "blockLimitSharedMem": {}, "blockLimitWarps": {}, )"
                    R"("blockLimitBlocks": {}, "blockLimitBarriers": {}, )"
                    R"("allocatedRegistersPerBlock": {}, "allocatedSharedMemPerBlock": {}}})",
                    kineto.active_blocks, analyses::limiting_factors_text(kineto.limiting_factors),
                    kineto.block_limit_registers, kineto.block_limit_shared_memory,
                    kineto.block_limit_warps, kineto.block_limit_blocks,
                    kineto.block_limit_barriers, kineto.allocated_registers_per_block,
                    kineto.allocated_shared_bytes_per_block));
    batch_.argument("corrected occupancy %", occupancy_percent(limits, size, corrected));
    RowBatch::SavedArguments own = batch_.take_arguments();
    batch_.arguments(before);
    return own;
  }

  void add_wait(const DeviceSynchronization& wait) {
    const std::string_view name = wait_name(wait.kind);
    const std::uint32_t device = device_of(devices_, wait.context);
    EventRow row;
    row.correlation = wait.correlation;
    batch_.argument(Argument::synchronization_kind, batch_.text(name));
    if (is_wait_for_event(wait) && wait.event != DeviceSynchronization::kNoEvent) {
      const auto event = events_.find(pair_of(wait.context, wait.event));
      if (event != events_.end()) {
        batch_.argument(Argument::waited_stream, event->second->stream);
        batch_.argument("wait_on_cuda_event_record_corr_id", event->second->correlation);
      }
      batch_.argument(Argument::waited_event, wait.event);
    }
    const bool has_stream = wait.stream != DeviceSynchronization::kNoStream;
    batch_.argument(Argument::stream, has_stream ? std::int64_t{wait.stream} : -1);
    batch_.argument(Argument::correlation, wait.correlation);
    batch_.argument(Argument::device, device);
    batch_.argument(Argument::context, wait.context);
    add("cuda_sync", name, {device, thread_of_wait(wait)}, wait, row);
  }

  /// Kineto has it begin 1 ns before its first activity and end 1 ns after its last one, so that
  /// it is around both.
  void add_annotation(const DeviceLinks::Annotation& annotation) {
    EventRow row;
    row.external_id = first_id_ + annotation.range;
    batch_.argument(Argument::external_id, row.external_id);
    row.name = batch_.text(window_.name(window_.ranges()[annotation.range]).text);
    row.category = batch_.category("gpu_user_annotation");
    row.track = batch_.track(annotation.device, annotation.stream);
    batch_.add_range(row, window_.unix_ns(annotation.start_ticks) - 1,
                     window_.unix_ns(annotation.end_ticks) + 1);
  }

  const std::string& kernel_name(std::uint32_t name) {
    const auto [place, is_new] = kernel_names_.try_emplace(name);
    if (is_new) place->second = demangled_own_name(trace_.names[name]);
    return place->second;
  }

  const Window& window_;
  const DeviceTrace& trace_;
  const DeviceLinks& links_;
  std::int64_t process_;
  std::int64_t first_id_;
  RowBatch& batch_;
  std::unordered_map<std::uint32_t, std::uint32_t> devices_;      // of contexts
  std::unordered_map<std::uint64_t, const DeviceEvent*> events_;  // by context and number
  std::unordered_map<std::uint32_t, std::string> kernel_names_;
  std::unordered_map<std::uint64_t, RowBatch::SavedArguments> launches_;  // by device and launch
};

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

void name_devices(const Window& window, std::string_view program, RowBatch& batch) {
  const DeviceTrace& trace = *window.device_trace();
  std::set<std::int64_t> devices;
  for (std::size_t row = 0; row < trace.activities.size(); ++row) {
    devices.insert(trace.activities[row].place.device);
  }
  for (const std::int64_t device : devices) {
    batch.name_process(device, program, fmt::format("GPU {}", device), kFirstDevice + device);
  }
  for (const auto& [place, name] : stream_names(trace)) {
    batch.name_thread(place.first, place.second, name);
  }
  if (!trace.overheads.empty()) {
    batch.name_process(kOverheadProcess, program, "CUPTI Overhead", kOverheadPlace);
  }
}

void add_device_rows(const Window& window, std::int64_t process, std::uint64_t first_id,
                     RowBatch& batch) {
  DeviceRows(window, process, first_id, batch).add();
}

}  // namespace tbtrace::recorder
