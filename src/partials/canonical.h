// The one order in which a partial is written, whatever the order in which it was made.
#pragma once

#include <cstdint>
#include <vector>

#include "partials/content.h"

namespace tbtrace::partials {

struct CanonicalOrder {
  /// Numbers in the pool of the texts that are in use, by their bytes.
  std::vector<std::uint32_t> texts;
  /// By number in the pool: the place in `texts`.
  std::vector<std::uint32_t> place_of_text;
  /// By table: its rows, by the places of the parts of their keys.
  std::vector<std::vector<std::uint32_t>> rows;
};

CanonicalOrder canonical_order(const Content& content);

}  // namespace tbtrace::partials
