// Weights, and shares of them, for people.
// Does not depend on the locale.
// Any unit is accepted; an unknown one is printed after the plain number.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace tbtrace::writers {

/// `ns` as `12.345 ms`, `bytes` as `1.50 MiB`, others as `12 things`. Must not be negative.
std::string weight_text(std::int64_t weight, std::string_view unit);

/// The same with the exact number: `12.345 ms (12345000 ns)`.
std::string exact_weight_text(std::int64_t weight, std::string_view unit);

/// `12.34 %`; `< 0.01 %` for a value that would print as zero but is not.
std::string share_text(std::int64_t part, std::int64_t whole);

}  // namespace tbtrace::writers
