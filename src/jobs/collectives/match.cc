// Which records of collectives belong together.
// A record is a member of one class of records, which have all in common that is known of them: the
// process group, the operation, the size. In a class with `Seq`, the number tells; without it the
// order does, if all ranks have the same number of records. Nothing else is a match.
#include <algorithm>
#include <compare>
#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

#include <tbtrace/collectives.h>

#include "jobs/collectives/operations.h"
#include "jobs/collectives/ranks.h"

namespace tbtrace {
namespace {

using jobs::kSendReceive;

constexpr std::int64_t kNone = -1;

/// What is known of a record and equal on all ranks.
struct ClassKey {
  std::string group;  ///< name, ranks and size; empty: unknown
  MatchedBy by = MatchedBy::order;
  std::string name;  ///< of the operation; `send` for both ends of a message
  std::int64_t bytes = kNone;
  std::int64_t stream = kNone;  ///< in an unknown group: groups have their own streams
  std::int64_t source = kNone;  ///< of a message
  std::int64_t destination = kNone;
  std::int64_t number = kNone;  ///< `Seq`, or for other records the step

  auto operator<=>(const ClassKey&) const = default;  // NOLINT(modernize-use-nullptr): in std
};

/// The records of one rank in a class, in their order.
using Parts = std::vector<std::uint32_t>;
using PartsOfRanks = std::map<std::uint32_t, Parts>;  // by place in JobCollectives::ranks

std::string group_key(const ProcessGroup& group) {
  if (group == ProcessGroup()) return {};
  return group.name + '\n' + group.ranks_text + '\n' + std::to_string(group.size.value_or(kNone));
}

bool is_message(CollectiveKind kind) {
  return kind == CollectiveKind::send || kind == CollectiveKind::receive;
}

class Matcher {
 public:
  explicit Matcher(JobCollectives& job) : job_(job) {}

