// The keys of Chrome trace events that mean something to the model, one row a key.
// To read another key: add a Field, a row here, and its meaning in chrome_events.cc.
// Constants and a pure function. A key that has no row is skipped.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace tbtrace::readers {

enum class Field : std::uint8_t {
  phase,
  category,
  name,
  process,
  thread,
  timestamp,
  duration,
  flow_id,
  arguments,
  external_id,
  correlation,
  event_index,
  input_dims,
  input_types,
  concrete_inputs,
  call_stack,
  sequence_number,
  forward_thread,
  finished,
  asynchronous,
  python_id,
  python_module_id,
  bytes,
  device_type,
  device_id,
  total_allocated,
  label,
  none,
};
inline constexpr std::size_t kFieldCount = static_cast<std::size_t>(Field::none);

/// The field's place in a set of fields.
constexpr std::uint64_t field_bit(Field field) {
  return std::uint64_t{1} << static_cast<int>(field);
}

struct FieldRow {
  std::string_view key;
  Field field;
};

/// Keys of the event itself.
inline constexpr std::array kEventKeys = std::to_array<FieldRow>({
    {"ph", Field::phase},
    {"cat", Field::category},
    {"name", Field::name},
    {"pid", Field::process},
    {"tid", Field::thread},
    {"ts", Field::timestamp},
    {"dur", Field::duration},
    {"id", Field::flow_id},
    {"args", Field::arguments},
});

/// Keys of its `args`. Two generations of writers spell some of them differently.
inline constexpr std::array kArgumentKeys = std::to_array<FieldRow>({
    {"External id", Field::external_id},
    {"external id", Field::external_id},
    {"correlation", Field::correlation},
    {"Ev Idx", Field::event_index},
    {"Profiler Event Index", Field::event_index},
    {"Input Dims", Field::input_dims},
    {"Input dims", Field::input_dims},
    {"Input type", Field::input_types},
    {"Concrete Inputs", Field::concrete_inputs},
    {"Call stack", Field::call_stack},
    {"Sequence number", Field::sequence_number},
    {"Fwd thread id", Field::forward_thread},
    {"finished", Field::finished},
    {"asynchronous", Field::asynchronous},  // of our own recordings
    {"Python id", Field::python_id},
    {"Python module id", Field::python_module_id},
    {"Bytes", Field::bytes},
    {"Device Type", Field::device_type},
    {"Device Id", Field::device_id},
    {"Total Allocated", Field::total_allocated},
    {"name", Field::label},  // of process_name and thread_name rows
});

template <std::size_t N>
constexpr Field field_of(std::string_view key, const std::array<FieldRow, N>& rows) {
  for (const FieldRow& row : rows) {
    if (row.key == key) return row.field;
  }
  return Field::none;
}

}  // namespace tbtrace::readers
