// A fast hash of bytes for tables in memory; not for secrets.
// hash_bytes() with a fixed seed is the same on every machine and in every version, because files
// contain results of it (wire/stable_hash.h). hash_integer() differs from process to process.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace tbtrace {

/// Folds the 128-bit product of two words: one multiplication spreads every input bit.
inline std::uint64_t fold_multiply(std::uint64_t a, std::uint64_t b) {
  __extension__ using Product = unsigned __int128;
  const Product product = static_cast<Product>(a) * b;
  return static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64);
}

namespace hash_detail {
// The first byte is the lowest, whatever the machine.
inline std::uint64_t load8(const char* bytes) {
  std::uint64_t word;
  std::memcpy(&word, bytes, sizeof word);
  if constexpr (std::endian::native == std::endian::big) word = __builtin_bswap64(word);
  return word;
}
inline std::uint64_t load4(const char* bytes) {
  std::uint32_t word;
  std::memcpy(&word, bytes, sizeof word);
  if constexpr (std::endian::native == std::endian::big) word = __builtin_bswap32(word);
  return word;
}
inline constexpr std::uint64_t kOddA = 0x9e3779b97f4a7c15;  // 2^64 / golden ratio
inline constexpr std::uint64_t kOddB = 0xc2b2ae3d27d4eb4f;  // an odd number with half its bits set
}  // namespace hash_detail

/// A number that cannot be predicted.
std::uint64_t random_seed();

/// A different number in each process, so that nobody can prepare ids that all fall into one slot.
/// Initialised before a program's static objects, because the recorder may run that early.
struct ProcessSeed {
  const std::uint64_t value = random_seed();
};
extern const ProcessSeed kProcessSeed;

/// Folded twice: after a single product with a random factor, one process in ten crowds dense ids
/// into a quarter of the slots.
inline std::uint64_t hash_integer(std::uint64_t value, std::uint64_t seed) {
  using namespace hash_detail;
  const std::uint64_t process = kProcessSeed.value;
  return fold_multiply(fold_multiply(value ^ process, seed ^ (process * kOddB)), kOddA);
}

inline std::uint64_t hash_bytes(std::string_view bytes, std::uint64_t seed) {
  using namespace hash_detail;
  const char* data = bytes.data();
  const std::size_t size = bytes.size();
  std::uint64_t state = seed ^ (size * kOddA);
  std::uint64_t first = 0;
  std::uint64_t last = 0;
  if (size > 16) {
    // The last 16 bytes are read (again) below, so there is no tail to handle.
    for (std::size_t at = 0; at + 16 < size; at += 16) {
      state = fold_multiply(load8(data + at) ^ kOddA, load8(data + at + 8) ^ state);
    }
    first = load8(data + size - 16);
    last = load8(data + size - 8);
  } else if (size >= 8) {
    first = load8(data);
    last = load8(data + size - 8);
  } else if (size >= 4) {
    first = load4(data);
    last = load4(data + size - 4);
  } else if (size > 0) {
    first = static_cast<unsigned char>(data[0]) | static_cast<unsigned char>(data[size / 2]) << 8 |
            static_cast<unsigned char>(data[size - 1]) << 16;
  }
  return fold_multiply(first ^ kOddB, last ^ state);
}

}  // namespace tbtrace
