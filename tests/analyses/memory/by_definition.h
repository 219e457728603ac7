// Memory use as docs/formats/memory.md defines it, record by record. Shares no code with the
// analysis but the ranges' parents and the times of steps, which have tests of their own.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include <tbtrace/analysis_context.h>
#include <tbtrace/memory.h>
#include <tbtrace/steps.h>

namespace tbtrace {

__extension__ using Wide = __int128;

inline std::int64_t clamped(Wide number) {
  return static_cast<std::int64_t>(std::min<Wide>(std::max<Wide>(number, INT64_MIN), INT64_MAX));
}

class MemoryByDefinition {
 public:
  using Device = std::tuple<std::int64_t, DeviceType, std::int16_t>;
  using Holders = std::map<std::tuple<std::string, std::string, std::string, MemoryCategory>,
                           std::pair<Wide, std::uint64_t>>;

  /// With the time of all steps that `steps` contains.
  explicit MemoryByDefinition(const Trace& trace, const std::optional<StepRange>& steps = {})
      : trace_(trace), context_(trace), records_(trace.memory()), steps_(steps) {
    if (!steps_) return;
    std::tie(start_, end_) = std::pair(INT64_MAX, INT64_MIN);
    for (const StepTime& step : step_breakdown(trace, {.keep_tail_steps = true}).steps) {
      if (!steps_->contains(step.number)) continue;
      start_ = std::min(start_, step.start_ns);
      end_ = std::max(end_, step.end_ns);
    }
  }

  bool is_chosen(std::size_t row) const {
    return start_ <= records_[row].time_ns && records_[row].time_ns < end_;
  }
  std::int64_t start() const { return start_; }

  /// Whether an allocation, by its record, was held in the chosen time.
  bool is_held(std::size_t allocated) const {
    if (records_[allocated].time_ns >= end_) return false;
    const std::optional<std::size_t> next = next_of_address(allocated);
    if (next) return records_[*next].time_ns >= start_;
    return end_of(allocated) == AllocationEnd::held || records_[allocated].time_ns >= start_;
  }

  Device device_of(std::size_t row) const {
    return {trace_.track(records_[row].track).process.number, records_[row].device_type,
            records_[row].device_id};
  }

  std::vector<Device> devices() const {
    std::vector<Device> devices;
    for (std::size_t row = 0; row < records_.size(); ++row) devices.push_back(device_of(row));
    std::sort(devices.begin(), devices.end());
    devices.erase(std::unique(devices.begin(), devices.end()), devices.end());
    return devices;
  }

  /// Records of a device that make a point of its curve.
  std::vector<std::size_t> rows_of(const Device& device) const {
    std::vector<std::size_t> rows;
    for (std::size_t row = 0; row < records_.size(); ++row) {
      if (device_of(row) == device && !records_[row].out_of_memory) rows.push_back(row);
    }
    return rows;
  }

  Wide before(const Device& device) const {
    Wide sum = 0;
    for (const std::size_t row : rows_of(device)) {
      sum += records_[row].bytes;
      if (records_[row].total_allocated_bytes >= 0) {
        return Wide{records_[row].total_allocated_bytes} - sum;
      }
    }
    return 0;
  }

  Wide total_after(const Device& device, std::size_t until) const {
    Wide total = before(device);
    for (const std::size_t row : rows_of(device)) {
      if (row > until) break;
      const std::int64_t recorded = records_[row].total_allocated_bytes;
      total = recorded >= 0 ? Wide{recorded} : total + records_[row].bytes;
    }
    return total;
  }

  std::optional<std::int64_t> address(std::size_t row) const {
    return trace_.memory_argument(Argument::address).integer(row);
  }

  /// The record that frees what this one allocates; nullopt if none does, or if the address is
  /// allocated again first.
  std::optional<std::size_t> freed_by(std::size_t allocated) const {
    const std::optional<std::size_t> next = next_of_address(allocated);
    return next && records_[*next].bytes < 0 ? next : std::nullopt;
  }

  /// The next record of the same device and address.
  std::optional<std::size_t> next_of_address(std::size_t from) const {
    if (!address(from)) return std::nullopt;
    for (std::size_t row = from + 1; row < records_.size(); ++row) {
      if (records_[row].out_of_memory || records_[row].bytes == 0) continue;
      if (device_of(row) == device_of(from) && address(row) == address(from)) return row;
    }
    return std::nullopt;
  }

