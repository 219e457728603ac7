// The document that the second pass makes of a file: its rows in a dialect, written by several
// threads, block by block in file order. Also the document of a trace without its file.
// To add a dialect, derive from RowDocument, RowBlock and ModelRows, and name it in
// chrome/convert/dialects.cc.
// A document is shared by its blocks and must outlive them; the trace and the sink must outlive the
// document. Each RowBlock is used by one thread at a time.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

#include <tbtrace/convert.h>
#include <tbtrace/trace.h>

#include "chrome/rows/model_rows.h"
#include "io/sink.h"
#include "readers/chrome/replay.h"

namespace tbtrace::chrome {

class RowDocument : public readers::BlockSinks {
 public:
  ~RowDocument() override = default;

  /// The rows of a trace without its file. The document must outlive them.
  virtual std::unique_ptr<ModelRows> model_rows() const = 0;

  /// Writes what comes before the rows.
  Status begin();

  /// Adds the rows of a block, each followed by a comma and a line end. `ranges`: how many of its
  /// rows are ranges; the first has the number `first_range`.
  Status add(std::string_view rows, std::size_t first_range, std::size_t ranges,
             const Changes& changes);

  /// Writes what comes after the rows. Fails if the rows did not match the model.
  Status end();

  /// All changes, once it has ended.
  const Changes& changes() const { return changes_; }

 protected:
  /// `has_rows`: the trace has those of the document; else only its members count.
  RowDocument(const Trace& trace, io::ByteSink& sink, bool has_rows = true)
      : trace_(trace), sink_(sink), trace_has_rows_(has_rows) {}

  const Trace& trace() const { return trace_; }
  void count(const Changes& changes);

 private:
  /// Everything before the first row, and everything after the last one.
  virtual void write_start(std::string& json) = 0;
  virtual void write_end(std::string& json) = 0;

  const Trace& trace_;
  io::ByteSink& sink_;
  bool trace_has_rows_;
  bool has_rows_ = false;
  std::size_t ranges_ = 0;
  Changes changes_;
};

/// The rows of a block. Derived classes implement EventSink::add().
class RowBlock : public readers::BlockSink {
 public:
  void begin(EventId first_range) final;
  Status finish() final;

 protected:
  explicit RowBlock(RowDocument& document) : document_(document) {}

  /// Notes how many ranges there are; false if they are more than the model's: finish() reports it.
  bool take_ranges(const Trace& trace, std::size_t ranges);
  /// The same without a model.
  void take_ranges(std::size_t ranges) { ranges_ = ranges; }

  EventId range_id(std::size_t number) const { return static_cast<EventId>(first_range_ + number); }
  std::string& text() { return text_; }
  Changes& changes() { return changes_; }

 private:
  RowDocument& document_;
  std::size_t first_range_ = 0;
  std::size_t ranges_ = 0;
  std::string text_;
  Changes changes_;
};

}  // namespace tbtrace::chrome
