#include "base/hash.h"

#include <random>

#include <sys/random.h>

namespace tbtrace {

/// getentropy() instead of std::random_device, which queries the processor's features (cpuid): slow
/// in virtual machines.
std::uint64_t random_seed() {
  std::uint64_t seed = 0;
  if (::getentropy(&seed, sizeof seed) != 0) seed = std::random_device()();
  return seed;
}

[[gnu::init_priority(101)]] const ProcessSeed kProcessSeed;

}  // namespace tbtrace
