// What all jobs of a list have twice, and what none of them has.
#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include <tbtrace/jobs.h>

namespace tbtrace {

std::vector<RepeatedFile> repeated_files(const JobList& list) {
  std::vector<RepeatedFile> repeated;
  std::map<std::tuple<std::int64_t, std::int64_t, std::int64_t>, std::string> first;
  for (const Job& job : list.jobs) {
    repeated.insert(repeated.end(), job.repeated.begin(), job.repeated.end());
    for (const JobFile& file : job.files) {
      if (!file.rank || !file.start_ns) continue;
      const auto [known, is_new] =
          first.try_emplace({*file.rank, file.iteration.value_or(-1), *file.start_ns}, file.path);
      if (!is_new) repeated.push_back({file, known->second, false});
    }
  }
  return repeated;
}

Result<std::vector<std::int64_t>> missing_ranks(const JobList& list) {
  constexpr std::int64_t kMost = 1'000'000;
  std::set<std::int64_t> there;
  std::int64_t count = 0;
  for (const Job& job : list.jobs) {
    for (const std::int64_t rank : job.ranks()) there.insert(rank);
    for (const RankRange& range : job.missing_ranks) count = std::max(count, range.last + 1);
  }
  if (count > kMost) {
    return Status(StatusCode::unreadable_input,
                  "a trace is of a job of " + std::to_string(count) +
                      " ranks, too many to list those that are missing");
  }
  std::vector<std::int64_t> missing;
  for (std::int64_t rank = 0; rank < count; ++rank) {
    if (!there.contains(rank)) missing.push_back(rank);
  }
  return missing;
}

}  // namespace tbtrace
