// The keys of Chrome trace events that mean something to the model, one row a key.
// To read another key: add a Field, a row here, and its meaning in chrome_events.cc.
// Constants and pure functions only. A key that has no row is skipped.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
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
  python_id,
  python_module_id,
  bytes,
  device_type,
  device_id,
  label,
  none,
};
inline constexpr std::size_t kFieldCount = static_cast<std::size_t>(Field::none);

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
    {"Python id", Field::python_id},
    {"Python module id", Field::python_module_id},
    {"Bytes", Field::bytes},
    {"Device Type", Field::device_type},
    {"Device Id", Field::device_id},
    {"name", Field::label},  // of process_name and thread_name rows
});

/// Finds the row of a key by one multiplication and two comparisons of words.
class FieldTable {
 public:
  template <std::size_t N>
  explicit constexpr FieldTable(const std::array<FieldRow, N>& rows) {
    static_assert(N * 3 < kSlots, "keep the table sparse");
    for (const FieldRow& row : rows) {
      const std::uint64_t start = word(row.key, 0);
      std::size_t place = place_of(start, row.key.size());
      while (slots_[place].size != 0) place = (place + 1) % kSlots;
      slots_[place] = {start, end_word(row.key), row.key.size(), row.key.data(), row.field};
    }
  }

  /// `key` must be followed by 8 readable bytes.
  Field find(std::string_view key) const {
    std::uint64_t start;
    std::memcpy(&start, key.data(), sizeof start);
    std::uint64_t end = 0;
    if (key.size() < 8) {
      start &= (std::uint64_t{1} << (8 * key.size())) - 1;
    } else {
      std::memcpy(&end, key.data() + key.size() - 8, sizeof end);
    }
    for (std::size_t place = place_of(start, key.size()); slots_[place].size != 0;
         place = (place + 1) % kSlots) {
      const Slot& slot = slots_[place];
      if (slot.start != start || slot.end != end || slot.size != key.size()) continue;
      // Two words cover 16 bytes.
      if (key.size() <= 16 || key == std::string_view(slot.key, slot.size)) return slot.field;
    }
    return Field::none;
  }

 private:
  static constexpr std::size_t kSlots = 128;

  struct Slot {
    std::uint64_t start = 0;  // the first 8 bytes
    std::uint64_t end = 0;    // the last 8, 0 if there are fewer
    std::size_t size = 0;     // 0: free
    const char* key = nullptr;
    Field field = Field::none;
  };

  static constexpr std::uint64_t word(std::string_view key, std::size_t from) {
    std::uint64_t bytes = 0;
    for (std::size_t at = 0; from + at < key.size() && at < 8; ++at) {
      bytes |= std::uint64_t{static_cast<unsigned char>(key[from + at])} << (8 * at);
    }
    return bytes;
  }
  static constexpr std::uint64_t end_word(std::string_view key) {
    return key.size() < 8 ? 0 : word(key, key.size() - 8);
  }
  static constexpr std::size_t place_of(std::uint64_t start, std::size_t size) {
    return ((start ^ size) * 0x9e3779b97f4a7c15) >> 57;
  }

  std::array<Slot, kSlots> slots_ = {};
};

inline constexpr FieldTable kEventFields(kEventKeys);
inline constexpr FieldTable kArgumentFields(kArgumentKeys);

}  // namespace tbtrace::readers
