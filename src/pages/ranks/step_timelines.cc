#include "pages/ranks/step_timelines.h"

#include <algorithm>
#include <limits>
#include <map>
#include <optional>
#include <utility>

#include "pages/stacks_text.h"
#include "pages/text_list.h"

namespace tbtrace::pages {
namespace {

constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();
/// How many steps are shown.
constexpr std::size_t kMostSteps = 4;

/// The step in which the rank that is worth most attention was latest.
std::size_t latest_step(const JobAnalysis& job, const JobSteps& steps) {
  const std::size_t rank = steps.ranks_by_interest().front();
  const bool has_straggler = !job.stragglers.stragglers.empty();
  std::pair<std::int64_t, std::size_t> latest = {std::numeric_limits<std::int64_t>::min(), 0};
  for (std::size_t step = 0; step < steps.steps().size(); ++step) {
    for (std::size_t other = 0; other < steps.ranks(); ++other) {
      if ((has_straggler && other != rank) || steps.at(other, step) == nullptr) continue;
      latest = std::max(latest, {steps.roughly_late_ns(other, step), step});
    }
  }
  return latest.second;
}

/// One whose duration on its first rank is the middle one.
std::size_t usual_step(const JobSteps& steps) {
  std::vector<std::pair<std::int64_t, std::size_t>> durations;
  for (std::size_t step = 0; step < steps.steps().size(); ++step) {
    for (std::size_t rank = 0; rank < steps.ranks(); ++rank) {
      const RankStep* const one = steps.at(rank, step);
      if (one == nullptr) continue;
      durations.emplace_back(one->duration_ns(), step);
      break;
    }
  }
  std::ranges::sort(durations);
  return durations[(durations.size() - 1) / 2].second;
}

/// What of a rank's collectives is drawn.
struct Part {
  const RankCollective* collective = nullptr;
  std::uint32_t matched = kNone;
  std::optional<std::int64_t> wait_ns;
};

/// Those of a rank that touch its step, by start; of too many the longest.
std::vector<Part> parts_of(const JobAnalysis& job, std::size_t rank, const RankStep& step,
                           const std::vector<std::uint32_t>& matched, std::size_t limit,
                           std::size_t& left_out) {
  const std::vector<RankCollective>& all = job.collectives.ranks[rank].record.collectives;
  std::vector<Part> parts;
  for (std::size_t at = 0; at < all.size(); ++at) {
    if (all[at].start_ns >= step.end_ns || all[at].end_ns <= step.start_ns) continue;
    Part& part = parts.emplace_back(Part{&all[at], matched[at], {}});
    if (part.matched == kNone || job.times[part.matched].wait_ns.empty()) continue;
    const std::vector<CollectiveMember>& members =
        job.collectives.collectives[part.matched].members;
    const auto own =
        std::ranges::find(members, static_cast<std::uint32_t>(rank), &CollectiveMember::rank);
    part.wait_ns = job.times[part.matched].wait_ns[static_cast<std::size_t>(own - members.begin())];
  }
  left_out = parts.size() > limit ? parts.size() - limit : 0;
  if (left_out > 0) {
    std::ranges::stable_sort(parts, std::ranges::greater(), [](const Part& part) {
      return part.collective->end_ns - part.collective->start_ns;
    });
    parts.resize(limit);
  }
  std::ranges::stable_sort(parts, {}, [](const Part& part) { return part.collective->start_ns; });
  return parts;
}

}  // namespace

StepTimelines::StepTimelines(const JobAnalysis& job, const JobSteps& steps,
                             const std::vector<std::size_t>& costliest)
    : job_(job), steps_(steps) {
  for (const JobRank& rank : job.collectives.ranks) {
    matched_.emplace_back(rank.record.collectives.size(), kNone);
  }
  for (std::size_t number = 0; number < job.collectives.collectives.size(); ++number) {
    for (const CollectiveMember& member : job.collectives.collectives[number].members) {
      matched_[member.rank][member.collective] = static_cast<std::uint32_t>(number);
    }
  }
  if (steps.steps().empty()) return;
  choose(latest_step(job, steps), "latest");
  choose(usual_step(steps), "usual");
  for (const std::size_t number : costliest) {
    const MatchedCollective& one = job.collectives.collectives[number];
    const std::optional<std::int64_t> step = job.collectives.part(one.members.front()).step;
    const auto found = step ? std::ranges::lower_bound(steps.steps(), *step) : steps.steps().end();
    if (found == steps.steps().end() || *found != *step) continue;
    choose(static_cast<std::size_t>(found - steps.steps().begin()), "costliest_collective");
  }
}

void StepTimelines::choose(std::size_t step, std::string_view why) {
  const bool has_it = std::ranges::find(chosen_, step, &Chosen::step) != chosen_.end();
  if (!has_it && chosen_.size() < kMostSteps) chosen_.push_back({step, why});
}

void StepTimelines::emit_step(wire::JsonEmitter& json, const Chosen& chosen,
                              const RanksLimits& limits, std::size_t& cuts) const {
  std::vector<std::size_t> ranks;
  std::size_t left_out = 0;
  for (const std::size_t rank : steps_.ranks_by_interest()) {
    if (steps_.at(rank, chosen.step) == nullptr) continue;
    if (ranks.size() < limits.timeline_ranks) {
      ranks.push_back(rank);
    } else {
      ++left_out;
    }
  }
  const RankClock& reference = job_.clocks[ranks.front()];
  const auto is_aligned = [&](std::size_t rank) {
    const RankClock& clock = job_.clocks[rank];
    return rank == ranks.front() ||
           (reference.is_known && clock.is_known && clock.reference == reference.reference);
  };
  std::int64_t first = std::numeric_limits<std::int64_t>::max();
  for (const std::size_t rank : ranks) {
    if (!is_aligned(rank)) continue;
    first = std::min(first, job_.clocks[rank].aligned_ns(steps_.at(rank, chosen.step)->start_ns));
  }
  std::map<std::uint32_t, std::size_t> numbers;  // of matched collectives in the list
  json.new_line();
  json.begin_object();
  json.key("step");
  json.integer(steps_.steps()[chosen.step]);
  json.member("why", chosen.why);
  json.key("ranks_left_out");
  json.integer(left_out);
  json.key("ranks");
  json.begin_array();
  for (const std::size_t rank : ranks) {
    const RankStep& step = *steps_.at(rank, chosen.step);
    const RankClock& clock = job_.clocks[rank];
    // A rank whose clock is unknown begins with the others.
    const std::int64_t start =
        is_aligned(rank) ? clock.aligned_ns(step.start_ns) - first : std::int64_t{0};
    const auto own = [&](std::int64_t time) {
      return is_aligned(rank) ? clock.aligned_ns(time) - first : time - step.start_ns;
    };
    std::size_t parts_left_out = 0;
    const std::vector<Part> parts =
        parts_of(job_, rank, step, matched_[rank], limits.timeline_parts, parts_left_out);
    json.new_line();
    json.begin_object();
    json.key("rank");
    json.integer(rank);
    json.key("is_aligned");
    json.boolean(is_aligned(rank));
    json.key("start_ns");
    json.integer(start);
    json.key("end_ns");
    json.integer(own(step.end_ns));
    std::vector<std::uint32_t> activity;
    for (const ActivityRun& run : step.activity) {
      activity.push_back(run.end);
      activity.push_back(static_cast<std::uint32_t>(run.time));
    }
    emit_integers(json, "activity", activity);
    json.key("collectives_left_out");
    json.integer(parts_left_out);
    std::vector<std::int64_t> starts;
    std::vector<std::int64_t> durations;
    std::vector<std::int64_t> waits;
    std::vector<std::int64_t> places;
    for (const Part& part : parts) {
      starts.push_back(own(part.collective->start_ns));
      durations.push_back(own(part.collective->end_ns) - starts.back());
      waits.push_back(part.wait_ns.value_or(-1));
      places.push_back(part.matched == kNone
                           ? -1
                           : static_cast<std::int64_t>(
                                 numbers.try_emplace(part.matched, numbers.size()).first->second));
    }
    emit_integers(json, "collective_start_ns", starts);
    emit_integers(json, "collective_duration_ns", durations);
    emit_integers(json, "collective_wait_ns", waits);
    emit_integers(json, "collective", places);
    json.end_object();
  }
  json.end_array();
  std::vector<std::uint32_t> by_place(numbers.size());
  for (const auto& [number, place] : numbers) by_place[place] = number;
  json.key("collectives");
  json.begin_array();
  for (const std::uint32_t number : by_place) {
    const MatchedCollective& one = job_.collectives.collectives[number];
    const RankCollective& part = job_.collectives.part(one.members.front());
    const ProcessGroup& group =
        job_.collectives.ranks[one.members.front().rank].record.groups[part.group];
    json.begin_object();
    json.member("name", cut_text(job_.collectives.name(one), limits.characters, cuts));
    json.member("group", cut_text(group_text(group), limits.characters, cuts));
    json.key("bytes");
    part.bytes ? json.integer(*part.bytes) : json.null();
    json.key("last_rank");
    const std::optional<std::int64_t> last = job_.times[number].last_rank;
    last ? json.integer(*last) : json.null();
    json.end_object();
  }
  json.end_array();
  json.end_object();
}

void StepTimelines::emit(wire::JsonEmitter& json, const RanksLimits& limits,
                         std::size_t& cuts) const {
  json.new_line();
  json.key("timelines");
  json.begin_array();
  for (const Chosen& chosen : chosen_) emit_step(json, chosen, limits, cuts);
  json.end_array();
}

}  // namespace tbtrace::pages
