#include "analyses/changes/phases.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "analyses/changes/rows.h"
#include "analyses/steps/inferred.h"
#include "analyses/steps/iteration_facts.h"
#include "analyses/steps/step_launches.h"
#include "base/bounded_sum.h"
#include "trace/step_names.h"

namespace tbtrace::analyses {
namespace {

constexpr std::size_t kMostKept = 256;  // of a trace, by time
constexpr std::size_t kMostPhases = 8;  // that are shown
/// Batches are the same if no kind has a share of the steps that differs by more.
constexpr double kSameShare = 0.005;

/// `57 to 64`, as CUDA graphs of vLLM are captured for.
std::string requests_text(std::int64_t requests) {
  constexpr std::int64_t kExact = 4;
  constexpr std::int64_t kFine = 256;
  const std::int64_t width = requests <= kFine ? 8 : 16;
  if (requests <= kExact) return std::to_string(requests);
  const std::int64_t last = (requests + width - 1) / width * width;
  return fmt::format("{} to {}", std::max(last - width, kExact) + 1, last);
}

/// `513 to 1024`.
std::string tokens_text(std::int64_t tokens) {
  const std::uint64_t last =
      std::bit_ceil(static_cast<std::uint64_t>(std::max<std::int64_t>(tokens, 1)));
  return last == 1 ? "1" : fmt::format("{} to {}", last / 2 + 1, last);
}

std::string counted(const std::string& count, std::string_view what) {
  return count + " " + std::string(what) + (count == "1" ? "" : "s");
}

std::string key_of(const IterationFacts& facts) {
  std::string key(iteration_kind_name(facts.kind));
  const bool reads = facts.kind == IterationKind::prefill || facts.kind == IterationKind::mixed;
  if (reads && facts.tokens) return key + " of " + counted(tokens_text(*facts.tokens), "token");
  if (facts.requests) {
    return key + " of " + counted(requests_text(*facts.requests), "request");
  }
  return key;
}

/// A run with `counts` steps of each phase.
RunFigures with_counts(const RunFigures& run, const std::map<std::string, std::size_t>& counts) {
  RunFigures made = run;
  made.step_ns.clear();
  made.rows = {};
  made.quantities.clear();
  for (const RunQuantity& quantity : run.quantities) {  // what is per step is of all steps
    if (quantity.name.ends_with("_bytes")) made.quantities.push_back(quantity);
  }
  std::array<std::map<std::string, RunRow>, kDiffBys> rows;
  for (const RunPhase& phase : run.phases) {
    const auto found = counts.find(phase.key);
    if (found == counts.end()) continue;
    const std::size_t count = found->second;
    WideInteger own = 0;
    for (const std::int64_t ns : phase.step_ns) own += ns;
    WideInteger taken = 0;
    // As many quantiles: of one step the median, so that a cold first one does not stand for all.
    std::vector<std::int64_t> sorted = phase.step_ns;
    std::ranges::sort(sorted);
    for (std::size_t at = 0; at < count; ++at) {
      made.step_ns.push_back(sorted[(2 * at + 1) * sorted.size() / (2 * count)]);
      taken += made.step_ns.back();
    }
    const double times = own == 0 ? 0 : static_cast<double>(taken) / static_cast<double>(own);
    const double often = static_cast<double>(count) / static_cast<double>(phase.step_ns.size());
    for (std::size_t by = 0; by < kDiffBys; ++by) {
      for (const RunRow& row : phase.rows[by]) {
        RunRow& sum =
            rows[by]
                .try_emplace(row.key, RunRow{.key = row.key, .op = row.op, .shapes = row.shapes})
                .first->second;
        add_bounded(sum.ns, std::llround(static_cast<double>(row.ns) * times));
        sum.count +=
            static_cast<std::uint64_t>(std::llround(static_cast<double>(row.count) * often));
      }
    }
  }
  for (std::size_t by = 0; by < kDiffBys; ++by) {
    for (auto& [key, row] : rows[by]) made.rows[by].push_back(std::move(row));
  }
  return made;
}

std::map<std::string, std::size_t> counts_of(const RunFigures& run) {
  std::map<std::string, std::size_t> counts;
  for (const RunPhase& phase : run.phases) counts[phase.key] = phase.step_ns.size();
  return counts;
}

double steps_in(const std::map<std::string, std::size_t>& counts) {
  double all = 0;
  for (const auto& [key, count] : counts) all += static_cast<double>(count);
  return all;
}

/// Of the time of a side's steps, the part in some phases.
double share_of_time(std::span<const RunFigures> runs, const std::set<std::string>& keys) {
  double all = 0;
  double part = 0;
  for (const RunFigures& run : runs) {
    for (const std::int64_t ns : run.step_ns) all += static_cast<double>(ns);
    for (const RunPhase& phase : run.phases) {
      if (!keys.contains(phase.key)) continue;
      for (const std::int64_t ns : phase.step_ns) part += static_cast<double>(ns);
    }
  }
  return all == 0 ? 0 : part / all;
}

const RunPhase* phase_of(const RunFigures& run, const std::string& key) {
  const auto found = std::ranges::find(run.phases, key, &RunPhase::key);
  return found == run.phases.end() ? nullptr : &*found;
}

/// Of a phase on one side: sums by rank over the runs.
std::vector<RunPhaseRank> ranks_of(std::span<const RunFigures> runs, const std::string& key) {
  std::map<std::int64_t, RunPhaseRank> ranks;
  for (const RunFigures& run : runs) {
    const RunPhase* const phase = phase_of(run, key);
    if (phase == nullptr) continue;
    for (const RunPhaseRank& rank : phase->ranks) {
      RunPhaseRank& sum =
          ranks.try_emplace(rank.rank, RunPhaseRank{.rank = rank.rank, .host = rank.host})
              .first->second;
      sum.add(rank);
    }
  }
  std::vector<RunPhaseRank> all;
  all.reserve(ranks.size());
  for (auto& [number, rank] : ranks) all.push_back(std::move(rank));
  return all;
}

DiffPhaseSide side_of(const std::vector<RunPhaseRank>& ranks) {
  RunPhaseRank sum;
  for (const RunPhaseRank& rank : ranks) sum.add(rank);
  DiffPhaseSide side;
  side.steps = sum.steps;
  if (sum.steps == 0) return side;
  const auto per_step = [&](double value) { return value / static_cast<double>(sum.steps); };
  side.period_ns = per_step(static_cast<double>(sum.duration_ns) + static_cast<double>(sum.gap_ns));
  side.gap_ns = per_step(static_cast<double>(sum.gap_ns));
  side.host_ns = per_step(static_cast<double>(sum.host_ns));
  side.idle_ns =
      per_step(static_cast<double>(sum.duration_ns) - static_cast<double>(sum.kernel_ns));
  side.communication_ns = per_step(static_cast<double>(sum.communication_ns));
  side.launches = per_step(static_cast<double>(sum.launches));
  if (sum.launches > 0) {
    side.launch_ns = static_cast<double>(sum.launch_ns) / static_cast<double>(sum.launches);
  }
  return side;
}

/// Per step of a rank.
struct RankMeans {
  const RunPhaseRank* rank = nullptr;
  double communication = 0;  ///< exposed
  double computing = 0;
  double idle = 0;  ///< neither, with the gap before the step
  double gap = 0;   ///< before the step
  double host = 0;
  double launch = 0;    ///< of a call
  double launches = 0;  ///< calls

