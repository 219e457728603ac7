#include "statistics/distributions.h"

#include <algorithm>
#include <cmath>

#include <boost/math/distributions/chi_squared.hpp>
#include <boost/math/distributions/non_central_t.hpp>
#include <boost/math/distributions/normal.hpp>
#include <boost/math/distributions/students_t.hpp>

namespace tbtrace::statistics {
namespace {

namespace math = boost::math;
namespace policies = boost::math::policies;

/// Boost.Math would compute in long double, which is another type on another machine, and throw.
using Policy = policies::policy<policies::promote_float<false>, policies::promote_double<false>,
                                policies::domain_error<policies::ignore_error>,
                                policies::pole_error<policies::ignore_error>,
                                policies::overflow_error<policies::ignore_error>,
                                policies::underflow_error<policies::ignore_error>,
                                policies::denorm_error<policies::ignore_error>,
                                policies::rounding_error<policies::ignore_error>,
                                policies::evaluation_error<policies::ignore_error>,
                                policies::indeterminate_result_error<policies::ignore_error>>;

using Normal = math::normal_distribution<double, Policy>;
using StudentsT = math::students_t_distribution<double, Policy>;
using NoncentralT = math::non_central_t_distribution<double, Policy>;
using ChiSquared = math::chi_squared_distribution<double, Policy>;

double chi_squared_quantile(double degrees, double probability) {
  return math::quantile(ChiSquared(degrees), probability);
}

}  // namespace

double upper_quantile(DegreesOfFreedom degrees, double probability) {
  if (!degrees) return math::quantile(math::complement(Normal(), probability));
  return math::quantile(math::complement(StudentsT(*degrees), probability));
}

double upper_tail(DegreesOfFreedom degrees, double value) {
  if (!degrees) return math::cdf(math::complement(Normal(), value));
  return math::cdf(math::complement(StudentsT(*degrees), value));
}

double chi_squared_upper_tail(double degrees, double value) {
  return math::cdf(math::complement(ChiSquared(degrees), value));
}

double power_of(DegreesOfFreedom degrees, double critical, double noncentrality) {
  if (!degrees) return upper_tail(degrees, critical - noncentrality);
  return math::cdf(math::complement(NoncentralT(*degrees, noncentrality), critical));
}

double noncentrality_for(DegreesOfFreedom degrees, double critical, double power) {
  const double wanted = upper_quantile(std::nullopt, 1 - power);
  if (!degrees) return critical + wanted;
  // Boost fails at huge numbers. There the estimated error varies so much that nothing else counts.
  if (critical > 1000)
    return critical * std::sqrt(chi_squared_quantile(*degrees, power) / *degrees);
  // The normal quantile of the power is nearly linear in the noncentrality: a few secants find it.
  const auto excess = [&](double noncentrality) {
    const double miss = 1 - power_of(degrees, critical, noncentrality);
    return upper_quantile(std::nullopt, std::clamp(miss, 1e-15, 1 - 1e-15)) - wanted;
  };
  double low = 0;
  double high = critical + 1;
  double at_low = excess(low);
  double at_high = excess(high);
  while (at_high < 0) {
    low = high;
    at_low = at_high;
    high *= 2;
    at_high = excess(high);
  }
  for (int round = 0; round < 100 && high - low > 1e-12 * high && at_high > 0; ++round) {
    // Every third round halves, in case that one end stays.
    const double share = round % 3 == 2 ? 0.5 : at_low / (at_low - at_high);
    const double middle = low + share * (high - low);
    if (!(middle > low && middle < high)) break;
    const double at_middle = excess(middle);
    (at_middle < 0 ? low : high) = middle;
    (at_middle < 0 ? at_low : at_high) = at_middle;
  }
  return high;
}

double without_last_digits(double number) {
  int exponent = 0;
  const double fraction = std::frexp(number, &exponent);
  return std::ldexp(std::nearbyint(std::ldexp(fraction, 32)), exponent - 32);
}

}  // namespace tbtrace::statistics
