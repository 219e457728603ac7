// Step breakdowns of random recordings against their definition, instant by instant.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <tbtrace/steps.h>

#include "analyses/steps/random_steps.h"
#include "fixtures/random_rounds.h"
#include "trace/links.h"

namespace tbtrace {
namespace {

using fixtures::random_rounds;

bool starts_with_any(std::string_view name, const std::vector<std::string_view>& starts) {
  return std::any_of(starts.begin(), starts.end(),
                     [&](std::string_view start) { return name.starts_with(start); });
}

/// The exact figures, from their definition.
class StepsByDefinition {
 public:
  struct Window {
    EventId event;
    std::int64_t start, end;
    std::uint64_t launched = 0;
    std::int64_t first_work = INT64_MAX, last_work = INT64_MIN;
  };

  explicit StepsByDefinition(const Trace& trace) : trace_(trace), events_(trace.events()) {
    for (const Step& step : trace.steps()) {
      windows_.push_back({step.event, events_.start_ns(step.event), events_.end_ns(step.event)});
    }
    std::sort(windows_.begin(), windows_.end(), [](const Window& a, const Window& b) {
      return std::pair(a.start, a.event) < std::pair(b.start, b.event);
    });
    if (windows_.empty()) add_all();
    match();
    if (!matched_.empty()) widen();
  }

  const std::vector<Window>& windows() const { return windows_; }

  /// The role of the time right after an instant.
  StepRole role_at(std::int64_t instant) const {
    StepRole best = StepRole::other;
    for (std::size_t row = 0; row < events_.size(); ++row) {
      const auto event = static_cast<EventId>(row);
      const bool open = events_.start_ns(event) <= instant && instant < events_.end_ns(event);
      if (open) best = std::min(best, role_of(event));
    }
    return best;
  }

  bool runs_kernel(std::int64_t device, std::int64_t instant) const {
    for (const EventId event : trace_.by_start()) {
      if (trace_.kind(event) != EventKind::kernel) continue;
      if (trace_.track(events_.track(event)).process.number != device) continue;
      if (events_.start_ns(event) <= instant && instant < events_.end_ns(event)) return true;
    }
    return false;
  }

  std::optional<std::int64_t> peak(StepMemoryDevice device, const Window& window) const {
    std::optional<std::int64_t> peak;
    for (const MemoryRecord& record : trace_.memory()) {
      const bool same = record.device_type == device.type && record.device_id == device.id;
      const bool inside = window.start <= record.time_ns && record.time_ns < window.end;
      if (!same || !inside || record.total_allocated_bytes < 0) continue;
      peak = std::max(peak, std::optional(record.total_allocated_bytes));
    }
    return peak;
  }

 private:
  bool is_collective(EventId event) const {
    return starts_with_any(trace_.name(event), {"nccl:", "gloo:"});
  }

  bool is_python_node(EventId event) const {
    return trace_.string(trace_.category(event).name) == "python";
  }

  bool is_communication(EventId kernel) const {
    return trace_.name(kernel).starts_with("ncclDevKernel") || is_of_collective(kernel);
  }

  bool is_of_collective(EventId kernel) const {
    for (const DeviceLink& link : links_of(trace_).device_work()) {
      if (link.activity != kernel || link.op == EventId::none) continue;
      if (is_collective(link.op) || trace_.name(link.op) == "record_param_comms") return true;
    }
    if (!trace_.links().external_ids_valid || trace_.external_id(kernel) == 0) return false;
    for (const EventId event : trace_.by_start()) {
      if (trace_.kind(event) != EventKind::gpu_user_annotation || !is_collective(event)) continue;
      if (trace_.external_id(event) == trace_.external_id(kernel)) return true;
    }
    return false;
  }

  bool is_step_thread(TrackId track) const {
    bool any = false;
    for (const Step& step : trace_.steps()) {
      any = true;
      if (events_.track(step.event) == track) return true;
    }
    if (any) return false;
    for (const EventId event : trace_.by_start()) {
      if (trace_.kind(event) != EventKind::cpu_op) continue;
      if (trace_.name(event).starts_with("enumerate(")) continue;
      return events_.track(event) == track;
    }
    return true;
  }

