// Writes the rows of one part into the merged trace: ids, processes, labels and times become those
// of the part's number, everything else is copied as strict JSON.
// Owns what it knows of the part's processes; documents, sinks and selections belong to the caller.
// One thread at a time.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include <tbtrace/convert.h>
#include <tbtrace/merge.h>
#include <tbtrace/status.h>

#include "chrome/rows/selection.h"
#include "io/sink.h"
#include "jobs/merge/part_ids.h"
#include "jobs/merge/part_times.h"
#include "trace/event_sink.h"

namespace tbtrace::jobs {

/// The array of events that all parts are written to. For one thread at a time, but for
/// has_failed().
class EventArray {
 public:
  /// `head`: what stands before the first row.
  EventArray(io::ByteSink& sink, std::string head) : sink_(sink), head_(std::move(head)) {}

  /// Rows, each followed by a comma and a line end.
  void add(std::string_view rows);
  /// Writes what stands after the last row.
  Status end(std::string_view tail);
  const Status& status() const { return status_; }
  /// Nothing more can be written. Any thread.
  bool has_failed() const { return has_failed_.load(std::memory_order_relaxed); }

 private:
  void write(std::string_view text);

  io::ByteSink& sink_;
  std::string head_;  // until it is written: nothing is, if no part can be read
  bool has_rows_ = false;
  Status status_;
  std::atomic<bool> has_failed_ = false;
};

/// How a part is written.
struct PartPlan {
  std::int64_t number = 0;
  std::size_t digits = 1;  ///< of the numbers of all parts
  std::string label;       ///< `rank 3`
  PartTimes times;
  MergeKeep keep = MergeKeep::all;
  /// With `steps`: the part's trace, and what is taken of it.
  const Trace* trace = nullptr;
  const chrome::RowSelection* steps = nullptr;
};

/// Whether categories are those of devices. Texts are JSON.
class DeviceCategories {
 public:
  bool is_device(std::string_view json);

 private:
  std::unordered_map<std::string, bool> known_;
  std::string last_;
  bool last_is_device_ = false;
};

class MergedRows final : public EventSink {
 public:
  MergedRows(const PartPlan& plan, EventArray& array);

  void add(const EventBatch& rows) override;
  void restart() override { is_restarted_ = true; }

  /// Writes what is left: names of processes that had none, and where viewers sort them.
  void finish();

  std::uint64_t events() const { return events_; }
  std::uint64_t left_out() const { return left_out_; }
  const PartIds& ids() const { return ids_; }
  const Changes& changes() const { return changes_; }
  /// Another array of events followed, which readers take instead of the first.
  bool is_restarted() const { return is_restarted_; }

 private:
  using Members = std::span<const RowMember>;

  struct Process {
    std::string id;  ///< JSON that PartIds takes
    bool is_named = false;
    bool is_sorted = false;
    bool is_device = false;
    std::string labels;  ///< of `process_labels`: `CPU`, `GPU 0`
    std::string held;    ///< a row with its name, up to the name
    std::string name;
    std::string held_end;  ///< what follows the name
  };

  /// What is known of a row besides its members.
  struct Row {
    const RowMember* process = nullptr;
    const RowMember* name = nullptr;
    const RowMember* phase = nullptr;
    std::optional<std::int64_t> begun_duration_ns = {};
  };

  bool takes(const EventBatch& rows, const EventBatch::Row& row, Members members);
  EventId range_id(const EventBatch::Row& row) const {
    return static_cast<EventId>(ranges_ + row.number);
  }
  bool takes_step(const EventBatch& rows, const EventBatch::Row& row) const;
  void label(Members members, Members arguments, const Row& known);
  void copy(Members members, Members arguments, const Row& known);
  void member(const RowMember& member, Members arguments, const Row& known);
  void time(const RowMember& member);
  void duration(const RowMember& member);
  void argument(const RowMember& member, bool is_sort_index);
  void object(Members arguments, bool is_sort_index);
  void id(const RowMember& member, NoId no_id);
  /// An id that is neither a text nor a whole number, as a text.
  std::string strict_id(std::string_view json);

  Process& process_of(const RowMember* member);
  std::string name_in_viewer(const Process& process) const;
  void write_held(Process& process);
  void hand_on();

  const PartPlan& plan_;
  EventArray& array_;
  PartIds ids_;
  DeviceCategories categories_;
  std::string json_;
  Changes changes_;
  std::uint64_t events_ = 0;
  std::uint64_t left_out_ = 0;
  std::size_t ranges_ = 0;  // of earlier batches
  bool is_restarted_ = false;
  Members members_;                 // of the current row
  bool is_label_ = false;           // the current row
  std::string last_time_;           // of other rows, JSON
  std::vector<Process> processes_;  // in order of appearance
  std::map<std::string, std::size_t, std::less<>> numbers_;
  std::size_t last_process_ = 0;
};

}  // namespace tbtrace::jobs
