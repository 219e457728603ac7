// Rewrites the rows of a file in another dialect: what the model holds is regenerated, everything
// else in a row is kept.
// A RewrittenRows is shared by the rewriters of a file and owns their common state; each
// BlockRewriter is used by one thread at a time. Their arguments must outlive them.
// Values that are not JSON are kept as text. Non-numeric kernel and memory values are left out, and
// so are `args` that are not an object on rows that need an object. All three are counted.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>

#include <tbtrace/convert.h>
#include <tbtrace/trace.h>

#include "converters/repeated_keys.h"
#include "dialects/row_writer.h"
#include "io/sink.h"
#include "readers/replay.h"

namespace tbtrace::converters {

/// The document that the rewriters write together; blocks are added in file order.
class RewrittenRows final : public readers::BlockSinks {
 public:
  RewrittenRows(const Trace& trace, const dialects::RowWriter& writer, io::ByteSink& sink)
      : trace_(trace), writer_(writer), sink_(sink) {}

  /// Writes what comes before the rows.
  Status begin();

  std::unique_ptr<readers::BlockSink> make() override;

  /// Adds the rows of a block, each followed by a comma and a line end. `ranges`: how many of its
  /// rows are ranges; the first has the number `first_range`.
  Status add(std::string_view rows, std::size_t first_range, std::size_t ranges,
             const Changes& changes);

  /// Writes what comes after the rows. Fails if the rows did not match the model.
  Status end();

  /// Changes made to the rows' own texts.
  const Changes& changes() const { return changes_; }

 private:
  const Trace& trace_;
  const dialects::RowWriter& writer_;
  io::ByteSink& sink_;
  bool has_rows_ = false;
  std::size_t ranges_ = 0;
  Changes changes_;
};

class BlockRewriter final : public readers::BlockSink {
 public:
  BlockRewriter(const Trace& trace, const dialects::RowWriter& writer, RewrittenRows& document);

  void begin(EventId first_range) override;
  void add(const EventBatch& rows) override;
  Status finish() override;

 private:
  using Members = std::span<const RowMember>;

  void range(EventId event, Members members, Members arguments);
  void memory(const EventBatch& rows, const MemoryRecord& record, Members members,
              Members arguments);
  void other(const EventBatch& rows, const EventBatch::Other& row, RowKind kind, Members members,
             Members arguments);

  const dialects::Place& place(const EventBatch& rows, TrackId track, bool has_thread);
  /// Adds all members except those of these fields.
  void add_members(Members members, std::uint32_t written, std::string_view written_key = {});
  struct Arguments {
    ArgumentSet written = {};      ///< those that RowWriter writes
    bool is_device_row = false;    ///< its `device` is written by RowWriter
    bool must_be_numbers = false;  ///< arguments that consumers calculate with
  };
  void add_arguments(Members arguments, const Arguments& how);
  static void add_key(std::string& json, const RowMember& member);
  void add_member(std::string& json, const RowMember& member);
  void add_value(std::string& json, std::string_view value);
  void add_collective_inputs(Members arguments);

  const Trace& trace_;
  const dialects::RowWriter& writer_;
  RewrittenRows& document_;
  dialects::RowTexts texts_;
  std::size_t first_range_ = 0;
  std::size_t ranges_ = 0;
  std::string text_;
  std::string members_;
  std::string arguments_;
  std::string bare_args_;
  RepeatedKeys repeated_keys_;
  std::unordered_map<std::string, dialects::Place> places_;
  Changes changes_;
};

}  // namespace tbtrace::converters
