// What the fields of a Chrome trace event mean: from a RawEvent to a typed row.
// Owns the batch that it fills and the tables of its texts; one thread at a time.
// A field that makes no sense drops its event, or counts as absent; both are counted as issues.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <tbtrace/arguments.h>

#include "readers/chrome/event_text.h"
#include "readers/chrome/row_tables.h"
#include "readers/chrome/row_times.h"
#include "readers/chrome/tokenizer.h"
#include "trace/event_batch.h"
#include "trace/issues.h"

namespace tbtrace::readers {

/// What the caller of the reader asked for.
struct RowRequest {
  /// With members: what the reading before asked for, so that the same events are broken.
  ArgumentSet arguments = kOperatorArguments;
  /// Leaves inputs out in files of Kineto's that were recorded without FLOPs.
  bool inputs_for_flops_only = false;
  /// All members of all rows as JSON instead of names and arguments of ranges.
  bool members = false;
  bool flow_members = true;      ///< those of flow events too; otherwise they make no rows
  LeftOutMembers left_out = {};  ///< are not among the members
  /// With members: the reading before could read the times of all events.
  bool times_are_sound = false;

  /// What must be found in the text for it.
  ArgumentSet keys() const;
};

class ChromeRows {
 public:
  /// `reader` tells the tables of this object from those of others.
  ChromeRows(const RowRequest& request, std::uint32_t reader);
  ChromeRows(const ChromeRows&) = delete;
  ChromeRows& operator=(const ChromeRows&) = delete;

  /// Says how the texts of the events that follow were written.
  void begin(const TextRules& rules) { tables_.begin(rules); }

  /// Adds the event that stands between `offset` and `end` of the piece of text, which must outlive
  /// the rows if members were asked for.
  void add(const RawEvent& event, std::uint64_t offset, std::uint64_t end);

  /// An element at `offset` of the piece is valid JSON, but not an object.
  void add_no_event(std::uint64_t offset, std::uint64_t end);
  /// An element is lost, and what follows it until issues().end_loss().
  void add_lost(IssueId id, std::uint64_t offset);

  const EventBatch& rows() const { return batch_; }
  /// Offsets count from the start of the piece.
  IssueLog& issues() { return issues_; }
  /// What was seen since the last clear(): any element, and one with a phase.
  bool has_elements() const { return has_elements_; }
  bool has_events() const { return has_events_; }
  /// An event was read by the layout of its writer, not as JSON: what it means depends on the text
  /// around it.
  bool is_by_layout() const { return is_by_layout_; }
  void note_layout() { is_by_layout_ = true; }

  /// Forgets the rows and their issues.
  void clear();
  /// The same for rows that nobody took.
  void discard();
  /// The rows that were taken do not count any more: forgets the tables too.
  void restart();

 private:
  void drop(IssueId id, std::uint64_t offset);
  bool read_phase(const RawEvent& event, std::uint64_t offset);
  std::optional<RowKind> kind_of(const RawEvent& event, std::uint64_t offset);
  bool is_memory(const RawEvent& event);
  bool add_row(RowKind kind, const RawEvent& event, std::uint64_t offset);
  bool add_range(const RawEvent& event, std::uint64_t offset);
  bool add_counted_range();
  std::uint8_t flags(const RawEvent& event);
  bool add_range_end(const RawEvent& event, std::uint64_t offset);
  bool add_memory(const RawEvent& event, std::uint64_t offset);
  bool add_flow(const RawEvent& event, std::uint64_t offset);
  void add_label(const RawEvent& event, std::uint64_t offset);
  void note_time(const RawEvent& event);
  void add_instant(const RawEvent& event, std::uint64_t offset);
  void add_counter(const RawEvent& event, std::uint64_t offset);
  bool read_counter(const RawEvent& event, std::uint64_t offset);
  void add_other(const RawEvent& event, std::uint64_t offset);
  void add_members(RowKind kind, const RawEvent& event, std::size_t number);
  std::size_t next_number(RowKind kind) const;

  enum class Reading : std::uint8_t { taken, absent, unreadable };
  void add_values(const RawEvent& event, ArgumentSet wanted, std::uint32_t row,
                  std::vector<EventBatch::Value>& values, std::uint64_t offset);
  Reading read_value(const Token& token, ArgumentType type, EventBatch::Value& value,
                     std::uint64_t offset);
  bool id(const RawEvent& event, Argument argument, std::int64_t& id, std::uint64_t offset);
  std::int64_t number(const RawEvent& event, Argument argument, std::int64_t absent,
                      std::uint64_t offset);
  std::uint32_t rank(const RawEvent& event, std::uint64_t offset);
  bool read_time(const RawEvent& event, EventField field, std::int64_t& ns);
  bool read_range_times(const RawEvent& event, RangeTimes& times);
  std::int64_t flow_id(const Token& token, std::uint64_t offset);

  void set_member(const RawMember& raw, RowMember& member);
  std::string_view kept(std::string text);

  RowRequest request_;
  ArgumentSet range_values_;  // that have columns
  ArgumentSet memory_values_;
  EventBatch batch_;
  IssueLog issues_;
  RowTables tables_;
  bool has_elements_ = false;
  bool has_events_ = false;
  bool is_by_layout_ = false;
  // Of the current event.
  char phase_ = 0;
  std::uint64_t end_ = 0;
  FlowEnd::Type flow_type_ = FlowEnd::Type::other;
  std::string scratch_;
  std::vector<std::unique_ptr<std::string>> kept_;  // texts of members that are not in the piece
};

}  // namespace tbtrace::readers
