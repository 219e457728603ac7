#include "analyses/operators/event_rows.h"

#include <algorithm>
#include <cstdint>
#include <string>

#include "analyses/attribution/open_steps.h"
#include "analyses/attribution/operator_kind.h"
#include "analyses/operators/row_index.h"
#include "analyses/operators/rows.h"
#include "analyses/torch/events.h"
#include "base/column.h"
#include "base/nearest_integer.h"
#include "trace/track_keys.h"

namespace tbtrace::analyses {
namespace {

struct RowMemory {
  std::uint32_t row;
  TorchEvents::Memory bytes;
};

/// Memory of the rows and of what is inside, sorted by row; rows without changes are missing.
Column<RowMemory> memory(const TorchEvents& events) {
  Column<RowMemory> all;
  events.for_each_memory([&](std::size_t row, const TorchEvents::Memory& bytes) {
    all.push_back({static_cast<std::uint32_t>(row), bytes});
  });
  return all;
}

/// Memory that the rows changed themselves, sorted by row; rows without changes may be missing.
Column<RowMemory> self_memory(const TorchEvents& events) {
  constexpr std::uint32_t kNone = 0xffffffff;
  Column<std::uint32_t> place;  // by row
  place.resize(events.size(), kNone);
  events.for_each_part_of_self_memory(
      [&](std::size_t row, const TorchEvents::Memory&) { place[row] = 0; });
  Column<RowMemory> sums;
  for (std::uint32_t row = 0; row < events.size(); ++row) {
    if (place[row] == kNone) continue;
    place[row] = static_cast<std::uint32_t>(sums.size());
    sums.push_back({row, {}});
  }
  events.for_each_part_of_self_memory(
      [&](std::size_t row, const TorchEvents::Memory& part) { sums[place[row]].bytes += part; });
  return sums;
}

TorchEvents::Memory memory_in(const RowIndex<RowMemory>& index, std::size_t row) {
  const std::span<const RowMemory> entries = index.of(row);
  return entries.empty() ? TorchEvents::Memory() : entries.front().bytes;
}

}  // namespace

/// The events of one trace; its rows start at `first` in the joined list.
class EventRows::Recording {
 public:
  Recording(const Trace& trace, std::size_t first)
      : events_(trace, {.shapes = true, .stacks = true}),
        first_(first),
        memory_(memory(events_)),
        self_memory_(self_memory(events_)),
        memory_index_(memory_.view(), events_.size()),
        self_memory_index_(self_memory_.view(), events_.size()),
        kernels_index_(events_.kernels(), events_.size()),
        steps_(trace) {}

  const TorchEvents& events() const { return events_; }
  std::size_t first() const { return first_; }

  void set_numbers(std::size_t row, OperatorRow& out) const {
    analyses::set_numbers(events_, row, out);
    set_memory(out, memory_in(memory_index_, row), memory_in(self_memory_index_, row));
  }

  /// Sets the fields that an event has and a summary row does not.
  void set_event(std::size_t row, FunctionEvent& out) const {
    const Trace& trace = events_.trace();
    out.start_ns = nearest_integer(events_.start_us(row) * 1000);
    out.end_ns = nearest_integer(events_.end_us(row) * 1000);
    out.own_flops = events_.flops(row);
    out.parent.reset();
    if (events_.parent(row) != TorchEvents::kNoParent) out.parent = first_ + events_.parent(row);
    set_kernels(row, out.kernels);
    out.tid.clear();
    out.tid_is_number = true;
    out.sequence_nr = -1;
    out.is_python_function = false;
    out.step.reset();
    if (events_.is_memory_row(row)) return;
    const EventId event = events_.event(row);
    const TrackKey& thread = trace.track(trace.events().track(event)).thread;
    out.step = steps_.of(event);
    out.tid = key_text(trace, thread);
    out.tid_is_number = thread.text == StringId::empty;
    out.is_python_function = events_.is_python_function(row);
    out.sequence_nr = sequence_number(trace, event);
  }

 private:
  void set_kernels(std::size_t row, std::vector<LaunchedKernel>& kernels) const {
    const std::span<const TorchEvents::Kernel> launched = kernels_index_.of(row);
    kernels.resize(launched.size());
    for (std::size_t number = 0; number < launched.size(); ++number) {
      const TorchEvents::Kernel& kernel = launched[number];
      const Trace& trace = events_.trace();
      kernels[number].name = events_.text(kernel.name);
      kernels[number].device_index = trace.track(trace.events().track(kernel.event)).process.number;
      kernels[number].duration_us = events_.elapsed_us(kernel);
    }
  }

  TorchEvents events_;
  std::size_t first_;
  Column<RowMemory> memory_;
  Column<RowMemory> self_memory_;
  RowIndex<RowMemory> memory_index_;
  RowIndex<RowMemory> self_memory_index_;
  RowIndex<TorchEvents::Kernel> kernels_index_;
  StepOfEvent steps_;
};

EventRows::EventRows(std::span<const Trace* const> traces) : facts_(table_facts(traces)) {
  facts_.grouped_by_shape = true;
  for (std::size_t trace = traces.size(); trace-- > 0;) {
    recordings_.push_back(std::make_unique<Recording>(*traces[trace], size_));
    size_ += recordings_.back()->events().size();
  }
}

EventRows::~EventRows() = default;

const EventRows::Recording& EventRows::of(std::size_t number) const {
  const auto next = std::upper_bound(
      recordings_.begin(), recordings_.end(), number,
      [](std::size_t row, const auto& recording) { return row < recording->first(); });
  return **(next - 1);
}

const OperatorRow& EventRows::numbers(std::size_t number) {
  const Recording& recording = of(number);
  recording.set_numbers(number - recording.first(), event_);
  return event_;
}

const OperatorRow& EventRows::row(std::size_t number) {
  const Recording& recording = of(number);
  const std::size_t row = number - recording.first();
  recording.set_numbers(row, event_);
  set_texts(recording.events(), row, event_);
  return event_;
}

const FunctionEvent& EventRows::event(std::size_t number) {
  row(number);
  const Recording& recording = of(number);
  recording.set_event(number - recording.first(), event_);
  return event_;
}

OperatorKind EventRows::kind(std::size_t number) {
  const Recording& recording = of(number);
  const TorchEvents& events = recording.events();
  return operator_kind(events.trace(), events.event(number - recording.first()));
}

std::string_view EventRows::key(std::size_t number) {
  const Recording& recording = of(number);
  const TorchEvents& events = recording.events();
  return events.text(events.name(number - recording.first()));
}

}  // namespace tbtrace::analyses
