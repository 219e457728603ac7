#include "recorder/window/row_batch.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "base/utf8.h"
#include "wire/json_text.h"

namespace tbtrace::recorder {

namespace {

constexpr ArgumentSet kOfMemory = {ArgumentGroup::allocations};

/// As they stand in files.
std::string arguments_of(std::string_view json) {
  const std::string_view key = argument_row(Argument::range_arguments).keys[0];
  return "{\"" + std::string(key) + "\": " + std::string(json) + "}";
}

}  // namespace

RowBatch::RowBatch(EventSink& sink, std::int64_t base_ns, std::int64_t labels_ns,
                   const RowRequest& request)
    : sink_(sink),
      base_ns_(base_ns),
      labels_ns_(time(labels_ns)),
      request_(request),
      values_(values_of(request.arguments)) {}

StringId RowBatch::text(std::string_view bytes) {
  return static_cast<StringId>(is_utf8(bytes) ? rows_.texts.intern(bytes)
                                              : rows_.texts.intern(to_utf8(bytes)));
}

TrackId RowBatch::track(const EventBatch::Track& track) {
  const auto [found, is_new] =
      tracks_.try_emplace(track, static_cast<TrackId>(rows_.tracks.size()));
  if (is_new) {
    rows_.tracks.push_back(track);
    if (has_members()) json_of_tracks_.emplace_back(json_of(track.process), json_of(track.thread));
  }
  return found->second;
}

EventBatch::Track RowBatch::text_track(std::string_view process, std::string_view thread) {
  return {.process = {0, text(process)}, .thread = {0, text(thread)}};
}

CategoryId RowBatch::category(std::string_view name) {
  const StringId wanted = text(name);
  const auto found = std::find(rows_.categories.begin(), rows_.categories.end(), wanted);
  const auto id = static_cast<CategoryId>(found - rows_.categories.begin());
  if (found == rows_.categories.end()) rows_.categories.push_back(wanted);
  return id;
}

std::string_view RowBatch::json_of(StringId text) {
  const auto number = static_cast<std::size_t>(text);
  if (number >= json_of_texts_.size()) json_of_texts_.resize(rows_.texts.size());
  std::string_view& json = json_of_texts_[number];
  if (json.empty()) {
    std::string quoted;
    wire::append_json_string(quoted, rows_.texts[static_cast<std::uint32_t>(text)]);
    json = texts_.put(quoted);
  }
  return json;
}

std::string_view RowBatch::json_of(const TrackKey& key) {
  return key.text == StringId::empty ? texts_.put(key.number) : json_of(key.text);
}

EventBatch::Value& RowBatch::value(Argument argument) {
  const bool is_of_memory = kOfMemory.contains(argument);
  auto& values = is_of_memory ? rows_.memory_values : rows_.range_values;
  EventBatch::Value& value = values.emplace_back();
  value.row = static_cast<std::uint32_t>(is_of_memory ? rows_.memory.size() : rows_.ranges.size());
  value.argument = argument;
  return value;
}

void RowBatch::member(Argument argument, std::string_view json) {
  rows_.arguments.push_back({.key = argument_row(argument).keys[0],
                             .json = json,
                             .argument = argument,
                             .is_strict = true});
}

void RowBatch::member(std::string_view key, std::string_view json) {
  rows_.arguments.push_back({.key = key, .json = json, .is_strict = true});
}

void RowBatch::argument(Argument argument, double number, std::string_view json) {
  if (wants_value(argument)) value(argument).real = number;
  if (wants_member(argument)) member(argument, numbers_.put(json));
}

void RowBatch::argument(Argument argument, StringId text) {
  if (wants_value(argument) && text != StringId::empty) value(argument).text = text;
  if (!wants_member(argument)) return;
  const bool is_json = argument_row(argument).type == ArgumentType::json;
  member(argument, is_json ? rows_.texts[static_cast<std::uint32_t>(text)] : json_of(text));
}

void RowBatch::argument(Argument argument, const Dim3& sizes) {
  if (wants_value(argument)) {
    value(argument).dims = static_cast<std::uint32_t>(rows_.dims.size());
    rows_.dims.push_back(sizes);
  }
  if (!wants_member(argument)) return;
  member(argument, numbers_.put("[" + std::to_string(sizes.x) + ", " + std::to_string(sizes.y) +
                                ", " + std::to_string(sizes.z) + "]"));
}

void RowBatch::argument_text(std::string_view key, std::string_view bytes) {
  if (has_members()) member(key, json_of(text(bytes)));
}

void RowBatch::argument_json(std::string_view key, std::string_view json) {
  if (has_members()) member(key, numbers_.put(json));
}

RowBatch::SavedArguments RowBatch::take_arguments() {
  SavedArguments saved;
  const std::size_t first = rows_.rows.empty() ? 0 : rows_.rows.back().arguments_end;
  for (std::size_t at = first; at < rows_.arguments.size(); ++at) {
    saved.members.push_back(rows_.arguments[at]);
    saved.members.back().json = texts_.put(rows_.arguments[at].json);
  }
  rows_.arguments.resize(first);
  auto& values = rows_.range_values;
  auto own = values.end();
  while (own != values.begin() && std::prev(own)->row == rows_.ranges.size()) --own;
  for (auto value = own; value != values.end(); ++value) {
    const bool has_dims = argument_row(value->argument).type == ArgumentType::dim3;
    saved.values.emplace_back(*value, has_dims ? rows_.dims[value->dims] : Dim3());
  }
  values.erase(own, values.end());
  return saved;
}

void RowBatch::arguments(const SavedArguments& saved) {
  rows_.arguments.insert(rows_.arguments.end(), saved.members.begin(), saved.members.end());
  for (const auto& [one, sizes] : saved.values) {
    EventBatch::Value& own = rows_.range_values.emplace_back(one);
    own.row = static_cast<std::uint32_t>(rows_.ranges.size());
    if (argument_row(one.argument).type != ArgumentType::dim3) continue;
    own.dims = static_cast<std::uint32_t>(rows_.dims.size());
    rows_.dims.push_back(sizes);
  }
}

void RowBatch::field(EventField field, std::string_view key, std::string_view json) {
  if (!lists(field)) return;
  rows_.members.push_back({.key = key, .json = json, .field = field, .is_strict = true});
}

void RowBatch::place(TrackId track, std::int64_t time_ns) {
  const auto& [process, thread] = json_of_tracks_[index(track)];
  field(EventField::process, "pid", process);
  field(EventField::thread, "tid", thread);
  if (lists(EventField::timestamp)) {
    field(EventField::timestamp, "ts", numbers_.put_microseconds(time_ns));
  }
}

void RowBatch::end_members(RowKind kind, std::size_t number) {
  rows_.rows.push_back(
      {kind, static_cast<std::uint32_t>(number), rows_.members.size(), rows_.arguments.size()});
}

void RowBatch::add_range(EventRow row, std::int64_t unix_start_ns, std::int64_t unix_end_ns) {
  row.start_ns = time(unix_start_ns);
  row.duration_ns = std::max<std::int64_t>(unix_end_ns - unix_start_ns, 0);
  rows_.first_ns = std::min(rows_.first_ns, row.start_ns);
  rows_.last_ns = std::max(rows_.last_ns, row.start_ns + row.duration_ns);
  rows_.ranges.push_back(row);
  if (has_members()) {
    begin_members(request_.left_out.range_fields);
    field(EventField::phase, "ph", "\"X\"");
    if (lists(EventField::category)) {
      field(EventField::category, "cat", json_of(rows_.categories[index(row.category)]));
    }
    if (lists(EventField::name)) field(EventField::name, "name", json_of(row.name));
    place(row.track, row.start_ns);
    if (lists(EventField::duration)) {
      field(EventField::duration, "dur", numbers_.put_microseconds(row.duration_ns));
    }
    field(EventField::arguments, "args", "");
    end_members(RowKind::range, rows_.ranges.size() - 1);
  }
  pass_on_if_full();
}

void RowBatch::add_memory(const MemoryRecord& record) {
  rows_.memory.push_back(record);
  if (has_members()) {
    begin_members(0);
    field(EventField::phase, "ph", "\"i\"");
    field(EventField::category, "cat", "\"cpu_instant_event\"");
    field(EventField::none, "s", "\"t\"");
    field(EventField::name, "name", record.out_of_memory ? "\"[OutOfMemory]\"" : "\"[memory]\"");
    place(record.track, record.time_ns);
    field(EventField::arguments, "args", "");
    end_members(RowKind::memory, rows_.memory.size() - 1);
  }
  pass_on_if_full();
}

void RowBatch::add_flow(const FlowEnd& end, std::string_view name) {
  if (has_members() && !request_.flow_members) return;
  rows_.flows.push_back(end);
  if (has_members()) {
    const std::string_view quoted = json_of(text(name));
    begin_members(0);
    field(EventField::phase, "ph", end.start ? "\"s\"" : "\"f\"");
    field(EventField::flow_id, "id", json_of(end.id));
    place(end.track, end.time_ns);
    field(EventField::category, "cat", quoted);
    field(EventField::name, "name", quoted);
    if (!end.start) field(EventField::none, "bp", "\"e\"");
    end_members(RowKind::flow, rows_.flows.size() - 1);
  }
  pass_on_if_full();
}

void RowBatch::name_process(std::int64_t process, std::string_view name, std::string_view label,
                            std::int64_t sort_index) {
  const StringId named = text(name);
  rows_.labels.push_back(
      {.process = {process, StringId::empty}, .name = named, .is_process = true});
  if (!has_members()) return;
  const EventBatch::Track at = {.process = {process}, .thread = {0}};
  add_label("process_name", at, "name", json_of(named));
  add_label("process_labels", at, "labels", json_of(text(label)));
  add_label("process_sort_index", at, "sort_index", json_of(sort_index));
}

void RowBatch::name_thread(std::int64_t process, std::int64_t thread, std::string_view name) {
  const StringId named = text(name);
  rows_.labels.push_back({.process = {}, .track = track(process, thread), .name = named});
  if (!has_members()) return;
  const EventBatch::Track at = {.process = {process}, .thread = {thread}};
  add_label("thread_name", at, "name", json_of(named));
  add_label("thread_sort_index", at, "sort_index", json_of(thread));
}

void RowBatch::add_label(std::string_view what, const EventBatch::Track& of, std::string_view key,
                         std::string_view json) {
  if (!has_members()) return;
  const StringId name = text(what);
  const TrackId at = track(of);
  begin_members(0);
  field(EventField::phase, "ph", "\"M\"");
  field(EventField::name, "name", json_of(name));
  if (lists(EventField::timestamp)) {
    field(EventField::timestamp, "ts", numbers_.put_microseconds(labels_ns_));
  }
  field(EventField::process, "pid", json_of_tracks_[index(at)].first);
  field(EventField::thread, "tid", json_of_tracks_[index(at)].second);
  field(EventField::arguments, "args", "");
  if (key == "name") {
    member(Argument::label, json);
  } else {
    member(key, numbers_.put(json));
  }
  add_other(RowKind::label, "M", name, at, labels_ns_);
}

void RowBatch::add_instant(std::string_view name, std::string_view process, std::string_view thread,
                           std::int64_t unix_ns) {
  const std::int64_t at = time(unix_ns);
  rows_.first_other_time_ns = std::min(rows_.first_other_time_ns.value_or(at), at);
  if (!has_members()) return;
  const StringId named = text(name);
  begin_members(0);
  field(EventField::phase, "ph", "\"i\"");
  field(EventField::none, "s", "\"g\"");
  field(EventField::name, "name", json_of(named));
  // A text also if it is empty, as a number of a track would not be.
  field(EventField::process, "pid", json_of(text(process)));
  field(EventField::thread, "tid", json_of(text(thread)));
  if (lists(EventField::timestamp)) {
    field(EventField::timestamp, "ts", numbers_.put_microseconds(at));
  }
  add_other(RowKind::instant, "i", named, track(text_track(process, thread)), at);
}

void RowBatch::add_thread_instant(StringId name, TrackId track, std::int64_t unix_ns,
                                  std::string_view json) {
  const std::int64_t at = time(unix_ns);
  if (!has_members()) {
    const EventBatch::Track& place = rows_.tracks[index(track)];
    rows_.instants.push_back({at, place.process, place.thread, name,
                              json.empty() ? StringId::empty : text(arguments_of(json))});
  }
  add_mark("i", name, track, at);
}

void RowBatch::add_counter(StringId name, TrackId track, std::int64_t unix_ns, double value) {
  const std::int64_t at = time(unix_ns);
  if (!has_members() && std::isfinite(value)) {
    const TrackKey& process = rows_.tracks[index(track)].process;
    rows_.counter_values.push_back({at, value, process, name, text("value")});
  }
  add_mark("C", name, track, at);
}

void RowBatch::add_mark(std::string_view phase, StringId name, TrackId track, std::int64_t at) {
  rows_.first_other_time_ns = std::min(rows_.first_other_time_ns.value_or(at), at);
  if (!has_members()) {
    pass_on_if_full();
    return;
  }
  begin_members(0);
  field(EventField::phase, "ph", phase == "C" ? "\"C\"" : "\"i\"");
  if (phase != "C") field(EventField::none, "s", "\"t\"");
  field(EventField::name, "name", json_of(name));
  place(track, at);
  field(EventField::arguments, "args", "");
  add_other(RowKind::instant, phase, name, track, at);
  pass_on_if_full();
}

void RowBatch::add_other(RowKind kind, std::string_view phase, StringId name, TrackId track,
                         std::int64_t time_ns) {
  rows_.others.push_back(
      {.phase = text(phase), .name = name, .track = track, .has_thread = true, .time_ns = time_ns});
  end_members(kind, rows_.others.size() - 1);
}

void RowBatch::pass_on_if_full() {
  // With members they take much more memory, which should stay in the processor's cache.
  const std::size_t most = has_members() ? 1024 : 4096;
  const std::size_t rows = rows_.ranges.size() + rows_.memory.size() + rows_.flows.size() +
                           rows_.others.size() + rows_.instants.size() +
                           rows_.counter_values.size();
  if (rows >= most) pass_on();
}

void RowBatch::pass_on() {
  sink_.add(rows_);
  rows_.clear();
  numbers_.clear();
}

}  // namespace tbtrace::recorder
