// Rows of a recording on their way to an EventSink: typed, and with their members as JSON if the
// sink asked for these. Both follow from one call, so that a file and a table cannot differ.
// Refers to the sink, which must outlive it. One thread per object. Ids stay valid.
// The members and their order are docs/formats/chrome_json.md, in its Kineto dialect.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "recorder/window/text_arena.h"
#include "trace/event_sink.h"

namespace tbtrace::recorder {

/// What a sink needs of the rows.
struct RowRequest {
  ArgumentSet arguments = kOperatorArguments;  ///< those that become values
  bool overloads = true;     ///< operators are named `aten::add.Tensor`; files have `aten::add`
  bool members = false;      ///< all members of all rows, also of rows that are not in the model
  bool flow_members = true;  ///< with members: flow events too, else these make no rows
  LeftOutMembers left_out = {};  ///< are not among the members
};

class RowBatch {
 public:
  /// Times are counted from `base_ns`; earlier ones count as 0. Labels are at `labels_ns`.
  RowBatch(EventSink& sink, std::int64_t base_ns, std::int64_t labels_ns,
           const RowRequest& request);

  bool has_members() const { return request_.members; }
  std::int64_t time(std::int64_t unix_ns) const {
    return unix_ns < base_ns_ ? 0 : unix_ns - base_ns_;
  }

  /// Bytes that are not UTF-8 are replaced.
  StringId text(std::string_view bytes);
  TrackId track(std::int64_t process, std::int64_t thread) {
    return track({.process = {process, StringId::empty}, .thread = {thread, StringId::empty}});
  }
  TrackId track(const EventBatch::Track& track);
  CategoryId category(std::string_view name);

  // Arguments of the row that is added next, a range or a memory record, in their order in files.
  // The request leaves some of ranges out, which memory records do not have.

  template <std::integral Integer>
  void argument(Argument argument, Integer number) {
    if (wants_value(argument)) value(argument).integer = static_cast<std::int64_t>(number);
    if (wants_member(argument)) member(argument, json_of(number));
  }
  /// `json` is the number.
  void argument(Argument argument, double number, std::string_view json);
  /// An empty text has no value. Of an argument that is JSON, the text is its form in files.
  void argument(Argument argument, StringId text);
  void argument(Argument argument, const Dim3& sizes);
  /// Without a value; `json` must last as long as the batch.
  void argument_json(Argument argument, std::string_view json) {
    if (wants_member(argument)) member(argument, json);
  }
  // Arguments that no schema has, only in files. Keys must need no escape, and last.
  template <std::integral Integer>
  void argument(std::string_view key, Integer number) {
    if (request_.members) member(key, json_of(number));
  }
  void argument_text(std::string_view key, std::string_view bytes);
  /// The JSON is copied.
  void argument_json(std::string_view key, std::string_view json);

  /// The arguments so far, for rows that have the same ones, and to be put into a row again.
  struct SavedArguments {
    std::vector<RowMember> members;
    std::vector<std::pair<EventBatch::Value, Dim3>> values;
  };
  SavedArguments take_arguments();
  void arguments(const SavedArguments& saved);

  /// An end before the start is set to the start. Ranges, memory records and flow events are each
  /// passed on in the order in which they were added.
  void add_range(EventRow row, std::int64_t unix_start_ns, std::int64_t unix_end_ns);
  /// `record` has its time.
  void add_memory(const MemoryRecord& record);
  /// An instant of a thread. `json`: its arguments, may be empty.
  void add_thread_instant(StringId name, TrackId track, std::int64_t unix_ns,
                          std::string_view json);
  /// The value of a counter, which is its only series.
  void add_counter(StringId name, TrackId track, std::int64_t unix_ns, double value);
  /// `name` is its category, too.
  void add_flow(const FlowEnd& end, std::string_view name);
  /// Files also have a label and a place in the order of processes.
  void name_process(std::int64_t process, std::string_view name, std::string_view label,
                    std::int64_t sort_index);
  void name_thread(std::int64_t process, std::int64_t thread, std::string_view name);
  /// A label that files have and the model has not. The JSON is copied.
  void add_label(std::string_view what, const EventBatch::Track& of, std::string_view key,
                 std::string_view json);
  EventBatch::Track text_track(std::string_view process, std::string_view thread);
  /// An instant of the whole trace, which the model only takes the time of.
  void add_instant(std::string_view name, std::string_view process, std::string_view thread,
                   std::int64_t unix_ns);

  /// Passes all rows on; to be called at the end.
  void pass_on();

 private:
  bool wants_value(Argument argument) const { return values_.contains(argument); }
  bool wants_member(Argument argument) const {
    return request_.members && !request_.left_out.range_arguments.contains(argument);
  }
  EventBatch::Value& value(Argument argument);
  void member(Argument argument, std::string_view json);
  void member(std::string_view key, std::string_view json);
  std::string_view json_of(std::signed_integral auto number) {
    return numbers_.put(static_cast<std::int64_t>(number));
  }
  std::string_view json_of(std::unsigned_integral auto number) {
    return numbers_.put(static_cast<std::uint64_t>(number));
  }
  std::string_view json_of(StringId text);
  std::string_view json_of(const TrackKey& key);

  bool lists(EventField field) const { return (fields_ & LeftOutMembers::bit(field)) != 0; }
  void begin_members(std::uint32_t left_out) { fields_ = ~(request_.left_out.fields | left_out); }
  void field(EventField field, std::string_view key, std::string_view json);
  void place(TrackId track, std::int64_t time_ns);
  void end_members(RowKind kind, std::size_t number);
  void add_mark(std::string_view phase, StringId name, TrackId track, std::int64_t at);
  void add_other(RowKind kind, std::string_view phase, StringId name, TrackId track,
                 std::int64_t time_ns);
  void pass_on_if_full();

  EventSink& sink_;
  std::int64_t base_ns_;
  std::int64_t labels_ns_;
  RowRequest request_;
  ArgumentSet values_;
  EventBatch rows_;
  std::uint32_t fields_ = 0;  // that are listed of the row that is added
  TextArena numbers_;         // of the rows in the batch
  TextArena texts_;
  std::vector<std::string_view> json_of_texts_;  // by text
  std::vector<std::pair<std::string_view, std::string_view>> json_of_tracks_;
  std::unordered_map<EventBatch::Track, TrackId, EventBatch::TrackHash> tracks_;
};

}  // namespace tbtrace::recorder
