// Rows of a recording on their way to an EventSink, by ids of texts and tracks.
// Refers to the sink, which must outlive it. One thread per object. Ids stay valid.
#pragma once

#include <cstdint>
#include <string_view>
#include <unordered_map>

#include "trace/event_sink.h"

namespace tbtrace::recorder {

class RowBatch {
 public:
  /// Times are counted from `base_ns`; earlier ones count as 0.
  RowBatch(EventSink& sink, std::int64_t base_ns) : sink_(sink), base_ns_(base_ns) {}

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

  /// An end before the start is set to the start. Ranges, memory records and flow events
  /// are each passed on in the order in which they were added.
  void add_range(EventRow row, std::int64_t unix_start_ns, std::int64_t unix_end_ns);
  /// Of the range that is added next.
  void add_argument(Argument argument, std::int64_t integer);
  void add_argument(Argument argument, StringId text);
  void add_memory(const MemoryRecord& record) { rows_.memory.push_back(record); }
  void add_flow(const FlowEnd& end) { rows_.flows.push_back(end); }
  void name_process(std::int64_t process, std::string_view name);
  void name_thread(std::int64_t process, std::int64_t thread, std::string_view name);
  /// Counts a time for the first time of the trace, without a row.
  void note_time(std::int64_t unix_ns);

  /// Passes all rows on; to be called at the end.
  void pass_on();

 private:
  EventBatch::Value& next_value(Argument argument);

  EventSink& sink_;
  std::int64_t base_ns_;
  EventBatch rows_;
  std::unordered_map<EventBatch::Track, TrackId, EventBatch::TrackHash> tracks_;
};

}  // namespace tbtrace::recorder
