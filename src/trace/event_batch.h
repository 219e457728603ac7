// Rows of a trace as readers hand them over: what a piece of the input says, typed, whatever its
// format. Whoever takes rows implements EventSink (event_sink.h).
// Owns its rows, but for the texts that members point to, which live as long as the piece. Numbers
// of texts, categories and tracks count in the batch's own tables, which only grow until
// `generation` changes. One thread at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string_view>
#include <vector>

#include <tbtrace/arguments.h>
#include <tbtrace/trace.h>

#include "base/hash.h"
#include "base/string_pool.h"

namespace tbtrace {

/// A range as it is added.
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
  range,        ///< has a start and a duration, and a number among the ranges of the trace
  range_end,    ///< ends the range of its name, or any, that was begun last on its track
  memory,       ///< memory was allocated or freed, or an allocation failed
  flow,         ///< one end of a flow
  label,        ///< names a process or thread
  instant,      ///< another moment
  unsupported,  ///< of a phase that means nothing to the model
};

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

/// A member of a row, or of its arguments.
struct RowMember {
  std::string_view key;   ///< its meaning, UTF-8
  std::string_view json;  ///< the value: a valid string with its quotes, else as the file has it
  EventField field = EventField::none;  ///< which one it is, of a row's own members
  Argument argument = Argument::none;   ///< which one it is, of its arguments
  bool is_plain = true;                 ///< the key needs no escape in JSON
  bool is_repaired = false;  ///< U+FFFD stands in for half a surrogate pair or wrong UTF-8
};

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
      return static_cast<std::uint64_t>(key.number) ^ index(key.text) << 32;
    }
  };

  /// A value of an argument that was asked for.
  struct Value {
    std::uint32_t row = 0;  ///< number of the range, range end or memory record
    Argument argument = Argument::none;
    union {
      std::int64_t integer = 0;
      double real;
      StringId text;
      std::uint32_t dims;  ///< number in `dims`
    };
  };

  struct RangeEnd {
    std::int64_t time_ns = 0;
    TrackId track = {};
    StringId name = StringId::empty;  ///< empty: of any name
    std::uint32_t ranges_before = 0;  ///< of the batch
  };

  /// Names a thread, or a process: then it has no track.
  struct Label {
    TrackKey process;
    TrackId track = {};
    StringId name = StringId::empty;
    bool is_process = false;
  };

  /// Any other row, where members were asked for.
  struct Other {
    StringId phase = StringId::empty;
    StringId name = StringId::empty;
    StringId category = StringId::empty;
    TrackId track = {};
    bool has_thread = false;  ///< else the track's thread is that of its process
    std::optional<std::int64_t> time_ns;
  };

  /// All rows in the order of the file, where members were asked for. The members of a row stand
  /// between the ends of the row before and its own.
  struct Row {
    RowKind kind = RowKind::range;
    std::uint32_t number = 0;  ///< among the ranges, range ends, memory records or others
    std::size_t members_end = 0;
    std::size_t arguments_end = 0;
  };

  std::vector<EventRow> ranges;
  std::vector<RangeEnd> range_ends;
  std::vector<MemoryRecord> memory;
  std::vector<FlowEnd> flows;
  std::vector<Label> labels;
  std::vector<Other> others;
  std::vector<Value> range_values;  ///< in the order of the ranges; likewise the others
  std::vector<Value> range_end_values;
  std::vector<Value> memory_values;
  std::vector<Dim3> dims;
  std::optional<std::int64_t> first_other_time_ns;  ///< of rows that the model does not hold
  // From the first start of a range to the last end; the wrong way round if there are none.
  std::int64_t first_ns = std::numeric_limits<std::int64_t>::max();
  std::int64_t last_ns = std::numeric_limits<std::int64_t>::min();

  std::vector<Row> rows;
  std::vector<RowMember> members;
  std::vector<RowMember> arguments;

  // The tables. A reader that has read much, or whose rows do not count, begins new ones. Tracks
  // stand in the order in which rows name them.
  std::uint32_t reader = 0;      ///< who made the tables
  std::uint32_t generation = 0;  ///< how often it began new ones
  StringPool texts;
  std::vector<Track> tracks;
  std::vector<StringId> categories;

  /// Forgets the rows and keeps the tables.
  void clear();
};

}  // namespace tbtrace
