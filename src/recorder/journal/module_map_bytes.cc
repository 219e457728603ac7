#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "recorder/journal/fields.h"
#include "recorder/log/module_map.h"

namespace tbtrace::recorder::journal {

namespace {

constexpr std::size_t kWord = sizeof(std::uint64_t);

std::uint64_t number_of(const void* address) { return reinterpret_cast<std::uintptr_t>(address); }
const void* address_of(std::uint64_t number) {
  // NOLINTNEXTLINE(performance-no-int-to-ptr): it tells objects apart, and nothing is read there
  return reinterpret_cast<const void*>(static_cast<std::uintptr_t>(number));
}

}  // namespace

std::string bytes_of(const ModuleMap& map) {
  FieldWriter fields;
  fields.put(map.modules_.size());
  for (const Module& module : map.modules_) {
    fields.put(module.class_name).put(module.number).put(module.path).put(module.parent);
    fields.put(module.parameters);
  }
  fields.put(map.parts_.size());
  for (const auto& [part, row] : map.parts_) fields.put(part.first).put(part.second).put(row);
  fields.put(map.scripts_.size());
  for (const auto& [object, row] : map.scripts_) fields.put(number_of(object)).put(row);
  fields.put(map.rows_.size());
  for (const auto& [instance, row] : map.rows_) {
    fields.put(number_of(instance.first)).put(instance.second).put(row);
  }
  fields.put(map.modules_of_tensors_.size());
  for (const std::uint32_t row : map.modules_of_tensors_) fields.put(row);
  fields.put(map.sharers_.size());
  for (const auto& [number, rows] : map.sharers_) {
    fields.put(number).put(rows.size());
    for (const std::uint32_t row : rows) fields.put(row);
  }
  return std::string(fields.bytes());
}

std::optional<ModuleMap> module_map_of(std::string_view bytes) {
  FieldReader fields(bytes);
  ModuleMap map;
  bool is_sound = true;
  const std::size_t modules = fields.count(5 * kWord);
  for (std::size_t row = 0; row < modules; ++row) {
    Module module;
    module.class_name = fields.text();
    module.number = fields.number<std::uint32_t>();
    module.path = fields.text();
    module.parent = fields.number<std::int64_t>();
    module.parameters = fields.number<std::int64_t>();
    is_sound = is_sound && module.parent >= ModuleMap::kNone &&
               module.parent < static_cast<std::int64_t>(row);
    std::uint32_t& count = map.class_counts_[module.class_name];
    count = std::max(count, module.number + 1);
    map.modules_.push_back(std::move(module));
  }
  const auto row = [&] {
    const auto number = fields.number<std::uint32_t>();
    is_sound = is_sound && number < modules;
    return number;
  };
  for (std::size_t left = fields.count(3 * kWord); left > 0; --left) {
    const auto module = fields.number<std::int64_t>();
    std::string name = fields.text();
    map.parts_.try_emplace({module, std::move(name)}, row());
  }
  for (std::size_t left = fields.count(2 * kWord); left > 0; --left) {
    const void* const object = address_of(fields.number<std::uint64_t>());
    map.scripts_.try_emplace(object, row());
  }
  for (std::size_t left = fields.count(3 * kWord); left > 0; --left) {
    const void* const instance = address_of(fields.number<std::uint64_t>());
    std::string type = fields.text();
    map.rows_.try_emplace({instance, std::move(type)}, row());
  }
  for (std::size_t left = fields.count(kWord); left > 0; --left) {
    map.modules_of_tensors_.push_back(row());
  }
  for (std::size_t left = fields.count(2 * kWord); left > 0; --left) {
    std::vector<std::uint32_t>& rows = map.sharers_[fields.number<std::uint64_t>()];
    for (std::size_t more = fields.count(kWord); more > 0; --more) rows.push_back(row());
  }
  if (!fields.ok() || !is_sound) return std::nullopt;
  return map;
}

}  // namespace tbtrace::recorder::journal
