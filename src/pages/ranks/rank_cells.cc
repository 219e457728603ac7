#include "pages/ranks/rank_cells.h"

#include <algorithm>
#include <numeric>

#include "pages/stacks_text.h"

namespace tbtrace::pages {
namespace {

/// The least number of steps, if a job has so many ranks that not all fit with more.
constexpr std::size_t kLeastSteps = 12;

struct Size {
  std::size_t ranks = 0;
  std::size_t steps = 0;
};

/// As many ranks as fit with the least number of steps, then as many steps as fit.
Size size_within(std::size_t ranks, std::size_t steps, std::size_t limit) {
  const std::size_t least = std::max<std::size_t>(1, std::min(steps, kLeastSteps));
  const std::size_t kept = std::min(ranks, std::max<std::size_t>(1, limit / least));
  return {kept, std::min(steps, std::max(least, limit / std::max<std::size_t>(1, kept)))};
}

std::vector<std::size_t> sorted_places(const std::vector<std::size_t>& list, std::size_t count) {
  std::vector<std::size_t> places(count);
  std::iota(places.begin(), places.end(), std::size_t{0});
  std::ranges::sort(places, {}, [&](std::size_t place) { return list[place]; });
  return places;
}

}  // namespace

RankCells rank_cells(const JobAnalysis& job, const JobSteps& steps, std::size_t limit) {
  RankCells cells;
  cells.all_ranks = steps.ranks();
  cells.all_steps = steps.steps().size();
  const Size size = size_within(cells.all_ranks, cells.all_steps, limit);
  cells.ranks = steps.ranks_by_interest();
  cells.ranks.resize(size.ranks);
  cells.steps = steps.steps_by_interest();
  cells.steps.resize(size.steps);
  cells.numbers = steps.steps();
  cells.cells.reserve(size.ranks * size.steps);
  for (const std::size_t rank : cells.ranks) {
    const JobRank& of_job = job.collectives.ranks[rank];
    const auto straggler =
        std::ranges::find(job.stragglers.stragglers, of_job.rank, &Straggler::rank);
    for (const std::size_t step : cells.steps) {
      RankCell& cell = cells.cells.emplace_back();
      const RankStep* const recorded = steps.at(rank, step);
      if (recorded == nullptr) continue;
      cell.is_there = true;
      cell.start_ns = recorded->start_ns - of_job.record.start_ns;
      cell.duration_ns = recorded->duration_ns();
      cell.parts = steps.parts(rank, step);
      cell.excess_ns = steps.excess_ns(rank, step);
      cell.is_late =
          straggler != job.stragglers.stragglers.end() &&
          std::ranges::find(straggler->steps, recorded->number) != straggler->steps.end();
    }
  }
  return cells;
}

void emit_cells(wire::JsonEmitter& json, const RankCells& cells, std::size_t limit) {
  Size size = size_within(cells.all_ranks, cells.all_steps, limit);
  size.ranks = std::min(size.ranks, cells.ranks.size());
  size.steps = std::min(size.steps, cells.steps.size());
  const std::vector<std::size_t> ranks = sorted_places(cells.ranks, size.ranks);
  const std::vector<std::size_t> steps = sorted_places(cells.steps, size.steps);
  std::vector<std::size_t> rank_places;
  std::vector<std::int64_t> step_numbers;
  rank_places.reserve(ranks.size());
  step_numbers.reserve(steps.size());
  for (const std::size_t rank : ranks) rank_places.push_back(cells.ranks[rank]);
  for (const std::size_t step : steps) step_numbers.push_back(cells.numbers[cells.steps[step]]);
  // By column, which packs better.
  const auto emit = [&](std::string_view key, const auto& value_or_null) {
    json.new_line();
    json.key(key);
    json.begin_array();
    for (const std::size_t rank : ranks) {
      for (const std::size_t step : steps) {
        const RankCell& cell = cells.cells[rank * cells.steps.size() + step];
        const std::optional<std::int64_t> value =
            cell.is_there ? value_or_null(cell) : std::nullopt;
        value ? json.integer(*value) : json.null();
      }
    }
    json.end_array();
  };
  json.key("cells");
  json.begin_object();
  json.key("ranks_left_out");
  json.integer(cells.all_ranks - ranks.size());
  json.key("steps_left_out");
  json.integer(cells.all_steps - steps.size());
  emit_integers(json, "ranks", rank_places);
  emit_integers(json, "steps", step_numbers);
  using Value = std::optional<std::int64_t>;
  emit("start_ns", [](const RankCell& cell) { return Value(cell.start_ns); });
  emit("duration_ns", [](const RankCell& cell) { return Value(cell.duration_ns); });
  for (std::size_t part = 0; part < kStepParts; ++part) {
    emit(step_part_key(static_cast<StepPart>(part)),
         [part](const RankCell& cell) { return Value(cell.parts[part]); });
  }
  emit("excess_ns", [](const RankCell& cell) { return cell.excess_ns; });
  emit("is_late", [](const RankCell& cell) { return Value(cell.is_late ? 1 : 0); });
  json.end_object();
}

}  // namespace tbtrace::pages
