// Whether a difference between two sets of runs is large enough to matter, and sure enough to say.
// Pure functions; any thread.
#pragma once

#include <cstdint>
#include <string_view>

namespace tbtrace::statistics {

/// The rule. `low` to `high` is the confidence interval, at `level`, of the relative change.
///   slower        the whole interval lies above +min_effect
///   faster        the whole interval lies below -min_effect
///   same          the whole interval lies within +-min_effect, ends included
///   inconclusive  otherwise: the runs do not tell these apart
/// Of comparisons of equal runs at most 1 - `level` call an alarm (slower or faster): 3 in 1,000 if
/// runs vary by much more than min_effect, and fewer if they vary less.
struct DecisionRule {
  double level = 0.997;      ///< of the interval; 0.5 to 0.999999
  double min_effect = 0.01;  ///< the smallest relative change that matters; from 0 to below 1
  double power = 0.9;        ///< at which effects count as resolvable; 0.5 to 0.999

  bool is_valid() const;
  bool operator==(const DecisionRule&) const = default;
};

enum class Verdict : std::uint8_t { slower, faster, same, inconclusive };

/// `slower`, `faster`, `same` or `inconclusive`.
std::string_view name_of(Verdict verdict);

/// By the rule; `inconclusive` if an end is NaN.
Verdict verdict_of(double low, double high, const DecisionRule& rule = {});

}  // namespace tbtrace::statistics