  StepRole role_of(EventId event) const {
    const std::string_view name = trace_.name(event);
    const EventKind kind = trace_.kind(event);
    if (kind == EventKind::kernel) {
      return is_communication(event) ? StepRole::communication : StepRole::kernel;
    }
    const bool is_copy = kind == EventKind::gpu_memcpy || kind == EventKind::gpu_memset;
    if (is_copy && is_of_collective(event)) return StepRole::communication;
    if (kind == EventKind::gpu_memcpy) return StepRole::memcpy;
    if (kind == EventKind::gpu_memset) return StepRole::memset;
    if (kind == EventKind::runtime) return StepRole::runtime;
    if (kind == EventKind::gpu_user_annotation) {
      return is_collective(event) ? StepRole::communication : StepRole::other;
    }
    const bool range = kind == EventKind::cpu_op || kind == EventKind::user_annotation;
    if (!range && !is_python_node(event)) return StepRole::other;
    if (is_collective(event)) return StepRole::communication;
    if (range && name.starts_with("ProfilerStep#")) return StepRole::other;
    if (range && name.starts_with("enumerate(")) {
      return is_step_thread(events_.track(event)) ? StepRole::data_loader : StepRole::other;
    }
    return StepRole::cpu_op;
  }

  void add_all() {
    Window all = {EventId::none, INT64_MAX, INT64_MIN};
    for (const EventId event : trace_.by_start()) {
      if (trace_.kind(event) != EventKind::cpu_op && !is_python_node(event)) continue;
      all.start = std::min(all.start, events_.start_ns(event));
      all.end = std::max(all.end, events_.end_ns(event));
    }
    if (all.start <= all.end) windows_.push_back(all);
  }

  /// The last started of the steps that were open when the work was launched; of a trace without
  /// steps, the whole if the launch is inside it.
  Window* launching(const DeviceLink& link) {
    const EventId from = link.launch != EventId::none ? link.launch : link.op;
    if (from == EventId::none || windows_.empty()) return nullptr;
    const std::int64_t start = events_.start_ns(from);
    if (windows_[0].event == EventId::none) {
      const bool inside = start >= windows_[0].start && start < windows_[0].end &&
                          events_.end_ns(from) <= windows_[0].end;
      return link.launch != EventId::none && inside ? windows_.data() : nullptr;
    }
    Window* last = nullptr;
    for (Window& window : windows_) {
      const bool is_open = window.start <= start && (start < window.end || start == window.start);
      if (is_open) last = &window;
    }
    return last;
  }

  void match() {
    for (const DeviceLink& link : links_of(trace_).device_work()) {
      Window* const step = launching(link);
      if (step == nullptr) continue;
      ++step->launched;
      step->first_work = std::min(step->first_work, events_.start_ns(link.activity));
      step->last_work = std::max(step->last_work, events_.end_ns(link.activity));
      matched_.insert(link.activity);
    }
  }

  /// The last end of what streams still had to do when the recording began; INT64_MIN without any.
  std::int64_t end_of_backlog() const {
    std::vector<std::int64_t> ends;
    std::int64_t first_kernel = INT64_MAX;
    for (std::size_t track = 0; track < trace_.tracks().size(); ++track) {
      std::vector<DeviceLink> work;
      for (const DeviceLink& link : links_of(trace_).device_work()) {
        if (index(events_.track(link.activity)) == track) work.push_back(link);
      }
      const auto is_launched = [](const DeviceLink& link) { return link.launch != EventId::none; };
      const auto first = std::find_if(work.begin(), work.end(), is_launched);
      const auto launched = std::count_if(first, work.end(), is_launched);
      if (first == work.end() || first == work.begin()) continue;
      if ((work.end() - first - launched) * 10 > launched) continue;
      std::int64_t launch = INT64_MAX;
      std::int64_t kernel = INT64_MAX;
      for (const DeviceLink& link : work) {
        if (!is_launched(link)) continue;
        launch = std::min(launch, events_.start_ns(link.launch));
        if (trace_.kind(link.activity) != EventKind::kernel) continue;
        kernel = std::min(kernel, events_.start_ns(link.activity));
      }
      if (events_.start_ns(work.front().activity) >= launch) continue;
      first_kernel = std::min(first_kernel, kernel);
      std::int64_t end = INT64_MIN;
      for (auto link = work.begin(); link != first; ++link) {
        end = std::max(end, events_.end_ns(link->activity));
      }
      ends.push_back(end);
    }
    std::int64_t last = INT64_MIN;
    for (const std::int64_t end : ends) last = end <= first_kernel ? std::max(last, end) : last;
    return last;
  }

