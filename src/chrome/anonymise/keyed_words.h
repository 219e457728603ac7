// Words that stand in for others: the same for the same word and key, and nothing can be learned
// from them without the key. SipHash-2-4 (Aumasson, Bernstein 2012) makes them.
// Any thread.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <string_view>

namespace tbtrace::chrome {

/// SipHash-2-4 with 64 bits.
std::uint64_t sip_hash(std::string_view text, const std::array<std::uint64_t, 2>& key);

class KeyedWords {
 public:
  static constexpr std::size_t kLength = 12;

  /// `key`: any bytes; empty: random ones.
  explicit KeyedWords(std::string_view key);

  /// Twelve letters, none of which is a vowel: names made of them look like no other word. The
  /// first is a capital unless the word begins with a small letter.
  std::string replaced(std::string_view word);

  /// Whether a word looks like one of these, or like several that stand side by side.
  static bool is_replacement(std::string_view word);

  /// What was replaced so far, by the word.
  std::map<std::string, std::string> replacements() const;

 private:
  std::array<std::uint64_t, 2> key_;
  mutable std::mutex mutex_;
  std::map<std::string, std::string, std::less<>> known_;
};

}  // namespace tbtrace::chrome
