#include "jobs/collectives/sample.h"

#include <algorithm>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "analyses/kernels/collective_operations.h"
#include "base/bounded_sum.h"
#include "jobs/collectives/match_key.h"
#include "jobs/collectives/ranks.h"
#include "wire/stable_hash.h"

namespace tbtrace::jobs {
namespace {

/// By collective: the hash that chooses it. Sets the number of each among its equals.
std::vector<std::uint64_t> hashes_of(RankRecord& record) {
  constexpr std::int64_t kUnknownRank = -1;
  const std::optional<std::int64_t> rank = record.rank ? record.rank : rank_in_name(record.path);
  std::vector<std::string> groups;
  for (const ProcessGroup& group : record.groups) groups.push_back(group_key(group));
  std::map<MatchKey, std::vector<std::uint32_t>> classes;
  std::vector<std::uint64_t> hashes(record.collectives.size());
  for (std::uint32_t at = 0; at < record.collectives.size(); ++at) {
    const RankCollective& part = record.collectives[at];
    const std::optional<MatchKey> key =
        match_key(record, part, groups[part.group], rank.value_or(kUnknownRank));
    if (key) {
      classes[*key].push_back(at);
    } else {  // no other rank chooses it as well
      StableHash hash;
      hash.add(at);
      hashes[at] = hash.value();
    }
  }
  for (const auto& [key, members] : classes) {
    for (std::uint32_t number = 0; number < members.size(); ++number) {
      RankCollective& part = record.collectives[members[number]];
      part.number_of_equals = number;
      part.equals = static_cast<std::uint32_t>(members.size());
      hashes[members[number]] = match_hash(key, number);
    }
  }
  return hashes;
}

/// The highest limit with which no more than that stays; equal hashes stay or go together.
std::uint64_t hash_limit(const RankRecord& record, std::span<const std::uint64_t> hashes,
                         const SampleLimits& limits) {
  std::vector<std::pair<std::uint64_t, std::size_t>> sorted;  // hash, exposed ranges
  sorted.reserve(hashes.size());
  for (std::size_t at = 0; at < hashes.size(); ++at) {
    sorted.emplace_back(hashes[at], record.collectives[at].exposed_ranges);
  }
  std::ranges::sort(sorted);
  std::size_t exposed = 0;
  for (std::size_t at = 0; at < sorted.size(); ++at) {
    exposed += sorted[at].second;
    if (at + 1 > limits.collectives || exposed > limits.exposed_ranges) return sorted[at].first;
  }
  return sorted.back().first;  // not reached: something is above a limit
}

/// Numbers of the texts in use, in the order of their first use.
class NewNumbers {
 public:
  explicit NewNumbers(std::size_t count) : numbers_(count, kUnused) { take(0); }

  std::uint32_t take(std::uint32_t old) {
    if (numbers_[old] == kUnused) {
      numbers_[old] = static_cast<std::uint32_t>(used_.size());
      used_.push_back(old);
    }
    return numbers_[old];
  }

  void apply(std::vector<std::string>& texts) const {
    std::vector<std::string> kept;
    for (const std::uint32_t old : used_) kept.push_back(std::move(texts[old]));
    texts = std::move(kept);
  }

 private:
  static constexpr std::uint32_t kUnused = UINT32_MAX;

  std::vector<std::uint32_t> numbers_;
  std::vector<std::uint32_t> used_;
};

bool has_messages(const RankRecord& record, const RankCollective& part) {
  return analyses::is_message(part.kind) || record.texts[part.name] == analyses::kSendReceive;
}

void limit_collectives(RankRecord& record, const SampleLimits& limits) {
  const bool are_few = record.collectives.size() <= limits.collectives &&
                       record.exposed.size() <= limits.exposed_ranges;
  if (are_few) return;
  RankRecording& recording = record.recordings.front();
  const std::vector<std::uint64_t> hashes = hashes_of(record);
  recording.hash_limit = hash_limit(record, hashes, limits);
  std::vector<RankCollective> kept;
  std::vector<ExposedRange> exposed;
  NewNumbers texts(record.texts.size());
  for (std::size_t at = 0; at < hashes.size(); ++at) {
    RankCollective part = record.collectives[at];
    if (hashes[at] >= *recording.hash_limit) {
      ++recording.left_out;
      recording.has_messages = recording.has_messages || has_messages(record, part);
      continue;
    }
    const auto ranges = std::span(record.exposed).subspan(part.first_exposed, part.exposed_ranges);
    part.first_exposed = static_cast<std::uint32_t>(exposed.size());
    exposed.insert(exposed.end(), ranges.begin(), ranges.end());
    part.name = texts.take(part.name);
    part.type = texts.take(part.type);
    kept.push_back(part);
  }
  record.collectives = std::move(kept);
  record.exposed = std::move(exposed);
  texts.apply(record.texts);
}

void limit_kernels(RankRecord& record, const SampleLimits& limits) {
  if (record.kernels.size() <= limits.kernel_sums) return;
  struct Total {
    std::uint64_t key = 0;
    std::int64_t ns = 0;
    std::size_t sums = 0;
  };
  std::unordered_map<std::uint64_t, Total> by_key;
  for (const KernelSum& sum : record.kernels) {
    Total& total = by_key[sum.key];
    total.key = sum.key;
    add_bounded(total.ns, sum.total_ns);
    ++total.sums;
  }
  std::vector<Total> totals;
  totals.reserve(by_key.size());
  for (const auto& [key, total] : by_key) totals.push_back(total);
  std::ranges::sort(totals, [](const Total& one, const Total& other) {
    return one.ns != other.ns ? one.ns > other.ns : one.key < other.key;
  });
  RankRecording& recording = record.recordings.front();
  std::unordered_set<std::uint64_t> kept;
  std::size_t sums = 0;
  for (const Total& total : totals) {
    if (sums + total.sums <= limits.kernel_sums) {
      sums += total.sums;
      kept.insert(total.key);
    } else {
      ++recording.left_out_kernels;
      add_bounded(recording.left_out_kernels_ns, total.ns);
    }
  }
  std::erase_if(record.kernels, [&](const KernelSum& sum) { return !kept.contains(sum.key); });
}

}  // namespace

void limit_record(RankRecord& record, const SampleLimits& limits) {
  limit_collectives(record, limits);
  limit_kernels(record, limits);
}

}  // namespace tbtrace::jobs
