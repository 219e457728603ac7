// Which records of collectives belong together.
// A record is a member of one class of records, which have all in common that is known of them: the
// process group, the operation, the size. In a class with `Seq`, the number tells; without it the
// order does, if all ranks have the same number of records. Nothing else is a match.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include <tbtrace/collectives.h>

#include "analyses/kernels/collective_operations.h"
#include "jobs/collectives/match_key.h"
#include "jobs/collectives/ranks.h"

namespace tbtrace {
namespace {

using jobs::MatchKey;

/// The records of one rank with the same key.
struct Parts {
  std::vector<std::uint32_t> records;  ///< in their order
  /// Which of the equal ones they are; empty: all are here.
  std::vector<std::uint32_t> numbers;
  std::size_t count = 0;  ///< of all equal ones

  std::uint32_t number(std::size_t at) const {
    return numbers.empty() ? static_cast<std::uint32_t>(at) : numbers[at];
  }
};
using PartsOfRanks = std::map<std::uint32_t, Parts>;  // by place in JobCollectives::ranks

class Matcher {
 public:
  explicit Matcher(JobCollectives& job)
      : job_(job), is_sample_(std::ranges::any_of(job.ranks, [](const JobRank& rank) {
          return std::ranges::any_of(rank.record.recordings, [](const RankRecording& recording) {
            return recording.hash_limit.has_value();
          });
        })) {}

  void run() {
    for (std::uint32_t rank = 0; rank < job_.ranks.size(); ++rank) sort_into_classes(rank);
    for (auto& [key, parts] : classes_) {
      stands_for_ = 1;
      if (is_sample_ && !keep_common_hashes(key, parts)) continue;
      switch (key.by) {
        case MatchedBy::sequence:
          match_sequence(key, parts);
          break;
        case MatchedBy::pair:
          match_messages(key, parts);
          break;
        case MatchedBy::order:
          match_order(key, parts);
          break;
      }
    }
    std::ranges::stable_sort(job_.collectives, {}, [&](const MatchedCollective& one) {
      return job_.part(one.members.front()).start_ns;
    });
  }

 private:
  void sort_into_classes(std::uint32_t place) {
    const RankRecord& record = job_.ranks[place].record;
    std::vector<std::string> groups;
    for (const ProcessGroup& group : record.groups) {
      groups.push_back(jobs::group_key(group));
      if (!groups.back().empty()) remember(groups.back(), group, place);
    }
    std::uint32_t recording = 0;
    for (std::uint32_t number = 0; number < record.collectives.size(); ++number) {
      const RankCollective& part = record.collectives[number];
      while (recording + 1 < record.recordings.size() &&
             record.recordings[recording + 1].first <= number) {
        ++recording;
      }
      std::optional<MatchKey> key =
          jobs::match_key(record, part, groups[part.group], job_.ranks[place].rank);
      if (!key) {
        fail(UnmatchedReason::unknown_peer);
        continue;
      }
      if (is_sample_) key->recording = recording;
      Parts& parts = classes_[*std::move(key)][place];
      parts.records.push_back(number);
      const bool is_chosen = record.recordings[recording].hash_limit.has_value();
      if (is_chosen) parts.numbers.push_back(part.number_of_equals);
      parts.count = is_chosen ? part.equals : parts.records.size();
    }
    fail(UnmatchedReason::without_kernel, record.calls_without_kernel);
  }

  /// Below which hash all these ranks have their records; nullopt if they have all.
  std::optional<std::uint64_t> common_limit(const std::set<std::uint32_t>& places,
                                            std::uint32_t recording) const {
    std::optional<std::uint64_t> common;
    for (const std::uint32_t place : places) {
      const std::vector<RankRecording>& recordings = job_.ranks[place].record.recordings;
      if (recording >= recordings.size()) continue;
      const std::optional<std::uint64_t> limit = recordings[recording].hash_limit;
      if (limit && (!common || *limit < *common)) common = limit;
    }
    return common;
  }