  bool frees_unknown(std::size_t freed) const {
    if (records_[freed].bytes >= 0 || !address(freed)) return false;
    for (std::size_t row = 0; row < freed; ++row) {
      if (records_[row].out_of_memory || records_[row].bytes <= 0) continue;
      if (device_of(row) == device_of(freed) && freed_by(row) == freed) return false;
    }
    return true;
  }

  AllocationEnd end_of(std::size_t allocated) const {
    if (!address(allocated)) return AllocationEnd::unknown;
    const std::optional<std::size_t> next = next_of_address(allocated);
    if (!next) return AllocationEnd::held;
    return records_[*next].bytes < 0 ? AllocationEnd::freed : AllocationEnd::unknown;
  }

  EventId owner(std::size_t row) const {
    EventId owner = EventId::none;
    for (const EventId event : context_.host_ranges()) {
      const bool open = trace_.events().start_ns(event) <= records_[row].time_ns &&
                        records_[row].time_ns <= trace_.events().end_ns(event);
      if (!open || trace_.events().track(event) != records_[row].track) continue;
      const bool later = owner == EventId::none ||
                         trace_.events().start_ns(event) >= trace_.events().start_ns(owner);
      if (later) owner = event;
    }
    return owner;
  }

  template <typename Test>
  EventId nearest(EventId event, Test test) const {
    while (event != EventId::none && !test(event)) event = context_.parent(event);
    return event;
  }

  std::string op(std::size_t row) const {
    const EventId event =
        nearest(owner(row), [&](EventId range) { return trace_.kind(range) == EventKind::cpu_op; });
    return event == EventId::none ? "[unattributed]" : std::string(trace_.name(event));
  }
  std::string module(std::size_t row) const {
    const EventId event = nearest(
        owner(row), [&](EventId range) { return trace_.name(range) == "nn.Module: Linear_0"; });
    return event == EventId::none ? "" : "nn.Module: Linear_0";
  }
  std::string line(std::size_t row) const { return line_of(owner(row)); }

  /// Call stacks count in processes without Python frames. No range has a sequence number, so nodes
  /// have the lines around them, and what adds a gradient has that of the node before it.
  std::string line_of(EventId range) const {
    if (range == EventId::none) return "";
    const std::string_view name = trace_.name(range);
    const bool has_stack = !trace_.argument_text(range, Argument::call_stack).empty();
    if (has_stack && !has_frames(trace_.track(trace_.events().track(range)).process)) {
      return "a.py(3): f";
    }
    if (name == "model.py(12): forward") return std::string(name);
    if (name != "torch::autograd::AccumulateGrad") return line_of(context_.parent(range));
    EventId node = EventId::none;
    for (const EventId other : context_.host_ranges()) {
      if (other == range) break;
      const bool same_thread = trace_.events().track(other) == trace_.events().track(range);
      if (same_thread && phase_named(trace_.name(other)) == "backward") node = other;
    }
    return node == EventId::none ? "" : line_of(context_.parent(node));
  }
  bool has_frames(const TrackKey& process) const {
    return std::ranges::any_of(context_.host_ranges(), [&](EventId range) {
      return trace_.kind(range) == EventKind::python_function &&
             !trace_.events().is_module(range) &&
             trace_.track(trace_.events().track(range)).process == process;
    });
  }

  /// `backward`, `accumulate`, `optimizer`, `loading` or nothing.
  static std::string_view phase_named(std::string_view name) {
    static const std::map<std::string_view, std::string_view> kPhases = {
        {"AddBackward0", "backward"},
        {"MulBackward", "backward"},
        {"autograd::engine::evaluate_function: AddBackward0", "backward"},
        {"torch::autograd::AccumulateGrad", "accumulate"},
        {"Optimizer.step#SGD.step", "optimizer"},
        {"enumerate(DataLoader)#x.__next__", "loading"}};
    const auto found = kPhases.find(name);
    return found == kPhases.end() ? std::string_view() : found->second;
  }
  std::string_view phase(std::size_t row) const {
    const EventId event = nearest(
        owner(row), [&](EventId range) { return !phase_named(trace_.name(range)).empty(); });
    return event == EventId::none ? std::string_view() : phase_named(trace_.name(event));
  }

  bool same_process(EventId event, std::size_t row) const {
    return trace_.track(trace_.events().track(event)).process ==
           trace_.track(records_[row].track).process;
  }

