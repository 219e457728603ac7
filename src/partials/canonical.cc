#include "partials/canonical.h"

#include <algorithm>
#include <cstddef>
#include <numeric>

namespace tbtrace::partials {
CanonicalOrder canonical_order(const Content& content) {
  std::vector<bool> is_used(content.texts.size(), false);
  for (const SumTable& table : content.tables) {
    for (std::size_t row = 0; row < table.size(); ++row) {
      for (const std::uint32_t text : table.key(row)) is_used[text] = true;
    }
  }
  for (const StackSums::Node& node : content.stacks.nodes()) is_used[node.frame] = true;

  CanonicalOrder order;
  for (std::uint32_t text = 0; text < is_used.size(); ++text) {
    if (is_used[text]) order.texts.push_back(text);
  }
  std::ranges::sort(order.texts, {}, [&](std::uint32_t text) { return content.texts[text]; });
  order.place_of_text.resize(content.texts.size(), 0);
  for (std::uint32_t place = 0; place < order.texts.size(); ++place) {
    order.place_of_text[order.texts[place]] = place;
  }
  for (const SumTable& table : content.tables) {
    std::vector<std::uint32_t>& rows = order.rows.emplace_back(table.size());
    std::iota(rows.begin(), rows.end(), 0U);
    std::ranges::sort(rows, [&](std::uint32_t one, std::uint32_t two) {
      return std::ranges::lexicographical_compare(
          table.key(one), table.key(two), {},
          [&](std::uint32_t text) { return order.place_of_text[text]; },
          [&](std::uint32_t text) { return order.place_of_text[text]; });
    });
  }
  return order;
}

}  // namespace tbtrace::partials