  /// Leaves out records that another rank may have had, but did not keep. False if none is left.
  bool keep_common_hashes(const MatchKey& key, PartsOfRanks& parts) {
    const std::optional<std::uint64_t> limit = common_limit(concerned(key), key.recording);
    if (!limit) return true;
    stands_for_ = std::ldexp(1.0, 64) / std::max(1.0, static_cast<double>(*limit));
    for (auto& [place, of_rank] : parts) {
      Parts kept = {.records = {}, .numbers = {}, .count = of_rank.count};
      // The record was chosen by the numbers that steps had in the recording.
      MatchKey chosen_by = key;
      const RankRecord& record = job_.ranks[place].record;
      if (key.by != MatchedBy::sequence && key.number != MatchKey::kNone) {
        chosen_by.number -= record.recordings[key.recording].added_to_steps;
      }
      for (std::size_t at = 0; at < of_rank.records.size(); ++at) {
        if (jobs::match_hash(chosen_by, of_rank.number(at)) >= *limit) continue;
        kept.records.push_back(of_rank.records[at]);
        kept.numbers.push_back(of_rank.number(at));
      }
      of_rank = std::move(kept);
    }
    std::erase_if(parts, [](const auto& of_rank) { return of_rank.second.records.empty(); });
    return !parts.empty();
  }

  void remember(const std::string& key, const ProcessGroup& group, std::uint32_t place) {
    Members& members = groups_[key];
    members.seen.insert(place);
    if (!members.are_known && !group.ranks.empty()) {
      members.are_known = true;
      for (std::uint32_t other = 0; other < job_.ranks.size(); ++other) {
        if (std::ranges::binary_search(group.ranks, job_.ranks[other].rank)) {
          members.recorded.insert(other);
        }
      }
    }
    if (group.size) members.size = *group.size;
  }

  std::optional<std::uint32_t> place_of(std::int64_t rank) const {
    const auto found = std::ranges::lower_bound(job_.ranks, rank, {}, &JobRank::rank);
    if (found == job_.ranks.end() || found->rank != rank) return std::nullopt;
    return static_cast<std::uint32_t>(found - job_.ranks.begin());
  }

  /// The recorded ranks that a class may have records of.
  std::set<std::uint32_t> concerned(const MatchKey& key) const {
    if (key.by != MatchedBy::pair) return expected(key);
    std::set<std::uint32_t> ends;
    for (const std::int64_t rank : {key.source, key.destination}) {
      if (const std::optional<std::uint32_t> place = place_of(rank)) ends.insert(*place);
    }
    return ends;
  }

  /// The recorded ranks that have to take part in a collective of a group.
  std::set<std::uint32_t> expected(const MatchKey& key) const {
    const auto found = groups_.find(key.group);
    if (found != groups_.end()) {
      const Members& members = found->second;
      if (members.are_known) return members.recorded;
      // A group of all ranks, whose list torch has shortened.
      if (members.size != std::ssize(job_.ranks)) return members.seen;
    }
    std::set<std::uint32_t> all;
    for (std::uint32_t place = 0; place < job_.ranks.size(); ++place) all.insert(all.end(), place);
    return all;
  }

  /// False, and counted, if a rank that has to take part has no record.
  bool are_all_there(const MatchKey& key, const PartsOfRanks& parts) {
    const std::set<std::uint32_t> wanted = expected(key);
    if (wanted.size() < 2) {
      fail(UnmatchedReason::no_other_rank, count(parts));
      return false;
    }
    const bool all =
        std::ranges::all_of(wanted, [&](std::uint32_t place) { return parts.contains(place); });
    if (!all) fail(UnmatchedReason::missing_on_ranks, count(parts));
    return all;
  }

  /// Calls in a group have one number for several collectives, which then are in the same order.
  void match_sequence(const MatchKey& key, const PartsOfRanks& parts) {
    if (!are_all_there(key, parts)) return;
    if (!have_equal_counts(parts) || !are_alike(parts)) {
      fail(UnmatchedReason::ranks_disagree, count(parts));
      return;
    }
    add(MatchedBy::sequence, parts);
  }

  void match_order(const MatchKey& key, const PartsOfRanks& parts) {
    if (!are_all_there(key, parts)) return;
    if (!have_equal_counts(parts)) {
      fail(UnmatchedReason::counts_differ, count(parts));
      return;
    }
    add(MatchedBy::order, parts);
  }

