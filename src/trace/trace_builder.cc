#include "trace/trace_builder.h"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <unordered_map>
#include <utility>

#include "base/decimal.h"
#include "base/hash.h"
#include "trace/categories.h"
#include "trace/stable_order.h"
#include "trace/step_names.h"
#include "trace/trace_data.h"

namespace tbtrace {
namespace {

struct TrackHash {
  std::size_t operator()(const std::pair<TrackKey, TrackKey>& key) const {
    return hash_integer(static_cast<std::uint64_t>(key.first.number) ^ index(key.first.text) << 32,
                        static_cast<std::uint64_t>(key.second.number) ^ index(key.second.text)
                                                                            << 32);
  }
};

struct KeyHash {
  std::size_t operator()(const TrackKey& key) const {
    return hash_integer(static_cast<std::uint64_t>(key.number), index(key.text));
  }
};

constexpr std::string_view kSpanName = "PyTorch Profiler (0)";

}  // namespace

struct TraceBuilder::Lookup {
  std::unordered_map<std::pair<TrackKey, TrackKey>, TrackId, TrackHash> tracks;
  std::unordered_map<StringId, CategoryId> categories;
  std::unordered_map<TrackKey, StringId, KeyHash> process_names;
};

TraceBuilder::TraceBuilder()
    : data_(std::make_unique<TraceData>()), lookup_(std::make_unique<Lookup>()) {}
TraceBuilder::TraceBuilder(TraceBuilder&&) noexcept = default;
TraceBuilder& TraceBuilder::operator=(TraceBuilder&&) noexcept = default;
TraceBuilder::~TraceBuilder() = default;

StringId TraceBuilder::intern(std::string_view text) {
  return static_cast<StringId>(data_->strings.intern(text));
}

std::string_view TraceBuilder::string(StringId id) const {
  return data_->strings[static_cast<std::uint32_t>(id)];
}

TrackId TraceBuilder::track(TrackKey process, TrackKey thread) {
  constexpr std::size_t kMost = std::size_t{1} << kTrackBits;
  const auto next = static_cast<TrackId>(data_->tracks.size());
  if (index(next) == kMost && !lookup_->tracks.contains({process, thread})) {
    issues_.add(IssueId::too_many_tracks, 0);
    return static_cast<TrackId>(kMost - 1);
  }
  const auto [found, added] = lookup_->tracks.try_emplace({process, thread}, next);
  if (added) data_->tracks.push_back({process, thread, StringId::empty, StringId::empty});
  return found->second;
}

CategoryId TraceBuilder::category(StringId name) {
  constexpr std::size_t kMost = std::numeric_limits<std::uint16_t>::max();
  const std::size_t next = data_->categories.size();
  if (next == kMost && !lookup_->categories.contains(name)) {
    issues_.add(IssueId::too_many_categories, 0);
    return static_cast<CategoryId>(kMost - 1);
  }
  const auto [found, added] = lookup_->categories.try_emplace(name, static_cast<CategoryId>(next));
  if (added) {
    const CategoryMeaning meaning = meaning_of_category(string(name));
    data_->categories.push_back({name, meaning.kind, meaning.device});
  }
  return found->second;
}

void TraceBuilder::expect(double times) {
  constexpr double kMostRows = 4'000'000;  // larger columns move cheaply, and guesses may be wrong
  const auto rows = [&](std::size_t size) {
    return static_cast<std::size_t>(std::min(static_cast<double>(size) * times, kMostRows));
  };
  const std::size_t events = rows(data_->start_ns.size());
  data_->start_ns.reserve(events);
  data_->duration_ns.reserve(events);
  data_->name.reserve(events);
  data_->track.reserve(events);
  data_->category.reserve(events);
  data_->flags.reserve(events);
  data_->external_id.reserve(events);
  data_->correlation.reserve(events);
  rank_.reserve(events);
  data_->memory.reserve(rows(data_->memory.size()));
  data_->flows.reserve(rows(data_->flows.size()));
  data_->inputs.reserve(rows(data_->inputs.size()));
  data_->autograd.reserve(rows(data_->autograd.size()));
  data_->call_stacks.reserve(rows(data_->call_stacks.size()));
}

EventId TraceBuilder::add_event(const EventRow& row) {
  const std::size_t event = data_->start_ns.size();
  data_->start_ns.push_back(row.start_ns);
  data_->duration_ns.push_back(row.duration_ns);
  data_->name.push_back(row.name);
  data_->track.push_back(row.track);
  data_->category.push_back(row.category);
  data_->flags.push_back(row.flags);
  data_->external_id.set(event, row.external_id);
  data_->correlation.set(event, row.correlation);
  rank_.set(event, row.rank);
  return static_cast<EventId>(event);
}

void TraceBuilder::add_inputs(const OperatorInputs& inputs) { data_->inputs.push_back(inputs); }
void TraceBuilder::add_autograd(const AutogradInfo& info) { data_->autograd.push_back(info); }
void TraceBuilder::add_call_stack(const CallStack& stack) { data_->call_stacks.push_back(stack); }
void TraceBuilder::add_memory(const MemoryRecord& record) { data_->memory.push_back(record); }
void TraceBuilder::add_flow(const FlowEnd& flow) { data_->flows.push_back(flow); }

void TraceBuilder::note_time(std::int64_t time_ns) {
  first_noted_time_ = std::min(first_noted_time_.value_or(time_ns), time_ns);
}

void TraceBuilder::name_process(TrackKey process, StringId name) {
  lookup_->process_names[process] = name;
}

void TraceBuilder::name_thread(TrackId track, StringId name) {
  data_->tracks[index(track)].thread_name = name;
}

void TraceBuilder::set_metadata(std::string_view key, std::string_view json) {
  if (key == "baseTimeNanoseconds") data_->base_time_ns = parse_integer(json).value_or(0);
  data_->metadata.insert_or_assign(std::string(key), std::string(json));
}

Trace TraceBuilder::finish() && {
  name_tracks();
  settle_ascend();
  settle_devices();
  order_events();
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

/// Ascend's profiler gives categories to torch's own rows only; its processes tell the rest.
void TraceBuilder::settle_ascend() {
  const auto name_of = [&](TrackId track) {
    return string(data_->tracks[index(track)].process_name);
  };
  const bool is_ascend = std::any_of(
      data_->tracks.begin(), data_->tracks.end(),
      [&](const Track& track) { return string(track.process_name) == "Ascend Hardware"; });
  if (!is_ascend) return;
  const CategoryId hardware = category(intern("ascend_hardware"));
  const CategoryId host = category(intern("ascend_host"));
  for (std::size_t event = 0; event < data_->start_ns.size(); ++event) {
    CategoryId& category = data_->category[event];
    if (data_->categories[index(category)].name != StringId::empty) continue;
    const std::string_view process = name_of(data_->track[event]);
    if (process != "Python") category = process == "Ascend Hardware" ? hardware : host;
  }
}

/// Kernels of every make of device share their categories; the runtime's category tells the make.
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

void TraceBuilder::order_events() {
  const Column<std::int64_t>& start = data_->start_ns;
  Column<EventId>& order = data_->by_start;
  order = stable_order<EventId>(start.view());
  // Within equal starts: profiler events by rank, then the others as in the file.
  const auto rank = [&](EventId event) {
    return static_cast<std::uint64_t>(rank_[index(event)]) - 1;  // none becomes the largest
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
  const auto before = [](const MemoryRecord& a, const MemoryRecord& b) {
    return std::pair(a.time_ns, a.event_rank) < std::pair(b.time_ns, b.event_rank);
  };
  Column<MemoryRecord>& memory = data_->memory;
  if (!std::is_sorted(memory.begin(), memory.end(), before)) {
    std::stable_sort(memory.begin(), memory.end(), before);
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
  std::int64_t first = first_noted_time_.value_or(kNone);
  if (!data_->by_start.empty()) {
    first = std::min(first, data_->start_ns[index(data_->by_start[0])]);
  }
  if (!data_->memory.empty()) first = std::min(first, data_->memory[0].time_ns);
  for (const FlowEnd& end : data_->flows) first = std::min(first, end.time_ns);
  data_->first_time_ns = first == kNone ? 0 : first;
}

}  // namespace tbtrace
