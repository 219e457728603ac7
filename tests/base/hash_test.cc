#include "base/hash.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

namespace tbtrace {
namespace {

TEST(Hash, DependsOnEveryByteAtEverySize) {
  for (std::size_t size = 1; size <= 70; ++size) {
    const std::string text(size, 'x');
    const std::uint64_t before = hash_bytes(text, 7);
    for (std::size_t at = 0; at < size; ++at) {
      for (int bit = 0; bit < 8; ++bit) {
        std::string changed = text;
        changed[at] = static_cast<char>(changed[at] ^ (1 << bit));
        EXPECT_NE(hash_bytes(changed, 7), before) << size << ' ' << at << ' ' << bit;
      }
    }
  }
}

TEST(Hash, TellsLengthsOfZerosApart) {
  std::set<std::uint64_t> seen;
  const std::string zeros(200, '\0');
  for (std::size_t size = 0; size <= zeros.size(); ++size) {
    seen.insert(hash_bytes(std::string_view(zeros).substr(0, size), 0));
  }
  EXPECT_EQ(seen.size(), zeros.size() + 1);
}

TEST(Hash, DependsOnTheSeed) {
  for (const std::string_view text : {"", "a", "aten::add", "a name of more than sixteen bytes"}) {
    EXPECT_NE(hash_bytes(text, 1), hash_bytes(text, 2)) << text;
    EXPECT_EQ(hash_bytes(text, 1), hash_bytes(text, 1)) << text;
  }
}

TEST(Hash, DoesNotDependOnWhereTheBytesAre) {
  const std::string text = "the same forty bytes at any alignment...";
  const std::string room(text.size() + 16, '#');
  for (std::size_t shift = 0; shift < 16; ++shift) {
    std::string moved = room;
    std::memcpy(moved.data() + shift, text.data(), text.size());
    EXPECT_EQ(hash_bytes(std::string_view(moved).substr(shift, text.size()), 3),
              hash_bytes(text, 3));
  }
}

// The address sanitizer watches both ends of the block.
TEST(Hash, ReadsOnlyItsBytes) {
  for (std::size_t size = 0; size <= 64; ++size) {
    const auto bytes = std::make_unique<char[]>(size);
    EXPECT_EQ(hash_bytes({bytes.get(), size}, 1), hash_bytes(std::string(size, '\0'), 1));
  }
}

// Tables take the lower bits of one and the upper half of the other.
TEST(Hash, SpreadsDenseIdsOverTheLowerBits) {
  constexpr std::ptrdiff_t kSlots = 4096;
  // Each process has factors of its own, so one seed of one process says little.
  for (std::uint64_t round = 0; round < 100; ++round) {
    const std::uint64_t seed = random_seed();
    for (const int shift : {0, 8, 16, 32, 48}) {
      std::vector<bool> used(kSlots);
      for (std::uint64_t id = 0; id < std::uint64_t{kSlots}; ++id) {
        used[hash_integer(id << shift, seed) % kSlots] = true;
      }
      const auto slots = std::count(used.begin(), used.end(), true);
      // At random: 63 %, with a deviation of half a percent.
      EXPECT_GT(slots, kSlots * 55 / 100) << "seed " << seed << ", shift " << shift;
    }
  }
}

struct Early {
  const std::uint64_t hash = hash_integer(5, 7);
};
[[gnu::init_priority(102)]] const Early kEarly;  // the first that programs may have is 101

TEST(Hash, IsTheSameBeforeStaticObjectsAreMade) { EXPECT_EQ(kEarly.hash, hash_integer(5, 7)); }

TEST(Hash, SpreadsNumberedNamesOverTheUpperHalf) {
  constexpr std::size_t kSlots = 4096;
  std::set<std::uint64_t> slots;
  for (std::size_t number = 0; number < kSlots; ++number) {
    slots.insert((hash_bytes("ProfilerStep#" + std::to_string(number), 5) >> 32) % kSlots);
  }
  EXPECT_GT(slots.size(), kSlots / 2);
}

}  // namespace
}  // namespace tbtrace
