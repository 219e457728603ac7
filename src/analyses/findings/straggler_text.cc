// What people read about a straggler.
#include <array>
#include <cmath>
#include <cstddef>

#include <fmt/format.h>

#include <tbtrace/stragglers.h>

#include "wire/json_emitter.h"

namespace tbtrace {
namespace {

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

std::vector<std::string> straggler_lines(const StragglerResult& result) {
  if (!result.why_not_compared.empty()) {
    return {"whether a rank holds up the job is not known: " + result.why_not_compared};
  }
  std::vector<std::string> lines;
  for (const Straggler& one : result.stragglers) lines.push_back(straggler_text(one));
  if (lines.empty()) {
    lines.push_back(fmt::format(
        "no rank holds up the job by more than {:.0f} % of a step, the least that the {} "
        "compared steps can tell from chance",
        std::ceil(100 * result.least_share), result.compared_steps));
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
  return "record this rank with Python stacks (with_stack=True), and look at what else runs on its "
         "host";
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
