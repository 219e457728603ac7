#include "chrome/plugin/devices.h"

#include <algorithm>
#include <cstddef>
#include <vector>

#include "base/decimal.h"
#include "wire/json_objects.h"
#include "wire/json_strict.h"

namespace tbtrace::chrome {
namespace {

constexpr std::int64_t kMostDevices = 64;  // the plugin's tables have no more rows

bool has_row(std::int64_t number) { return number >= 0 && number < kMostDevices; }

}  // namespace

Devices::Devices(const Trace& trace) {
  const Listed listed = listed_devices(trace);
  number_devices(used_devices(trace), listed);
  number_memory(trace, listed);
  if (!listed.empty()) list_devices(trace, listed);
}

/// The process ids with work on a device; if they are text, together with their streams.
Devices::Used Devices::used_devices(const Trace& trace) {
  const Events& events = trace.events();
  std::vector<bool> on_device(trace.tracks().size());
  for (std::size_t row = 0; row < events.size(); ++row) {
    const auto event = static_cast<EventId>(row);
    if (is_device_work(trace.kind(event))) on_device[index(events.track(event))] = true;
  }
  Used used;
  for (std::size_t row = 0; row < on_device.size(); ++row) {
    if (!on_device[row]) continue;
    const Track& track = trace.tracks()[row];
    if (track.process.text == StringId::empty) {
      used.numbers.insert(track.process.number);
    } else {
      used.texts.insert(text_key(track));
    }
  }
  return used;
}

/// By id if it is unique and in range, else by position in the list.
Devices::Listed Devices::listed_devices(const Trace& trace) {
  Listed listed;
  const auto json = trace.metadata().find("deviceProperties");
  std::string strict;
  const bool is_json =
      json != trace.metadata().end() && wire::append_strict_json(strict, json->second, false);
  if (!is_json) return listed;
  std::int64_t position = 0;
  for (wire::JsonObject& object : wire::json_objects(strict, "id")) {
    std::int64_t id = parse_integer(object.member).value_or(position);
    if (!has_row(id) || listed.contains(id)) id = position;
    listed.try_emplace(id, std::move(object.text));
    ++position;
  }
  return listed;
}

/// Listed devices keep their numbers; of the others, those that can keep theirs come first.
void Devices::number_devices(const Used& used, const Listed& listed) {
  std::vector<std::int64_t> unlisted;
  for (const std::int64_t number : used.numbers) {
    if (listed.contains(number)) {
      numbers_[number] = number;
      taken_.insert(number);
    } else {
      unlisted.push_back(number);
    }
  }
  for (const bool fits : {true, false}) {
    for (const std::int64_t number : unlisted) {
      if (has_row(number) == fits) numbers_[number] = take_number(number, listed);
    }
    for (const TextKey& text : used.texts) {
      if (has_row(text.second) == fits) text_numbers_[text] = take_number(text.second, listed);
    }
  }
}

/// Memory devices keep their numbers, except those for which the plugin has no row.
void Devices::number_memory(const Trace& trace, const Listed& listed) {
  std::set<std::int64_t> without_row;
  for (const MemoryRecord& record : trace.memory()) {
    if (record.device_type == DeviceType::cpu || numbers_.contains(record.device_id)) continue;
    if (has_row(record.device_id)) taken_.insert(record.device_id);
    if (record.device_id >= kMostDevices) without_row.insert(record.device_id);
  }
  for (const std::int64_t number : without_row) numbers_[number] = take_number(number, listed);
}

/// The first unused number in the list, else the wanted one, else any.
std::int64_t Devices::take_number(std::int64_t wanted, const Listed& listed) {
  const auto is_free = [&](std::int64_t number) { return !taken_.contains(number); };
  std::int64_t number = -1;
  for (const auto& [id, object] : listed) {
    if (number < 0 && is_free(id)) number = id;
  }
  if (number < 0 && has_row(wanted) && is_free(wanted)) number = wanted;
  for (std::int64_t row = 0; number < 0 && row < kMostDevices; ++row) {
    if (is_free(row)) number = row;
  }
  if (number < 0) number = kMostDevices - 1;
  taken_.insert(number);
  renumbered_ += number == wanted ? 0 : 1;
  return number;
}

/// The plugin uses the position in the list as the number, so no position is left out.
void Devices::list_devices(const Trace& trace, const Listed& listed) {
  std::int64_t last = std::max(listed.rbegin()->first, taken_.empty() ? 0 : *taken_.rbegin());
  for (const MemoryRecord& record : trace.memory()) {
    if (record.device_type != DeviceType::cpu)
      last = std::max(last, memory_number(record.device_id));
  }
  std::string array = "[";
  for (std::int64_t number = 0; number <= last; ++number) {
    if (number > 0) array += ',';
    const auto found = listed.find(number);
    array += found != listed.end() ? found->second : "{\"id\":" + std::to_string(number) + "}";
  }
  array += ']';
  wire::append_strict_json(properties_, array, true);
}

std::int64_t Devices::number(const Track& track) const {
  const TrackKey& process = track.process;
  if (process.text != StringId::empty) {
    const auto found = text_numbers_.find(text_key(track));
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

}  // namespace tbtrace::chrome
