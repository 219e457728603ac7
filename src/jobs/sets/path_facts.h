// What the path of a trace says about its place in a job: the rank, the iteration, the process.
// Programs have no common layout; docs/merge.md lists those that are known.
// Pure functions; any bytes are accepted as a path. Upper and lower case make no difference.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace tbtrace::jobs {

struct PathFacts {
  /// `rank3`, `rank-3`, `rank[3]`, `rank=3`, `profile_3.json`, in the name or in a folder.
  std::optional<std::int64_t> rank;
  /// `iteration_10`, `iter-10`, `step10`, in the name or in a folder.
  std::optional<std::int64_t> iteration;
  /// SGLang's `<id>-TP-1-DP-0`: the number of the only group of several. Which rank that is can be
  /// said only with the other files.
  std::optional<std::int64_t> tensor_parallel;
  std::string other_groups;  ///< the others of these groups: `-DP-0-PP-0`
  /// torch's `host_1234.1700000000000.pt.trace.json`.
  std::string worker;
  /// The folder and the name, without the numbers above and without numbers of ten digits and more,
  /// which are times. Files of one job have these in common.
  std::string folder;
  std::string name;
};

PathFacts facts_of_path(std::string_view path);

}  // namespace tbtrace::jobs
