#include "analyses/steps/inferred.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/characters.h"
#include "base/decimal.h"

namespace tbtrace::analyses {
namespace {

/// The letters before the number, in lower case, and the number, if they end in a counting word.
std::optional<std::pair<std::string, std::int64_t>> counted(std::string_view name) {
  constexpr std::array<std::string_view, 4> kWords = {"iteration", "iter", "step", "batch"};
  std::size_t end = name.size();
  while (end > 0 && !is_digit(name[end - 1])) --end;
  std::size_t start = end;
  while (start > 0 && is_digit(name[start - 1])) --start;
  const bool letters_after =
      std::any_of(name.begin() + static_cast<std::ptrdiff_t>(end), name.end(), is_letter);
  if (start == end || letters_after) return std::nullopt;
  std::string letters;
  for (const char c : name.substr(0, start)) {
    if (is_digit(c)) return std::nullopt;
    if (is_letter(c)) letters += static_cast<char>(c | 0x20);
  }
  const bool counts = std::any_of(kWords.begin(), kWords.end(),
                                  [&](std::string_view word) { return letters.ends_with(word); });
  const auto number = parse_integer(name.substr(start, end - start));
  if (!counts || !number || *number < 0) return std::nullopt;
  return std::pair(std::move(letters), *number);
}

}  // namespace

std::vector<Step> inferred_steps(const Trace& trace) {
  if (!trace.steps().empty()) return {};
  std::map<std::string, std::vector<Step>> wordings;
  for (const EventId event : trace.by_start()) {
    if (trace.kind(event) != EventKind::user_annotation) continue;
    if (trace.events().duration_ns(event) == 0) continue;
    auto found = counted(trace.name(event));
    if (found) wordings[std::move(found->first)].push_back({found->second, event});
  }
  std::vector<Step> best;
  for (auto& [wording, steps] : wordings) {
    if (steps.size() > best.size()) best = std::move(steps);
  }
  std::sort(best.begin(), best.end(),
            [](const Step& a, const Step& b) { return index(a.event) < index(b.event); });
  return best;
}

}  // namespace tbtrace::analyses
