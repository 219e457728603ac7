// Which records are of which rank.
// Results are plain values.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <tbtrace/collectives.h>

namespace tbtrace::jobs {

/// The numbers of `[0, 1, 2]`, sorted, each once; empty if anything else is in it, such as the dots
/// that torch writes in place of most ranks of a large group.
std::vector<std::int64_t> ranks_in_list(std::string_view text);

/// The number after `rank` in a file's name: 3 for `job/rank-3.json.gz`.
std::optional<std::int64_t> rank_in_name(std::string_view path);

/// By rank, each with its recordings in one record. Adds sentences for people to `notes`, and sets
/// `repeats_ranks` if recordings of a rank overlap in time and were left out.
std::vector<JobRank> ranks_of(std::vector<RankRecord> records, std::vector<std::string>& notes,
                              bool& repeats_ranks);

}  // namespace tbtrace::jobs