  explicit RankMeans(const RunPhaseRank& of) : rank(&of) {
    const double steps = static_cast<double>(std::max<std::uint64_t>(of.steps, 1));
    communication = static_cast<double>(of.communication_ns) / steps;
    computing = static_cast<double>(of.kernel_ns) / steps - communication;
    idle = (static_cast<double>(of.duration_ns) + static_cast<double>(of.gap_ns) -
            static_cast<double>(of.kernel_ns)) /
           steps;
    gap = static_cast<double>(of.gap_ns) / steps;
    host = static_cast<double>(of.host_ns) / steps;
    launches = static_cast<double>(of.launches) / steps;
    if (of.launches > 0) {
      launch = static_cast<double>(of.launch_ns) / static_cast<double>(of.launches);
    }
  }
};

struct SideMeans {
  std::vector<RankMeans> ranks;
  const RankMeans* last = nullptr;  ///< communicates least, so that it waits least

  explicit SideMeans(const std::vector<RunPhaseRank>& of) {
    for (const RunPhaseRank& rank : of) ranks.emplace_back(rank);
    last = &*std::ranges::min_element(ranks, {}, &RankMeans::communication);
  }
  SideMeans(const SideMeans&) = delete;
  SideMeans& operator=(const SideMeans&) = delete;

