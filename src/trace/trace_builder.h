// The only way to create a Trace: readers and recorders add rows, finish() sorts and checks them.
// Owns everything added. One thread at a time; unusable after finish().
// Rows are not validated here: the caller has checked what the file says.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <tbtrace/arguments.h>
#include <tbtrace/trace.h>

#include "base/column.h"
#include "base/id_column.h"
#include "base/time_ranges.h"
#include "trace/argument_values.h"
#include "trace/device_tracks.h"
#include "trace/event_batch.h"
#include "trace/event_sink.h"
#include "trace/issues.h"
#include "trace/times.h"

namespace tbtrace {

struct TraceData;

class TraceBuilder final : public EventSink {
 public:
  TraceBuilder();
  TraceBuilder(TraceBuilder&&) noexcept;
  TraceBuilder& operator=(TraceBuilder&&) noexcept;
  ~TraceBuilder() override;

  void add(const EventBatch& rows) override;
  /// Keeps the metadata and the issues.
  void restart() override;

  /// Texts must be UTF-8.
  StringId intern(std::string_view text);
  std::string_view string(StringId id) const;
  /// The track of a process and thread, created on first use. Track ids have at most this many
  /// bits; further tracks are merged into one.
  static constexpr int kTrackBits = 24;
  TrackId track(TrackKey process, TrackKey thread);
  CategoryId category(StringId name);

  /// A guess that in the end there will be `times` as many rows of every kind as now. Columns with
  /// enough room need not move while they grow. Unused room costs nothing.
  void expect(double times);

  // One row at a time, with ids of this builder.

  EventId add_event(const EventRow& row);
  /// For the event added last, or for any event after those that already have the argument. `value`
  /// has the argument's type.
  template <typename Value>
  void add_argument(EventId event, Argument argument, Value value) {
    values(argument).set(index(event), value);
  }
  void add_memory(const MemoryRecord& record);
  /// For the memory record added last.
  void add_memory_argument(Argument argument, std::int64_t value);
  void add_flow(const FlowEnd& flow);

  void name_process(TrackKey process, StringId name);
  void name_thread(TrackId track, StringId name);
  /// `json`, in its canonical form, replaces an earlier value with the same key.
  void set_metadata(std::string_view key, std::string_view json);

  /// Those that events may have; all if this is not called.
  void set_arguments_read(ArgumentSet arguments);

  std::size_t event_count() const;

  IssueLog& issues() { return issues_; }

  Trace finish(int threads = 1) &&;

 private:
  struct Lookup;

  /// Translates ids of a batch's tables to ours.
  struct Translation;

  /// The end of a range whose beginning is a separate row.
  struct RangeEnd {
    std::int64_t time_ns = 0;
    TrackId track = {};
    StringId name = StringId::empty;  ///< empty: any name
    EventId next = EventId::none;     ///< the range that comes next in the input
  };

  ArgumentValues& values(Argument argument);
  Translation& translation_of(const EventBatch& rows);
  void add_ranges(const EventBatch& rows, Translation& translation);
  void add_range_ends(const EventBatch& rows, Translation& translation);
  void add_memory(const EventBatch& rows, Translation& translation);
  void add_marks(const EventBatch& rows, Translation& translation);
  static void set(ArgumentValues& column, std::size_t row, const EventBatch& rows,
                  const EventBatch::Value& value, Translation& translation);

  // The steps of finish(), in order.
  void name_tracks();
  void pair_ranges();
  void infer_categories();
  void leave_out_repeated_work(const std::vector<std::size_t>& events);
  std::uint64_t infer_categories(const std::vector<bool>& is_open,
                                 const std::vector<TrackContent>& contents);
  bool is_of_torch() const;
  void settle_devices();
  void order_events(int threads);
  void order_memory();
  EventsWithoutTimes without_times() const;
  void find_steps();
  void find_window();
  /// Where device work belongs to the recording; nullopt if all of it does.
  std::optional<TimeRange> find_reach() const;
  void find_first_time();

  std::unique_ptr<TraceData> data_;
  std::unique_ptr<Lookup> lookup_;
  IdColumn rank_;
  std::vector<RangeEnd> range_ends_;
  std::optional<std::int64_t> first_other_time_ns_;
  bool has_begun_ranges_ = false;
  IssueLog issues_;
};

}  // namespace tbtrace
