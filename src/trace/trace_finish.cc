// TraceBuilder::finish(): sorts the rows, resolves what the file leaves open, and finds the steps
// and the window.
#include <algorithm>
#include <cstddef>
#include <limits>
#include <numeric>
#include <utility>
#include <vector>

#include "base/stable_order.h"
#include "trace/categories.h"
#include "trace/device_tracks.h"
#include "trace/step_names.h"
#include "trace/trace_builder_lookup.h"
#include "trace/trace_data.h"

namespace tbtrace {
namespace {

constexpr std::string_view kSpanName = "PyTorch Profiler (0)";

}  // namespace

Trace TraceBuilder::finish(int threads) && {
  name_tracks();
  pair_ranges();
  infer_categories();
  settle_devices();
  order_events(threads);
  order_memory();
  find_steps();
  find_window();
  find_first_time();
  data_->issues = issues_.list();
  return Trace(std::move(data_));
}

void TraceBuilder::name_tracks() {
  for (Track& track : data_->tracks) {
    const auto name = lookup_->process_names.find(track.process);
    if (name != lookup_->process_names.end()) track.process_name = name->second;
  }
}

/// Ranges without a category get the category of their track.
void TraceBuilder::infer_categories() {
  const auto bare = lookup_->categories.find(StringId::empty);
  if (bare == lookup_->categories.end()) return;
  const bool in_ascend_file =
      std::any_of(data_->tracks.begin(), data_->tracks.end(),
                  [&](const Track& track) { return is_of_ascend(string(track.process_name)); });
  std::vector<TrackContent> contents;
  contents.reserve(data_->tracks.size());
  for (const Track& track : data_->tracks) {
    contents.push_back(content_of({.process_id = string(track.process.text),
                                   .process = string(track.process_name),
                                   .thread = string(track.thread_name)},
                                  in_ascend_file));
  }
  const CategoryId without = bare->second;
  std::vector<std::vector<std::size_t>> nested(contents.size());  // events, by track
  for (std::size_t event = 0; event < data_->start_ns.size(); ++event) {
    if (data_->category[event] != without) continue;
    const TrackId track = data_->track[event];
    const TrackContent content = contents[index(track)];
    if (content == TrackContent::host) continue;
    if (content == TrackContent::nested_work) nested[index(track)].push_back(event);
    data_->category[event] = category(intern(category_on(content, string(data_->name[event]))));
  }
  for (const std::vector<std::size_t>& events : nested) leave_out_repeated_work(events);
}

/// Events of one track of a device become rows that are not counted where others are.
void TraceBuilder::leave_out_repeated_work(const std::vector<std::size_t>& events) {
  if (events.empty()) return;
  std::vector<DeviceRow> rows;
  rows.reserve(events.size());
  for (const std::size_t event : events) {
    const std::int64_t start = data_->start_ns[event];
    rows.push_back({start, start + data_->duration_ns[event]});
  }
  const std::vector<bool> repeats = repeats_others(rows);
  for (std::size_t at = 0; at < events.size(); ++at) {
    if (!repeats[at]) continue;
    data_->category[events[at]] = category(intern(category_on(TrackContent::derived, {})));
  }
}

/// Kernels of several device types share categories; the runtime's category reveals the type.
void TraceBuilder::settle_devices() {
  std::optional<DeviceType> family;
  bool only_shared = true;
  for (const Category& category : data_->categories) {
    const DeviceType found = meaning_of_category(string(category.name)).family;
    if (found == DeviceType::cpu) continue;
    const bool shared = category.device == DeviceType::cuda;
    if (!family || (only_shared && !shared)) family = found;
    only_shared = only_shared && shared;
  }
  if (!family) {
    const auto listed = data_->metadata.find("deviceProperties");
    const bool any =
        listed != data_->metadata.end() && listed->second.find('{') != std::string::npos;
    if (any) family = DeviceType::cuda;
  }
  data_->device = family;
  if (family != DeviceType::xpu && family != DeviceType::privateuse1) return;
  for (Category& category : data_->categories) {
    if (category.device == DeviceType::cuda) category.device = *family;
  }
}

void TraceBuilder::order_events(int threads) {
  const Column<std::int64_t>& start = data_->start_ns;
  Column<EventId>& order = data_->by_start;
  order = stable_order<EventId>(start.view(), static_cast<std::size_t>(threads));
  // With equal starts: profiler events by rank, then the others in file order.
  const auto rank = [&](EventId event) {
    return static_cast<std::uint64_t>(rank_[index(event)]) - 1;  // 0 (none) becomes the largest
  };
  for (EventId* first = order.begin(); first != order.end();) {
    EventId* last = first + 1;
    while (last != order.end() && start[index(*last)] == start[index(*first)]) ++last;
    if (last - first > 1) {
      std::stable_sort(first, last, [&](EventId a, EventId b) { return rank(a) < rank(b); });
    }
    first = last;
  }
  rank_ = {};
}

void TraceBuilder::order_memory() {
  const auto key = [](const MemoryRecord& record) {
    return std::pair(record.time_ns, record.event_rank);
  };
  Column<MemoryRecord>& memory = data_->memory;
  const bool is_sorted =
      std::is_sorted(memory.begin(), memory.end(),
                     [&](const MemoryRecord& a, const MemoryRecord& b) { return key(a) < key(b); });
  if (is_sorted) return;
  std::vector<std::uint32_t> order(memory.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
    return key(memory[a]) < key(memory[b]);
  });
  Column<MemoryRecord> sorted;
  sorted.reserve(memory.size());
  for (const std::uint32_t record : order) sorted.push_back(memory[record]);
  memory.swap(sorted);
  for (ArgumentValues& column : data_->memory_arguments) {
    if (column.empty()) continue;
    ArgumentValues reordered;
    const ArgumentColumn old = column.view();
    for (std::size_t row = 0; row < order.size(); ++row) reordered.copy(row, old, order[row]);
    column = std::move(reordered);
  }
}

