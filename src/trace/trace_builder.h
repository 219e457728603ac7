// The only way to make a Trace: readers and recorders add rows, finish() orders and checks them.
// Owns everything added. One thread at a time; finish() ends its life.
// Rows are taken as they come: whoever adds them has checked what the file said.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <tbtrace/trace.h>

#include "base/column.h"
#include "base/id_column.h"
#include "trace/issues.h"

namespace tbtrace {

struct TraceData;

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

class TraceBuilder {
 public:
  TraceBuilder();
  TraceBuilder(TraceBuilder&&) noexcept;
  TraceBuilder& operator=(TraceBuilder&&) noexcept;
  ~TraceBuilder();

  /// Texts must be UTF-8.
  StringId intern(std::string_view text);
  std::string_view string(StringId id) const;
  /// The track of a process and thread, made when it is named for the first time. Its number has
  /// at most so many bits; what goes beyond is taken together as one track.
  static constexpr int kTrackBits = 26;
  TrackId track(TrackKey process, TrackKey thread);
  CategoryId category(StringId name);

  /// A guess: in the end there will be `times` as many rows of every kind as now. Columns that have
  /// room for them need not move while they grow. Room that is not used costs nothing.
  void expect(double times);

  EventId add_event(const EventRow& row);
  /// `inputs`, `autograd` and `stack` are of the event that was added last.
  void add_inputs(const OperatorInputs& inputs);
  void add_autograd(const AutogradInfo& info);
  void add_call_stack(const CallStack& stack);
  void add_memory(const MemoryRecord& record);
  void add_flow(const FlowEnd& flow);

  /// The time of a row that the model does not hold.
  void note_time(std::int64_t time_ns);

  void name_process(TrackKey process, StringId name);
  void name_thread(TrackId track, StringId name);
  /// `json` replaces an earlier value of the same key.
  void set_metadata(std::string_view key, std::string_view json);

  IssueLog& issues() { return issues_; }

  Trace finish() &&;

 private:
  struct Lookup;

  void name_tracks();
  void settle_ascend();
  void settle_devices();
  void order_events();
  void order_memory();
  void find_steps();
  void find_window();
  void find_first_time();

  std::unique_ptr<TraceData> data_;
  std::unique_ptr<Lookup> lookup_;
  IdColumn rank_;
  std::optional<std::int64_t> first_noted_time_;
  IssueLog issues_;
};

}  // namespace tbtrace
