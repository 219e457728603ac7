#include "chrome/kineto/rows.h"

#include <algorithm>
#include <cstddef>

#include "analyses/recording/sliced.h"
#include "chrome/kineto/json.h"
#include "chrome/kineto/model.h"
#include "chrome/rows/json_numbers.h"
#include "chrome/rows/member_json.h"
#include "trace/step_names.h"
#include "wire/json_strict.h"
#include "wire/json_text.h"

namespace tbtrace::chrome {
namespace {

constexpr std::string_view kUncutTime = "uncut_ts";

const RowMember* find(std::span<const RowMember> members, EventField field) {
  const RowMember* found = nullptr;
  for (const RowMember& member : members) {
    if (member.field == field) found = &member;  // the last one counts
  }
  return found;
}

/// The reader takes such a member for one that is missing.
bool says_nothing(const RowMember* member) { return member == nullptr || member->json == "null"; }

}  // namespace

std::unique_ptr<readers::BlockSink> KinetoDocument::make() {
  if (!repairs_) return std::make_unique<PlainRows>(*this);
  return std::make_unique<KinetoRows>(trace(), *repairs_, *this, part_);
}

std::unique_ptr<ModelRows> KinetoDocument::model_rows() const {
  return std::make_unique<KinetoModelRows>(trace(), *repairs_);
}

void KinetoDocument::write_start(std::string& json) {
  json += "{\n";
  Changes changes;
  for (const auto& [key, value] : trace().metadata()) {
    if (key == "traceEvents" || (part_ != nullptr && key == analyses::kSliceMember)) continue;
    append_metadata(json, key, value, changes);
    json += ",\n";
  }
  count(changes);
  json += "\"traceEvents\": [\n";
}

void KinetoDocument::write_end(std::string& json) {
  if (repairs_) {
    for (const KinetoRepairs::LaneName& lane : repairs_->lane_names()) {
      append_label(json, trace(), "thread_name", lane.process, {.number = lane.thread}, lane.name);
    }
    count(repairs_->changes());
  }
  if (json.ends_with(",\n")) json.resize(json.size() - 2);
  json += "\n]";
  if (part_ != nullptr)
    json += ",\n\"" + std::string(analyses::kSliceMember) + "\": " + part_->member();
  json += "}\n";
}

void PlainRows::add(const EventBatch& rows) {
  take_ranges(rows.ranges.size());
  std::string& json = text();
  const auto put = [&json](const RowMember& member) {
    json += '"';
    json += member.key;
    json += "\":";
    json += member.json;
    json += ',';
  };
  std::size_t members = 0;
  std::size_t arguments = 0;
  for (const EventBatch::Row& row : rows.rows) {
    json += '{';
    for (; members < row.members_end; ++members) {
      const RowMember& member = rows.members[members];
      if (member.field != EventField::arguments) {
        put(member);
        continue;
      }
      json += "\"args\":{";
      const std::size_t start = json.size();
      for (; arguments < row.arguments_end; ++arguments) put(rows.arguments[arguments]);
      if (json.size() > start) json.pop_back();
      json += "},";
    }
    json.back() = '}';
    json += ",\n";
  }
}

void KinetoRows::add(const EventBatch& rows) {
  if (!take_ranges(trace_, rows.ranges.size())) return;
  std::size_t members = 0;
  std::size_t arguments = 0;
  const std::size_t size_before = text().size();
  std::uint64_t left_out = 0;
  std::uint64_t ends = 0;  // of ranges, which have them
  for (const EventBatch::Row& row : rows.rows) {
    const Members own = Members(rows.members).subspan(members, row.members_end - members);
    const Members args = Members(rows.arguments).subspan(arguments, row.arguments_end - arguments);
    members = row.members_end;
    arguments = row.arguments_end;
    if (part_ != nullptr && !takes(rows, row)) {
      ++left_out;
      continue;
    }
    const std::size_t row_start = text().size();
    switch (row.kind) {
      case RowKind::range:
        range(range_id(row.number), rows.ranges[row.number], own, args);
        break;
      case RowKind::range_end: {
        ++ends;
        const RowMember* const bare = find(own, EventField::arguments);
        const bool says_something =
            !args.empty() || (bare != nullptr && !bare->json.empty() && bare->json != "null");
        if (says_something) ++changes()["end_arguments_left_out"];
        break;
      }
      case RowKind::memory:
        copy(own, args, {.read_time_ns = rows.memory[row.number].time_ns});
        break;
      case RowKind::flow:
        flow(rows, rows.flows[row.number], own, args);
        break;
      case RowKind::label:
        label(rows.others[row.number], own, args);
        break;
      case RowKind::flow_step:
      case RowKind::instant:
      case RowKind::unsupported:
        copy(own, args, {.read_time_ns = rows.others[row.number].time_ns});
    }
    if (part_ == nullptr || part_->sizes == nullptr) continue;
    const std::size_t bytes = text().size() - row_start;
    if (row.kind == RowKind::range) {
      part_->sizes->add(range_id(row.number), bytes);
    } else if (bytes > 0) {
      part_->sizes->add(rows, row, bytes);
    }
  }
  if (part_ == nullptr) return;
  part_->rows += rows.rows.size() - left_out - ends;
  part_->left_out += left_out;
  part_->bytes += text().size() - size_before;
}

bool KinetoRows::takes(const EventBatch& rows, const EventBatch::Row& row) const {
  const RowSelection& selection = part_->selection;
  const auto text = [&](const TrackKey& key) { return id_text(rows, key); };
  switch (row.kind) {
    case RowKind::range:
      return selection.takes_range(range_id(row.number));
    case RowKind::range_end:
    case RowKind::label:
      return true;
    case RowKind::memory: {
      const MemoryRecord& record = rows.memory[row.number];
      const EventBatch::Track& track = rows.tracks[index(record.track)];
      return selection.takes_memory(record, {text(track.process), text(track.thread)});
    }
    case RowKind::flow:
      return selection.takes_flow(rows.flows[row.number],
                                  text(rows.tracks[index(rows.flows[row.number].track)].process));
    default: {
      const EventBatch::Other& other = rows.others[row.number];
      if (!other.has_thread) return selection.takes_other(other.time_ns, std::nullopt);
      return selection.takes_other(other.time_ns, text(rows.tracks[index(other.track)].thread));
    }
  }
}

void KinetoRows::label(const EventBatch::Other& row, Members members, Members arguments) {
  copy(members, arguments, {.read_time_ns = row.time_ns.value_or(trace_.first_time_ns())});
  if (says_nothing(find(members, EventField::timestamp))) ++changes()["label_times_added"];
}

void KinetoRows::range(EventId event, const EventRow& row, Members members, Members arguments) {
  Differences differences = {
      .category = repairs_.category(event),
      .thread = repairs_.lane(event),
      .duration_ns = repairs_.shorter_ns(event),
      .external_id = repairs_.external_id(event),
      .read_time_ns = trace_.events().start_ns(event),
      .read_duration_ns = trace_.events().duration_ns(event),
  };
  if ((row.flags & Events::kBegun) != 0) {
    differences.phase = "X";
    if (!differences.duration_ns) differences.duration_ns = differences.read_duration_ns;
    ++changes()["pairs_joined"];
  }
  const TimeRange whole = {trace_.events().start_ns(event), trace_.events().end_ns(event)};
  if (part_ != nullptr && part_->selection.cuts(event)) {
    const TimeRange time = part_->selection.time(event);
    differences.uncut = whole;
    differences.start_ns = time.start;
    const std::int64_t most = differences.duration_ns.value_or(whole.end - whole.start);
    differences.duration_ns = std::min(time.end, whole.start + most) - time.start;
    ++part_->cut;
  }
  std::string step;
  if (const auto number = repairs_.inferred_step(event)) {
    step = step_name(*number);
    differences.name = step;
    if (const RowMember* own = find(members, EventField::name)) differences.annotation = own->json;
  }
  copy(members, arguments, differences);
  missing_flows(event, members);
}

void KinetoRows::flow(const EventBatch& rows, const FlowEnd& end, Members members,
                      Members arguments) {
  const EventBatch::Track& keys = rows.tracks[index(end.track)];
  copy(members, arguments,
       {.thread =
            repairs_.lane_of_flow(id_text(rows, keys.process), id_text(rows, keys.thread), end)});
}

/// Members in the file's order; of a key that is repeated, the last.
void KinetoRows::copy(Members members, Members arguments, const Differences& differences) {
  std::string& json = text();
  const auto has = [&](EventField field) { return find(members, field) != nullptr; };
  json += '{';
  repeated_members_.find(members);
  for (std::size_t at = 0; at < members.size(); ++at) {
    if (repeated_members_.comes_again(at)) {
      ++changes()["repeated_members_left_out"];
      continue;
    }
    if (members[at].is_repaired) ++changes()["texts_repaired"];
    append_key(json, members[at]);
    value(members[at], arguments, differences);
    json += ',';
  }
  if (differences.thread && !has(EventField::thread)) {
    json += "\"tid\":";
    append_integer(json, *differences.thread);
    json += ',';
  }
  if (differences.read_time_ns && !has(EventField::timestamp)) {
    json += "\"ts\":";
    append_microseconds(json, *differences.read_time_ns);
    json += ',';
  }
  if (differences.duration_ns && !has(EventField::duration)) {
    json += "\"dur\":";
    append_microseconds(json, *differences.duration_ns);
    json += ',';
  }
  const bool has_more = !differences.annotation.empty() || differences.uncut ||
                        differences.external_id.value_or(0) != 0;
  if (has_more && !has(EventField::arguments)) {
    json += "\"args\":";
    object({}, differences);
    json += ',';
  }
  json.back() = '}';  // a row has a phase
  json += ",\n";
}

void KinetoRows::value(const RowMember& member, Members arguments, const Differences& differences) {
  std::string& json = text();
  const auto replaced_by = [&](std::string_view plain_text) {
    if (plain_text.empty()) return false;
    json += '"';
    json += plain_text;
    json += '"';
    return true;
  };
  switch (member.field) {
    case EventField::phase:
      if (replaced_by(differences.phase)) return;
      break;
    case EventField::category:
      // An empty one stays empty, though the model takes it for an operator or for device work.
      if (member.json != "\"\"" && !says_nothing(&member) &&
          replaced_by(differences.category.name)) {
        ++changes()[differences.category.change];
        return;
      }
      break;
    case EventField::name:
      if (replaced_by(differences.name)) return;
      break;
    case EventField::thread:
      if (differences.thread) return append_integer(json, *differences.thread);
      break;
    case EventField::timestamp:
      if (differences.start_ns) return append_microseconds(json, *differences.start_ns);
      return time(member, differences.read_time_ns, changes());
    case EventField::duration:
      if (differences.duration_ns) return append_microseconds(json, *differences.duration_ns);
      if (says_nothing(&member)) break;
      return time(member, differences.read_duration_ns, changes());
    case EventField::arguments:
      if (member.json.empty()) return object(arguments, differences);
      break;
    default:
      break;
  }
  append_value(json, member.json, changes());
}

/// As the file has it, with all its decimals.
void KinetoRows::time(const RowMember& member, std::optional<std::int64_t> read_ns,
                      Changes& changes) {
  if (!read_ns || wire::is_json_number(member.json)) {
    return append_value(text(), member.json, changes);
  }
  append_microseconds(text(), *read_ns);
  if (!says_nothing(&member)) ++changes["times_repaired"];
}

void KinetoRows::object(Members arguments, const Differences& differences) {
  std::string& json = text();
  json += '{';
  const std::size_t start = json.size();
  const auto comma = [&] {
    if (json.size() > start) json += ',';
  };
  bool has_external_id = !differences.external_id || *differences.external_id == 0;
  repeated_arguments_.find(arguments);
  for (std::size_t at = 0; at < arguments.size(); ++at) {
    const RowMember& member = arguments[at];
    if (repeated_arguments_.comes_again(at)) {
      ++changes()["repeated_members_left_out"];
      continue;
    }
    if (member.argument == Argument::external_id && differences.external_id) {
      if (*differences.external_id == 0) continue;
      comma();
      append_key(json, member);
      append_integer(json, *differences.external_id);
      has_external_id = true;
      continue;
    }
    if (is_calculated_with(member.argument) && is_lost_number(member.json)) {
      ++changes()["values_left_out"];
      continue;
    }
    comma();
    append_member(json, member, changes());
  }
  if (!has_external_id) {
    comma();
    json += "\"External id\":";
    append_integer(json, *differences.external_id);
  }
  if (!differences.annotation.empty()) {
    comma();
    json += "\"Annotation\":";
    append_value(json, differences.annotation, changes());
  }
  const bool was_cut = std::ranges::find(arguments, kUncutTime, &RowMember::key) != arguments.end();
  if (differences.uncut && !was_cut) {
    comma();
    json += '"';
    json += kUncutTime;
    json += "\":";
    append_microseconds(json, differences.uncut->start);
    json += ",\"uncut_dur\":";
    append_microseconds(json, differences.uncut->end - differences.uncut->start);
  }
  json += '}';
}

void KinetoRows::missing_flows(EventId event, Members members) {
  std::string& json = text();
  const std::optional<std::int64_t> lane = repairs_.lane(event);
  Changes uncounted;  // what these members need was counted in the range's row
  for (const KinetoRepairs::Flow& flow : repairs_.missing_flows(event)) {
    append_flow_start(json, flow.start, kLaunchFlow, flow.id);
    if (const RowMember* const process = find(members, EventField::process)) {
      json += ",\"pid\":";
      append_value(json, process->json, uncounted);
    }
    const RowMember* const thread = find(members, EventField::thread);
    if (lane) {
      json += ",\"tid\":";
      append_integer(json, *lane);
    } else if (thread != nullptr) {
      json += ",\"tid\":";
      append_value(json, thread->json, uncounted);
    }
    json += ",\"ts\":";
    time(*find(members, EventField::timestamp), trace_.events().start_ns(event), uncounted);
    json += "},\n";
  }
}

}  // namespace tbtrace::chrome