  void widen() {
    std::int64_t previous = windows_[0].start;
    for (const DeviceLink& link : links_of(trace_).device_work()) {
      const std::int64_t end = events_.end_ns(link.activity);
      const EventId first_seen = link.launch == EventId::none ? link.activity : link.launch;
      const bool before = windows_[0].launched > 0 && end < windows_[0].first_work &&
                          events_.start_ns(first_seen) < windows_[0].start;
      if (before && !matched_.contains(link.activity)) previous = std::max(previous, end);
    }
    if (windows_[0].launched > 0) previous = std::max(previous, end_of_backlog());
    for (Window& window : windows_) {
      const std::int64_t on_host = window.end - window.start;
      window.start = std::max(window.start, previous);
      window.end = std::max({window.end, window.last_work, window.start});
      if (window.end - window.start < on_host) window.start = window.end - on_host;
      previous = window.end;
    }
    while (windows_.back().launched == 0) windows_.pop_back();
    const std::size_t count = windows_.size();
    const bool few = count > 1 && static_cast<double>(windows_[count - 2].launched) * 0.8 >
                                      static_cast<double>(windows_[count - 1].launched);
    if (few) windows_.pop_back();
  }

  const Trace& trace_;
  const Events& events_;
  std::vector<Window> windows_;
  std::set<EventId> matched_;
};

void expect_by_definition(const Trace& trace) {
  const StepsByDefinition expected(trace);
  const StepBreakdown found = step_breakdown(trace);
  ASSERT_EQ(found.steps.size(), expected.windows().size());
  std::vector<std::int64_t> busy_in_all(found.devices.size(), 0);
  for (std::size_t row = 0; row < found.steps.size(); ++row) {
    const StepsByDefinition::Window& window = expected.windows()[row];
    const StepTime& step = found.steps[row];
    ASSERT_EQ(step.start_ns, window.start) << "step " << row;
    ASSERT_EQ(step.end_ns, window.end) << "step " << row;
    ASSERT_EQ(step.launched, window.launched);
    std::array<std::int64_t, kStepRoles> parts = {};
    std::vector<std::int64_t> busy(found.devices.size(), 0);
    for (std::int64_t instant = window.start; instant < window.end; ++instant) {
      ++parts[static_cast<std::size_t>(expected.role_at(instant))];
      for (std::size_t device = 0; device < busy.size(); ++device) {
        busy[device] += expected.runs_kernel(found.devices[device], instant);
      }
    }
    ASSERT_EQ(step.role_ns, parts) << "step " << row;
    ASSERT_EQ(step.busy_ns, busy) << "step " << row;
    for (std::size_t device = 0; device < found.memory_devices.size(); ++device) {
      ASSERT_EQ(step.peak_memory_bytes[device],
                expected.peak(found.memory_devices[device], window));
    }
  }
  if (found.steps.empty()) return;
  const std::int64_t end = found.steps.back().end_ns;
  for (std::int64_t instant = found.steps.front().start_ns; instant < end; ++instant) {
    for (std::size_t device = 0; device < busy_in_all.size(); ++device) {
      busy_in_all[device] += expected.runs_kernel(found.devices[device], instant);
    }
  }
  ASSERT_EQ(found.busy_ns, busy_in_all);
}

TEST(StepBreakdown, MatchesItsDefinitionOnThousandsOfRandomTraces) {
  std::map<std::size_t, int> steps;
  int widened = 0;
  int dropped = 0;
  int communication = 0;
  for (unsigned seed = 0; seed < random_rounds(8000u); ++seed) {
    SCOPED_TRACE(seed);
    const Trace trace = analyses::RandomSteps(seed).make();
    ASSERT_NO_FATAL_FAILURE(expect_by_definition(trace));
    const StepBreakdown breakdown = step_breakdown(trace);
    ++steps[breakdown.steps.size()];
    dropped += breakdown.dropped_steps > 0;
    for (const StepTime& step : breakdown.steps) {
      widened += step.launched > 0;
      communication += step.ns(StepRole::communication) > 0;
    }
  }
  EXPECT_GT(steps[0], random_rounds(100));
  EXPECT_GT(steps[3], random_rounds(100));
  EXPECT_GT(widened, random_rounds(1000));
  EXPECT_GT(dropped, random_rounds(500));
  EXPECT_GT(communication, random_rounds(1000));
}

}  // namespace
}  // namespace tbtrace
