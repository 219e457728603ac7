// Creates Durations from the types that analyses compute with, and durations in sentences.
#pragma once

#include <cstdint>
#include <string>

#include <tbtrace/report.h>

#include "base/nearest_integer.h"

namespace tbtrace::report {

/// The microseconds, a double, are a sum of whole nanoseconds.
inline Duration duration_of_us(double us) { return {us, nearest_integer(us * 1000)}; }

inline Duration duration_of_ns(std::int64_t ns) { return {static_cast<double>(ns) / 1000.0, ns}; }

/// `1.203 s`, `45.678 ms`, `9.000 us`, `12 ns`: rounded to the nearest. `ns` is 0 or more.
std::string duration_text(std::int64_t ns);

}  // namespace tbtrace::report
