// Which traces are of a process that is not a rank: the front end of an inference engine, the
// driver of an RL framework. They lie beside the traces of the ranks, and have none of their work.
// Any thread.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

namespace tbtrace::jobs {

struct PossibleRank {
  std::string path;
  std::string folder;     ///< as PathFacts::folder
  bool is_known = false;  ///< to be a rank, by its content or its path
};

/// By file: true if nothing says that it is a rank, and it has no device work, while ranks in its
/// folder have. Where no rank is known, two files with device work count as ranks. Reads files
/// without a known rank until their first device work, to their end if there is none.
std::vector<bool> files_of_no_rank(std::span<const PossibleRank> files, int threads);

}  // namespace tbtrace::jobs
