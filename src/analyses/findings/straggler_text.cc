// What people read about a straggler.
#include <array>
#include <cmath>
#include <cstddef>
#include <optional>
#include <span>

#include <fmt/format.h>

#include <tbtrace/stragglers.h>

#include "base/bounded_sum.h"
#include "wire/json_emitter.h"

namespace tbtrace {
namespace {

/// `late launches`.
std::string_view late_cause(StragglerCause cause) {
  switch (cause) {
    case StragglerCause::compute:
      return "longer or more kernels";
    case StragglerCause::input:
      return "waits for data";
    case StragglerCause::launch:
      return "late launches";
    case StragglerCause::memory:
      return "allocations";
    case StragglerCause::network:
      return "slow transfers";
    case StragglerCause::garbage_collection:
      return "garbage collection";
    case StragglerCause::unknown:
      break;
  }
  return "what the traces do not show";
}

std::string_view reason(StragglerCause cause) {
  switch (cause) {
    case StragglerCause::compute:
      return "its kernels take longer than those of the other ranks, or it runs more of them";
    case StragglerCause::input:
      return "it waits for its data";
    case StragglerCause::launch:
      return "its GPU waits for kernels that the host launches late";
    case StragglerCause::memory:
      return "its GPU waits while the host allocates and frees device memory";
    case StragglerCause::network:
      return "transfers with it take longer than the same transfers of other ranks";
    case StragglerCause::garbage_collection:
      return "its GPU waits while Python collects garbage";
    case StragglerCause::unknown:
      break;
  }
  return "the traces do not show why";
}

std::string late_text(const LateArrivals& late) {
  std::string ranks = late.ranks.size() == 1 ? "rank " : "ranks ";
  for (std::size_t at = 0; at < late.ranks.size(); ++at) {
    if (at > 0) ranks += at + 1 == late.ranks.size() ? " and " : ", ";
    ranks += std::to_string(late.ranks[at]);
  }
  std::string text = fmt::format("{} came last in {} of {} collectives that ranks waited in", ranks,
                                 late.late, late.collectives);
  if (late.cause != StragglerCause::unknown) {
    text += fmt::format(", mostly by {}", late_cause(late.cause));
  }
  return text;
}

/// `rank 1 held up the job once: ...`, a sentence for people without a full stop.
std::string pause_text(const Pause& pause, std::size_t compared_steps) {
  const double ms = static_cast<double>(pause.excess_ns) / 1e6;
  constexpr double kSecond = 1000;
  return fmt::format(
      "rank {} held up the job once: {} longer in step {} (number {} of {} steps); {}", pause.rank,
      ms < kSecond ? fmt::format("{:.2f} ms", ms) : fmt::format("{:.2f} s", ms / kSecond),
      pause.step, pause.place + 1, compared_steps,
      pause.is_silent ? "its host recorded nothing meanwhile" : reason(pause.cause));
}

}  // namespace

std::string_view straggler_cause_name(StragglerCause cause) {
  constexpr auto kNames = std::to_array<std::string_view>(
      {"compute", "input", "launch", "memory", "network", "garbage_collection", "unknown"});
  return kNames[static_cast<std::size_t>(cause)];
}

std::string straggler_text(const Straggler& straggler) {
  const std::string who = straggler.peer
                              ? fmt::format("the link between ranks {} and {} holds up the job",
                                            straggler.rank, *straggler.peer)
                              : fmt::format("rank {} holds up the job", straggler.rank);
  return fmt::format("{}: {:.2f} ms ({:.1f} %) longer in {} of {} steps; {}", who,
                     static_cast<double>(straggler.excess_per_step_ns) / 1e6, 100 * straggler.share,
                     straggler.steps.size(), straggler.recorded_steps,
                     straggler.peer ? "its transfers take longer than the same transfers elsewhere"
                                    : reason(straggler.cause));
}

std::optional<double> RankWaits::bubble_share() const {
  if (!bubble_ns || steps_ns <= 0) return std::nullopt;
  return static_cast<double>(*bubble_ns) / static_cast<double>(steps_ns);
}

std::string bubble_text(std::span<const RankWaits> waits) {
  const RankWaits* least = nullptr;
  const RankWaits* most = nullptr;
  std::int64_t bubbles = 0;
  std::int64_t steps = 0;
  for (const RankWaits& one : waits) {
    const std::optional<double> share = one.bubble_share();
    if (!share) continue;
    add_bounded(bubbles, *one.bubble_ns);
    add_bounded(steps, one.steps_ns);
    if (least == nullptr || *share < *least->bubble_share()) least = &one;
    if (most == nullptr || *share > *most->bubble_share()) most = &one;
  }
  if (most == nullptr || bubbles == 0) return {};
  const auto of_rank = [](const RankWaits& one) {
    return fmt::format("{:.1f} % (rank {})", 100 * *one.bubble_share(), one.rank);
  };
  return fmt::format(
      "bubbles of the pipeline: ranks wait in sends and receives and compute nothing for {:.1f} % "
      "of their steps, from {} to {}",
      100 * static_cast<double>(bubbles) / static_cast<double>(steps), of_rank(*least),
      of_rank(*most));
}

std::vector<std::string> straggler_lines(const StragglerResult& result) {
  if (!result.why_not_compared.empty()) {
    std::vector<std::string> lines = {"whether a rank holds up the job is not known: " +
                                      result.why_not_compared};
    if (result.late_arrivals) lines.push_back(late_text(*result.late_arrivals));
    return lines;
  }
  std::vector<std::string> lines;
  for (const Straggler& one : result.stragglers) lines.push_back(straggler_text(one));
  for (const Pause& pause : result.pauses) {
    lines.push_back(pause_text(pause, result.compared_steps));
  }
  if (result.stragglers.empty() && result.least_share >= 1) {
    lines.push_back(fmt::format(
        "whether a rank holds up the job in other steps too cannot be told: the {} compared steps "
        "differ too much",
        result.compared_steps));
    if (result.pauses.empty()) {
      lines.back() = fmt::format(
          "whether a rank holds up the job cannot be told: the {} compared steps differ too much",
          result.compared_steps);
    }
  } else if (result.stragglers.empty()) {
    lines.push_back(fmt::format(
        "{}no rank holds up the job by more than {:.0f} % of a step, the least that the {} "
        "compared steps can tell from chance",
        result.pauses.empty() ? "" : "in the other steps ", std::ceil(100 * result.least_share),
        result.compared_steps - result.pauses.size()));
  }
  return lines;
}

std::string_view straggler_remedy(StragglerCause cause) {
  switch (cause) {
    case StragglerCause::compute:
      return "give all ranks the same amount of work (batch, sequence lengths, experts); if they "
             "have it, look at the clock rate, the temperature and the power limit of this GPU";
    case StragglerCause::input:
      return "look at this rank's data loader: workers, file system, the sizes of its samples";
    case StragglerCause::launch:
      return "look at the CPU of this rank: its cores, other processes on them, its NUMA node, its "
             "power settings";
    case StragglerCause::memory:
      return "keep the allocator from freeing: less memory per rank, expandable_segments:True, no "
             "empty_cache() in steps";
    case StragglerCause::network:
      return "test the links of this rank (nccl-tests between pairs), its NIC and its cables";
    case StragglerCause::garbage_collection:
      return "collect garbage on all ranks in the same steps: gc.disable(), and gc.collect() every "
             "few hundred steps";
    case StragglerCause::unknown:
      break;
  }
  return "compare the lines of this rank in the late steps with those of another one (they need "
         "Python stacks: with_stack=True), and look at what else runs on its host";
}

std::string stragglers_json(std::span<const Straggler> stragglers) {
  std::string text;
  wire::JsonEmitter json(text);
  json.begin_array();
  for (const Straggler& one : stragglers) {
    json.begin_object();
    json.key("rank");
    json.integer(one.rank);
    json.key("excess_per_step_ns");
    json.integer(one.excess_per_step_ns);
    json.key("steps");
    json.begin_array();
    for (const std::int64_t step : one.steps) json.integer(step);
    json.end_array();
    json.member("cause", straggler_cause_name(one.cause));
    json.key("share");
    json.number(one.share);
    json.key("cause_ns");
    json.integer(one.cause_ns);
    json.key("peer");
    if (one.peer) {
      json.integer(*one.peer);
    } else {
      json.null();
    }
    json.end_object();
  }
  json.end_array();
  return text;
}

}  // namespace tbtrace
