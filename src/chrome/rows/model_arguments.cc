#include "chrome/rows/model_arguments.h"

#include <array>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <string_view>

#include "chrome/rows/json_numbers.h"
#include "trace/call_tree.h"
#include "trace/nearest_range.h"
#include "wire/json_strict.h"
#include "wire/json_text.h"

namespace tbtrace::chrome {
namespace {

using chrome::append_integer;

void append_argument_key(std::string& json, Argument argument) {
  json += ",\"";
  json += argument_row(argument).keys[0];
  json += "\":";
}

/// As the file has it, or as a string if it is not valid JSON.
void append_json(std::string& json, std::string_view value) {
  if (!wire::append_strict_json(json, value, false)) wire::append_json_string(json, value);
}

void append_real(std::string& json, double value) {
  std::array<char, 32> digits;
  json.append(digits.data(), std::to_chars(digits.begin(), digits.end(), value).ptr);
}

void append_dim3(std::string& json, const Dim3& sizes) {
  json += '[';
  append_integer(json, sizes.x);
  json += ',';
  append_integer(json, sizes.y);
  json += ',';
  append_integer(json, sizes.z);
  json += ']';
}

bool has_frames(const Trace& trace) {
  for (std::size_t row = 0; row < trace.events().size(); ++row) {
    if (trace.events().is_python_frame(static_cast<EventId>(row))) return true;
  }
  return false;
}

}  // namespace

ModelArguments::ModelArguments(const Trace& trace, ArgumentSet left_out) : trace_(trace) {
  for (std::size_t row = 0; row < kArgumentCount; ++row) {
    const auto argument = static_cast<Argument>(row);
    if (!trace.argument(argument).empty()) arguments_ = arguments_ | ArgumentSet{argument};
  }
  arguments_ = arguments_ - left_out;
  constexpr ArgumentSet kFrameIds = {Argument::python_id, Argument::python_parent_id};
  has_python_ids_ = (kFrameIds - arguments_) == ArgumentSet();
  if (has_python_ids_) return;
  arguments_ = arguments_ - kFrameIds;
  if (has_frames(trace)) frames_ = nearest_python_frames(trace);
}

void ModelArguments::of_range(EventId event, std::string& json) const {
  for (std::size_t row = 0; row < kArgumentCount; ++row) {
    const auto argument = static_cast<Argument>(row);
    if (arguments_.contains(argument) && has(event, argument)) value(event, argument, json);
  }
  marks(event, json);
  if (trace_.events().is_python_frame(event)) frame(event, json);
}

void ModelArguments::value(EventId event, Argument argument, std::string& json) const {
  const ArgumentColumn& column = trace_.argument(argument);
  switch (argument_row(argument).type) {
    case ArgumentType::integer:
      append_argument_key(json, argument);
      return append_integer(json, column.integer(event).value_or(0));
    case ArgumentType::real: {
      const double number = column.real(event).value_or(0);
      if (!std::isfinite(number)) return;
      append_argument_key(json, argument);
      return append_real(json, number);
    }
    case ArgumentType::text:
      append_argument_key(json, argument);
      return wire::append_json_string(json, trace_.argument_text(event, argument));
    case ArgumentType::json:
      append_argument_key(json, argument);
      return append_json(json, trace_.argument_text(event, argument));
    case ArgumentType::dim3:
      append_argument_key(json, argument);
      return append_dim3(json, column.dim3(event).value_or(Dim3()));
    case ArgumentType::mark:
      return;  // has no column
  }
}

void ModelArguments::marks(EventId event, std::string& json) const {
  if (trace_.events().unfinished(event)) json += ",\"finished\":false";
  if (trace_.events().is_asynchronous(event)) json += ",\"asynchronous\":true";
}

/// Without the file's ids our own, by which readers identify frames and nest modules.
void ModelArguments::frame(EventId event, std::string& json) const {
  if (has_python_ids_) {
    if (!has(event, Argument::python_parent_id)) json += ",\"Python parent id\":null";
  } else {
    const EventId parent = entry_of(frames_, call_tree_of(trace_).parent(event));
    json += ",\"Python id\":";
    append_integer(json, static_cast<std::int64_t>(index(event)) + 1);
    json += ",\"Python parent id\":";
    if (parent == EventId::none) {
      json += "null";
    } else {
      append_integer(json, static_cast<std::int64_t>(index(parent)) + 1);
    }
  }
  if (!trace_.events().is_module(event) || has(event, Argument::python_module_id)) return;
  json += ",\"Python module id\":";
  append_integer(json, static_cast<std::int64_t>(index(trace_.events().name(event))));
}

void ModelArguments::of_memory(std::size_t record, std::string& json) const {
  const MemoryRecord& row = trace_.memory()[record];
  if (const auto address = trace_.memory_argument(Argument::address).integer(record)) {
    append_argument_key(json, Argument::address);
    json += std::to_string(static_cast<std::uint64_t>(*address));
  }
  if (row.total_allocated_bytes >= 0) {
    append_argument_key(json, Argument::total_allocated);
    append_integer(json, row.total_allocated_bytes);
  }
  if (const auto reserved = trace_.memory_argument(Argument::total_reserved).integer(record)) {
    append_argument_key(json, Argument::total_reserved);
    append_integer(json, *reserved);
  }
  if (row.event_rank == 0) return;
  append_argument_key(json, Argument::event_index);
  append_integer(json, std::int64_t{row.event_rank} - 1);
}

}  // namespace tbtrace::chrome
