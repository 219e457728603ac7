#include "analyses/changes/sentence.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "base/utf8.h"

namespace tbtrace::analyses {
namespace {

/// Smaller changes of the step are only explained if the verdict says that they are one.
constexpr double kLeastChange = 0.01;
/// Shares of the whole change.
constexpr double kNearlyAll = 0.9;
constexpr double kMost = 0.5;
constexpr double kWorthNaming = 0.2;
constexpr double kMoreThanAll = 1.1;
/// Of parts that undo each other while the step stays: shares of the step.
constexpr double kWorthNamingOfStep = 0.05;

struct PartWords {
  std::string_view part;  ///< as step_role_name() has it
  std::string_view text;  ///< after `more` or `less`
  bool has_operators;     ///< what ran in it, or launched it, are operators
};
constexpr std::array kParts = {
    PartWords{"kernel", "time in GPU kernels", true},
    PartWords{"memcpy", "time in memcpys", true},
    PartWords{"memset", "time in memsets", true},
    PartWords{"communication", "communication", true},
    PartWords{"runtime", "time in calls of the GPU's runtime", false},
    PartWords{"data_loader", "waiting for the data loader", false},
    PartWords{"cpu_op", "time in operators on the host", true},
    PartWords{"other", "time in which nothing recorded ran", false},
};

const std::vector<DiffRow>& rows_by(const Diff& diff, DiffBy by) {
  return diff.rows[static_cast<std::size_t>(by)];
}

/// The row that changed most in that direction, other than time that the division does not
/// know; nullptr if there is none.
const DiffRow* largest(const std::vector<DiffRow>& rows, bool is_longer) {
  const DiffRow* found = nullptr;
  for (const DiffRow& row : rows) {
    if (row.key.starts_with('[') || row.change_ns == 0 || (row.change_ns > 0) != is_longer) {
      continue;
    }
    if (found == nullptr || std::abs(row.change_ns) > std::abs(found->change_ns)) found = &row;
  }
  return found;
}

const PartWords* words_of(const DiffRow& part) {
  const auto* const found = std::ranges::find(kParts, part.key, &PartWords::part);
  return found == kParts.end() ? nullptr : found;
}

std::string moreness(const DiffRow& part) {
  const PartWords* const words = words_of(part);
  return (part.change_ns > 0 ? "more " : "less ") +
         std::string(words == nullptr ? std::string_view(part.key) : words->text);
}

/// `The step is 12.8 % shorter`.
std::string change_text(double change, std::string_view what, bool is_change) {
  constexpr double kLeastShown = 0.0005;  // 0.1 % after rounding
  if (!is_change) {
    return fmt::format("The {} takes as long as before", what) +
           (std::abs(change) < kLeastShown ? "" : fmt::format(" ({:+.1f} %)", 100 * change));
  }
  constexpr double kRatherTimes = 1;  // `5.0 times as long` is easier to read than `400.0 % longer`
  if (change >= kRatherTimes) {
    return fmt::format("The {} takes {:.1f} times as long", what, 1 + change);
  }
  return fmt::format("The {} is {:.1f} % {}", what, 100 * std::abs(change),
                     change > 0 ? "longer" : "shorter");
}

/// The operator that has a good deal of the change, if the part is of operators.
std::string operator_text(const Diff& diff, const DiffRow& part) {
  const PartWords* const words = words_of(part);
  if (words == nullptr || !words->has_operators) return {};
  const DiffRow* const op = largest(rows_by(diff, DiffBy::op), part.change_ns > 0);
  if (op == nullptr || op->share.value_or(0) < kWorthNaming) return {};
  constexpr std::size_t kMostBytes = 60;
  std::string name(utf8_prefix(op->key, kMostBytes));
  if (name.size() < op->key.size()) name += "...";
  return fmt::format(", {:.1f} % of the change in {}", 100 * *op->share, name);
}

/// What explains the change, after `The step is 12.8 % shorter`.
std::string explanation(const Diff& diff) {
  const std::vector<DiffRow>& parts = rows_by(diff, DiffBy::part);
  const bool is_longer = diff.step.change > 0;
  const DiffRow* const most = largest(parts, is_longer);
  if (most == nullptr || most->share.value_or(0) < kWorthNaming)
    return "; no part of it explains that alone";
  const double share = *most->share;
  const std::string more = moreness(*most) + operator_text(diff, *most);
  if (share > kMoreThanAll) {
    const DiffRow* const against = largest(parts, !is_longer);
    return "; what explains it is " + more +
           (against == nullptr ? "" : ", in part undone by " + moreness(*against));
  }
  const bool is_alone = std::ranges::none_of(parts, [most](const DiffRow& part) {
    return &part != most && std::abs(part.share.value_or(0)) >= kWorthNaming;
  });
  if (share >= kNearlyAll && is_alone) return "; nearly all of it is " + more;
  if (share >= kMost) return "; most of it is " + more;
  return fmt::format("; {:.1f} % of it is {}", 100 * share, more);
}

/// Parts that changed although the step did not.
std::string unseen_changes(const Diff& diff) {
  const std::vector<DiffRow>& parts = rows_by(diff, DiffBy::part);
  const DiffRow* const longer = largest(parts, true);
  const DiffRow* const shorter = largest(parts, false);
  if (longer == nullptr || shorter == nullptr) return {};
  const double least = std::min(longer->change_ns, -shorter->change_ns);
  if (least < kWorthNamingOfStep * diff.step.base_ns) return {};
  return ", but " + moreness(*longer) + " and " + moreness(*shorter) + " make up for each other";
}

std::string certainty(const Diff& diff, bool is_explained) {
  if (is_explained && diff.comparable == Comparable::warning) {
    return "; the warnings name what else may explain it";
  }
  if (diff.verdict != DiffVerdict::inconclusive) return {};
  const bool is_one_a_side = diff.base_names.size() == 1 && diff.new_names.size() == 1;
  return std::string(is_one_a_side ? "; one run a side" : "; the runs") +
         " cannot say whether that is chance";
}

/// Of inference engines: steps do not contain the time until the next one begins.
std::string between_steps(const Diff& diff) {
  double steps = 0;
  double period_ns = 0;
  double gap_change_ns = 0;
  double change_ns = 0;
  for (const DiffPhase& phase : diff.phases) {
    if (!phase.change_ns) continue;
    const auto weight = static_cast<double>(phase.base.steps);
    steps += weight;
    period_ns += weight * phase.base.period_ns;
    gap_change_ns += weight * (phase.changed.gap_ns - phase.base.gap_ns);
    change_ns += weight * *phase.change_ns;
  }
  if (std::abs(gap_change_ns) <= kWorthNamingOfStep * period_ns) return {};
  constexpr double kNsPerMs = 1e6;
  return fmt::format(" The time between two steps is {:.3f} ms {}. {}.",
                     std::abs(gap_change_ns) / steps / kNsPerMs,
                     gap_change_ns > 0 ? "longer" : "shorter",
                     change_text(change_ns / period_ns, "step with the time before it",
                                 std::abs(change_ns) >= kLeastChange * period_ns));
}

/// ` A step does 8.0 times as many counted FLOPs.` Less or more work explains more than its parts
/// do.
std::string work_text(const Diff& diff) {
  constexpr double kOtherWork = 0.1;
  const auto flops = std::ranges::find(diff.quantities, "flops", &DiffQuantity::name);
  if (flops == diff.quantities.end() || !flops->base_value || !flops->new_value) return {};
  if (*flops->base_value <= 0 || *flops->new_value <= 0) return {};
  const double times = *flops->new_value / *flops->base_value;
  if (std::abs(times - 1) < kOtherWork) return {};
  return times < 2 ? fmt::format(" A step does {:.1f} % {} counted FLOPs.",
                                 100 * std::abs(times - 1), times > 1 ? "more" : "fewer")
                   : fmt::format(" A step does {:.1f} times as many counted FLOPs.", times);
}

}  // namespace

std::string sentence_of(const Diff& diff, std::string_view what) {
  if (diff.comparable == Comparable::no || diff.is_same_recording || diff.step.base_ns == 0) {
    return {};
  }
  const bool is_found = diff.verdict == DiffVerdict::slower || diff.verdict == DiffVerdict::faster;
  const bool is_change = is_found || (diff.verdict == DiffVerdict::inconclusive &&
                                      std::abs(diff.step.change) >= kLeastChange);
  const std::string why = is_change ? explanation(diff) : unseen_changes(diff);
  return change_text(diff.step.change, what, is_change) + why + certainty(diff, !why.empty()) +
         "." + work_text(diff) + between_steps(diff);
}

}  // namespace tbtrace::analyses
