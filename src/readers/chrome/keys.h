// Which field or argument a key of a Chrome trace event names. The arguments come from the schema
// in tbtrace/arguments.h. Constants and pure functions.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <string_view>

#include <tbtrace/arguments.h>

#include "trace/event_batch.h"

namespace tbtrace::readers {

inline constexpr std::size_t kEventFieldCount = static_cast<std::size_t>(EventField::none);

struct EventKey {
  std::string_view key;
  EventField field;
};

/// Keys of the event itself.
inline constexpr std::array kEventKeys = std::to_array<EventKey>({
    {"ph", EventField::phase},
    {"cat", EventField::category},
    {"name", EventField::name},
    {"pid", EventField::process},
    {"tid", EventField::thread},
    {"ts", EventField::timestamp},
    {"dur", EventField::duration},
    {"id", EventField::flow_id},
    {"args", EventField::arguments},
});

constexpr EventField event_field(std::string_view key) {
  const auto* const row = std::find_if(kEventKeys.begin(), kEventKeys.end(),
                                       [&](const EventKey& each) { return each.key == key; });
  return row == kEventKeys.end() ? EventField::none : row->field;
}

namespace argument_keys {

struct Key {
  std::string_view key;
  Argument argument = Argument::none;
};

constexpr std::size_t count() {
  std::size_t keys = 0;
  for (std::size_t row = 0; row < kArgumentCount; ++row) {
    for (std::size_t key = 0; key < ArgumentRow::kMostKeys; ++key) {
      keys += kArgumentRows[row].keys[key].empty() ? 0 : 1;
    }
  }
  return keys;
}

constexpr bool before(std::string_view a, std::string_view b) {
  return a.size() != b.size() ? a.size() < b.size() : a < b;
}

constexpr auto sorted() {
  std::array<Key, count()> keys = {};
  std::size_t at = 0;
  for (std::size_t row = 0; row < kArgumentCount; ++row) {
    for (std::size_t key = 0; key < ArgumentRow::kMostKeys; ++key) {
      const std::string_view text = kArgumentRows[row].keys[key];
      if (!text.empty()) keys[at++] = {text, static_cast<Argument>(row)};
    }
  }
  std::sort(keys.begin(), keys.end(),
            [](const Key& a, const Key& b) { return before(a.key, b.key); });
  return keys;
}

inline constexpr auto kSorted = sorted();
static_assert(std::adjacent_find(kSorted.begin(), kSorted.end(),
                                 [](const Key& a, const Key& b) { return a.key == b.key; }) ==
                  kSorted.end(),
              "a key names one argument");

}  // namespace argument_keys

/// The argument that a key of `args` names, none if the schema has no such key.
constexpr Argument argument_of(std::string_view key) {
  using argument_keys::kSorted;
  const auto* const row =
      std::lower_bound(kSorted.begin(), kSorted.end(), key,
                       [](const argument_keys::Key& each, std::string_view wanted) {
                         return argument_keys::before(each.key, wanted);
                       });
  return row != kSorted.end() && row->key == key ? row->argument : Argument::none;
}

}  // namespace tbtrace::readers
