// Rows of a trace as readers pass them on: the typed contents of a piece of the input, whatever its
// format. Consumers implement EventSink (event_sink.h).
// Owns its rows, except the texts that members point to, which live as long as the piece. Ids of
// texts, categories and tracks refer to the batch's own tables, which only grow until `generation`
// changes. One thread at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include <tbtrace/arguments.h>
#include <tbtrace/trace.h>

#include "base/hash.h"
#include "base/string_pool.h"

namespace tbtrace {

/// A range to be added.
struct EventRow {
  std::int64_t start_ns = 0;
  std::int64_t duration_ns = 0;
  std::int64_t external_id = 0;
  std::int64_t correlation = 0;
  std::uint32_t rank = 0;  ///< `Ev Idx` + 1, 0 if there is none
  StringId name = StringId::empty;
  TrackId track = {};
  CategoryId category = {};
  std::uint8_t flags = 0;
};

enum class RowKind : std::uint8_t {
  range,        ///< has a start and a duration, and a number among the trace's ranges
  range_end,    ///< ends the last begun range of its name, or of any, on its track
  memory,       ///< memory was allocated or freed, or an allocation failed
  flow,         ///< one end of a flow
  flow_step,    ///< a stop between the ends of a flow, which PyTorch does not write
  label,        ///< names a process or thread
  instant,      ///< any other instant
  unsupported,  ///< its phase has no meaning in the model
};

/// Of arguments that are wanted, those that become values of rows: marks and the two ids are
/// fields.
constexpr ArgumentSet values_of(ArgumentSet wanted) {
  ArgumentSet fields = {Argument::external_id, Argument::correlation};
  for (std::size_t row = 0; row < kArgumentCount; ++row) {
    if (kArgumentRows[row].type == ArgumentType::mark) {
      fields = fields | ArgumentSet{static_cast<Argument>(row)};
    }
  }
  return wanted - fields;
}

/// The top-level fields of an event; `none` for a member that is not one of them.
enum class EventField : std::uint8_t {
  phase,
  category,
  name,
  process,
  thread,
  timestamp,
  duration,
  flow_id,
  arguments,
  none,
};

/// Members of rows that whoever takes the rows writes anew, so that they need not be listed.
struct LeftOutMembers {
  /// One bit for each EventField.
  static constexpr std::uint32_t bit(EventField field) {
    return std::uint32_t{1} << static_cast<std::uint32_t>(field);
  }

  std::uint32_t fields = 0;          ///< of all rows
  std::uint32_t range_fields = 0;    ///< of ranges
  ArgumentSet range_arguments = {};  ///< of ranges
};

/// A member of a row, or of its arguments.
struct RowMember {
  std::string_view key;  ///< unescaped, UTF-8
  /// The value: a valid string with its quotes, else as the file has it. Empty for `args` that are
  /// an object.
  std::string_view json;
  EventField field = EventField::none;  ///< which top-level member it is
  Argument argument = Argument::none;   ///< which argument it is
  bool is_plain = true;                 ///< the key needs no escape in JSON
  bool is_escaped = false;              ///< stands in the file in a form that is not JSON
  bool is_repaired = false;  ///< U+FFFD stands in for half a surrogate pair or wrong UTF-8
  bool is_strict = false;    ///< the value is known to be strict JSON
};

/// A moment that a program named.
struct Instant {
  std::int64_t time_ns = 0;
  TrackKey process;
  TrackKey thread;
  StringId name = StringId::empty;
  StringId arguments = StringId::empty;  ///< canonical JSON; empty: none
};

/// One series of a counter from a time on. Counters belong to processes.
struct CounterValue {
  std::int64_t time_ns = 0;
  double value = 0;  ///< finite
  TrackKey process;
  StringId name = StringId::empty;    ///< with the counter's `id`, if it has one
  StringId series = StringId::empty;  ///< the key of the value
};

/// In the order of the input; their tracks need not be among the trace's.
std::span<const Instant> instants_of(const Trace& trace);
std::span<const CounterValue> counter_values_of(const Trace& trace);

struct EventBatch {
  struct Track {
    TrackKey process;
    TrackKey thread;
    bool operator==(const Track&) const = default;
  };
  struct TrackHash {
    std::size_t operator()(const Track& track) const {
      return hash_integer(number(track.process), number(track.thread));
    }
    static std::uint64_t number(const TrackKey& key) {
      return static_cast<std::uint64_t>(key.number) ^ std::uint64_t{index(key.text)} << 32;
    }
  };

  /// A value of a requested argument.
  struct Value {
    std::uint32_t row = 0;  ///< index of the range, range end or memory record
    Argument argument = Argument::none;
    union {
      std::int64_t integer = 0;
      double real;
      StringId text;
      std::uint32_t dims;  ///< index in `dims`
    };
  };

  struct RangeEnd {
    std::int64_t time_ns = 0;
    TrackId track = {};
    StringId name = StringId::empty;  ///< empty: any name
    std::uint32_t ranges_before = 0;  ///< ranges of the batch before it
  };

  /// Names a thread, or a process; then it has no track.
  struct Label {
    TrackKey process;
    TrackId track = {};
    StringId name = StringId::empty;
    bool is_process = false;
  };

  /// Any other row, if members were requested.
  struct Other {
    StringId phase = StringId::empty;
    StringId name = StringId::empty;
    StringId category = StringId::empty;
    TrackId track = {};
    bool has_thread = false;  ///< else the track's thread is the process's own
    std::optional<std::int64_t> time_ns;
  };

  /// All rows in file order, if members were requested. The members of a row, without those that
  /// the consumer asked to leave out, are between the end of the previous row's and its own end.
  struct Row {
    RowKind kind = RowKind::range;
    /// Index among the ranges, range ends, memory records, flows or, for all other kinds, others.
    std::uint32_t number = 0;
    std::size_t members_end = 0;
    std::size_t arguments_end = 0;
  };

  std::vector<EventRow> ranges;
  std::vector<RangeEnd> range_ends;
  std::vector<MemoryRecord> memory;
  std::vector<FlowEnd> flows;
  std::vector<Label> labels;
  std::vector<Instant> instants;  ///< these two only if members were not requested
  std::vector<CounterValue> counter_values;
  std::vector<Other> others;
  std::vector<Value> range_values;  ///< in the order of the ranges; the others likewise
  std::vector<Value> range_end_values;
  std::vector<Value> memory_values;
  std::vector<Dim3> dims;
  std::optional<std::int64_t> first_other_time_ns;  ///< of rows that are not in the model
  // From the first start to the last end of a range; first_ns > last_ns if there are none.
  std::int64_t first_ns = std::numeric_limits<std::int64_t>::max();
  std::int64_t last_ns = std::numeric_limits<std::int64_t>::min();

  std::vector<Row> rows;
  std::vector<RowMember> members;
  std::vector<RowMember> arguments;

  // The tables. A reader starts new ones after much input, or if its rows do not count. Tracks are
  // in the order of first appearance in rows.
  std::uint32_t reader = 0;      ///< the reader that created the tables
  std::uint32_t generation = 0;  ///< how often it started new ones
  StringPool texts;
  std::vector<Track> tracks;
  std::vector<StringId> categories;

  /// Clears the rows and keeps the tables.
  void clear();
};

}  // namespace tbtrace
