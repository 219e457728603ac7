#include "analyses/findings/rules.h"

#include <array>
#include <string>

namespace tbtrace::analyses {
namespace {

constexpr auto kFindingRules = std::to_array<FindingRule>({
    {"exposed communication", has_device, IdleTime::none, exposed_communication},
    {"exposed copies", has_device, IdleTime::none, exposed_copies},
    {"products without tensor cores", has_tensor_cores, IdleTime::none, no_tensor_cores},
    {"attention by the math implementation", has_device, IdleTime::none, math_attention},
    {"growing memory", has_memory_of_steps, IdleTime::none, memory_growth},
    {"memory that the allocator keeps", has_reserved_memory, IdleTime::none, reserved_growth},
});

}  // namespace

bool has_device(const FindingFacts& facts) { return facts.device.has_value(); }

Finding with_gain(const FindingFacts& facts, Finding finding, std::int64_t ns,
                  const std::string& how) {
  const bool has_steps = facts.steps.has_steps();
  const std::size_t steps = has_steps ? facts.steps.steps.size() : 1;
  finding.gain_ns = ns / static_cast<std::int64_t>(steps);
  finding.gain_how = how + (has_steps ? ", per step" : ", in the whole recording");
  finding.is_gain_per_step = has_steps;
  finding.steps = has_steps ? steps : 0;
  return finding;
}

std::span<const FindingRule> finding_rules() { return kFindingRules; }

}  // namespace tbtrace::analyses