  /// Of the ranks besides one, if there are others.
  double communication_without(std::int64_t number) const {
    double sum = 0;
    std::size_t count = 0;
    for (const RankMeans& rank : ranks) {
      if (rank.rank->rank == number && ranks.size() > 1) continue;
      sum += rank.communication;
      ++count;
    }
    return sum / static_cast<double>(count);
  }

  /// The same rank, else the mean of all.
  double of_rank(std::int64_t number, double RankMeans::*member) const {
    double sum = 0;
    for (const RankMeans& rank : ranks) {
      if (rank.rank->rank == number) return rank.*member;
      sum += rank.*member;
    }
    return sum / static_cast<double>(ranks.size());
  }
};

std::string ms(double ns) { return fmt::format("{:.2f} ms", ns / 1e6); }

std::string rank_text(const RunPhaseRank& rank) {
  const std::string number = "rank " + std::to_string(rank.rank);
  return rank.host.empty() ? number : number + " (" + rank.host + ")";
}

/// What the host of a rank needs now, as far as it is more.
std::string host_text(const SideMeans& before, const RankMeans& now) {
  constexpr double kMore = 1.05;
  const std::int64_t rank = now.rank->rank;
  const double host = before.of_rank(rank, &RankMeans::host);
  const double launch = before.of_rank(rank, &RankMeans::launch);
  std::string text;
  if (now.host > kMore * host)
    text = fmt::format("{} in a step instead of {}", ms(now.host), ms(host));
  if (now.launch > kMore * launch && launch > 0) {
    text +=
        (text.empty() ? "" : ", and ") +
        fmt::format("{:.2f} us for a launch instead of {:.2f} us", now.launch / 1e3, launch / 1e3);
  }
  return text;
}

/// A late host is the cause only of what it is seen to need more.
std::string why_idle(const SideMeans& before, const RankMeans& now, double idle) {
  constexpr double kMost = 0.5;
  const std::int64_t rank = now.rank->rank;
  const auto more = [&](double RankMeans::*member) {
    return std::max(now.*member - before.of_rank(rank, member), 0.0);
  };
  const double host = std::max(more(&RankMeans::host), more(&RankMeans::launch) * now.launches);
  if (const std::string needs = host_text(before, now); host >= kMost * idle && !needs.empty()) {
    return ", since the host is late: it needs " + needs;
  }
  const double gap = more(&RankMeans::gap);
  if (gap >= kMost * idle) {
    return "; " + ms(gap) + " of that lies between the steps, so see what the host did there";
  }
  return "; its host needs hardly longer than before, so see why the GPU was idle in both traces";
}

/// What explains that steps take longer.
std::string cause_of(const SideMeans& before, const SideMeans& now, double change) {
  constexpr double kMost = 0.5;
  const RankMeans& last = *now.last;
  const std::int64_t rank = last.rank->rank;
  const double communication = now.communication_without(rank) - before.communication_without(rank);
  if (communication >= kMost * change) {
    const std::string more = ms(communication) + " of it is more communication";
    if (now.ranks.size() == 1) {
      const std::string host = host_text(before, last);
      return more +
             ", which may be waiting: a kernel that communicates lasts until the last rank "
             "has arrived. Compare the traces of all ranks to see which one that is" +
             (host.empty() ? "" : "; the host of this one needs " + host);
    }
    if (last.communication - before.last->communication >= kMost * communication)
      return more + ", on all ranks";
    const double idle = last.idle - before.of_rank(rank, &RankMeans::idle);
    const double computing = last.computing - before.of_rank(rank, &RankMeans::computing);
    const std::string waits =
        more + fmt::format(", in which ranks wait for {}", rank_text(*last.rank));
    if (idle >= kMost * change) {
      return waits + ", whose GPU is idle for " + ms(idle) + " more" + why_idle(before, last, idle);
    }
    if (computing >= kMost * change)
      return waits + ", whose kernels take " + ms(computing) + " more";
    return waits + "; why it is late the traces do not show";
  }
  double idle = 0;
  double computing = 0;
  const RankMeans* most = &now.ranks.front();
  double most_idle = 0;
  for (const RankMeans& each : now.ranks) {
    const double own = each.idle - before.of_rank(each.rank->rank, &RankMeans::idle);
    idle += own / static_cast<double>(now.ranks.size());
    computing += (each.computing - before.of_rank(each.rank->rank, &RankMeans::computing)) /
                 static_cast<double>(now.ranks.size());
    if (own > most_idle) {
      most_idle = own;
      most = &each;
    }
  }
  if (idle >= kMost * change) {
    return "for " + ms(idle) + " of it the GPU is idle" + why_idle(before, *most, most_idle);
  }
  if (computing >= kMost * change)
    return ms(computing) + " of it is in other kernels than those that communicate";
  return "nothing explains most of it";
}

}  // namespace

std::vector<StepsOfPhase> steps_of_phases(const Trace& trace, const StepBreakdown& breakdown) {
  if (!breakdown.has_steps()) return {};
  if (!has_engine_steps(trace) && engine_iterations(trace).empty()) return {};
  const std::vector<IterationFacts> facts = facts_of_steps(trace, breakdown.steps);
  const auto launches = step_launches(trace);
  std::map<std::string, StepsOfPhase> by_key;
  for (std::size_t at = 0; at < facts.size(); ++at) {
    const StepTime& step = breakdown.steps[at];
    StepsOfPhase& phase = by_key[key_of(facts[at])];
    phase.steps.push_back(step);
    WideInteger busy = 0;
    for (const std::int64_t ns : step.busy_ns) busy += ns;
    const auto devices = static_cast<WideInteger>(std::max<std::size_t>(step.busy_ns.size(), 1));
    RunPhaseRank one{.steps = 1,
                     .duration_ns = step.duration_ns(),
                     .kernel_ns = bounded(busy / devices),
                     .communication_ns = step.ns(StepRole::communication),
                     .host_ns = step.host_duration_ns()};
    if (at > 0) {
      one.gap_ns = std::max<std::int64_t>(step.start_ns - breakdown.steps[at - 1].end_ns, 0);
    }
    if (const auto found = launches.find(step.number); found != launches.end()) {
      one.launches = found->second.count;
      one.launch_ns = found->second.ns;
    }
    phase.sums.add(one);
  }
  std::vector<StepsOfPhase> phases;
  for (auto& [key, phase] : by_key) {
    phase.key = key;
    phases.push_back(std::move(phase));
  }
  std::ranges::stable_sort(phases, std::ranges::greater(),
                           [](const StepsOfPhase& phase) { return phase.sums.duration_ns; });
  if (phases.size() > kMostKept) phases.resize(kMostKept);
  return phases;
}

EqualBatches with_equal_batches(std::span<const RunFigures> base,
                                std::span<const RunFigures> changed) {
  std::set<std::string> common;
  std::vector<std::map<std::string, std::size_t>> counts;
  std::size_t without = 0;
  for (const std::span<const RunFigures> side : {base, changed}) {
    for (const RunFigures& run : side) {
      counts.push_back(counts_of(run));
      if (counts.back().empty()) ++without;
      const bool is_first = counts.size() == 1;
      if (is_first) {
        for (const auto& [key, count] : counts.back()) common.insert(key);
      }
      std::erase_if(common, [&](const std::string& key) { return !counts.back().contains(key); });
    }
  }
  if (without == counts.size()) return {};
  if (without > 0) {
    return {
        .base = {},
        .changed = {},
        .note =
            "one side does not say what was in the batches (it is not of an inference engine, or "
            "a baseline, which keeps no kinds of steps), so that steps of all kinds are "
            "compared"};
  }
  if (common.empty()) {
    return {.base = {},
            .changed = {},
            .note =
                "the two sides have no kind and size of batches in common: what differs may be "
                "what was asked of the server"};
  }
  double all_base = 0;
  std::map<std::string, double> wanted;  // share of the steps of the base
  for (std::size_t run = 0; run < base.size(); ++run) {
    for (const std::string& key : common) {
      wanted[key] += static_cast<double>(counts[run][key]);
      all_base += static_cast<double>(counts[run][key]);
    }
  }
  bool are_equal = true;
  for (const auto& of_run : counts) {
    const double all = steps_in(of_run);
    for (const auto& [key, count] : of_run) {
      const double share = common.contains(key) ? wanted[key] / all_base : 0;
      are_equal = are_equal && std::abs(static_cast<double>(count) / all - share) <= kSameShare;
    }
  }
  const double of_base = share_of_time(base, common);
  const double of_changed = share_of_time(changed, common);
  constexpr double kAll = 0.999;
  if (are_equal && of_base >= kAll && of_changed >= kAll) return {};
  EqualBatches equal;
  std::size_t number = 0;
  for (const std::span<const RunFigures> side : {base, changed}) {
    for (const RunFigures& run : side) {
      double own = 0;
      for (const std::string& key : common) own += static_cast<double>(counts[number][key]);
      std::map<std::string, std::size_t> taken;
      for (const std::string& key : common) {
        const auto count = static_cast<std::size_t>(std::llround(own * wanted[key] / all_base));
        taken[key] = std::max<std::size_t>(count, 1);
      }
      (number < base.size() ? equal.base : equal.changed).push_back(with_counts(run, taken));
      ++number;
    }
  }
  equal.note = fmt::format(
      "the batches differ, so that only steps of kinds and sizes that both sides have are "
      "compared, "
      "each kind as often as in the base: {:.1f} % of the time of the base's steps, {:.1f} % of "
      "the "
      "new ones'",
      100 * of_base, 100 * of_changed);
  return equal;
}

std::vector<DiffPhase> phases_of(std::span<const RunFigures> base,
                                 std::span<const RunFigures> changed) {
  std::set<std::string> keys;
  for (const std::span<const RunFigures> side : {base, changed}) {
    for (const RunFigures& run : side) {
      for (const RunPhase& phase : run.phases) keys.insert(phase.key);
    }
  }
  std::vector<DiffPhase> phases;
  for (const std::string& key : keys) {
    DiffPhase& phase = phases.emplace_back();
    phase.key = key;
    const std::vector<RunPhaseRank> before = ranks_of(base, key);
    const std::vector<RunPhaseRank> now = ranks_of(changed, key);
    phase.base = side_of(before);
    phase.changed = side_of(now);
    if (before.empty() || now.empty()) continue;
    phase.change_ns = phase.changed.period_ns - phase.base.period_ns;
    constexpr double kLeast = 0.02;
    if (*phase.change_ns < kLeast * phase.base.period_ns) continue;
    phase.sentence = fmt::format("{} takes {} more, {:+.1f} %: ", key, ms(*phase.change_ns),
                                 100 * *phase.change_ns / phase.base.period_ns) +
                     cause_of(SideMeans(before), SideMeans(now), *phase.change_ns);
  }
  std::ranges::stable_sort(phases, std::ranges::greater(), [](const DiffPhase& phase) {
    return std::abs(phase.change_ns.value_or(0)) * static_cast<double>(phase.base.steps);
  });
  if (phases.size() > kMostPhases) phases.resize(kMostPhases);
  return phases;
}

}  // namespace tbtrace::analyses

namespace tbtrace {

void RunPhaseRank::add(const RunPhaseRank& more) {
  steps += more.steps;
  add_bounded(duration_ns, more.duration_ns);
  add_bounded(gap_ns, more.gap_ns);
  add_bounded(kernel_ns, more.kernel_ns);
  add_bounded(communication_ns, more.communication_ns);
  add_bounded(host_ns, more.host_ns);
  launches += more.launches;
  add_bounded(launch_ns, more.launch_ns);
}

}  // namespace tbtrace
