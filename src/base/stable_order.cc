#include "base/stable_order.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cstddef>
#include <numeric>
#include <utility>
#include <vector>

#include "base/threads.h"

namespace tbtrace {
namespace {

using Word = std::uint64_t;  // a key, and below it its row: all words differ

constexpr int kDigitBits = 11;
constexpr int kSmallDigitBits = 8;  // for few words, so that counting them takes less than moving
constexpr std::size_t kFewWords = 4096;
constexpr std::size_t kFewestWords = 64;

/// Sorts words, which are sorted in their bits below `shift`. `spare` has room for as many.
void radix_sort(std::span<Word> words, Word* spare, int shift) {
  if (std::is_sorted(words.begin(), words.end())) return;
  if (words.size() < kFewestWords) {
    std::sort(words.begin(), words.end());
    return;
  }
  Word different = 0;
  for (const Word word : words) different |= word ^ words.front();
  const int bits = words.size() < kFewWords ? kSmallDigitBits : kDigitBits;
  Word* from = words.data();
  Word* to = spare;
  for (; shift < 64 && different >> shift != 0; shift += bits) {
    const auto digit = [&](Word word) { return word >> shift & ((Word{1} << bits) - 1); };
    std::array<std::uint32_t, std::size_t{1} << kDigitBits> place;
    std::fill_n(place.begin(), std::size_t{1} << bits, 0);
    for (std::size_t row = 0; row < words.size(); ++row) ++place[digit(from[row])];
    std::uint32_t next = 0;
    for (int value = 0; value < 1 << bits; ++value) next += std::exchange(place[value], next);
    for (std::size_t row = 0; row < words.size(); ++row) to[place[digit(from[row])]++] = from[row];
    std::swap(from, to);
  }
  if (from != words.data()) std::copy_n(from, words.size(), words.data());
}

/// First divides the keys by their highest digit into buckets, which then fit into a core's cache
/// and can be sorted on any thread.
class BucketSort {
 public:
  BucketSort(std::span<const std::int64_t> keys, std::uint64_t base, int key_bits, int row_bits)
      : keys_(keys),
        base_(base),
        row_bits_(row_bits),
        bucket_shift_(std::max(0, key_bits - kDigitBits)) {}

  void run(std::uint32_t* rows, std::size_t threads) {
    words_.extend(keys_.size());
    divide(threads);
    // Larger buckets are rare: many keys that are close together among others far away.
    const std::size_t room = std::max(kLeastRoom, 4 * keys_.size() / kBuckets);
    Column<Word> spare;
    for (const std::span<Word> bucket : buckets_) {
      if (bucket.size() <= room) continue;
      spare.release();
      radix_sort(bucket, spare.extend(bucket.size()), row_bits_);
    }
    spare.release();
    spare.extend(threads * room);
    std::atomic<std::size_t> next_spare = 0;
    std::atomic<std::size_t> next_bucket = 0;
    run_on_threads(threads, [&] {
      Word* const own = spare.data() + room * next_spare++;
      for (std::size_t number; (number = next_bucket++) < buckets_.size();) {
        const std::span<Word> bucket = buckets_[number];
        if (bucket.size() <= room) radix_sort(bucket, own, row_bits_);
        std::uint32_t* row = rows + (bucket.data() - words_.data());
        for (const Word word : bucket) *row++ = static_cast<std::uint32_t>(word & row_mask());
      }
    });
  }

 private:
  static constexpr std::size_t kBuckets = std::size_t{1} << kDigitBits;
  static constexpr std::size_t kLeastRoom = std::size_t{1} << 15;  // 256 KiB

  std::uint64_t offset(std::size_t row) const {
    return static_cast<std::uint64_t>(keys_[row]) - base_;
  }
  std::uint64_t row_mask() const { return (std::uint64_t{1} << row_bits_) - 1; }

  /// Each thread moves a part of the keys to places of its own in each bucket.
  void divide(std::size_t threads) {
    std::vector<std::array<std::uint32_t, kBuckets>> places(threads);  // by part
    const auto for_each_part = [&](const auto& work) {
      std::atomic<std::size_t> next = 0;
      run_on_threads(threads, [&] {
        for (std::size_t part; (part = next++) < threads;) {
          work(places[part], keys_.size() * part / threads, keys_.size() * (part + 1) / threads);
        }
      });
    };
    for_each_part([&](auto& counts, std::size_t first, std::size_t last) {
      for (std::size_t row = first; row < last; ++row) ++counts[offset(row) >> bucket_shift_];
    });
    std::uint32_t next = 0;
    for (std::size_t bucket = 0; bucket < kBuckets; ++bucket) {
      const std::uint32_t first = next;
      for (auto& part : places) next += std::exchange(part[bucket], next);
      if (next > first) buckets_.push_back({words_.data() + first, next - first});
    }
    for_each_part([&](auto& place, std::size_t first, std::size_t last) {
      for (std::size_t row = first; row < last; ++row) {
        words_[place[offset(row) >> bucket_shift_]++] = offset(row) << row_bits_ | row;
      }
    });
  }

  std::span<const std::int64_t> keys_;
  std::uint64_t base_;
  int row_bits_;
  int bucket_shift_;
  Column<Word> words_;
  std::vector<std::span<Word>> buckets_;  // those that are not empty
};

}  // namespace

void stable_order(std::span<const std::int64_t> keys, std::uint32_t* rows, std::size_t threads) {
  const std::size_t size = keys.size();
  std::iota(rows, rows + size, 0);
  if (std::is_sorted(keys.begin(), keys.end())) return;
  const auto [low, high] = std::minmax_element(keys.begin(), keys.end());
  const auto base = static_cast<std::uint64_t>(*low);
  const auto key_bits = static_cast<int>(std::bit_width(static_cast<std::uint64_t>(*high) - base));
  const auto row_bits = static_cast<int>(std::bit_width(size));
  if (key_bits + row_bits > 64) {
    std::stable_sort(rows, rows + size,
                     [&](std::uint32_t a, std::uint32_t b) { return keys[a] < keys[b]; });
    return;
  }
  constexpr std::size_t kFewestPerThread = 1 << 14;  // a thread's start takes longer than fewer
  threads = std::clamp<std::size_t>(threads, 1, 1 + size / kFewestPerThread);
  BucketSort(keys, base, key_bits, row_bits).run(rows, threads);
}

}  // namespace tbtrace
