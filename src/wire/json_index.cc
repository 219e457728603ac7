#include "wire/json_index.h"

#include <algorithm>
#include <new>

#include <simdjson.h>

namespace tbtrace::wire {

// simdjson's first stage and the array that it fills are public members of a class in a namespace
// called internal; they are the same in every release from 3.0 to 4. Nothing else of ours names it.
struct JsonIndex::Library {
  std::unique_ptr<simdjson::internal::dom_parser_implementation> stages;
  std::size_t capacity = 0;

  void reserve(std::size_t size) {
    if (stages != nullptr && size <= capacity) return;
    size = std::max(size, capacity * 2);
    const auto& machine = simdjson::get_active_implementation();
    if (machine->create_dom_parser_implementation(size, 1, stages) != simdjson::SUCCESS) {
      throw std::bad_alloc();
    }
    capacity = size;
  }
};

JsonIndex::JsonIndex() : library_(std::make_unique<Library>()) {}
JsonIndex::~JsonIndex() = default;
JsonIndex::JsonIndex(JsonIndex&&) noexcept = default;
JsonIndex& JsonIndex::operator=(JsonIndex&&) noexcept = default;

bool JsonIndex::build(std::string_view text) {
  library_->reserve(text.size());
  auto& stages = *library_->stages;
  const auto* bytes = reinterpret_cast<const std::uint8_t*>(text.data());
  if (stages.stage1(bytes, text.size(), simdjson::stage1_mode::regular) != simdjson::SUCCESS) {
    return false;
  }
  // The library allots seven entries more than a text can have positions.
  std::fill_n(&stages.structural_indexes[stages.n_structural_indexes], kJsonSentinels,
              static_cast<std::uint32_t>(text.size()));
  return true;
}

const std::uint32_t* JsonIndex::positions() const {
  return library_->stages->structural_indexes.get();
}

}  // namespace tbtrace::wire
