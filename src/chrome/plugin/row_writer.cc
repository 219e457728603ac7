#include "chrome/plugin/row_writer.h"

#include <algorithm>
#include <exception>
#include <future>
#include <utility>

#include "base/threads.h"
#include "chrome/rows/json_numbers.h"
#include "chrome/rows/short_text.h"
#include "trace/nearest_range.h"
#include "trace/step_names.h"
#include "trace/times.h"
#include "wire/json_strict.h"
#include "wire/json_text.h"

namespace tbtrace::chrome {
namespace {

// So that the length of a literal is known to the compiler.
using std::string_view_literals::operator""sv;  // NOLINT(misc-unused-using-decls): it is used

std::int64_t last_time_ns(const Trace& trace) {
  std::int64_t last = trace.first_time_ns();
  for (const EventId event : trace.by_start()) last = std::max(last, trace.events().end_ns(event));
  for (const MemoryRecord& record : trace.memory()) last = std::max(last, record.time_ns);
  return last;
}

/// Whole milliseconds, so that readers that round times get the same results as before.
std::int64_t origin_of(const Trace& trace) {
  constexpr std::int64_t kMillisecond = 1'000'000;
  const std::int64_t first = trace.first_time_ns();
  const std::int64_t origin = first - ((first % kMillisecond) + kMillisecond) % kMillisecond;
  const bool is_too_far =
      origin <= -kFarthestNs || (origin < 0 && last_time_ns(trace) >= kFarthestNs + origin);
  return is_too_far ? 0 : origin;
}

/// Has room for the members that a row has besides texts.
using Numbers = ShortText<256>;

void put_place(Numbers& json, const Place& place) {
  json.put(",\"pid\":");
  json.put_integer(place.process);
  json.put(",\"tid\":");
  json.put_integer(place.thread);
}

void append_place(std::string& json, const Place& place) {
  Numbers numbers;
  put_place(numbers, place);
  json += numbers.view();
}

std::string key_json(std::string_view key) {
  std::string json;
  wire::append_json_string(json, key);
  return json;
}

template <typename Entry>
const Entry* first_of(const std::vector<Entry>& sorted, EventId event, EventId Entry::*key) {
  const auto found = std::lower_bound(
      sorted.begin(), sorted.end(), event,
      [&](const Entry& a, EventId wanted) { return index(a.*key) < index(wanted); });
  return found != sorted.end() && (*found).*key == event ? &*found : nullptr;
}

/// The same from where the last search ended, which is hardly ever far away.
template <typename Entry>
const Entry* first_of(const std::vector<Entry>& sorted, EventId event, EventId Entry::*key,
                      std::size_t& from) {
  constexpr std::size_t kNear = 8;
  const auto is_before = [&](std::size_t at) { return index(sorted[at].*key) < index(event); };
  std::size_t at = from;
  const std::size_t most = std::min(sorted.size(), at + kNear);
  while (at < most && is_before(at)) ++at;
  const bool is_found = (at == 0 || is_before(at - 1)) && (at == sorted.size() || !is_before(at));
  if (!is_found) {
    const auto found = std::lower_bound(
        sorted.begin(), sorted.end(), event,
        [&](const Entry& a, EventId wanted) { return index(a.*key) < index(wanted); });
    at = static_cast<std::size_t>(found - sorted.begin());
  }
  from = at;
  return at < sorted.size() && sorted[at].*key == event ? &sorted[at] : nullptr;
}

/// The result of `make`, on another thread if there may be one and the system gives it.
template <typename Make>
auto ahead(int threads, const Make& make) -> std::future<decltype(make())> {
  if (thread_count(threads) > 1) {
    try {
      return std::async(std::launch::async, make);
    } catch (const std::exception&) {
      // No memory, or no more threads.
    }
  }
  return std::async(std::launch::deferred, make);
}

}  // namespace

std::int64_t unix_ns(const Trace& trace, std::int64_t time_ns) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(trace.base_time_ns()) +
                                   static_cast<std::uint64_t>(time_ns));
}

std::int64_t span_ns(const Trace& trace) {
  return std::max<std::int64_t>(0, unix_ns(trace, trace.window_start_ns()));
}