  void run() {
    for (std::uint32_t rank = 0; rank < job_.ranks.size(); ++rank) sort_into_classes(rank);
    for (const auto& [key, parts] : classes_) {
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
    for (const ProcessGroup& group : record.groups) groups.push_back(group_key(group));
    for (std::uint32_t number = 0; number < record.collectives.size(); ++number) {
      const RankCollective& part = record.collectives[number];
      ClassKey key = {.group = groups[part.group], .name = record.texts[part.name]};
      if (!key.group.empty()) remember(key.group, record.groups[part.group], place);
      if (is_message(part.kind)) {
        if (!set_message(key, job_.ranks[place].rank, part, record.groups[part.group])) {
          fail(UnmatchedReason::unknown_peer);
          continue;
        }
      } else if (part.sequence && !key.group.empty()) {
        key.by = MatchedBy::sequence;
        key.name = {};
        key.number = *part.sequence;
      } else {
        if (key.group.empty() && part.kind == CollectiveKind::other && key.name == kSendReceive) {
          fail(UnmatchedReason::unknown_peer);
          continue;
        }
        key.bytes = part.bytes.value_or(kNone);
        key.number = part.step.value_or(kNone);
        if (key.group.empty()) key.stream = part.stream;
      }
      classes_[key][place].push_back(number);
    }
    fail(UnmatchedReason::without_kernel, record.calls_without_kernel);
  }

  /// A message's ends are of the same class on both ranks. In a group of two the other rank is
  /// known.
  static bool set_message(ClassKey& key, std::int64_t rank, const RankCollective& part,
                          const ProcessGroup& group) {
    std::optional<std::int64_t> peer = part.peer;
    if (!peer && group.ranks.size() == 2) {
      peer = group.ranks[0] == rank ? group.ranks[1] : group.ranks[0];
    }
    if (!peer || *peer == rank) return false;
    const bool sends = part.kind == CollectiveKind::send;
    key.by = MatchedBy::pair;
    key.name = "send";
    key.bytes = part.bytes.value_or(kNone);
    key.source = sends ? rank : *peer;
    key.destination = sends ? *peer : rank;
    key.number = part.step.value_or(kNone);
    return true;
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

  /// The recorded ranks that have to take part in a collective of a group.
  std::set<std::uint32_t> expected(const ClassKey& key) const {
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
  bool are_all_there(const ClassKey& key, const PartsOfRanks& parts) {
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
  void match_sequence(const ClassKey& key, const PartsOfRanks& parts) {
    if (!are_all_there(key, parts)) return;
    if (!have_equal_counts(parts) || !are_alike(parts)) {
      fail(UnmatchedReason::ranks_disagree, count(parts));
      return;
    }
    add(MatchedBy::sequence, parts);
  }

  void match_order(const ClassKey& key, const PartsOfRanks& parts) {
    if (!are_all_there(key, parts)) return;
    if (!have_equal_counts(parts)) {
      fail(UnmatchedReason::counts_differ, count(parts));
      return;
    }
    add(MatchedBy::order, parts);
  }

  void match_messages(const ClassKey& key, const PartsOfRanks& parts) {
    const auto place_of = [&](std::int64_t rank) {
      const auto found = std::ranges::find(job_.ranks, rank, &JobRank::rank);
      return found == job_.ranks.end()
                 ? std::nullopt
                 : std::optional(static_cast<std::uint32_t>(found - job_.ranks.begin()));
    };
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
    return std::ranges::all_of(parts, [&](const auto& of_rank) {
      return of_rank.second.size() == parts.begin()->second.size();
    });
  }

  /// The same operations, and the same sizes where each rank has the same part.
  bool are_alike(const PartsOfRanks& parts) const {
    const auto& [first_place, first] = *parts.begin();
    return std::ranges::all_of(parts, [&, place = first_place, &own = first](const auto& of_rank) {
      for (std::size_t at = 0; at < own.size(); ++at) {
        const RankCollective& one = job_.part({place, own[at]});
        const RankCollective& other = job_.part({of_rank.first, of_rank.second[at]});
        if (one.kind != other.kind) return false;
        const bool has_one_size = ends_together(one.kind) && one.kind != CollectiveKind::all_to_all;
        if (has_one_size && one.bytes != other.bytes && one.bytes && other.bytes) return false;
      }
      return true;
    });
  }

  void add(MatchedBy by, const PartsOfRanks& parts) {
    for (std::size_t at = 0; at < parts.begin()->second.size(); ++at) {
      MatchedCollective one = {.by = by};
      for (const auto& [place, numbers] : parts) one.members.push_back({place, numbers[at]});
      job_.collectives.push_back(std::move(one));
    }
  }

  static std::uint64_t count(const PartsOfRanks& parts) {
    std::uint64_t sum = 0;
    for (const auto& of_rank : parts) sum += of_rank.second.size();
    return sum;
  }

  void fail(UnmatchedReason reason, std::uint64_t records = 1) {
    job_.unmatched[static_cast<std::size_t>(reason)] += records;
  }

  struct Members {
    std::set<std::uint32_t> seen;      ///< ranks that recorded a collective of the group
    std::set<std::uint32_t> recorded;  ///< members with a trace, if the members are known
    bool are_known = false;
    std::int64_t size = kNone;
  };

  JobCollectives& job_;
  std::map<ClassKey, PartsOfRanks> classes_;
  std::map<std::string, Members> groups_;
};

}  // namespace

JobCollectives match_collectives(std::vector<RankRecord> records) {
  JobCollectives job;
  job.ranks = jobs::ranks_of(std::move(records), job.notes, job.repeats_ranks);
  Matcher(job).run();
  std::int64_t world_size = 0;
  for (const JobRank& rank : job.ranks) {
    world_size = std::max(world_size, rank.record.world_size.value_or(0));
  }
  if (world_size > std::ssize(job.ranks)) {
    job.notes.push_back("the job has " + std::to_string(world_size) + " ranks, of which " +
                        std::to_string(job.ranks.size()) +
                        " have a trace here; add the others, since one of them may be the last");
  }
  return job;
}

}  // namespace tbtrace
