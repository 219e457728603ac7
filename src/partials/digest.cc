#include "partials/digest.h"

#include <cstdint>
#include <string_view>
#include <vector>

#include "base/hash.h"

namespace tbtrace::partials {
namespace {

/// Two hashes with constants of their own, so that 128 bits have to agree. fold_multiply() and
/// hash_bytes() with a fixed seed must not change: files contain the result.
class Digest {
 public:
  void add(std::uint64_t word) {
    one_ = fold_multiply(one_ ^ word, hash_detail::kOddA) + word;
    two_ = fold_multiply(two_ + word, hash_detail::kOddB) ^ word;
  }
  void add(std::string_view text) { add(hash_bytes(text, hash_detail::kOddA)); }

  std::string text() const {
    std::string digits;
    for (const std::uint64_t word : {one_, two_}) {
      for (int shift = 60; shift >= 0; shift -= 4) digits += "0123456789abcdef"[word >> shift & 15];
    }
    return digits;
  }

 private:
  std::uint64_t one_ = hash_detail::kOddB;
  std::uint64_t two_ = hash_detail::kOddA;
};

}  // namespace

std::string digest_of(const Trace& trace) {
  Digest digest;
  const TraceIdentity identity = trace.identity();
  digest.add(identity.rank ? static_cast<std::uint64_t>(*identity.rank) + 1 : 0);
  digest.add(identity.host);
  digest.add(identity.process);
  digest.add(static_cast<std::uint64_t>(trace.base_time_ns()));
  digest.add(static_cast<std::uint64_t>(trace.first_time_ns()));
  std::vector<std::uint64_t> hash_of_name;  // by StringId; 0: not computed
  const Events& events = trace.events();
  for (std::size_t row = 0; row < events.size(); ++row) {
    const auto event = static_cast<EventId>(row);
    const std::size_t name = index(events.name(event));
    if (name >= hash_of_name.size()) hash_of_name.resize(name + 1, 0);
    if (hash_of_name[name] == 0) {
      hash_of_name[name] = hash_bytes(trace.name(event), hash_detail::kOddA) | 1;
    }
    digest.add(hash_of_name[name]);
    digest.add(static_cast<std::uint64_t>(events.start_ns(event)));
    digest.add(static_cast<std::uint64_t>(events.duration_ns(event)));
  }
  for (const MemoryRecord& record : trace.memory()) {
    digest.add(static_cast<std::uint64_t>(record.time_ns));
    digest.add(static_cast<std::uint64_t>(record.bytes));
  }
  return digest.text();
}

}  // namespace tbtrace::partials
