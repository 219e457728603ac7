// How steps of two runs differ, as a description: steps of one run cannot show how much runs vary,
// so no verdict follows from this.
// Pure functions; any thread. A seed gives the same result on every machine.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace tbtrace::statistics {

constexpr std::size_t kLeastSteps = 30;

struct BootstrapOptions {
  double level = 0.95;           ///< of the interval; between 0 and 1
  std::uint32_t samples = 1999;  ///< how often both series are drawn anew; 99 to 100,000
  std::uint64_t seed = 1;
};

/// Relative, of the means of two series of steps: 0.03 is 3 % more in the new ones.
struct StepInterval {
  double change = 0;
  double low = 0;
  double high = 0;
  std::size_t base_block = 1;  ///< steps in a block that is drawn
  std::size_t new_block = 1;

  bool operator==(const StepInterval&) const = default;
};

/// Percentile interval of the moving block bootstrap (Künsch, Annals of Statistics 17, 1989), with
/// blocks that go on at the start of the series after its end (Politis and Romano, "A circular
/// block-resampling procedure for stationary data", 1992), so that each step is drawn as often.
/// Percentiles are widened for the number of blocks (Hesterberg, "What teachers should know about
/// the bootstrap", American Statistician 69, 2015: expanded percentile interval).
/// Durations are in ns, in time order. None if a side has fewer than kLeastSteps steps, a duration
/// is 0 or negative, or an option is outside its range.
std::optional<StepInterval> describe_steps(std::span<const std::int64_t> base_ns,
                                           std::span<const std::int64_t> new_ns,
                                           const BootstrapOptions& options = {});

/// Steps in a block, from the series' own correlations: the rule of Politis and White, Econometric
/// Reviews 23 (2004), as corrected by Patton, Politis and White, ibid. 28 (2009), for circular
/// blocks, but at least the cube root of the number of steps. 1 for no steps.
std::size_t block_length(std::span<const std::int64_t> durations_ns);

}  // namespace tbtrace::statistics