RowWriter::RowWriter(const Trace& trace, bool infer_steps, int threads)
    : trace_(trace),
      origin_ns_(origin_of(trace)),
      roles_(trace, Dialect::plugin),
      numbers_ahead_(ahead(threads, [this] { return LinkNumbers(trace_, roles_); })),
      devices_(trace),
      crossings_(find_crossings(trace, roles_, origin_ns_)),
      places_(trace, roles_, devices_, crossings_),
      arrows_(make_arrows(trace, crossings_, origin_ns_)),
      python_frames_(nearest_python_frames(trace)),
      numbers_(numbers_ahead_.get()) {
  if (infer_steps) inferred_steps_ = analyses::inferred_annotation_steps(trace);
  bool any_work = false;
  bool any_host = false;
  for (std::size_t row = 0; row < trace.events().size(); ++row) {
    const auto event = static_cast<EventId>(row);
    any_work = any_work || is_device_work(trace.kind(event));
    const Role role = roles_.role(event);
    any_host = any_host || role <= Role::annotation_node;
    const NameClass name_class = roles_.name_class(event);
    const bool is_step = name_class == NameClass::step || name_class == NameClass::unsound_step;
    unseen_steps_ += is_step && role == Role::annotation ? 1 : 0;
    like_memory_ += roles_.is_like_memory(event) ? 1 : 0;
  }
  lacks_host_ = any_work && !any_host;
}

bool RowWriter::is_renamed(EventId event) const {
  return roles_.role(event) == Role::collective &&
         roles_.name_class(event) == NameClass::collective_variant;
}

std::int64_t RowWriter::duration_ns(EventId event) const {
  const auto* shorter = crossings_.shortened.empty()
                            ? nullptr
                            : first_of(crossings_.shortened, event, &Crossings::Shorter::event);
  return shorter != nullptr ? shorter->duration_ns : trace_.events().duration_ns(event);
}

void RowWriter::begin(std::string& json) const {
  const auto& metadata = trace_.metadata();
  bool first = true;
  const auto member = [&](std::string_view key, std::string_view value) {
    json += first ? "{\n" : ",\n";
    first = false;
    json += key_json(key);
    json += ": ";
    if (!wire::append_strict_json(json, value, true)) wire::append_json_string(json, value);
  };
  member("schemaVersion", metadata.contains("schemaVersion") ? metadata.at("schemaVersion") : "1");
  if (!devices_.properties().empty()) {
    member("deviceProperties", devices_.properties());
  } else if (metadata.contains("deviceProperties")) {
    member("deviceProperties", "[]");
  }
  for (const auto& [key, value] : metadata) {
    const std::string json_key = key_json(key);
    const bool written = json_key == "\"schemaVersion\"" || json_key == "\"deviceProperties\"" ||
                         json_key == "\"baseTimeNanoseconds\"" || json_key == "\"traceEvents\"";
    if (!written) member(key, value);
  }
  if (!metadata.contains("displayTimeUnit")) member("displayTimeUnit", "\"ms\"");
  member("baseTimeNanoseconds", std::to_string(unix_ns(trace_, origin_ns_)));
  json += ",\n\"traceEvents\": [\n";
}

void RowWriter::end(std::string& json) const {
  for (const PlaceName& name : places_.names()) {
    std::string text;
    wire::append_json_string(text, name.name);
    json += "{\"ph\":\"M\",\"name\":\"";
    json += name.is_process ? "process_name\"" : "thread_name\"";
    append_place(json, name.place);
    json += ",\"args\":{\"name\":" + text + "}},\n";
  }
  if (lacks_host_) window_marks(json);
  if (json.ends_with(",\n")) json.resize(json.size() - 2);
  json += "\n]}\n";
}

void RowWriter::time(std::int64_t time_ns, std::string& json) const {
  Numbers numbers;
  numbers.put(",\"ts\":");
  numbers.put_microseconds(time_ns - origin_ns_);
  json += numbers.view();
}

void RowWriter::row_start(std::string_view phase, std::string_view name_json, const Place& at,
                          std::string& json) {
  json += "{\"ph\":\""sv;
  json += phase;
  json += "\",\"name\":"sv;
  json += name_json;
  append_place(json, at);
}

void RowWriter::row_end(std::string& json) { json += "},\n"sv; }

