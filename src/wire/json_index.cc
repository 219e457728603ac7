#include "wire/json_index.h"

#include <algorithm>
#include <new>

#include <simdjson.h>

namespace tbtrace::wire {
namespace {

/// Whether the character at `at` is preceded by an odd number of backslashes.
bool is_escaped(std::string_view text, std::size_t at) {
  std::size_t slashes = 0;
  while (at > slashes && text[at - slashes - 1] == '\\') ++slashes;
  return slashes % 2 == 1;
}

/// The opening quote of the string in which the text ends: the last quote without a backslash.
std::size_t open_quote(std::string_view text) {
  std::size_t quote = text.rfind('"');
  while (quote != std::string_view::npos && is_escaped(text, quote)) {
    quote = quote == 0 ? std::string_view::npos : text.rfind('"', quote - 1);
  }
  return std::min(quote, text.size());
}

// simdjson looks at the processor when it is first used, and ends the program if memory runs out at
// that moment. So it is first used when the program is loaded.
[[maybe_unused]] const bool kIsChosen = !simdjson::get_active_implementation()->name().empty();

}  // namespace

// simdjson's first stage and the array that it fills are public members of a class in a namespace
// called internal; they are the same in every release from 3.0 to 4. Only this file uses simdjson's
// internals.
struct JsonIndex::Library {
  std::unique_ptr<simdjson::internal::dom_parser_implementation> stages;
  std::size_t capacity = 0;

  void reserve(std::size_t size) {
    if (stages != nullptr && size <= capacity) return;
    // The blocks of a file differ slightly in size.
    size = std::max(size + size / 4, capacity * 2);
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

IndexEnd JsonIndex::build(std::string_view text) {
  library_->reserve(text.size());
  auto& stages = *library_->stages;
  const auto run = [&](std::string_view piece) {
    const auto* bytes = reinterpret_cast<const std::uint8_t*>(piece.data());
    const simdjson::error_code error =
        stages.stage1(bytes, piece.size(), simdjson::stage1_mode::regular);
    if (error == simdjson::EMPTY) stages.n_structural_indexes = 0;
    return error;
  };
  IndexEnd end = IndexEnd::whole;
  simdjson::error_code error = run(text);
  if (error == simdjson::UNCLOSED_STRING) {
    end = IndexEnd::open_string;
    error = run(text.substr(0, open_quote(text)));
  }
  is_utf8_ = error != simdjson::UTF8_ERROR;
  if (is_utf8_ && error != simdjson::SUCCESS && error != simdjson::EMPTY) return IndexEnd::broken;
  // The library allocates seven more entries than a text can have positions.
  std::fill_n(&stages.structural_indexes[stages.n_structural_indexes], kJsonSentinels,
              static_cast<std::uint32_t>(text.size()));
  return end;
}

const std::uint32_t* JsonIndex::positions() const {
  return library_->stages->structural_indexes.get();
}

}  // namespace tbtrace::wire
