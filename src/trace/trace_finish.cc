// TraceBuilder::finish(): sorts the rows, resolves what the file leaves open, and finds the steps
// and the window.
#include <algorithm>
#include <array>
#include <cstddef>
#include <limits>
#include <numeric>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "base/stable_order.h"
#include "trace/categories.h"
#include "trace/device_tracks.h"
#include "trace/step_names.h"
#include "trace/times.h"
#include "trace/trace_builder_lookup.h"
#include "trace/trace_data.h"

namespace tbtrace {
namespace {

constexpr std::string_view kSpanName = "PyTorch Profiler (0)";

/// The iterations of an inference engine, if all ran on one thread, one after the other; of ranges
/// inside each other, the outermost.
std::vector<Step> engine_steps(const TraceData& data, const EventsWithoutTimes& lost) {
  std::unordered_map<StringId, const IterationName*> engines;  // by name of a range
  std::vector<Step> steps;
  const IterationName* engine = nullptr;
  std::unordered_set<std::int64_t> numbers;
  bool all_numbered = true;
  for (const EventId event : data.by_start) {
    const std::size_t row = index(event);
    if (data.categories[index(data.category[row])].kind != EventKind::user_annotation) continue;
    if (data.duration_ns[row] == 0 || lost.contains(event, data.start_ns[row])) continue;
    const std::string_view name = data.strings[static_cast<std::uint32_t>(data.name[row])];
    const auto [known, is_new] = engines.try_emplace(data.name[row], nullptr);
    if (is_new) known->second = step_of_engine(name);
    if (known->second == nullptr) continue;
    if (!steps.empty()) {
      const std::size_t last = index(steps.back().event);
      if (known->second != engine || data.track[row] != data.track[last]) return {};
      const std::int64_t last_end = data.start_ns[last] + data.duration_ns[last];
      const bool is_inside = data.start_ns[row] + data.duration_ns[row] <= last_end;
      if (data.start_ns[row] < last_end && !is_inside) return {};
      if (data.start_ns[row] < last_end) continue;
    }
    engine = known->second;
    const auto number = iteration_number(*engine, name);
    all_numbered = all_numbered && number && numbers.insert(*number).second;
    steps.push_back({number.value_or(0), event});
  }
  for (std::size_t step = 0; !all_numbered && step < steps.size(); ++step) {
    steps[step].number = static_cast<std::int64_t>(step);
  }
  return steps;
}

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

/// Ranges without a category get one of their track, if its names say what it holds. So do those of
/// categories that torch does not have, unless others show that the file gives torch's.
void TraceBuilder::infer_categories() {
  std::vector<std::string_view> categories;
  std::vector<bool> is_open;  // by category
  for (const Category& each : data_->categories) {
    categories.push_back(string(each.name));
    is_open.push_back(!is_known_category(categories.back()));
  }
  if (std::find(is_open.begin(), is_open.end(), true) == is_open.end()) return;
  std::vector<TrackNames> names;
  for (const Track& track : data_->tracks) {
    names.push_back({.process_id = string(track.process.text),
                     .process = string(track.process_name),
                     .thread = string(track.thread_name)});
    // nsys2json and nvprof2json have names in place of ids.
    if (names.back().thread.empty()) names.back().thread = string(track.thread.text);
  }
  const Writer writer = writer_of(names, categories);
  // Its copies have the category of kernels.
  if (writer == Writer::onnx_runtime) {
    const auto kernel = std::find(categories.begin(), categories.end(), "Kernel");
    if (kernel != categories.end()) {
      is_open[static_cast<std::size_t>(kernel - categories.begin())] = true;
    }
  }
  const bool any_known =
      std::any_of(data_->category.begin(), data_->category.end(),
                  [&](CategoryId category) { return !is_open[index(category)]; });
  if (any_known) {
    for (std::size_t category = 0; category < is_open.size(); ++category) {
      // Its rows of the host have a category of torch's, its rows of devices have not.
      const bool is_of_device = writer == Writer::unitrace && categories[category] == "gpu_op";
      is_open[category] = is_open[category] && (categories[category].empty() || is_of_device);
    }
  }
  std::vector<TrackContent> contents;
  std::int64_t any_device = -1;
  bool one_device = true;
  for (std::size_t track = 0; track < names.size(); ++track) {
    const TrackPlace place = place_of(names[track], writer);
    contents.push_back(place.content);
    data_->tracks[track].device = place.device;
    if (place.device < 0) continue;
    one_device = one_device && (any_device < 0 || any_device == place.device);
    any_device = place.device;
  }
  // Tracks whose process says nothing of a device: of the only one, or of the one that is the
  // default.
  for (std::size_t track = 0; track < names.size(); ++track) {
    if (writer == Writer::onnx_runtime || contents[track] == TrackContent::copies) {
      data_->tracks[track].device = one_device && any_device >= 0 ? any_device : 0;
    }
  }
  const std::uint64_t on_host = infer_categories(is_open, contents);
  if (writer == Writer::unknown && !any_known && on_host > 0 && !is_of_torch()) {
    issues_.add_anywhere(IssueId::writer_unknown, on_host);
  }
}

/// Of the ranges with these categories, by track. Returns how many are unchanged, on the host.
std::uint64_t TraceBuilder::infer_categories(const std::vector<bool>& is_open,
                                             const std::vector<TrackContent>& contents) {
  std::vector<std::vector<std::size_t>> nested(contents.size());  // events, by track
  std::uint64_t on_host = 0;
  for (std::size_t event = 0; event < data_->start_ns.size(); ++event) {
    const std::size_t own = index(data_->category[event]);
    if (own >= is_open.size() || !is_open[own]) continue;
    const std::size_t track = index(data_->track[event]);
    TrackContent content = contents[track];
    if (data_->categories[own].kind == EventKind::kernel) content = TrackContent::work;
    on_host += content == TrackContent::host ? 1 : 0;
    if (content == TrackContent::host) continue;
    if (content == TrackContent::nested_work) nested[track].push_back(event);
    data_->category[event] = category(intern(category_on(content, string(data_->name[event]))));
  }
  for (const std::vector<std::size_t>& events : nested) leave_out_repeated_work(events);
  return on_host;
}

/// Whether the file has what only torch's profilers and tbtrace write.
bool TraceBuilder::is_of_torch() const {
  constexpr std::array<std::string_view, 10> kMembers = {
      "schemaVersion", "deviceProperties", "distributedInfo", "baseTimeNanoseconds",
      "traceName",     "record_shapes",    "profile_memory",  "with_stack",
      "with_flops",    "with_modules"};
  return !data_->memory.empty() || !data_->external_id.empty() ||
         std::any_of(kMembers.begin(), kMembers.end(), [&](std::string_view member) {
           return data_->metadata.find(member) != data_->metadata.end();
         });
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

EventsWithoutTimes TraceBuilder::without_times() const {
  return events_without_times(data_->by_start.view(), [this](EventId event) {
    const std::int64_t start = data_->start_ns[index(event)];
    return TimeRange{start, start + data_->duration_ns[index(event)]};
  });
}

void TraceBuilder::find_steps() {
  std::vector<bool> names_step(data_->strings.size());
  for (std::size_t number = 0; number < names_step.size(); ++number) {
    names_step[number] = is_step_name(string(static_cast<StringId>(number)));
  }
  const EventsWithoutTimes lost = without_times();
  for (const EventId event : data_->by_start) {
    if (lost.contains(event, data_->start_ns[index(event)])) continue;
    if (!names_step[index(data_->name[index(event)])]) continue;
    const Category& category = data_->categories[index(data_->category[index(event)])];
    if (category.kind != EventKind::user_annotation && category.kind != EventKind::cpu_op) continue;
    const auto number = step_number(string(data_->name[index(event)]));
    if (number) data_->steps.push_back({*number, event});
  }
  if (!data_->steps.empty()) return;
  data_->steps = engine_steps(*data_, lost);
}

void TraceBuilder::find_window() {
  const std::optional<TimeRange> reach = find_reach();
  const EventsWithoutTimes lost = without_times();
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
    if (lost.contains(static_cast<EventId>(event), start)) continue;
    if (reach && !is_host_range(kind) && is_outside(*reach, {start, end})) continue;
    first = std::min(first, start);
    last = std::max(last, end);
  }
  if (data_->has_window || first > last) return;
  data_->window_start_ns = first;
  data_->window_end_ns = last;
}

std::optional<TimeRange> TraceBuilder::find_reach() const {
  std::optional<TimeRange> host;
  std::vector<TimeRange> work;
  const EventsWithoutTimes lost = without_times();
  for (const EventId event : data_->by_start) {
    const std::size_t row = index(event);
    if (lost.contains(event, data_->start_ns[row])) continue;
    const EventKind kind = data_->categories[index(data_->category[row])].kind;
    const std::int64_t start = data_->start_ns[row];
    const TimeRange time = {start, start + data_->duration_ns[row]};
    if (is_host_range(kind)) {
      if (!host) host = time;
      host->end = std::max(host->end, time.end);
    } else if (is_device_work(kind)) {
      work.push_back(time);
    }
  }
  return host ? recording_reach(*host, work) : std::nullopt;
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
