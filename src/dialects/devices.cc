#include "dialects/devices.h"

#include <cstddef>
#include <optional>
#include <set>
#include <string_view>
#include <vector>

#include "base/decimal.h"
#include "wire/json_strict.h"

namespace tbtrace::dialects {
namespace {

constexpr std::int64_t kMostDevices = 64;  // the plugin's tables have no more rows

/// The texts of the elements of an array, or of the members of an object, of strict JSON without
/// needless blanks.
std::vector<std::string_view> elements(std::string_view array) {
  std::vector<std::string_view> parts;
  if (array.size() < 2 || (array.front() != '[' && array.front() != '{')) return parts;
  std::size_t start = 1;
  std::size_t depth = 0;
  bool in_string = false;
  for (std::size_t at = 1; at < array.size(); ++at) {
    const char c = array[at];
    if (in_string) {
      if (c == '\\') {
        ++at;
      } else if (c == '"') {
        in_string = false;
      }
      continue;
    }
    if (c == '"') {
      in_string = true;
    } else if (c == '{' || c == '[') {
      ++depth;
    } else if ((c == ',' || c == ']' || c == '}') && depth == 0) {
      if (at > start) parts.push_back(array.substr(start, at - start));
      start = at + 1;
    } else if (c == '}' || c == ']') {
      --depth;
    }
  }
  return parts;
}

/// The `id` of an object of device properties.
std::optional<std::int64_t> id_of(std::string_view object) {
  constexpr std::string_view kKey = "\"id\":";
  for (const std::string_view member : elements(object)) {
    if (member.starts_with(kKey)) return parse_integer(member.substr(kKey.size()));
  }
  return std::nullopt;
}

bool has_row(std::int64_t number) { return number >= 0 && number < kMostDevices; }

}  // namespace

Devices::Devices(const Trace& trace) {
  std::set<std::int64_t> used;
  std::set<std::pair<std::uint32_t, std::int64_t>> used_texts;
  const Events& events = trace.events();
  std::vector<bool> on_device(trace.tracks().size());
  for (std::size_t row = 0; row < events.size(); ++row) {
    const auto event = static_cast<EventId>(row);
    if (is_device_work(trace.kind(event))) on_device[index(events.track(event))] = true;
  }
  for (std::size_t track = 0; track < on_device.size(); ++track) {
    if (!on_device[track]) continue;
    const auto& [process, thread, process_name, thread_name] = trace.tracks()[track];
    if (process.text == StringId::empty) {
      used.insert(process.number);
    } else {
      used_texts.insert({static_cast<std::uint32_t>(process.text), thread.number});
    }
  }

  std::string listed_json;
  const auto listed = trace.metadata().find("deviceProperties");
  if (listed != trace.metadata().end()) {
    wire::append_strict_json(listed_json, listed->second, false);
  }
  std::map<std::int64_t, std::string_view> by_id;
  std::int64_t position = 0;
  for (const std::string_view object : elements(listed_json)) {
    if (object.front() != '{') continue;
    std::int64_t id = id_of(object).value_or(position);
    if (!has_row(id) || by_id.contains(id)) id = position;
    by_id.try_emplace(id, object);
    ++position;
  }

  std::set<std::int64_t> taken;
  std::vector<std::int64_t> unlisted;
  for (const std::int64_t number : used) {
    if (by_id.contains(number)) {
      numbers_[number] = number;
      taken.insert(number);
    } else {
      unlisted.push_back(number);
    }
  }
  const auto give = [&](std::int64_t wanted) {
    std::int64_t number = -1;
    for (const auto& [id, object] : by_id) {
      if (!taken.contains(id)) {
        number = id;
        break;
      }
    }
    const bool wanted_fits = has_row(wanted) && !taken.contains(wanted);
    if (number < 0 && wanted_fits) number = wanted;
    for (std::int64_t free = 0; number < 0 && free < kMostDevices; ++free) {
      if (!taken.contains(free)) number = free;
    }
    if (number < 0) number = kMostDevices - 1;
    taken.insert(number);
    renumbered_ += number == wanted ? 0 : 1;
    return number;
  };
  // First those that may keep their numbers.
  for (const bool fits : {true, false}) {
    for (const std::int64_t number : unlisted) {
      if (has_row(number) == fits) numbers_[number] = give(number);
    }
    for (const auto& text : used_texts) {
      if (has_row(text.second) == fits) text_numbers_[text] = give(text.second);
    }
  }

  if (by_id.empty()) return;
  std::int64_t last = std::max(by_id.rbegin()->first, taken.empty() ? 0 : *taken.rbegin());
  for (const MemoryRecord& record : trace.memory()) {
    if (record.device_type != 0) last = std::max(last, memory_number(record.device_id));
  }
  std::string array = "[";
  for (std::int64_t number = 0; number <= last; ++number) {
    if (number > 0) array += ',';
    const auto found = by_id.find(number);
    if (found != by_id.end()) {
      array += found->second;
    } else {
      array += "{\"id\":" + std::to_string(number) + "}";
    }
  }
  array += ']';
  wire::append_strict_json(properties_, array, true);
}

std::int64_t Devices::number(const Track& track) const {
  const TrackKey& process = track.process;
  if (process.text != StringId::empty) {
    const auto found =
        text_numbers_.find({static_cast<std::uint32_t>(process.text), track.thread.number});
    return found == text_numbers_.end() ? 0 : found->second;
  }
  const auto found = numbers_.find(process.number);
  if (found != numbers_.end()) return found->second;
  return has_row(process.number) ? process.number : 0;
}

std::int64_t Devices::memory_number(std::int64_t device_id) const {
  const auto found = numbers_.find(device_id);
  if (found != numbers_.end()) return found->second;
  return has_row(device_id) ? device_id : 0;
}

}  // namespace tbtrace::dialects
