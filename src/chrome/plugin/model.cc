#include "chrome/plugin/model.h"

#include "wire/json_text.h"

namespace tbtrace::chrome {

using chrome::Place;
using chrome::RowWriter;

PluginModelRows::PluginModelRows(const Trace& trace, const RowWriter& writer)
    : trace_(trace),
      writer_(writer),
      texts_(writer.texts()),
      model_arguments_(trace, {Argument::device}) {}

void PluginModelRows::label(TrackId id, std::string& json) {
  const Track& track = trace_.track(id);
  const Place& place = writer_.places().of_track(id);
  const bool names_process = track.process_name != StringId::empty;
  if (names_process && named_processes_.insert(place.process).second) {
    name_row("\"process_name\"", place, track.process_name, json);
  }
  if (track.thread_name != StringId::empty) {
    name_row("\"thread_name\"", place, track.thread_name, json);
  }
}

void PluginModelRows::name_row(std::string_view name_json, const Place& place, StringId name,
                               std::string& json) const {
  RowWriter::row_start("M", name_json, place, json);
  json += ",\"args\":{\"name\":";
  wire::append_json_string(json, trace_.string(name));
  json += '}';
  RowWriter::row_end(json);
}

void PluginModelRows::range(EventId event, std::string& json) {
  arguments_.clear();
  model_arguments_.of_range(event, arguments_);
  const bool has_call_stack = model_arguments_.has(event, Argument::call_stack);
  writer_.range(event, {{}, arguments_, has_call_stack}, texts_, json);
}

void PluginModelRows::memory(std::size_t record, std::string& json) {
  arguments_.clear();
  model_arguments_.of_memory(record, arguments_);
  const MemoryRecord& row = trace_.memory()[record];
  writer_.memory(row, writer_.places().of_track(row.track), {{}, arguments_, false}, json);
}

/// The writer makes them from the links.
void PluginModelRows::flow(const FlowEnd& /*end*/, std::string& /*json*/) {}

}  // namespace tbtrace::chrome
