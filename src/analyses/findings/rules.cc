#include "analyses/findings/rules.h"

#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include "base/share.h"

namespace tbtrace::analyses {
namespace {

constexpr auto kFindingRules = std::to_array<FindingRule>({
    {"exposed communication", has_device, IdleTime::none, exposed_communication},
    {"exposed copies", has_device, IdleTime::none, exposed_copies},
    {"products without tensor cores", has_tensor_cores, IdleTime::none, no_tensor_cores},
    {"conversions between layouts", has_device, IdleTime::none, layout_conversions},
    {"attention by the math implementation", has_device, IdleTime::none, math_attention},
    {"growing memory", has_memory_of_steps, IdleTime::none, memory_growth},
    {"memory that the allocator keeps", has_reserved_memory, IdleTime::none, reserved_growth},
});

}  // namespace

bool has_device(const FindingFacts& facts) { return facts.device.has_value(); }

Finding with_gain(const FindingFacts& facts, Finding finding, std::int64_t ns,
                  const std::string& how, const std::optional<ChangedWork>& changed) {
  const bool has_steps = facts.steps.has_steps();
  const std::size_t steps = has_steps ? facts.steps.steps.size() : 1;
  const std::int64_t bound = ns / static_cast<std::int64_t>(steps);
  finding.gain_ns = bound;
  finding.gain_how = how;
  // A device that is busy is what limits the steps; one that idles may gain nothing.
  if (has_steps && changed && facts.replay && is_idle(facts)) {
    const std::optional<std::int64_t> replayed = facts.replay->gain_ns(*changed);
    if (replayed && *replayed < bound) {
      finding.gain_ns = replayed;
      finding.gain_how += ", by a replay of the steps";
      if (finding.own_share == 0) finding.own_share = finding.share;
      // Not 0, which would stand for all of the share.
      finding.own_share = std::max(finding.own_share * share(*replayed, bound), 1e-9);
    }
  }
  finding.gain_how += has_steps ? ", per step" : ", in the whole recording";
  finding.is_gain_per_step = has_steps;
  finding.steps = has_steps ? steps : 0;
  return finding;
}

std::optional<ChangedWork> of_one_device(const FindingFacts& facts, ChangedWork changed) {
  return facts.devices == 1 ? std::optional(std::move(changed)) : std::nullopt;
}

std::span<const FindingRule> finding_rules() { return kFindingRules; }

}  // namespace tbtrace::analyses
