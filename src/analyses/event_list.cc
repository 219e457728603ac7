// prof.events(): every event by itself, and the lines of prof.export_stacks().
#include <algorithm>
#include <array>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <tbtrace/analyses.h>

#include "analyses/operator_summary.h"
#include "analyses/torch_events.h"
#include "base/nearest_integer.h"
#include "trace/track_text.h"

namespace tbtrace {
namespace {

using analyses::NameId;
using analyses::TorchEvents;

FunctionEvent function_event(const TorchEvents& events, std::size_t number) {
  const Trace& trace = events.trace();
  FunctionEvent event;
  static_cast<OperatorRow&>(event) = analyses::event_row(events, number);
  event.start_ns = nearest_integer(events.start_us(number) * 1000);
  event.end_ns = nearest_integer(events.end_us(number) * 1000);
  event.own_flops = events.flops(number);
  if (events.parent(number) != TorchEvents::kNoParent) event.parent = events.parent(number);
  if (events.is_memory_row(number)) {
    event.tid.clear();
    return event;
  }
  const EventId id = events.event(number);
  const Track& track = trace.track(trace.events().track(id));
  event.tid = key_text(trace, track.thread);
  event.tid_is_number = track.thread.text == StringId::empty;
  event.is_python_function = trace.events().is_python_frame(id);
  const AutogradInfo* info = analyses::autograd_info(trace, id);
  if (info != nullptr) event.sequence_nr = info->sequence_number;
  return event;
}

void add_memory(std::span<FunctionEvent> list, const TorchEvents& events) {
  if (events.memory().empty()) return;
  std::vector<TorchEvents::Memory> total(list.size());
  std::vector<TorchEvents::Memory> self(list.size());
  for (const auto& [row, bytes] : events.memory()) total[row] = bytes;
  events.for_each_part_of_self_memory(
      [&](std::size_t row, const TorchEvents::Memory& bytes) { self[row] += bytes; });
  for (std::size_t row = 0; row < list.size(); ++row) {
    analyses::set_memory(list[row], total[row], self[row]);
  }
}

}  // namespace

EventList events(const Trace& trace) {
  const Trace* traces[] = {&trace};
  return events(traces);
}

EventList events(std::span<const Trace* const> traces) {
  std::vector<FunctionEvent> list;
  for (std::size_t number = traces.size(); number-- > 0;) {
    const TorchEvents events(*traces[number], {.shapes = true, .stacks = true});
    const std::size_t first = list.size();
    for (std::size_t row = 0; row < events.size(); ++row) {
      list.push_back(function_event(events, row));
      if (list.back().parent) *list.back().parent += first;
    }
    add_memory(std::span(list).subspan(first), events);
    for (const TorchEvents::Kernel& kernel : events.kernels()) {
      const Track& stream = traces[number]->track(traces[number]->events().track(kernel.event));
      list[first + kernel.row].kernels.push_back(
          {std::string(events.text(kernel.name)), stream.process.number, kernel.duration_us});
    }
  }
  OperatorRows shape = analyses::table_facts(traces);
  shape.grouped_by_shape = true;
  return EventList(std::move(list), std::move(shape));
}

Result<std::string> exported_stacks(std::span<const Trace* const> traces, std::string_view metric) {
  constexpr std::array<std::string_view, 5> kMetrics = {
      "self_cpu_time_total", "self_cuda_time_total", "self_xpu_time_total",
      "self_privateuse1_time_total", "self_device_time_total"};
  if (std::find(kMetrics.begin(), kMetrics.end(), metric) == kMetrics.end()) {
    return Status(StatusCode::invalid_argument,
                  "there is no stack metric '" + std::string(metric) +
                      "'; use self_cpu_time_total, self_cuda_time_total, self_xpu_time_total or "
                      "self_privateuse1_time_total");
  }
  const bool device = metric != kMetrics[0];
  std::string lines;
  for (std::size_t number = traces.size(); number-- > 0;) {
    const TorchEvents events(*traces[number], {.stacks = true});
    for (std::size_t row = 0; row < events.size(); ++row) {
      if (events.stack(row) == 0) continue;
      const double us = device ? events.self_device_time_us(row) : events.self_cpu_time_us(row);
      const auto whole = truncated_integer(us);
      if (whole <= 0) continue;
      const std::vector<NameId> frames = events.frames(events.stack(row), SIZE_MAX);
      for (std::size_t frame = frames.size(); frame-- > 0;) {
        for (const char c : events.text(frames[frame])) {
          lines += c == ' ' || c == ';' || c == '\t' || c == '\n' ? '_' : c;
        }
        if (frame > 0) lines += ';';
      }
      lines += ' ';
      lines += std::to_string(whole);
      lines += '\n';
    }
  }
  return lines;
}

}  // namespace tbtrace