void RowWriter::name(EventId event, RowTexts& texts, std::string& json) const {
  const auto* step =
      inferred_steps_.empty() ? nullptr : first_of(inferred_steps_, event, &Step::event);
  if (step != nullptr) {
    json += '"' + step_name(step->number) + '"';
    return;
  }
  if (is_renamed(event)) {
    json += '"' + known_collective(trace_.name(event)) + '"';
    return;
  }
  json += texts.strings[trace_.events().name(event)];
}

void RowWriter::category(EventId event, RowTexts& texts, std::string& json) const {
  if (numbers_.too_deep(event) && is_node(roles_.role(event))) {
    json += "\"too_deep\"";
    return;
  }
  if (numbers_.is_listed_collective(event)) {
    json += "\"cpu_op\"";
    return;
  }
  const std::string_view category = roles_.category(event);
  const StringId own = trace_.category(event).name;
  if (category.data() == trace_.string(own).data()) {
    json += texts.strings[own];
    return;
  }
  json += '"';
  json += category;
  json += '"';
}

void RowWriter::range(EventId event, const Extra& extra, RowTexts& texts, std::string& json) const {
  const Place& at = places_.of_event(event);
  json += "{\"ph\":\"X\",\"cat\":"sv;
  category(event, texts, json);
  json += ",\"name\":"sv;
  name(event, texts, json);
  Numbers numbers;
  put_place(numbers, at);
  numbers.put(",\"ts\":");
  numbers.put_microseconds(trace_.events().start_ns(event) - origin_ns_);
  numbers.put(",\"dur\":");
  numbers.put_microseconds(duration_ns(event));
  json += numbers.view();
  json += extra.members;

  constexpr std::string_view kArguments = ",\"args\":";
  json += kArguments;
  const std::size_t arguments = json.size();
  ids(event, at, json);
  if (first_of(inferred_steps_, event, &Step::event) != nullptr) {
    json += ",\"Annotation\":";
    json += texts.strings[trace_.events().name(event)];
  }
  if (is_renamed(event)) {
    json += ",\"Collective\":";
    json += texts.strings[trace_.events().name(event)];
  }
  json += extra.arguments;
  const bool wants_stack = !extra.has_call_stack && trace_.kind(event) == EventKind::cpu_op;
  if (wants_stack) {
    const std::string_view stack = texts.call_stacks.json(event);
    if (!stack.empty()) {
      json += ",\"Call stack\":";
      json += stack;
    }
  }
  if (json.size() > arguments) {
    json[arguments] = '{';  // in place of a comma
    json += "}},\n"sv;
  } else {
    json.resize(arguments - kArguments.size());
    row_end(json);
  }
  arrows_at(event, at, texts, json);
  missing_launch(event, texts, json);
}

void RowWriter::ids(EventId event, const Place& at, std::string& json) const {
  const EventKind kind = trace_.kind(event);
  const std::uint32_t external_id = numbers_.external_id(event);
  const std::uint32_t correlation = numbers_.correlation(event);
  const bool takes_part = kind == EventKind::runtime || is_device_work(kind);
  // The plugin ignores launches and work without an id; 0 means the thread.
  Numbers numbers;
  if (external_id != 0 || takes_part) {
    numbers.put(",\"External id\":");
    numbers.put_integer(external_id);
  }
  if (correlation != 0) {
    numbers.put(",\"correlation\":");
    numbers.put_integer(correlation);
  }
  if (is_device_row(kind)) {
    numbers.put(",\"device\":");
    numbers.put_integer(at.process);
  }
  json += numbers.view();
}

void RowWriter::arrows_at(EventId event, const Place& at, RowTexts& texts,
                          std::string& json) const {
  const Arrows::End* end = first_of(arrows_.ends, event, &Arrows::End::event, texts.arrow);
  if (end == nullptr) return;
  const Arrows::End* const after = arrows_.ends.data() + arrows_.ends.size();
  for (; end != after && end->event == event; ++end) {
    const bool launch = end->kind == Arrows::Kind::launch;
    Numbers row;
    row.put(end->start ? "{\"ph\":\"s\",\"name\":" : "{\"ph\":\"f\",\"name\":");
    row.put(launch ? "\"ac2g\"" : "\"fwdbwd\"");
    put_place(row, at);
    row.put(launch ? ",\"cat\":\"ac2g\",\"id\":" : ",\"cat\":\"fwdbwd\",\"id\":");
    row.put_integer(end->id);
    row.put(",\"ts\":");
    row.put_microseconds(trace_.events().start_ns(event) - origin_ns_);
    if (!end->start) row.put(",\"bp\":\"e\"");
    row.put("},\n");
    json += row.view();
  }
}