  MemoryCategory category(std::size_t row) const {
    const std::string_view began = phase(row);
    if (began == "loading") return MemoryCategory::input;
    if (began == "accumulate") return MemoryCategory::gradient;
    if (end_of(row) == AllocationEnd::unknown) return MemoryCategory::unknown;
    const std::optional<std::size_t> freed = freed_by(row);
    const std::string_view ended = freed ? phase(*freed) : std::string_view();
    if (began == "backward") {
      return ended == "backward" || ended == "accumulate" ? MemoryCategory::temporary
                                                          : MemoryCategory::gradient;
    }
    if (began == "optimizer") {
      if (!freed) return MemoryCategory::optimizer_state;
      return ended == "optimizer" ? MemoryCategory::temporary : MemoryCategory::unknown;
    }
    if (freed) {
      for (const EventId event : context_.host_ranges()) {
        const std::string_view named = phase_named(trace_.name(event));
        const std::int64_t start = trace_.events().start_ns(event);
        const bool between = records_[row].time_ns <= start && start <= records_[*freed].time_ns;
        if ((named == "backward" || named == "accumulate") && between && same_process(event, row)) {
          return MemoryCategory::activation;
        }
      }
      return MemoryCategory::temporary;
    }
    std::optional<std::int64_t> first;
    for (const Step& step : trace_.steps()) {
      if (!same_process(step.event, row)) continue;
      const std::int64_t start = trace_.events().start_ns(step.event);
      first = first ? std::min(*first, start) : start;
    }
    return first && records_[row].time_ns < *first ? MemoryCategory::parameter
                                                   : MemoryCategory::unknown;
  }

  Holders alive(const Device& device, std::size_t peak_row) const {
    Holders holders;
    Wide rest = clamped(total_after(device, peak_row));
    Wide freed_from_before = 0;
    for (const std::size_t row : rows_of(device)) {
      if (row > peak_row) break;
      if (frees_unknown(row)) freed_from_before -= records_[row].bytes;
      if (records_[row].bytes <= 0 || !address(row)) continue;
      const std::optional<std::size_t> next = next_of_address(row);
      if (next && *next <= peak_row) continue;
      auto& [bytes, count] = holders[{op(row), module(row), line(row), category(row)}];
      bytes += records_[row].bytes;
      ++count;
      rest -= records_[row].bytes;
    }
    const Wide from_before = std::max<Wide>(before(device) - freed_from_before, 0);
    rest -= from_before;
    const auto unknown = MemoryCategory::unknown;
    if (from_before != 0) holders[{"[before the recording]", "", "", unknown}] = {from_before, 0};
    if (rest != 0) holders[{"[unknown]", "", "", unknown}] = {rest, 0};
    return holders;
  }

  /// What was allocated at the end of each step; empty with less than two steps.
  std::vector<Wide> at_step_ends(const Device& device) const {
    std::vector<std::int64_t> ends;
    for (const Step& step : trace_.steps()) {
      if (steps_ && !steps_->contains(step.number)) continue;
      const Track& track = trace_.track(trace_.events().track(step.event));
      if (track.process.number == std::get<0>(device)) {
        ends.push_back(trace_.events().end_ns(step.event));
      }
    }
    if (ends.size() < 2 || rows_of(device).empty()) return {};
    std::sort(ends.begin(), ends.end());
    std::vector<Wide> totals;
    for (const std::int64_t end : ends) {
      Wide total = before(device);
      for (const std::size_t row : rows_of(device)) {
        if (records_[row].time_ns <= end) total = clamped(total_after(device, row));
      }
      totals.push_back(total);
    }
    return totals;
  }

  std::optional<std::int64_t> growth(const Device& device) const {
    const std::vector<Wide> totals = at_step_ends(device);
    if (totals.empty()) return std::nullopt;
    std::vector<Wide> growth;
    for (std::size_t step = 1; step < totals.size(); ++step) {
      growth.push_back(totals[step] - totals[step - 1]);
    }
    std::sort(growth.begin(), growth.end());
    const std::size_t half = growth.size() / 2;
    return clamped(growth.size() % 2 == 1 ? growth[half] : (growth[half - 1] + growth[half]) / 2);
  }

  std::span<const MemoryRecord> records() const { return records_; }

 private:
  const Trace& trace_;
  AnalysisContext context_;
  std::span<const MemoryRecord> records_;
  std::optional<StepRange> steps_;
  std::int64_t start_ = INT64_MIN;
  std::int64_t end_ = INT64_MAX;
};

}  // namespace tbtrace
