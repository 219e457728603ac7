#include "jobs/sets/path_facts.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <filesystem>
#include <span>
#include <vector>

#include "base/characters.h"
#include "base/decimal.h"
#include "inputs/log_file_name.h"

namespace tbtrace::jobs {
namespace {

constexpr std::size_t kMostDigits = 18;  // more are not a rank
constexpr std::size_t kDigitsOfTime = 10;

constexpr std::array<std::string_view, 1> kRankWords = {"rank"};
constexpr std::array<std::string_view, 5> kIterationWords = {"iteration", "iter", "global_step",
                                                             "step", "epoch"};

std::size_t digits_end(std::string_view text, std::size_t at) {
  while (at < text.size() && is_digit(text[at])) ++at;
  return at;
}

bool starts_with_word(std::string_view text, std::size_t at, std::string_view word) {
  if (text.size() - at < word.size()) return false;
  for (std::size_t letter = 0; letter < word.size(); ++letter) {
    if (lower_case(text[at + letter]) != word[letter]) return false;
  }
  return true;
}

struct Numbered {
  std::size_t digits = 0;  ///< where they start
  std::size_t end = 0;
  std::int64_t number = 0;
};

/// A word and its number, with at most two characters between them: `rank3`, `rank_3`, `rank[3]`.
std::optional<Numbered> numbered(std::string_view text, std::size_t at, std::string_view word) {
  if (!starts_with_word(text, at, word)) return std::nullopt;
  if (at > 0 && is_letter(text[at - 1])) return std::nullopt;  // `frank3`
  std::size_t digits = at + word.size();
  constexpr std::string_view kBetween = "_-.=[( #:";
  for (int skipped = 0; skipped < 2 && digits < text.size(); ++skipped) {
    if (kBetween.find(text[digits]) == std::string_view::npos) break;
    ++digits;
  }
  const std::size_t end = digits_end(text, digits);
  if (end == digits || end - digits > kMostDigits) return std::nullopt;
  // `rank-0.Jul_15`: the number ends at the dot. `iter_1a` has no number.
  if (end < text.size() && is_letter(text[end])) return std::nullopt;
  return Numbered{digits, end, *parse_integer(text.substr(digits, end - digits))};
}

bool follows(std::string_view text, std::size_t at, std::string_view word) {
  return at >= word.size() && starts_with_word(text, at - word.size(), word);
}

/// The last number of one of the words in a part of a path. Replaces its digits by `*`.
std::optional<std::int64_t> take_number(std::string& part,
                                        std::span<const std::string_view> words) {
  for (std::size_t at = part.size(); at-- > 0;) {
    for (const std::string_view word : words) {
      const std::optional<Numbered> found = numbered(part, at, word);
      if (!found) continue;
      // `local_rank_0` counts within a host, `node_rank_0` counts hosts.
      if (follows(part, at, "local_") || follows(part, at, "node_")) continue;
      part.replace(found->digits, found->end - found->digits, "*");
      return found->number;
    }
  }
  return std::nullopt;
}

/// SGLang's groups, each `-TP-0`; the numbers of all become `*`.
void take_groups(std::string& name, PathFacts& facts) {
  constexpr std::array<std::string_view, 5> kGroups = {"-tp-", "-dp-", "-pp-", "-ep-", "-cp-"};
  std::string kept;
  std::size_t at = 0;
  while (at < name.size()) {
    std::size_t end = at;
    for (const std::string_view group : kGroups) {
      if (!starts_with_word(name, at, group)) continue;
      const std::size_t digits = at + group.size();
      end = digits_end(name, digits);
      if (end == digits || end - digits > kMostDigits) {
        end = at;
        continue;
      }
      if (group == kGroups[0]) {
        facts.tensor_parallel = parse_integer(std::string_view(name).substr(digits, end - digits));
      } else {
        facts.other_groups += name.substr(at, end - at);
      }
      kept += name.substr(at, group.size()) + "*";
      break;
    }
    if (end == at) kept += name[at++];
    at = std::max(at, end);
  }
  name = kept;
}

/// Long numbers are times, or ids made of them.
void mask_times(std::string& name) {
  for (std::size_t at = 0; at < name.size();) {
    const std::size_t end = digits_end(name, at);
    if (end - at >= kDigitsOfTime) {
      name.replace(at, end - at, "*");
      at += 1;
    } else {
      at = std::max(end, at + 1);
    }
  }
}

/// verl's `_cycle1` after the name of a recording, for the second one of its process and later
/// ones.
void drop_cycle(std::string& name) {
  constexpr std::string_view kCycle = "_cycle";
  const std::size_t at = name.rfind(kCycle);
  if (at == std::string::npos || at + kCycle.size() == name.size()) return;
  if (digits_end(name, at + kCycle.size()) == name.size()) name.resize(at);
}

/// `host_1234` of `host_1234.1700000000000.pt.trace.json`.
std::string worker_of(std::string_view base_name) {
  const auto name = inputs::parse_plugin_name(base_name);
  if (!name || name->span.size() < kDigitsOfTime) return {};
  const std::size_t line = name->worker.rfind('_');
  const bool has_process = line != std::string::npos && line + 1 < name->worker.size() &&
                           digits_end(name->worker, line + 1) == name->worker.size();
  return has_process ? name->worker : std::string();
}

}  // namespace

PathFacts facts_of_path(std::string_view path) {
  PathFacts facts;
  const std::filesystem::path whole(path);
  const std::string base_name = whole.filename().string();
  facts.worker = worker_of(base_name);
  facts.name = inputs::trace_stem(base_name);
  // accelerate's name for a process of its.
  constexpr std::string_view kProfile = "profile_";
  const bool is_numbered = facts.name.starts_with(kProfile) &&
                           facts.name.size() > kProfile.size() &&
                           facts.name.size() <= kProfile.size() + kMostDigits &&
                           digits_end(facts.name, kProfile.size()) == facts.name.size();
  if (is_numbered) {
    facts.rank = parse_integer(std::string_view(facts.name).substr(kProfile.size()));
    facts.name = "profile_*";
  } else {
    facts.rank = take_number(facts.name, kRankWords);
  }
  facts.iteration = take_number(facts.name, kIterationWords);
  drop_cycle(facts.name);
  take_groups(facts.name, facts);
  mask_times(facts.name);
  std::vector<std::string> folders;
  for (const auto& part : whole.parent_path()) folders.push_back(part.string());
  // The nearest folder counts.
  for (std::size_t above = folders.size(); above-- > 0;) {
    if (!facts.rank) facts.rank = take_number(folders[above], kRankWords);
    if (!facts.iteration) facts.iteration = take_number(folders[above], kIterationWords);
  }
  for (const std::string& folder : folders) {
    if (!facts.folder.empty() && !facts.folder.ends_with('/')) facts.folder += '/';
    facts.folder += folder;
  }
  return facts;
}

}  // namespace tbtrace::jobs
