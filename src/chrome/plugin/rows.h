// The rows of a file for torch-tb-profiler: what the model holds is regenerated, everything else in
// a row is kept.
// Non-numeric kernel and memory values are left out, and so are `args` that are not an object on
// rows that need an object; both are counted.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include <tbtrace/convert.h>
#include <tbtrace/trace.h>

#include "chrome/plugin/row_writer.h"
#include "chrome/rows/repeated_keys.h"
#include "chrome/rows/row_document.h"

namespace tbtrace::chrome {

class PluginDocument final : public RowDocument {
 public:
  PluginDocument(const Trace& trace, bool infer_steps, int threads, io::ByteSink& sink)
      : RowDocument(trace, sink), writer_(trace, infer_steps, threads) {}

  std::unique_ptr<readers::BlockSink> make() override;
  bool takes_flows() const override { return false; }  // they are made anew
  LeftOutMembers left_out() const override;
  std::unique_ptr<ModelRows> model_rows() const override;

 private:
  void write_start(std::string& json) override { writer_.begin(json); }
  void write_end(std::string& json) override;

  chrome::RowWriter writer_;
};

class PluginRows final : public RowBlock {
 public:
  PluginRows(const Trace& trace, const chrome::RowWriter& writer, RowDocument& document);

  void add(const EventBatch& rows) override;

 private:
  using Members = std::span<const RowMember>;

  void range(EventId event, Members members, Members arguments);
  void memory(const EventBatch& rows, const MemoryRecord& record, Members members,
              Members arguments);
  void other(const EventBatch& rows, const EventBatch::Other& row, RowKind kind, Members members,
             Members arguments);

  const chrome::Place& place(const EventBatch& rows, TrackId track, bool has_thread);
  const chrome::Place& find_place(const EventBatch& rows, TrackId track, bool has_thread);
  bool comes_again(std::size_t member);
  /// Adds all members except those of these fields.
  void add_members(Members members, std::uint32_t written, std::string_view written_key = {});
  struct Arguments {
    ArgumentSet written = {};      ///< those that RowWriter writes
    bool is_device_row = false;    ///< its `device` is written by RowWriter
    bool must_be_numbers = false;  ///< arguments that consumers calculate with
  };
  void add_arguments(Members arguments, const Arguments& how);
  void add_collective_inputs(Members arguments);

  const Trace& trace_;
  const chrome::RowWriter& writer_;
  chrome::RowTexts texts_;
  std::string members_;
  std::string arguments_;
  std::string bare_args_;
  RepeatedKeys repeated_keys_;
  std::unordered_map<std::string, chrome::Place> places_;
  std::vector<const chrome::Place*> places_of_batch_;  // by track, without and with a thread
};

}  // namespace tbtrace::chrome