  void match_messages(const MatchKey& key, const PartsOfRanks& parts) {
    const std::optional<std::uint32_t> source = place_of(key.source);
    const std::optional<std::uint32_t> destination = place_of(key.destination);
    if (!source || !destination) {
      fail(UnmatchedReason::no_other_rank, count(parts));
    } else if (!parts.contains(*source) || !parts.contains(*destination)) {
      fail(UnmatchedReason::missing_on_ranks, count(parts));
    } else if (!have_equal_counts(parts)) {
      fail(UnmatchedReason::counts_differ, count(parts));
    } else {
      add(MatchedBy::pair, parts);
    }
  }

  static bool have_equal_counts(const PartsOfRanks& parts) {
    const Parts& first = parts.begin()->second;
    return std::ranges::all_of(parts, [&](const auto& of_rank) {
      const Parts& other = of_rank.second;
      if (other.count != first.count || other.records.size() != first.records.size()) return false;
      for (std::size_t at = 0; at < first.records.size(); ++at) {
        if (first.number(at) != other.number(at)) return false;
      }
      return true;
    });
  }

  /// The same operations, and the same sizes where each rank has the same part.
  bool are_alike(const PartsOfRanks& parts) const {
    const auto& [first_place, first] = *parts.begin();
    return std::ranges::all_of(parts, [&, place = first_place,
                                       &own = first.records](const auto& of_rank) {
      for (std::size_t at = 0; at < own.size(); ++at) {
        const RankCollective& one = job_.part({place, own[at]});
        const RankCollective& other = job_.part({of_rank.first, of_rank.second.records[at]});
        if (one.kind != other.kind) return false;
        const bool has_one_size = ends_together(one.kind) && one.kind != CollectiveKind::all_to_all;
        if (has_one_size && one.bytes != other.bytes && one.bytes && other.bytes) return false;
      }
      return true;
    });
  }

  void add(MatchedBy by, const PartsOfRanks& parts) {
    for (std::size_t at = 0; at < parts.begin()->second.records.size(); ++at) {
      MatchedCollective one = {.by = by, .stands_for = stands_for_, .members = {}};
      one.members.reserve(parts.size());
      for (const auto& [place, of_rank] : parts)
        one.members.push_back({place, of_rank.records[at]});
      job_.collectives.push_back(std::move(one));
    }
  }

  static std::uint64_t count(const PartsOfRanks& parts) {
    std::uint64_t sum = 0;
    for (const auto& of_rank : parts) sum += of_rank.second.records.size();
    return sum;
  }

  void fail(UnmatchedReason reason, std::uint64_t records = 1) {
    job_.unmatched[static_cast<std::size_t>(reason)] += records;
  }

  struct Members {
    std::set<std::uint32_t> seen;      ///< ranks that recorded a collective of the group
    std::set<std::uint32_t> recorded;  ///< members with a trace, if the members are known
    bool are_known = false;
    std::int64_t size = -1;  ///< unknown
  };

  JobCollectives& job_;
  const bool is_sample_;   // records lack collectives that were recorded
  double stands_for_ = 1;  // MatchedCollective::stands_for of the class that is matched
  std::map<MatchKey, PartsOfRanks> classes_;
  std::map<std::string, Members> groups_;
};

}  // namespace

JobCollectives match_collectives(std::vector<RankRecord> records) {
  JobCollectives job;
  job.ranks = jobs::ranks_of(std::move(records), job.notes, job.repeats_ranks);
  Matcher(job).run();
  std::int64_t world_size = 0;
  for (const JobRank& rank : job.ranks) {
    job.recorded += rank.record.collectives.size();
    for (const RankRecording& recording : rank.record.recordings) {
      job.left_out += recording.left_out;
    }
    world_size = std::max(world_size, rank.record.world_size.value_or(0));
  }
  job.recorded += job.left_out;
  if (world_size > std::ssize(job.ranks)) {
    job.notes.push_back("the job has " + std::to_string(world_size) + " ranks, of which " +
                        std::to_string(job.ranks.size()) +
                        " have a trace here; add the others, since one of them may be the last");
  }
  return job;
}

}  // namespace tbtrace
