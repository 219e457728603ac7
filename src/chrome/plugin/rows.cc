#include "chrome/plugin/rows.h"

#include <algorithm>
#include <array>
#include <string>
#include <utility>
#include <vector>

#include "chrome/plugin/model.h"
#include "chrome/rows/member_json.h"
#include "trace/input_lists.h"
#include "wire/json_strict.h"
#include "wire/json_text.h"

namespace tbtrace::chrome {
namespace {

constexpr std::uint32_t bit(EventField field) { return LeftOutMembers::bit(field); }

// The members that RowWriter writes: of any row, of rows with `args`, and of ranges.
constexpr std::uint32_t kRowMembers = bit(EventField::phase) | bit(EventField::name) |
                                      bit(EventField::process) | bit(EventField::thread) |
                                      bit(EventField::timestamp);
constexpr std::uint32_t kOtherMembers = kRowMembers | bit(EventField::arguments);
constexpr std::uint32_t kRangeMembers =
    kOtherMembers | bit(EventField::category) | bit(EventField::duration);

constexpr ArgumentSet kIds = {Argument::external_id, Argument::correlation};
constexpr ArgumentSet kInputs = {Argument::input_dims, Argument::input_types};
constexpr ArgumentSet kMemoryArguments = {
    Argument::allocation_device_type, Argument::allocation_device_id, Argument::allocated_bytes};

const RowMember* find(std::span<const RowMember> arguments, Argument argument) {
  const RowMember* found = nullptr;
  for (const RowMember& member : arguments) {
    if (member.argument == argument) found = &member;  // the last one counts
  }
  return found;
}

bool says_something(std::string_view json) { return !json.empty() && json != "null"; }

/// The row's `args` if they are not an object, else empty. The last of several `args` counts.
std::string_view bare_args(std::span<const RowMember> members,
                           std::span<const RowMember> arguments) {
  std::string_view found;
  if (!arguments.empty()) return found;
  for (const RowMember& member : members) {
    if (member.field == EventField::arguments) found = member.json;
  }
  return found;
}

/// A member is as the file has it.
std::string canonical(std::string_view json) {
  std::string text;
  return wire::append_canonical_json(text, json) ? text : std::string(json);
}

/// The types whose element sizes the plugin knows.
bool has_known_size(std::string_view type) {
  constexpr std::array<std::string_view, 6> kTypes = {
      "long int", "float", "int", "c10::Half", "c10::BFloat16", "unsigned char"};
  return std::find(kTypes.begin(), kTypes.end(), type) != kTypes.end();
}

}  // namespace

std::unique_ptr<readers::BlockSink> PluginDocument::make() {
  return std::make_unique<PluginRows>(trace(), writer_, *this);
}

/// `args` that are not an object are looked at.
LeftOutMembers PluginDocument::left_out() const {
  return {.fields = kRowMembers,
          .range_fields = kRangeMembers & ~bit(EventField::arguments),
          .range_arguments = kIds};
}

std::unique_ptr<ModelRows> PluginDocument::model_rows() const {
  return std::make_unique<PluginModelRows>(trace(), writer_);
}

void PluginDocument::write_end(std::string& json) {
  writer_.end(json);
  count(writer_.changes());
}

PluginRows::PluginRows(const Trace& trace, const chrome::RowWriter& writer, RowDocument& document)
    : RowBlock(document), trace_(trace), writer_(writer), texts_(writer.texts()) {}

void PluginRows::add(const EventBatch& rows) {
  if (!take_ranges(trace_, rows.ranges.size())) return;
  places_of_batch_.clear();
  std::size_t members = 0;
  std::size_t arguments = 0;
  for (const EventBatch::Row& row : rows.rows) {
    const Members own = Members(rows.members).subspan(members, row.members_end - members);
    const Members args = Members(rows.arguments).subspan(arguments, row.arguments_end - arguments);
    members = row.members_end;
    arguments = row.arguments_end;
    members_.clear();
    arguments_.clear();
    switch (row.kind) {
      case RowKind::range:
        range(range_id(row.number), own, args);
        break;
      case RowKind::range_end:
        // Its range is written with a duration instead.
        if (!args.empty() || says_something(bare_args(own, args))) {
          ++changes()["end_arguments_left_out"];
        }
        break;
      case RowKind::memory:
        memory(rows, rows.memory[row.number], own, args);
        break;
      case RowKind::flow:
      case RowKind::flow_step:
        break;  // flow events are regenerated
      case RowKind::label:
      case RowKind::instant:
      case RowKind::unsupported:
        other(rows, rows.others[row.number], row.kind, own, args);
    }
  }
}

void PluginRows::range(EventId event, Members members, Members arguments) {
  const bool is_collective = writer_.is_collective(event);
  const bool is_device_row = chrome::is_device_row(trace_.kind(event));
  add_members(members, kRangeMembers);
  add_arguments(arguments, {.written = is_collective ? kIds | kInputs : kIds,
                            .is_device_row = is_device_row,
                            .must_be_numbers = is_device_row});
  if (is_collective) add_collective_inputs(arguments);
  const bool has_call_stack = find(arguments, Argument::call_stack) != nullptr;
  writer_.range(event, {members_, arguments_, has_call_stack}, texts_, text());
  // The plugin looks for keys in the `args` of a range.
  if (says_something(bare_args(members, arguments))) ++changes()["args_left_out"];
}

void PluginRows::memory(const EventBatch& rows, const MemoryRecord& record, Members members,
                        Members arguments) {
  add_members(members, kRangeMembers, "s");
  add_arguments(arguments, {.written = kMemoryArguments, .must_be_numbers = true});
  if (says_something(bare_args(members, arguments))) ++changes()["args_left_out"];
  writer_.memory(record, place(rows, record.track, true), {members_, arguments_, false}, text());
}

void PluginRows::other(const EventBatch& rows, const EventBatch::Other& row, RowKind kind,
                       Members members, Members arguments) {
  const auto kept = [&](StringId id) { return rows.texts[static_cast<std::uint32_t>(id)]; };
  std::string phase;
  wire::append_json_string(phase, kept(row.phase));
  std::string name;  // the plugin reads the name of every row
  wire::append_json_string(name, kept(row.name));
  chrome::RowWriter::row_start(std::string_view(phase).substr(1, phase.size() - 2), name,
                               place(rows, row.track, row.has_thread), text());
  if (row.time_ns) {
    const bool is_label = kind == RowKind::label;
    writer_.time(is_label ? std::max(*row.time_ns, trace_.first_time_ns()) : *row.time_ns, text());
  }
  // The plugin takes any row of this category for the end of a flow event.
  const bool misleads = kept(row.category) == "forward_backward";
  add_members(members, misleads ? kOtherMembers | bit(EventField::category) : kOtherMembers);
  text() += members_;
  add_arguments(arguments, {});
  if (!arguments_.empty()) {
    text() += ",\"args\":{";
    text() += std::string_view(arguments_).substr(1);
    text() += '}';
  } else if (const std::string_view bare = bare_args(members, arguments); !bare.empty()) {
    text() += ",\"args\":";
    append_value(text(), bare, changes());
  }
  chrome::RowWriter::row_end(text());
}

const chrome::Place& PluginRows::place(const EventBatch& rows, TrackId track, bool has_thread) {
  const std::size_t number = 2 * index(track) + (has_thread ? 1 : 0);
  if (number >= places_of_batch_.size()) places_of_batch_.resize(2 * rows.tracks.size(), nullptr);
  if (places_of_batch_[number] == nullptr) {
    const chrome::Place& found = find_place(rows, track, has_thread);
    places_of_batch_[number] = &found;
  }
  return *places_of_batch_[number];
}

const chrome::Place& PluginRows::find_place(const EventBatch& rows, TrackId track,
                                            bool has_thread) {
  const EventBatch::Track& keys = rows.tracks[index(track)];
  const std::string process = id_text(rows, keys.process);
  const std::string thread = has_thread ? id_text(rows, keys.thread) : std::string();
  const std::string key = process + '\0' + thread;
  const auto known = places_.find(key);
  if (known != places_.end()) return known->second;
  constexpr std::size_t kMostPlaces = 100'000;
  if (places_.size() == kMostPlaces) {
    places_.clear();
    places_of_batch_.assign(places_of_batch_.size(), nullptr);
  }
  return places_.emplace(key, writer_.places().of_text(process, thread)).first->second;
}

bool PluginRows::comes_again(std::size_t member) {
  if (!repeated_keys_.comes_again(member)) return false;
  ++changes()["repeated_members_left_out"];
  return true;
}

void PluginRows::add_members(Members members, std::uint32_t written, std::string_view written_key) {
  repeated_keys_.find(members);
  for (std::size_t at = 0; at < members.size(); ++at) {
    const RowMember& member = members[at];
    if (member.field != EventField::none && (written & bit(member.field)) != 0) continue;
    if (!written_key.empty() && member.key == written_key) continue;
    if (comes_again(at)) continue;
    members_ += ',';
    append_member(members_, member, changes());
  }
}

void PluginRows::add_arguments(Members arguments, const Arguments& how) {
  repeated_keys_.find(arguments);
  for (std::size_t at = 0; at < arguments.size(); ++at) {
    const RowMember& member = arguments[at];
    if (member.argument != Argument::none && how.written.contains(member.argument)) continue;
    if (how.is_device_row && member.argument == Argument::device) continue;
    if (comes_again(at)) continue;
    if (!how.must_be_numbers || !is_calculated_with(member.argument)) {
      arguments_ += ',';
      append_member(arguments_, member, changes());
      continue;
    }
    std::string_view number = member.json;  // other writers quote numbers
    if (number.starts_with('"')) number = number.substr(1, number.size() - 2);
    if (wire::is_json_number(number)) {
      arguments_ += ',';
      append_copied(arguments_, member, number);
    } else if (member.json != "null") {
      ++changes()["values_left_out"];
    }
  }
}

/// The plugin multiplies tensor sizes by the sizes of their types, and drops a run that has lists
/// of tensors. inputs::Inputs whose size it does not know are left out.
void PluginRows::add_collective_inputs(Members arguments) {
  const RowMember* const listed_dims = find(arguments, Argument::input_dims);
  const RowMember* const listed_types = find(arguments, Argument::input_types);
  if (listed_dims == nullptr || listed_types == nullptr) return;
  const std::vector<InputDims> dims = parse_dims(canonical(listed_dims->json));
  const std::vector<std::string> types = parse_texts(canonical(listed_types->json));
  std::string dims_json;
  std::string types_json;
  for (std::size_t at = 0; at < std::min(dims.size(), types.size()); ++at) {
    if (dims[at].is_list || !has_known_size(types[at])) continue;
    const char* const comma = dims_json.empty() ? "" : ",";
    dims_json += comma;
    dims_json += '[';
    for (const std::int64_t size : dims[at].sizes) {
      if (!dims_json.ends_with('[')) dims_json += ',';
      dims_json += std::to_string(size);
    }
    dims_json += ']';
    types_json += comma;
    types_json += '"' + types[at] + '"';
  }
  arguments_ += ",\"Input Dims\":[" + dims_json + "],\"Input type\":[" + types_json + "]";
}

}  // namespace tbtrace::chrome
