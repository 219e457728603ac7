// Names and sentences about steps.
#include <array>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include <tbtrace/steps.h>

#include "analyses/steps/breakdown.h"
#include "base/utf8.h"
#include "report/duration.h"

namespace tbtrace {
namespace {

constexpr std::array<std::string_view, kStepRoles> kRoleNames = {
    "kernel", "memcpy", "memset", "communication", "runtime", "data_loader", "cpu_op", "other"};
constexpr std::array<std::string_view, kStepPhases> kPhaseNames = {"forward", "backward",
                                                                   "optimizer", "data"};

}  // namespace

std::string dropped_steps_text(const StepBreakdown& breakdown) {
  const std::size_t dropped = breakdown.dropped_steps;
  if (dropped == 0) return {};
  return std::to_string(dropped) + " of " + std::to_string(breakdown.steps.size() + dropped) +
         " steps " + (dropped == 1 ? "is" : "are") + " left out, at the end: kernels of " +
         (dropped == 1 ? "it" : "them") + " may be missing.";
}

std::string_view step_role_name(StepRole role) {
  return kRoleNames[static_cast<std::size_t>(role)];
}

std::string unfinished_step_text(const UnfinishedStep& step) {
  return utf8_shortened(step.name, 80) + " did not end: what was recorded of it is " +
         report::duration_text(step.duration_ns()) +
         ". It is not among the steps or in their means.";
}

std::vector<std::string> analyses::left_out_steps_texts(const StepBreakdown& breakdown) {
  constexpr std::size_t kMost = 5;
  std::vector<std::string> texts;
  for (const UnfinishedStep& step : breakdown.unfinished_steps) {
    if (texts.size() == kMost) {
      texts.push_back(std::to_string(breakdown.unfinished_steps.size() - kMost) +
                      " more steps did not end.");
      break;
    }
    texts.push_back(unfinished_step_text(step));
  }
  if (breakdown.dropped_steps > 0) texts.push_back(dropped_steps_text(breakdown));
  return texts;
}

std::string_view step_phase_name(StepPhase phase) {
  return kPhaseNames[static_cast<std::size_t>(phase)];
}

}  // namespace tbtrace
