// The rows of a file for readers of Kineto's traces: each as the file has it, as strict JSON, with
// the changes of chrome::KinetoRepairs. Times, ids, streams, devices and unknown members stay.
// `B` and `E` events become `X` events, which is all that these readers know.
#pragma once

#include <cstdint>
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

namespace tbtrace::chrome {

class KinetoDocument final : public RowDocument {
 public:
  KinetoDocument(const Trace& trace, bool infer_steps, io::ByteSink& sink)
      : RowDocument(trace, sink), repairs_(std::in_place, trace, infer_steps) {}
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
};

/// Writes the members of rows unchanged.
class PlainRows final : public RowBlock {
 public:
  explicit PlainRows(RowDocument& document) : RowBlock(document) {}

  void add(const EventBatch& rows) override;
};

class KinetoRows final : public RowBlock {
 public:
  KinetoRows(const Trace& trace, const chrome::KinetoRepairs& repairs, RowDocument& document)
      : RowBlock(document), trace_(trace), repairs_(repairs) {}

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
    // In place of those that are not numbers, and of a time that is missing or null.
    std::optional<std::int64_t> read_time_ns = {};
    std::optional<std::int64_t> read_duration_ns = {};
  };

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
  RepeatedKeys repeated_members_;
  RepeatedKeys repeated_arguments_;
};

}  // namespace tbtrace::chrome
