#include "pages/ranks/wait_matrix.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <optional>
#include <utility>

#include "base/bounded_sum.h"
#include "pages/stacks_text.h"

namespace tbtrace::pages {
namespace {

struct Wait {
  std::size_t rank = 0;
  std::optional<std::size_t> last;  ///< the rank that arrived last
  std::int64_t ns = 0;
};

/// Calls `take` for each wait that is longer than 0.
template <typename Take>
void each_wait(const JobAnalysis& job, const Take& take) {
  std::map<std::int64_t, std::size_t> places;
  for (std::size_t rank = 0; rank < job.collectives.ranks.size(); ++rank) {
    places[job.collectives.ranks[rank].rank] = rank;
  }
  for (std::size_t number = 0; number < job.times.size(); ++number) {
    const CollectiveTimes& times = job.times[number];
    Wait wait;
    if (times.last_rank) wait.last = places.at(*times.last_rank);
    const std::vector<CollectiveMember>& members = job.collectives.collectives[number].members;
    for (std::size_t at = 0; at < times.wait_ns.size(); ++at) {
      wait.rank = members[at].rank;
      wait.ns = times.wait_ns[at];
      if (wait.ns > 0) take(wait);
    }
  }
}

}  // namespace

WaitMatrix wait_matrix(const JobAnalysis& job, std::size_t limit) {
  WaitMatrix matrix;
  matrix.all_ranks = job.collectives.ranks.size();
  matrix.made_wait_ns.resize(matrix.all_ranks);
  std::vector<std::int64_t> weight(matrix.all_ranks);
  each_wait(job, [&](const Wait& wait) {
    add_bounded(weight[wait.rank], wait.ns);
    if (!wait.last) return;
    add_bounded(matrix.made_wait_ns[*wait.last], wait.ns);
    add_bounded(weight[*wait.last], wait.ns);
  });
  matrix.ranks.resize(matrix.all_ranks);
  std::iota(matrix.ranks.begin(), matrix.ranks.end(), std::size_t{0});
  std::ranges::stable_sort(matrix.ranks, std::ranges::greater(),
                           [&](std::size_t rank) { return weight[rank]; });
  matrix.ranks.resize(std::min(limit, matrix.all_ranks));
  const std::size_t others = matrix.ranks.size();
  std::vector<std::optional<std::size_t>> place(matrix.all_ranks);
  for (std::size_t at = 0; at < others; ++at) place[matrix.ranks[at]] = at;
  matrix.rows.assign(others, std::vector<std::int64_t>(others + 2));
  each_wait(job, [&](const Wait& wait) {
    if (!place[wait.rank]) return;
    const std::size_t column = wait.last ? place[*wait.last].value_or(others) : others + 1;
    add_bounded(matrix.rows[*place[wait.rank]][column], wait.ns);
  });
  return matrix;
}

void emit_waits(wire::JsonEmitter& json, const WaitMatrix& matrix, std::size_t limit) {
  const std::size_t kept = std::min(limit, matrix.ranks.size());
  std::vector<std::size_t> shown(kept);  // by rank
  std::iota(shown.begin(), shown.end(), std::size_t{0});
  std::ranges::sort(shown, {}, [&](std::size_t at) { return matrix.ranks[at]; });
  std::vector<std::size_t> places;
  places.reserve(kept);
  for (const std::size_t at : shown) places.push_back(matrix.ranks[at]);
  json.new_line();
  json.key("waits");
  json.begin_object();
  json.key("ranks_left_out");
  json.integer(matrix.all_ranks - kept);
  emit_integers(json, "ranks", places);
  json.key("wait_ns");
  json.begin_array();
  for (const std::size_t at : shown) {
    const std::vector<std::int64_t>& row = matrix.rows[at];
    json.begin_array();
    for (const std::size_t last : shown) json.integer(row[last]);
    std::int64_t others = row[matrix.ranks.size()];
    for (std::size_t last = kept; last < matrix.ranks.size(); ++last)
      add_bounded(others, row[last]);
    json.integer(others);
    json.integer(row.back());
    json.end_array();
  }
  json.end_array();
  json.end_object();
}

}  // namespace tbtrace::pages
