// The strings of a trace as JSON, cached up to a limit.
// Owns the texts; views are valid until the next call. One thread at a time.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <tbtrace/trace.h>

#include "wire/json_text.h"

namespace tbtrace::chrome {

class JsonTexts {
 public:
  explicit JsonTexts(const Trace& trace) : trace_(trace) {}

  /// Including the quotes.
  std::string_view operator[](StringId id) {
    if (places_.size() <= index(id)) places_.resize(index(id) + 1);
    if (places_[index(id)].size == 0 && texts_.size() > kMostBytes) {
      texts_.clear();
      std::fill(places_.begin(), places_.end(), Place());
    }
    Place& place = places_[index(id)];
    if (place.size == 0) {
      place.start = texts_.size();
      wire::append_json_string(texts_, trace_.string(id));
      place.size = texts_.size() - place.start;
    }
    return std::string_view(texts_).substr(place.start, place.size);
  }

 private:
  static constexpr std::size_t kMostBytes = std::size_t{2} << 20;

  struct Place {
    std::size_t start = 0;
    std::size_t size = 0;  // 0: not cached yet
  };

  const Trace& trace_;
  std::string texts_;
  std::vector<Place> places_;
};

}  // namespace tbtrace::chrome
