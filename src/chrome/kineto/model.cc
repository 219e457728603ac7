#include "chrome/kineto/model.h"

#include <optional>

#include "chrome/kineto/json.h"
#include "chrome/rows/json_numbers.h"
#include "trace/step_names.h"
#include "trace/track_keys.h"
#include "wire/json_text.h"

namespace tbtrace::chrome {
namespace {

using chrome::append_integer;

void append_member(std::string& json, std::string_view key_json, std::int64_t value) {
  json += key_json;
  append_integer(json, value);
}

/// Empty for types that no reader passes on.
std::string_view flow_name(FlowEnd::Type type) {
  switch (type) {
    case FlowEnd::Type::launch:
      return kLaunchFlow;
    case FlowEnd::Type::forward_backward:
      return kBackwardFlow;
    case FlowEnd::Type::other:
      break;
  }
  return {};
}

constexpr std::string_view kRowEnd = "},\n";

}  // namespace

KinetoModelRows::KinetoModelRows(const Trace& trace, const KinetoRepairs& repairs)
    : trace_(trace), repairs_(repairs), arguments_(trace), texts_(trace) {}

void KinetoModelRows::label(TrackId id, std::string& json) {
  const Track& track = trace_.track(id);
  const bool names_process = track.process_name != StringId::empty;
  if (names_process && named_processes_.emplace(track.process.number, track.process.text).second) {
    append_label(json, trace_, "process_name", track.process, track.thread,
                 trace_.string(track.process_name));
  }
  if (track.thread_name != StringId::empty) {
    append_label(json, trace_, "thread_name", track.process, track.thread,
                 trace_.string(track.thread_name));
  }
}

void KinetoModelRows::place(EventId event, std::string& json) const {
  const Track& track = trace_.track(trace_.events().track(event));
  const std::optional<std::int64_t> lane = repairs_.lane(event);
  append_place(json, trace_, track.process, lane ? TrackKey{.number = *lane} : track.thread,
               trace_.events().start_ns(event));
}

void KinetoModelRows::range(EventId event, std::string& json) {
  json += "{\"ph\":\"X\"";
  category(event, json);
  name(event, json);
  place(event, json);
  json += ",\"dur\":";
  append_microseconds(json,
                      repairs_.shorter_ns(event).value_or(trace_.events().duration_ns(event)));
  arguments(event, json);
  json += kRowEnd;
  for (const KinetoRepairs::Flow& flow : repairs_.missing_flows(event)) {
    append_flow_start(json, flow.start, kLaunchFlow, flow.id);
    place(event, json);
    json += kRowEnd;
  }
}

void KinetoModelRows::category(EventId event, std::string& json) {
  const StringId own = trace_.category(event).name;
  if (own == StringId::empty) return;
  const KinetoRepairs::NewCategory category = repairs_.category(event);
  json += ",\"cat\":";
  if (category.name.empty()) {
    json += texts_[own];
  } else {
    wire::append_json_string(json, category.name);
    ++changes()[category.change];
  }
}

void KinetoModelRows::name(EventId event, std::string& json) {
  json += ",\"name\":";
  if (const auto step = repairs_.inferred_step(event)) {
    json += '"' + step_name(*step) + '"';
  } else {
    json += texts_[trace_.events().name(event)];
  }
}

void KinetoModelRows::arguments(EventId event, std::string& json) {
  constexpr std::string_view kArguments = ",\"args\":";
  json += kArguments;
  const std::size_t start = json.size();
  ids(event, json);
  if (repairs_.inferred_step(event)) {
    json += ",\"Annotation\":";
    json += texts_[trace_.events().name(event)];
  }
  stream(event, json);
  arguments_.of_range(event, json);
  if (json.size() == start) {
    json.resize(start - kArguments.size());
    return;
  }
  json[start] = '{';  // in place of a comma
  json += '}';
}

void KinetoModelRows::ids(EventId event, std::string& json) const {
  const std::optional<std::int64_t> repaired = repairs_.external_id(event);
  const std::int64_t external_id = repaired.value_or(trace_.external_id(event));
  const bool is_zero = !repaired && trace_.events().has_zero_external_id(event);
  if (external_id != 0 || is_zero) append_member(json, ",\"External id\":", external_id);
  const std::int64_t correlation = trace_.correlation(event);
  if (correlation != 0) append_member(json, ",\"correlation\":", correlation);
}

/// In Kineto's traces, the process of device work is its device, and the thread is its stream.
/// Readers look for both in the arguments, which a Trace has only if it was asked for them.
void KinetoModelRows::stream(EventId event, std::string& json) const {
  if (!is_device_work(trace_.kind(event))) return;
  const Track& track = trace_.track(trace_.events().track(event));
  const auto add = [&](Argument argument, std::string_view key_json, const TrackKey& id) {
    const bool is_number = id.text == StringId::empty;
    if (is_number && trace_.argument(argument).empty()) append_member(json, key_json, id.number);
  };
  add(Argument::device, ",\"device\":", track.process);
  add(Argument::stream, ",\"stream\":", track.thread);
}

void KinetoModelRows::memory(std::size_t record, std::string& json) {
  const MemoryRecord& row = trace_.memory()[record];
  json += row.out_of_memory ? R"({"ph":"i","cat":"cpu_instant_event","name":"[OutOfMemory]")"
                            : R"({"ph":"i","cat":"cpu_instant_event","name":"[memory]")";
  const Track& track = trace_.track(row.track);
  append_place(json, trace_, track.process, track.thread, row.time_ns);
  json += R"(,"s":"t","args":{)";
  append_member(json, "\"Device Type\":", static_cast<std::int64_t>(row.device_type));
  append_member(json, ",\"Device Id\":", row.device_id);
  append_member(json, ",\"Bytes\":", row.bytes);
  arguments_.of_memory(record, json);
  json += '}';
  json += kRowEnd;
}

void KinetoModelRows::flow(const FlowEnd& end, std::string& json) {
  const std::string_view name = flow_name(end.type);
  if (name.empty()) return;
  const Track& track = trace_.track(end.track);
  const std::optional<std::int64_t> lane =
      repairs_.lane_of_flow(key_text(trace_, track.process), key_text(trace_, track.thread), end);
  append_flow_start(json, end.start, name, end.id);
  append_place(json, trace_, track.process, lane ? TrackKey{.number = *lane} : track.thread,
               end.time_ns);
  json += kRowEnd;
}

}  // namespace tbtrace::chrome