/// Adds a zero-length launch where the operator starts.
void RowWriter::missing_launch(EventId work, RowTexts& texts, std::string& json) const {
  const auto* missing = first_of(numbers_.missing_launches(), work, &LinkNumbers::Missing::work,
                                 texts.missing_launch);
  if (missing == nullptr) return;
  row_start("X", "\"launch that is not in the trace\"", places_.of_event(missing->op), json);
  json += ",\"cat\":\"Runtime\"";
  time(trace_.events().start_ns(missing->op), json);
  json += ",\"dur\":0,\"args\":{\"External id\":";
  append_integer(json, numbers_.external_id(work));
  json += ",\"correlation\":";
  append_integer(json, numbers_.correlation(work));
  json += '}';
  row_end(json);
}

/// The plugin takes the time of steps, else of operators, as the trace's time: without either, it
/// gets two zero-length ranges.
void RowWriter::window_marks(std::string& json) const {
  constexpr std::int64_t kLeast = 1000;
  const std::int64_t end =
      std::min(std::max(trace_.window_end_ns(), trace_.window_start_ns() + kLeast),
               origin_ns_ + kFarthestNs - 1);
  const std::int64_t start = std::min(trace_.window_start_ns(), end - kLeast);
  for (const auto& [name, time_ns] :
       {std::pair("\"window starts\"", start), std::pair("\"window ends\"", end)}) {
    row_start("X", name, Place{}, json);
    json += ",\"cat\":\"Python\"";
    time(time_ns, json);
    json += ",\"dur\":0";
    row_end(json);
  }
}

void RowWriter::memory(const MemoryRecord& record, const Place& at, const Extra& extra,
                       std::string& json) const {
  row_start("i", record.out_of_memory ? "\"[OutOfMemory]\"" : "\"[memory]\"", at, json);
  json += ",\"cat\":\"cpu_instant_event\",\"s\":\"t\""sv;
  time(record.time_ns, json);
  json += extra.members;
  Numbers arguments;
  arguments.put(",\"args\":{\"Device Type\":");
  const bool on_device = record.device_type != DeviceType::cpu;
  // The plugin knows 0 (CPU) and 1 (CUDA), and fails for others.
  const bool renamed = on_device && record.device_type != DeviceType::cuda;
  arguments.put_integer(static_cast<std::int64_t>(renamed ? DeviceType::cuda : record.device_type));
  if (renamed) {
    arguments.put(",\"c10 Device Type\":");
    arguments.put_integer(static_cast<std::int64_t>(record.device_type));
  }
  arguments.put(",\"Device Id\":");
  // The plugin looks up a CPU's number among the devices.
  const bool lost = record.device_id > 0;
  arguments.put_integer(on_device ? devices_.memory_number(record.device_id)
                        : lost    ? std::int64_t{-1}
                                  : record.device_id);
  arguments.put(",\"Bytes\":");
  arguments.put_integer(record.bytes);
  json += arguments.view();
  json += extra.arguments;
  json += '}';
  row_end(json);
}

Changes RowWriter::changes() const {
  Changes changes;
  const auto count = [&](const char* id, std::uint64_t number) {
    if (number != 0) changes[id] = number;
  };
  count("ranges_moved_to_lanes", crossings_.moved.size());
  count("ranges_shortened", crossings_.shortened.size());
  count("tracks_renumbered", places_.renumbered());
  count("devices_renumbered", devices_.renumbered());
  count("arrows_left_out", arrows_.left_out);
  if (!numbers_.external_ids_kept()) count("external_ids_renumbered", 1);
  if (!numbers_.correlations_kept()) count("correlations_renumbered", 1);
  count("steps_inferred", inferred_steps_.size());
  count("launches_added", numbers_.missing_launches().size());
  count("ranges_like_memory", like_memory_);
  count("ranges_too_deep", numbers_.too_deep_count());
  count("steps_hidden", unseen_steps_);
  if (lacks_host_) count("window_marked", 1);
  return changes;
}

}  // namespace tbtrace::chrome
