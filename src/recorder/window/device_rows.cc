#include "recorder/window/device_rows.h"

#include <cstddef>
#include <set>
#include <unordered_map>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "recorder/window/device_links.h"
#include "recorder/window/device_names.h"
#include "recorder/window/device_order.h"
#include "symbols/names/demangle.h"

namespace tbtrace::recorder {

namespace {

class DeviceRows {
 public:
  DeviceRows(const Window& window, std::int64_t process, std::uint64_t first_id, RowBatch& batch)
      : window_(window),
        trace_(*window.device_trace()),
        links_(window.device_links()),
        process_(process),
        first_id_(static_cast<std::int64_t>(first_id)),
        batch_(batch) {}

  void add() {
    add_calls();
    add_activity();
    add_waits();
    for (const DeviceOverhead& overhead : trace_.overheads) {
      add("overhead", overhead_name(overhead.kind), {kOverheadProcess, 0}, overhead);
    }
    for (const DeviceMarker& marker : trace_.markers) {
      add("user_annotation", trace_.names[marker.name], {process_, marker.thread}, marker);
    }
    for (const DeviceLinks::Annotation& annotation : links_.annotations) {
      EventRow row;
      row.external_id = first_id_ + annotation.range;
      row.name = batch_.text(window_.name(window_.ranges()[annotation.range]).text);
      row.category = batch_.category("gpu_user_annotation");
      row.track = batch_.track(annotation.device, annotation.stream);
      // It is around the first and the last activity in it.
      batch_.add_range(row, window_.unix_ns(annotation.start_ticks) - 1,
                       window_.unix_ns(annotation.end_ticks) + 1);
    }
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
  std::int64_t operator_id(std::uint32_t call) const {
    if (call == DeviceLinks::kNone || links_.call_operator[call] == DeviceLinks::kNone) return 0;
    return first_id_ + links_.call_operator[call];
  }

  void add_flow(bool is_start, std::uint32_t correlation, std::uint64_t ticks, Place place) {
    FlowEnd end;
    end.type = FlowEnd::Type::launch;
    end.id = correlation;
    end.time_ns = batch_.time(window_.unix_ns(ticks));
    end.track = batch_.track(place.process, place.thread);
    end.start = is_start;
    batch_.add_flow(end);
  }

  void add_calls() {
    const std::vector<bool> has_activity = calls_with_activity(trace_, links_);
    for (const std::uint32_t number : calls_by_start(trace_)) {
      const ApiCall& call = trace_.calls[number];
      const ApiFunction& function = trace_.functions[call.function];
      EventRow row;
      row.external_id = operator_id(number);
      row.correlation = call.correlation;
      const bool is_runtime = function.library == ApiLibrary::runtime;
      const Place place = {process_, call.thread};
      add(is_runtime ? "cuda_runtime" : "cuda_driver", trace_.names[function.name], place, call,
          row);
      if (has_activity[number]) add_flow(true, call.correlation, call.start_ticks, place);
    }
  }

  void add_activity() {
    for (const std::uint32_t number : activities_by_start(trace_)) {
      const DeviceActivity activity = trace_.activities[number];
      const std::uint32_t call = links_.activity_call[number];
      EventRow row;
      row.external_id = operator_id(call);
      row.correlation = activity.correlation;
      const Place place = {activity.place.device, activity.place.stream};
      if (activity.kind == DeviceActivityKind::kernel) {
        add("kernel", kernel_name(trace_.launches[activity.launch].name), place, activity, row);
      } else {
        add(activity.kind == DeviceActivityKind::memcpy ? "gpu_memcpy" : "gpu_memset",
            transfer_name(activity.kind, activity.transfer), place, activity, row);
      }
      if (call != DeviceLinks::kNone) {
        add_flow(false, activity.correlation, activity.start_ticks, place);
      }
    }
  }

  void add_waits() {
    const auto devices = devices_of_contexts(trace_);
    for (const DeviceSynchronization& wait : trace_.synchronizations) {
      EventRow row;
      row.correlation = wait.correlation;
      add("cuda_sync", wait_name(wait.kind),
          {device_of(devices, wait.context), thread_of_wait(wait)}, wait, row);
    }
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
  std::unordered_map<std::uint32_t, std::string> kernel_names_;
};

}  // namespace

void name_devices(const Window& window, std::string_view program, RowBatch& batch) {
  const DeviceTrace& trace = *window.device_trace();
  std::set<std::int64_t> devices;
  for (std::size_t row = 0; row < trace.activities.size(); ++row) {
    devices.insert(trace.activities[row].place.device);
  }
  for (const std::int64_t device : devices) batch.name_process(device, program);
  for (const auto& [place, name] : stream_names(trace)) {
    batch.name_thread(place.first, place.second, name);
  }
  if (!trace.overheads.empty()) batch.name_process(kOverheadProcess, program);
}

void add_device_rows(const Window& window, std::int64_t process, std::uint64_t first_id,
                     RowBatch& batch) {
  DeviceRows(window, process, first_id, batch).add();
}

}  // namespace tbtrace::recorder
