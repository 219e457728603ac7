// The document of a copy: all rows of a file as strict JSON, each with its members as the file has
// them, those that no dialect knows as well. To change what is written of them, derive from
// CopyDocument and CopiedRows.
// The rules of RowDocument hold.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include <tbtrace/trace.h>

#include "chrome/rows/repeated_keys.h"
#include "chrome/rows/row_document.h"
#include "io/sink.h"

namespace tbtrace::chrome {

class CopyDocument : public RowDocument {
 public:
  /// A member of the document that says what was done, asked for when all rows are written. It
  /// stands in for one of the same key that the file has.
  struct Receipt {
    std::string_view key;
    std::function<std::string()> json;
  };

  CopyDocument(const Trace& trace, io::ByteSink& sink, Receipt receipt)
      : RowDocument(trace, sink), receipt_(std::move(receipt)) {}

  std::unique_ptr<readers::BlockSink> make() override;
  bool takes_flows() const override { return true; }
  /// There are none without the file.
  std::unique_ptr<ModelRows> model_rows() const override { return nullptr; }

  /// Rows that were written.
  std::uint64_t rows() const { return rows_; }
  void count_rows(std::uint64_t rows) { rows_ += rows; }

 private:
  void write_start(std::string& json) override;
  void write_end(std::string& json) override;
  /// Appends `"key": value`; false, and nothing, if the member is left out.
  virtual bool write_member(std::string& json, std::string_view key, std::string_view value,
                            Changes& changes);

  Receipt receipt_;
  std::atomic<std::uint64_t> rows_ = 0;
};

class CopiedRows : public RowBlock {
 public:
  CopiedRows(const Trace& trace, CopyDocument& document)
      : RowBlock(document), trace_(trace), document_(document) {}

  void add(const EventBatch& rows) override;

 protected:
  using Members = std::span<const RowMember>;

  struct CopiedRow {
    RowKind kind = RowKind::range;
    EventId range = EventId::none;  ///< its number, if it is one
    Members members;
    Members arguments;
  };

  /// Called before the members of a row.
  virtual void begin_row(const CopiedRow&) {}
  /// Appends `"key":value` to text(), or nothing and returns false. `args` that are an object are
  /// not among the members.
  virtual bool write_member(const RowMember& member);
  virtual bool write_argument(const RowMember& member);

 private:
  void copy(const CopiedRow& row);
  void copy_arguments(Members arguments);
  void count(const RowMember& member);

  const Trace& trace_;
  CopyDocument& document_;
  RepeatedKeys repeated_members_;
  RepeatedKeys repeated_arguments_;
};

}  // namespace tbtrace::chrome
