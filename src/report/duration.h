// Creates Durations from the types that analyses compute with.
#pragma once

#include <cstdint>

#include <tbtrace/report.h>

#include "base/nearest_integer.h"

namespace tbtrace::report {

/// The microseconds, a double, are a sum of whole nanoseconds.
inline Duration duration_of_us(double us) { return {us, nearest_integer(us * 1000)}; }

inline Duration duration_of_ns(std::int64_t ns) { return {static_cast<double>(ns) / 1000.0, ns}; }

}  // namespace tbtrace::report