void TraceBuilder::find_steps() {
  std::vector<bool> names_step(data_->strings.size());
  for (std::size_t number = 0; number < names_step.size(); ++number) {
    names_step[number] = is_step_name(string(static_cast<StringId>(number)));
  }
  for (const EventId event : data_->by_start) {
    if (!names_step[index(data_->name[index(event)])]) continue;
    const Category& category = data_->categories[index(data_->category[index(event)])];
    if (category.kind != EventKind::user_annotation && category.kind != EventKind::cpu_op) continue;
    const auto number = step_number(string(data_->name[index(event)]));
    if (number) data_->steps.push_back({*number, event});
  }
}

void TraceBuilder::find_window() {
  std::int64_t first = std::numeric_limits<std::int64_t>::max();
  std::int64_t last = std::numeric_limits<std::int64_t>::min();
  for (std::size_t event = 0; event < data_->start_ns.size(); ++event) {
    const std::int64_t start = data_->start_ns[event];
    const std::int64_t end = start + data_->duration_ns[event];
    const EventKind kind = data_->categories[index(data_->category[event])].kind;
    if (kind == EventKind::trace_span) {
      if (data_->has_window || string(data_->name[event]) != kSpanName) continue;
      data_->has_window = true;
      data_->window_start_ns = start;
      data_->window_end_ns = end;
      continue;
    }
    first = std::min(first, start);
    last = std::max(last, end);
  }
  if (data_->has_window || first > last) return;
  data_->window_start_ns = first;
  data_->window_end_ns = last;
}

void TraceBuilder::find_first_time() {
  constexpr std::int64_t kNone = std::numeric_limits<std::int64_t>::max();
  std::int64_t first = first_other_time_ns_.value_or(kNone);
  if (!data_->by_start.empty()) {
    first = std::min(first, data_->start_ns[index(data_->by_start[0])]);
  }
  if (!data_->memory.empty()) first = std::min(first, data_->memory[0].time_ns);
  for (const FlowEnd& end : data_->flows) first = std::min(first, end.time_ns);
  data_->first_time_ns = first == kNone ? 0 : first;
}

}  // namespace tbtrace
