#include "jobs/collectives/ranks.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <set>
#include <utility>

#include "base/characters.h"
#include "base/natural_order.h"
#include "jobs/collectives/iterations.h"
#include "wire/json_tree.h"

namespace tbtrace::jobs {
namespace {

constexpr std::size_t kMostDigits = 9;

std::string_view file_name(std::string_view path) {
  const std::size_t slash = path.find_last_of('/');
  return slash == std::string_view::npos ? path : path.substr(slash + 1);
}

bool by_path(const RankRecord& one, const RankRecord& two) {
  return in_natural_order(one.path, two.path);
}

/// Adds a later recording of the same rank. Texts and groups get new numbers.
void append(RankRecord& record, RankRecord more) {
  const auto numbers_in = [](auto& all, auto& added) {
    std::vector<std::uint32_t> numbers;
    for (auto& one : added) {
      const auto found = std::ranges::find(all, one);
      numbers.push_back(static_cast<std::uint32_t>(found - all.begin()));
      if (found == all.end()) all.push_back(std::move(one));
    }
    return numbers;
  };
  const std::vector<std::uint32_t> texts = numbers_in(record.texts, more.texts);
  const std::vector<std::uint32_t> groups = numbers_in(record.groups, more.groups);
  const auto exposed = static_cast<std::uint32_t>(record.exposed.size());
  const auto first = static_cast<std::uint32_t>(record.collectives.size());
  for (RankRecording recording : more.recordings) {
    recording.first += first;
    record.recordings.push_back(recording);
  }
  for (RankCollective& part : more.collectives) {
    part.name = texts[part.name];
    part.type = texts[part.type];
    part.group = groups[part.group];
    part.first_exposed += exposed;
    record.collectives.push_back(part);
  }
  record.exposed.insert(record.exposed.end(), more.exposed.begin(), more.exposed.end());
  record.steps.insert(record.steps.end(), more.steps.begin(), more.steps.end());
  record.kernels.insert(record.kernels.end(), more.kernels.begin(), more.kernels.end());
  record.end_ns = std::max(record.end_ns, more.end_ns);
  record.calls_without_kernel += more.calls_without_kernel;
}

/// Leaves out records of processes that are not ranks (JobList::not_ranks). Says so.
void leave_out_other_processes(std::vector<RankRecord>& records, std::vector<std::string>& notes) {
  const auto is_known = [](const RankRecord& record) {
    return record.rank || record.world_size || rank_in_name(record.path);
  };
  std::size_t known = 0;  // with device work
  std::size_t unknown = 0;
  for (const RankRecord& record : records) {
    if (record.device) ++(is_known(record) ? known : unknown);
  }
  constexpr std::size_t kFewest = 2;  // that only their device work shows to be ranks
  if (known == 0 && unknown < kFewest) return;
  std::erase_if(records, [&](const RankRecord& record) {
    if (record.device || !record.collectives.empty() || is_known(record)) return false;
    notes.push_back((record.path.empty() ? std::string("a trace") : record.path) +
                    " has no device work, unlike the ranks beside it: it is of a process that is "
                    "not a rank, such as a front end or a driver, and does not count as one");
    return true;
  });
}

/// Gives ranks to records that have none. Says so.
void number_records(std::vector<RankRecord>& records, std::vector<std::string>& notes) {
  std::size_t unnumbered = 0;
  bool all_by_name = true;
  std::set<std::int64_t> seen;
  for (const RankRecord& record : records) {
    if (record.rank) continue;
    ++unnumbered;
    const std::optional<std::int64_t> rank = rank_in_name(record.path);
    all_by_name = all_by_name && rank.has_value();
    if (rank) seen.insert(*rank);
  }
  if (unnumbered == 0) return;
  std::set<std::int64_t> taken;
  for (const RankRecord& record : records) {
    if (record.rank) taken.insert(*record.rank);
  }
  const bool are_distinct =
      all_by_name && seen.size() == unnumbered &&
      std::ranges::none_of(seen, [&](std::int64_t rank) { return taken.contains(rank); });
  std::int64_t next = 0;
  for (RankRecord& record : records) {
    if (record.rank) continue;
    if (are_distinct) {
      record.rank = rank_in_name(record.path);
      continue;
    }
    while (taken.contains(next)) ++next;
    record.rank = next++;
  }
  const std::string traces =
      unnumbered == 1 ? "1 trace does" : std::to_string(unnumbered) + " traces do";
  notes.push_back(
      traces + " not say their rank (distributedInfo): " +
      (are_distinct ? "taken from the file names" : "numbered in the order of the file names"));
}

}  // namespace

std::vector<std::int64_t> ranks_in_list(std::string_view text) {
  std::vector<std::int64_t> ranks;
  const std::optional<wire::JsonTree> list = wire::parse_json_tree(text);
  if (!list || list->kind != wire::JsonTree::Kind::list) return ranks;
  for (const wire::JsonTree& item : list->items) {
    if (item.kind != wire::JsonTree::Kind::integer || item.integer < 0) return {};
    ranks.push_back(item.integer);
  }
  std::ranges::sort(ranks);
  ranks.erase(std::unique(ranks.begin(), ranks.end()), ranks.end());
  return ranks;
}

std::optional<std::int64_t> rank_in_name(std::string_view path) {
  const std::string name = lower_case(file_name(path));
  constexpr std::string_view kWord = "rank";
  for (std::size_t at = name.find(kWord); at != std::string::npos; at = name.find(kWord, at + 1)) {
    std::size_t digit = at + kWord.size();
    while (digit < name.size() &&
           (name[digit] == '-' || name[digit] == '_' || name[digit] == '=' || name[digit] == '.')) {
      ++digit;
    }
    std::int64_t number = 0;
    std::size_t digits = 0;
    for (; digit < name.size() && is_digit(name[digit]); ++digit, ++digits) {
      if (digits == kMostDigits) break;
      number = number * 10 + (name[digit] - '0');
    }
    if (digits > 0 && digits < kMostDigits) return number;
  }
  return std::nullopt;
}

std::vector<JobRank> ranks_of(std::vector<RankRecord> records, std::vector<std::string>& notes,
                              bool& repeats_ranks) {
  std::ranges::stable_sort(records, by_path);
  leave_out_other_processes(records, notes);
  number_records(records, notes);
  std::map<std::int64_t, std::vector<RankRecord>> by_rank;
  for (RankRecord& record : records) by_rank[*record.rank].push_back(std::move(record));
  for (auto& [rank, recordings] : by_rank) {
    std::ranges::stable_sort(recordings, {}, &RankRecord::start_ns);
  }
  number_iterations(by_rank, notes);
  std::vector<JobRank> ranks;
  for (auto& [rank, recordings] : by_rank) {
    JobRank& one = ranks.emplace_back(JobRank{rank, std::move(recordings.front())});
    for (std::size_t next = 1; next < recordings.size(); ++next) {
      if (recordings[next].start_ns >= one.record.end_ns) {
        append(one.record, std::move(recordings[next]));
        continue;
      }
      repeats_ranks = true;
      notes.push_back("rank " + std::to_string(rank) + ": " + recordings[next].path +
                      " was recorded at the same time as " + one.record.path +
                      " and was left out; give each rank's trace once");
    }
  }
  return ranks;
}

}  // namespace tbtrace::jobs
