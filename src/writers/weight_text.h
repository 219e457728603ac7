// Weights and shares of them as people read them.
// Pure functions; the locale plays no part.
// Any unit will do; those that are not known stand behind the plain number.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace tbtrace::writers {

/// `ns` as `12.345 ms`, `bytes` as `1.50 MiB`, others as `12 things`. Not negative.
std::string weight_text(std::int64_t weight, std::string_view unit);

/// The same and the exact number: `12.345 ms (12345000 ns)`.
std::string exact_weight_text(std::int64_t weight, std::string_view unit);

/// `12.34 %`; `< 0.01 %` for what would print as zero and is not.
std::string share_text(std::int64_t part, std::int64_t whole);

}  // namespace tbtrace::writers
