// A large trace of a training run that never was, for what has to be measured on one.
// Equal settings give equal text on every machine. Holds no more than one step in memory.
#pragma once

#include <cstdint>
#include <functional>
#include <string_view>

namespace tbtrace::benchmarks {

struct MadeTrace {
  std::int64_t size = 0;  ///< bytes of text, about
  std::uint64_t seed = 1;
  bool shapes = false;  ///< of operators, as torch 2.x records them
};

/// Hands the text to `write`, piece by piece; stops and returns false if that returns false.
bool write_made_trace(const MadeTrace& settings,
                      const std::function<bool(std::string_view)>& write);

}  // namespace tbtrace::benchmarks
