// The rows of a file for readers of Kineto's traces: each as the file has it, as strict JSON, with
// the changes of chrome::KinetoRepairs. Times, ids, streams, devices and unknown members stay.
// `B` and `E` events become `X` events, which is all that these readers know.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include <tbtrace/convert.h>
#include <tbtrace/trace.h>

#include "chrome/kineto/repairs.h"
#include "chrome/rows/repeated_keys.h"
#include "chrome/rows/row_document.h"
#include "chrome/rows/selection.h"

namespace tbtrace::chrome {

/// Gets how much text each row has that is written. Called by several threads at once.
class RowSizeSink {
 public:
  virtual ~RowSizeSink() = default;
  virtual void add(EventId range, std::size_t bytes) = 0;
  /// Of any other row.
  virtual void add(const EventBatch& rows, const EventBatch::Row& row, std::size_t bytes) = 0;
};

/// A document that has a part of the rows.
struct KinetoPart {
  const RowSelection& selection;
  /// JSON of the member `tbtrace_slice`, asked for when all rows are written.
  std::function<std::string()> member;
  RowSizeSink* sizes = nullptr;
  // Counted while rows are written.
  std::atomic<std::uint64_t> rows = 0;
  std::atomic<std::uint64_t> left_out = 0;
  std::atomic<std::uint64_t> cut = 0;
  std::atomic<std::uint64_t> bytes = 0;  ///< of the rows
};

class KinetoDocument final : public RowDocument {
 public:
  /// `part` must outlive it; nullptr: all rows.
  KinetoDocument(const Trace& trace, bool infer_steps, io::ByteSink& sink,
                 KinetoPart* part = nullptr)
      : RowDocument(trace, sink), repairs_(std::in_place, trace, infer_steps), part_(part) {}
  /// Of rows that are strict and need no repair. `head` has the members of the trace, no rows.
  KinetoDocument(const Trace& head, io::ByteSink& sink) : RowDocument(head, sink, false) {}

  std::unique_ptr<readers::BlockSink> make() override;
  bool takes_flows() const override { return true; }
  /// Of a document with a model.
  std::unique_ptr<ModelRows> model_rows() const override;

 private:
  void write_start(std::string& json) override;
  void write_end(std::string& json) override;

  std::optional<KinetoRepairs> repairs_;
  KinetoPart* part_ = nullptr;
};

/// Writes the members of rows unchanged.
class PlainRows final : public RowBlock {
 public:
  explicit PlainRows(RowDocument& document) : RowBlock(document) {}

  void add(const EventBatch& rows) override;
};

class KinetoRows final : public RowBlock {
 public:
  KinetoRows(const Trace& trace, const chrome::KinetoRepairs& repairs, RowDocument& document,
             KinetoPart* part)
      : RowBlock(document), trace_(trace), repairs_(repairs), part_(part) {}

  void add(const EventBatch& rows) override;

 private:
  using Members = std::span<const RowMember>;

  /// What is written in place of the file's; empty: nothing.
  struct Differences {
    std::string_view phase = {};
    chrome::KinetoRepairs::NewCategory category = {};
    std::string_view name = {};
    std::string_view annotation = {};  ///< JSON of a name that `name` replaces, as an argument
    std::optional<std::int64_t> thread = {};
    std::optional<std::int64_t> duration_ns = {};
    std::optional<std::int64_t> external_id = {};  ///< 0: left out
    std::optional<TimeRange> uncut = {};           ///< of a range that the part's time cuts
    std::optional<std::int64_t> start_ns = {};
    // In place of those that are not numbers, and of a time that is missing or null.
    std::optional<std::int64_t> read_time_ns = {};
    std::optional<std::int64_t> read_duration_ns = {};
  };

  bool takes(const EventBatch& rows, const EventBatch::Row& row) const;
  void label(const EventBatch::Other& row, Members members, Members arguments);
  void range(EventId event, const EventRow& row, Members members, Members arguments);
  void flow(const EventBatch& rows, const FlowEnd& end, Members members, Members arguments);
  void copy(Members members, Members arguments, const Differences& differences);
  void value(const RowMember& member, Members arguments, const Differences& differences);
  void time(const RowMember& member, std::optional<std::int64_t> read_ns, Changes& changes);
  void object(Members arguments, const Differences& differences);
  void missing_flows(EventId event, Members members);

  const Trace& trace_;
  const chrome::KinetoRepairs& repairs_;
  KinetoPart* const part_;
  RepeatedKeys repeated_members_;
  RepeatedKeys repeated_arguments_;
};

}  // namespace tbtrace::chrome
