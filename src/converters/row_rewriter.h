// The rows of a file in another dialect: what the model knows is written anew, everything else that
// the file says about a row is kept.
// Takes the rows of the second pass; owns the text that was not given to the sink yet. One thread.
// Values that are no JSON are kept as text; numbers that are none are left out. Both are counted.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>

#include <tbtrace/convert.h>
#include <tbtrace/trace.h>

#include "dialects/row_writer.h"
#include "io/sink.h"
#include "readers/replay.h"

namespace tbtrace::converters {

/// What is said of an input that was another one in the second pass.
Status changed_while_read();

class RowRewriter final : public readers::RowVisitor {
 public:
  /// All must outlive it.
  RowRewriter(const Trace& trace, dialects::RowWriter& writer, io::ByteSink& sink);

  void row(readers::RowKind kind, EventId range, const readers::RawEvent& event,
           const readers::TextRules& rules) override;
  void keep() override;
  void drop() override;

  /// Writes what is left and the end. The first failure of the sink, or that the rows were not
  /// those of the model.
  Status finish();

  /// What was changed in the rows' own texts.
  const Changes& changes() const { return changes_; }

 private:
  void range(EventId event, const readers::RawEvent& raw);
  void memory(const readers::RawEvent& raw);
  void other(readers::RowKind kind, const readers::RawEvent& raw);

  const dialects::Place& place(const readers::RawEvent& raw);
  /// All but those that RowWriter writes.
  void add_members(const readers::RawEvent& raw, std::uint64_t written,
                   std::string_view written_key = {});
  void add_arguments(const readers::RawEvent& raw, std::uint64_t written, bool on_device = false);
  void add_member(std::string& json, const readers::Member& member);
  void add_value(std::string& json, const readers::Token& value);
  void add_collective_inputs(const readers::RawEvent& raw);
  void flush();

  const Trace& trace_;
  dialects::RowWriter& writer_;
  io::ByteSink& sink_;
  readers::TextRules rules_;
  std::string text_;
  std::size_t kept_ = 0;     // of text_
  std::size_t ranges_ = 0;   // that were given last, and those before
  bool other_rows_ = false;  // than the model was made of
  std::string members_;
  std::string arguments_;
  std::string scratch_;
  std::unordered_map<std::string, dialects::Place> places_;
  Changes changes_;
  Changes new_changes_;  // since the last keep()
  Status failure_;
};

}  // namespace tbtrace::converters
