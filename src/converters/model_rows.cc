#include "converters/model_rows.h"

#include <cstddef>
#include <set>
#include <string>

#include "base/column.h"
#include "trace/call_tree.h"
#include "trace/nearest_range.h"
#include "wire/json_strict.h"
#include "wire/json_text.h"

namespace tbtrace::converters {
namespace {

using dialects::Place;
using dialects::RowWriter;

constexpr std::size_t kFlushAt = std::size_t{256} << 10;

/// Adds JSON from the file unchanged, or as a string if it is not valid JSON.
void add_json(std::string& json, const char* key, std::string_view value) {
  if (value.empty()) return;
  json += key;
  if (!wire::append_strict_json(json, value, false)) wire::append_json_string(json, value);
}

class Rows {
 public:
  Rows(const Trace& trace, const RowWriter& writer, io::ByteSink& sink)
      : trace_(trace),
        writer_(writer),
        sink_(sink),
        texts_(writer.texts()),
        frames_(nearest_python_frames(trace)) {}

  Status write() {
    writer_.begin(json_);
    write_labels();
    for (std::size_t row = 0; row < trace_.events().size(); ++row) {
      write_range(static_cast<EventId>(row));
      if (Status flushed = flush(kFlushAt); !flushed.ok()) return flushed;
    }
    for (const MemoryRecord& record : trace_.memory()) {
      writer_.memory(record, writer_.places().of_track(record.track), {}, json_);
      if (Status flushed = flush(kFlushAt); !flushed.ok()) return flushed;
    }
    writer_.end(json_);
    return flush(0);
  }

 private:
  void write_range(EventId event) {
    arguments_.clear();
    const auto json = [&](const char* key, Argument argument) {
      add_json(arguments_, key, trace_.argument_text(event, argument));
    };
    json(",\"Input Dims\":", Argument::input_dims);
    json(",\"Input type\":", Argument::input_types);
    json(",\"Concrete Inputs\":", Argument::concrete_inputs);
    const auto number = [&](const char* key, Argument argument) {
      const auto value = trace_.argument(argument).integer(event);
      if (value) arguments_ += key + std::to_string(*value);
    };
    number(",\"Sequence number\":", Argument::sequence_number);
    number(",\"Fwd thread id\":", Argument::forward_thread);
    const bool has_call_stack = trace_.argument(Argument::call_stack).has(event);
    if (has_call_stack) {
      arguments_ += ",\"Call stack\":";
      wire::append_json_string(arguments_, trace_.argument_text(event, Argument::call_stack));
    }
    if (trace_.events().unfinished(event)) arguments_ += ",\"finished\":false";
    add_frame(event);
    writer_.range(event, {{}, arguments_, has_call_stack}, texts_, json_);
  }

  /// Our own ids, by which readers identify frames and nest modules.
  void add_frame(EventId event) {
    const Events& events = trace_.events();
    if (events.is_python_frame(event)) {
      const EventId parent = entry_of(frames_, call_tree_of(trace_).parent(event));
      arguments_ += ",\"Python id\":" + std::to_string(index(event) + 1) + ",\"Python parent id\":";
      arguments_ += parent == EventId::none ? "null" : std::to_string(index(parent) + 1);
    }
    if (events.is_module(event)) {
      arguments_ += ",\"Python module id\":" + std::to_string(index(events.name(event)));
      if (trace_.argument(Argument::module_path).has(event)) {
        arguments_ += ",\"Module path\":";
        wire::append_json_string(arguments_, trace_.argument_text(event, Argument::module_path));
      }
      if (const auto count = trace_.argument(Argument::module_parameters).integer(event)) {
        arguments_ += ",\"Module parameters\":" + std::to_string(*count);
      }
    }
  }

  void write_labels() {
    std::set<std::int64_t> processes;
    for (std::size_t row = 0; row < trace_.tracks().size(); ++row) {
      const Track& track = trace_.tracks()[row];
      const Place& place = writer_.places().of_track(static_cast<TrackId>(row));
      if (track.process_name != StringId::empty && processes.insert(place.process).second) {
        write_label("\"process_name\"", place, track.process_name);
      }
      if (track.thread_name != StringId::empty) {
        write_label("\"thread_name\"", place, track.thread_name);
      }
    }
  }

  void write_label(std::string_view what, const Place& place, StringId name) {
    RowWriter::row_start("M", what, place, json_);
    writer_.label_time(json_);
    json_ += ",\"args\":{\"name\":";
    wire::append_json_string(json_, trace_.string(name));
    json_ += '}';
    RowWriter::row_end(json_);
  }

  /// Writes everything except the comma after the last row, because there may be no further row.
  Status flush(std::size_t from_size) {
    constexpr std::string_view kComma = ",\n";
    if (json_.size() < from_size) return {};
    const std::size_t size = json_.size() - (json_.ends_with(kComma) ? kComma.size() : 0);
    Status written = sink_.write(std::string_view(json_).substr(0, size));
    json_.erase(0, size);
    return written;
  }

  const Trace& trace_;
  const RowWriter& writer_;
  io::ByteSink& sink_;
  dialects::RowTexts texts_;
  Column<EventId> frames_;  // the nearest Python frame around each range
  std::string json_;
  std::string arguments_;
};

}  // namespace

Status write_model_rows(const Trace& trace, const RowWriter& writer, io::ByteSink& sink) {
  return Rows(trace, writer, sink).write();
}

}  // namespace tbtrace::converters
