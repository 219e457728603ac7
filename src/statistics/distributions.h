// The distributions that comparisons need, from Boost.Math in double precision. Functions never
// throw. Degrees of freedom are positive; without them the normal distribution is meant.
// Pure functions; any thread.
#pragma once

#include <cstddef>
#include <optional>

namespace tbtrace::statistics {

/// Student's t with these degrees of freedom, or the normal distribution.
using DegreesOfFreedom = std::optional<double>;

/// The value that is exceeded with this probability, which is between 0 and 1.
double upper_quantile(DegreesOfFreedom degrees, double probability);

/// The probability of values above this one.
double upper_tail(DegreesOfFreedom degrees, double value);

/// The probability of values above this one, which is not negative, in a chi-squared distribution.
double chi_squared_upper_tail(double degrees, double value);

/// The probability that a test finds an effect: that a noncentral t, whose noncentrality is the
/// effect in standard errors, exceeds `critical`. Both are from 0 to 10,000.
double power_of(DegreesOfFreedom degrees, double critical, double noncentrality);

/// The noncentrality at which power_of() is `power`, which is from 0.5 to 0.999; within 1 part in
/// 10^12 for a `critical` from 0 to 1000, and in 10^5 above.
double noncentrality_for(DegreesOfFreedom degrees, double critical, double power);

/// The nearest number with 32 binary digits. Math functions of two C libraries or processors may
/// differ in the last digits; the results of this room do not show those.
double without_last_digits(double number);

}  // namespace tbtrace::statistics
