#include "statistics/verdict.h"

namespace tbtrace::statistics {

bool DecisionRule::is_valid() const {
  return level >= 0.5 && level <= 0.999999 && min_effect >= 0 && min_effect < 1 && power >= 0.5 &&
         power <= 0.999;
}

std::string_view name_of(Verdict verdict) {
  switch (verdict) {
    case Verdict::slower:
      return "slower";
    case Verdict::faster:
      return "faster";
    case Verdict::same:
      return "same";
    case Verdict::inconclusive:
      break;
  }
  return "inconclusive";
}

Verdict verdict_of(double low, double high, const DecisionRule& rule) {
  if (low > rule.min_effect && high >= low) return Verdict::slower;
  if (high < -rule.min_effect && low <= high) return Verdict::faster;
  if (low >= -rule.min_effect && high <= rule.min_effect) return Verdict::same;
  return Verdict::inconclusive;
}

}  // namespace tbtrace::statistics
