#include "jobs/merge/merged_rows.h"

#include <algorithm>
#include <array>

#include "base/decimal.h"
#include "chrome/rows/json_numbers.h"
#include "chrome/rows/member_json.h"
#include "trace/categories.h"
#include "wire/json_strict.h"
#include "wire/json_text.h"
#include "wire/json_values.h"

namespace tbtrace::jobs {
namespace {

constexpr std::size_t kEnough = std::size_t{256} << 10;  // to be handed on

/// Arguments that are ids within a process. docs/formats/merged_trace.md lists them for people.
struct IdArgument {
  std::string_view key;
  NoId no_id;
};
constexpr std::array kIdArguments = std::to_array<IdArgument>({
    {"External id", NoId::zero_and_minus_one},
    {"external id", NoId::zero_and_minus_one},
    {"correlation", NoId::zero_and_minus_one},
    {"wait_on_cuda_event_id", NoId::zero_and_minus_one},
    {"wait_on_cuda_event_record_corr_id", NoId::zero_and_minus_one},
    {"cuda_event_id", NoId::zero_and_minus_one},
    {"graph id", NoId::zero_and_minus_one},
    {"graph node id", NoId::zero_and_minus_one},
    {"Sequence number", NoId::minus_one},
    {"Python id", NoId::never},
    {"Python parent id", NoId::never},
    {"Python module id", NoId::never},
});

const IdArgument* id_argument(std::string_view key) {
  // Most arguments are not ids; their length tells many apart.
  const auto* const found = std::ranges::find(kIdArguments, key, &IdArgument::key);
  return found == kIdArguments.end() ? nullptr : found;
}

const RowMember* find(std::span<const RowMember> members, EventField field) {
  const RowMember* found = nullptr;
  for (const RowMember& member : members) {
    if (member.field == field) found = &member;  // the last one counts
  }
  return found;
}

std::string_view without_quotes(std::string_view json) {
  return json.size() >= 2 && json.front() == '"' ? json.substr(1, json.size() - 2) : json;
}

std::string argument_text(std::span<const RowMember> arguments, std::string_view key) {
  std::string text;
  for (const RowMember& argument : arguments) {
    if (argument.key == key) text = wire::json_text(argument.json).value_or(std::string());
  }
  return text;
}

/// `CPU`, `GPU 0`, `XPU 1`: labels that Kineto gives processes.
bool names_device(std::string_view labels) { return !labels.empty() && labels != "CPU"; }

bool is_number(std::string_view id) { return !id.empty() && id.front() != '"'; }

}  // namespace

void EventArray::add(std::string_view rows) {
  constexpr std::string_view kRowEnd = ",\n";
  if (rows.empty()) return;
  if (has_rows_) write(kRowEnd);
  has_rows_ = true;
  write(rows.substr(0, rows.size() - kRowEnd.size()));
}

Status EventArray::end(std::string_view tail) {
  write(tail);
  return status_;
}

void EventArray::write(std::string_view text) {
  if (!head_.empty() && status_.ok()) status_ = sink_.write(std::exchange(head_, {}));
  if (status_.ok()) status_ = sink_.write(text);
  if (!status_.ok()) has_failed_.store(true, std::memory_order_relaxed);
}

bool DeviceCategories::is_device(std::string_view json) {
  if (json == last_) return last_is_device_;
  auto found = known_.find(std::string(json));
  if (found == known_.end()) {
    const std::string name = wire::json_text(json).value_or(std::string());
    found = known_.emplace(json, chrome::is_of_device(meaning_of_category(name).kind)).first;
  }
  last_ = json;
  return last_is_device_ = found->second;
}

MergedRows::MergedRows(const PartPlan& plan, EventArray& array)
    : plan_(plan), array_(array), ids_(plan.number, plan.digits) {}

void MergedRows::add(const EventBatch& rows) {
  if (is_restarted_ || !array_.status().ok()) return;
  std::size_t members = 0;
  std::size_t arguments = 0;
  for (const EventBatch::Row& row : rows.rows) {
    members_ = Members(rows.members).subspan(members, row.members_end - members);
    const Members args = Members(rows.arguments).subspan(arguments, row.arguments_end - arguments);
    members = row.members_end;
    arguments = row.arguments_end;
    Row known;
    for (const RowMember& member : members_) {
      if (member.field == EventField::process) known.process = &member;
      if (member.field == EventField::name) known.name = &member;
      if (member.field == EventField::phase) known.phase = &member;
    }
    const bool is_begun =
        row.kind == RowKind::range && (rows.ranges[row.number].flags & Events::kBegun) != 0;
    if (!takes(rows, row, members_)) {
      ++left_out_;
      continue;
    }
    if (is_begun && plan_.steps != nullptr) {
      known.begun_duration_ns = plan_.trace->events().duration_ns(range_id(row));
    }
    ++events_;
    is_label_ = row.kind == RowKind::label;
    if (is_label_) {
      label(members_, args, known);
    } else {
      copy(members_, args, known);
    }
    if (json_.size() >= kEnough) hand_on();
  }
  ranges_ += rows.ranges.size();
}

bool MergedRows::takes(const EventBatch& rows, const EventBatch::Row& row, Members members) {
  if (row.kind == RowKind::label) return true;
  const bool is_flow = row.kind == RowKind::flow || row.kind == RowKind::flow_step;
  bool is_device = false;
  if (row.kind == RowKind::range) {
    const RowMember* const category = find(members, EventField::category);
    is_device = category != nullptr && categories_.is_device(category->json);
    if (is_device) process_of(find(members, EventField::process)).is_device = true;
  }
  if (plan_.keep == MergeKeep::gpu && !is_device) return false;
  if (plan_.keep == MergeKeep::cpu) {
    const bool is_launch =
        row.kind == RowKind::flow ? rows.flows[row.number].type == FlowEnd::Type::launch : is_flow;
    if (is_device || is_launch) return false;
  }
  return plan_.steps == nullptr || takes_step(rows, row);
}

bool MergedRows::takes_step(const EventBatch& rows, const EventBatch::Row& row) const {
  const chrome::RowSelection& steps = *plan_.steps;
  switch (row.kind) {
    case RowKind::range:
      return index(range_id(row)) < plan_.trace->events().size() &&
             steps.takes_range(range_id(row));
    case RowKind::range_end:
      return false;  // its range has a duration
    case RowKind::memory:
      return steps.takes_memory(rows.memory[row.number], {});
    case RowKind::flow:
      return steps.takes_flow(
          rows.flows[row.number],
          chrome::id_text(rows, rows.tracks[index(rows.flows[row.number].track)].process));
    default:
      return steps.takes_other(rows.others[row.number].time_ns, std::nullopt);
  }
}

/// A row that names a process, says where viewers show it, or names a thread. A name waits for the
/// labels, which say whether the process is a device.
void MergedRows::label(Members members, Members arguments, const Row& known) {
  const std::string_view what =
      known.name == nullptr ? std::string_view() : without_quotes(known.name->json);
  Process& process = process_of(known.process);
  if (what == "process_labels") {
    process.labels = argument_text(arguments, "labels");
    write_held(process);
  }
  if (what == "process_sort_index") process.is_sorted = true;
  if (what != "process_name") return copy(members, arguments, known);
  process.is_named = true;
  write_held(process);  // an earlier name
  process.name = argument_text(arguments, "name");
  const std::size_t start = json_.size();
  std::size_t name_at = std::string::npos;
  json_ += '{';
  for (const RowMember& each : members) {
    if (each.field != EventField::arguments || !each.json.empty()) {
      chrome::append_key(json_, each);
      member(each, arguments, known);
      json_ += ',';
      continue;
    }
    json_ += "\"args\":{";
    bool has_any = false;
    for (const RowMember& each_argument : arguments) {
      if (has_any) json_ += ',';
      has_any = true;
      if (each_argument.key == "name") {
        json_ += "\"name\":";
        name_at = json_.size();
      } else {
        argument(each_argument, false);
      }
    }
    json_ += "},";
  }
  json_.back() = '}';
  json_ += ",\n";
  if (name_at == std::string::npos) return;  // it names nothing
  process.held = json_.substr(start, name_at - start);
  process.held_end = json_.substr(name_at);
  json_.resize(start);
  if (!process.labels.empty()) write_held(process);
}

/// `rank 3: python (pid 1234)`, `rank 3: python (GPU 0)`.
std::string MergedRows::name_in_viewer(const Process& process) const {
  std::string name = plan_.label;
  const bool has_name = !process.name.empty();
  name += ": ";
  if (has_name) name += process.name;
  if (!is_number(process.id)) {
    if (!has_name) name += without_quotes(process.id);
    return name;
  }
  if (has_name) name += ' ';
  name += '(';
  if (names_device(process.labels)) {
    name += process.labels;
  } else {
    name += process.is_device && process.labels.empty() ? "GPU " : "pid ";
    name += process.id;
  }
  return name + ')';
}

void MergedRows::write_held(Process& process) {
  if (process.held.empty()) return;
  json_ += process.held;
  wire::append_json_string(json_, name_in_viewer(process));
  json_ += process.held_end;
  process.held.clear();
}

void MergedRows::copy(Members members, Members arguments, const Row& known) {
  json_ += '{';
  for (const RowMember& each : members) {
    if (each.is_repaired) ++changes_["texts_repaired"];
    chrome::append_key(json_, each);
    member(each, arguments, known);
    json_ += ',';
  }
  if (known.process == nullptr) {  // which is process 0
    json_ += "\"pid\":";
    ids_.append(json_, "0");
    json_ += ',';
    process_of(nullptr);
  }
  if (known.begun_duration_ns) {
    json_ += "\"dur\":";
    chrome::append_microseconds(json_, *known.begun_duration_ns);
    json_ += ',';
  }
  json_.back() = '}';
  json_ += ",\n";
}

void MergedRows::member(const RowMember& member, Members arguments, const Row& known) {
  switch (member.field) {
    case EventField::phase:
      if (known.begun_duration_ns) {
        json_ += "\"X\"";
        return;
      }
      break;
    case EventField::process:
      ids_.append(json_, process_of(&member).id);
      return;
    case EventField::flow_id:
      return id(member, NoId::never);
    case EventField::timestamp:
      return time(member);
    case EventField::duration:
      return duration(member);
    case EventField::arguments:
      if (member.json.empty()) {
        const bool is_sort_index =
            known.name != nullptr && known.name->json == "\"process_sort_index\"";
        return object(arguments, is_sort_index);
      }
      break;
    default:
      if (member.key == "bind_id" || member.key == "id2") return id(member, NoId::never);
      break;
  }
  chrome::append_value(json_, member.json, changes_);
}

void MergedRows::time(const RowMember& member) {
  const std::size_t start = json_.size();
  const std::optional<std::int64_t> read =
      plan_.times.is_identity() ? std::nullopt : parse_microseconds(without_quotes(member.json));
  if (read) {
    chrome::append_microseconds(json_, plan_.times(*read));
  } else {
    chrome::append_value(json_, member.json, changes_);
  }
  if (!is_label_) last_time_.assign(json_, start);
}

void MergedRows::duration(const RowMember& member) {
  if (plan_.times.keeps_durations()) {
    return chrome::append_value(json_, member.json, changes_);
  }
  const RowMember* const start = find(members_, EventField::timestamp);
  const auto start_ns =
      start == nullptr ? std::nullopt : parse_microseconds(without_quotes(start->json));
  const auto ns = parse_microseconds(without_quotes(member.json));
  if (start_ns && ns) {
    const std::int64_t moved = plan_.times.duration(*start_ns, *ns);
    if (moved != *ns) return chrome::append_microseconds(json_, moved);
  }
  chrome::append_value(json_, member.json, changes_);
}

void MergedRows::id(const RowMember& member, NoId no_id) {
  if (ids_.append(json_, member.json, no_id)) return;
  if (no_id == NoId::never && member.json != "null") {
    ids_.append(json_, strict_id(member.json));
  } else {
    chrome::append_value(json_, member.json, changes_);
  }
}

std::string MergedRows::strict_id(std::string_view json) {
  if (PartIds::takes(json)) return std::string(json);
  std::string strict;
  chrome::append_value(strict, json, changes_);
  if (strict.starts_with('"')) return strict;
  std::string text;
  wire::append_json_string(text, strict);
  return text;
}

void MergedRows::argument(const RowMember& member, bool is_sort_index) {
  if (const IdArgument* const found = id_argument(member.key)) {
    chrome::append_key(json_, member);
    return id(member, found->no_id);
  }
  if (is_sort_index && member.key == "sort_index") {
    if (const auto index = parse_integer(member.json)) {
      chrome::append_key(json_, member);
      constexpr std::int64_t kRoom = std::int64_t{1} << 32;
      const bool has_room = *index >= 0 && *index < kRoom;
      return chrome::append_integer(json_, has_room ? *index + plan_.number * kRoom : *index);
    }
  }
  chrome::append_member(json_, member, changes_);
}

void MergedRows::object(Members arguments, bool is_sort_index) {
  json_ += '{';
  for (const RowMember& each : arguments) {
    argument(each, is_sort_index);
    json_ += ',';
  }
  if (arguments.empty()) {
    json_ += '}';
  } else {
    json_.back() = '}';
  }
}

MergedRows::Process& MergedRows::process_of(const RowMember* member) {
  const std::string_view id = member == nullptr ? std::string_view("0") : member->json;
  if (last_process_ < processes_.size() && processes_[last_process_].id == id) {
    return processes_[last_process_];
  }
  const auto found = numbers_.find(id);
  if (found != numbers_.end()) {
    last_process_ = found->second;
  } else {
    last_process_ = processes_.size();
    numbers_.emplace(std::string(id), last_process_);
    Process process;
    process.id = id == "null" ? "0" : strict_id(id);
    processes_.push_back(std::move(process));
  }
  return processes_[last_process_];
}

void MergedRows::finish() {
  // Perfetto takes the text of a process's id for its name, unless the last row names the process.
  const std::string time = last_time_.empty() ? "0" : last_time_;
  const auto begin_label = [&](std::string_view what, const Process& process) {
    json_ += R"({"ph":"M","name":")";
    json_ += what;
    json_ += R"(","pid":)";
    ids_.append(json_, process.id);
    json_ += R"(,"tid":0,"ts":)" + time + R"(,"args":{"added_by":"tbtrace merge",)";
  };
  std::int64_t place = 0;
  for (Process& process : processes_) {
    write_held(process);
    if (!process.is_sorted) {
      // Devices after processes, as Kineto sorts them.
      constexpr std::int64_t kRoom = std::int64_t{1} << 32;
      constexpr std::int64_t kDevices = std::int64_t{1} << 24;
      begin_label("process_sort_index", process);
      json_ += "\"sort_index\":";
      chrome::append_integer(json_,
                             plan_.number * kRoom + (process.is_device ? kDevices : 0) + place);
      json_ += "}},\n";
    }
    if (!process.is_named) {
      begin_label("process_name", process);
      json_ += "\"name\":";
      wire::append_json_string(json_, name_in_viewer(process));
      json_ += "}},\n";
    }
    ++place;
  }
  hand_on();
}

void MergedRows::hand_on() {
  array_.add(json_);
  json_.clear();
}

}  // namespace tbtrace::jobs
