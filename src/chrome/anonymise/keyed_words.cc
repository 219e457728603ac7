#include "chrome/anonymise/keyed_words.h"

#include <bit>

#include "base/hash.h"

namespace tbtrace::chrome {
namespace {

/// No letters that rules about names of kernels look for: see keyed_words_test.cc.
constexpr std::string_view kLetters = "bcdfghjkpqrstvwz";

struct SipState {
  std::uint64_t v0;
  std::uint64_t v1;
  std::uint64_t v2;
  std::uint64_t v3;

  void round() {
    v0 += v1;
    v2 += v3;
    v1 = std::rotl(v1, 13) ^ v0;
    v3 = std::rotl(v3, 16) ^ v2;
    v0 = std::rotl(v0, 32);
    v2 += v1;
    v0 += v3;
    v1 = std::rotl(v1, 17) ^ v2;
    v3 = std::rotl(v3, 21) ^ v0;
    v2 = std::rotl(v2, 32);
  }

  void take(std::uint64_t word) {
    v3 ^= word;
    round();
    round();
    v0 ^= word;
  }
};

std::uint64_t word_of(std::string_view bytes) {
  std::uint64_t word = 0;
  for (std::size_t at = 0; at < bytes.size(); ++at) {
    word |= std::uint64_t{static_cast<unsigned char>(bytes[at])} << (8 * at);
  }
  return word;
}

}  // namespace

std::uint64_t sip_hash(std::string_view text, const std::array<std::uint64_t, 2>& key) {
  constexpr std::size_t kWord = 8;
  SipState state = {key[0] ^ 0x736f6d6570736575U, key[1] ^ 0x646f72616e646f6dU,
                    key[0] ^ 0x6c7967656e657261U, key[1] ^ 0x7465646279746573U};
  const std::uint64_t size = text.size();
  for (; text.size() >= kWord; text.remove_prefix(kWord))
    state.take(word_of(text.substr(0, kWord)));
  state.take(word_of(text) | size << 56U);
  state.v2 ^= 0xff;
  for (int round = 0; round < 4; ++round) state.round();
  return state.v0 ^ state.v1 ^ state.v2 ^ state.v3;
}

KeyedWords::KeyedWords(std::string_view key) {
  if (key.empty()) {
    key_ = {random_seed(), random_seed()};
  } else {
    key_ = {sip_hash(key, {0, 0}), sip_hash(key, {0, 1})};
  }
}

std::string KeyedWords::replaced(std::string_view word) {
  const std::lock_guard lock(mutex_);
  const auto known = known_.find(word);
  if (known != known_.end()) return known->second;
  std::uint64_t hash = sip_hash(word, key_);
  std::string text;
  for (std::size_t at = 0; at < kLength; ++at, hash >>= 4U) text += kLetters[hash & 15U];
  const bool is_small = !word.empty() && word[0] >= 'a' && word[0] <= 'z';
  if (!is_small) text[0] = static_cast<char>(text[0] - 'a' + 'A');
  return known_.emplace(word, std::move(text)).first->second;
}

bool KeyedWords::is_replacement(std::string_view word) {
  if (word.empty() || word.size() % kLength != 0) return false;
  for (std::size_t at = 0; at < word.size(); ++at) {
    const bool is_capital = at % kLength == 0 && word[at] >= 'A' && word[at] <= 'Z';
    const char letter = is_capital ? static_cast<char>(word[at] | 0x20) : word[at];
    if (kLetters.find(letter) == std::string_view::npos) return false;
  }
  return true;
}

std::map<std::string, std::string> KeyedWords::replacements() const {
  const std::lock_guard lock(mutex_);
  return {known_.begin(), known_.end()};
}

}  // namespace tbtrace::chrome
