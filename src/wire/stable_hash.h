// A hash that is the same on every machine, in every build and in every run: for files, and for
// choices that several machines have to make alike. Not for secrets, and not for tables in memory,
// whose keys somebody may have chosen (base/hash.h).
// Plain value. The results must not change: files contain them.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/hash.h"

namespace tbtrace {

class StableHash {
 public:
  void add(std::uint64_t word) { state_ = fold_multiply(state_ ^ word, hash_detail::kOddA) + word; }
  /// With this seed no short text has the hash 0.
  void add(std::string_view text) { add(hash_bytes(text, hash_detail::kOddB)); }

  std::uint64_t value() const { return fold_multiply(state_ ^ hash_detail::kOddA, kLast); }

 private:
  static constexpr std::uint64_t kLast = 0xd6e8feb86659fd93;

  std::uint64_t state_ = hash_detail::kOddB;
};

}  // namespace tbtrace
