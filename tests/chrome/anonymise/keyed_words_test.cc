#include "chrome/anonymise/keyed_words.h"

#include <array>
#include <cstdint>
#include <set>
#include <string>

#include <gtest/gtest.h>

#include "analyses/attribution/communication.h"
#include "analyses/kernels/families.h"

namespace tbtrace::chrome {
namespace {

TEST(SipHash, HasTheValuesOfItsPaper) {
  constexpr std::array<std::uint64_t, 2> kKey = {0x0706050403020100U, 0x0f0e0d0c0b0a0908U};
  std::string text;
  EXPECT_EQ(sip_hash(text, kKey), 0x726fdb47dd0e0e31U);
  for (char byte = 0; byte < 15; ++byte) text += byte;
  EXPECT_EQ(sip_hash(text, kKey), 0xa129ca6149be45e5U);
}

TEST(KeyedWords, AreTheSameForTheSameKey) {
  KeyedWords one("a key of sixteen bytes");
  KeyedWords same("a key of sixteen bytes");
  KeyedWords other("another key of many bytes");
  EXPECT_EQ(one.replaced("acme"), same.replaced("acme"));
  EXPECT_NE(one.replaced("acme"), other.replaced("acme"));
  EXPECT_NE(KeyedWords("").replaced("acme"), KeyedWords("").replaced("acme"));
  EXPECT_EQ(one.replacements().size(), 1U);
  EXPECT_EQ(one.replacements().at("acme"), one.replaced("acme"));
}

TEST(KeyedWords, LookLikeNoOtherWord) {
  KeyedWords words("a key of sixteen bytes");
  std::set<std::string> seen;
  for (int number = 0; number < 2000; ++number) {
    const std::string word = words.replaced((number % 2 == 0 ? "w" : "W") + std::to_string(number));
    EXPECT_TRUE(KeyedWords::is_replacement(word)) << word;
    EXPECT_EQ(word[0] >= 'A' && word[0] <= 'Z', number % 2 != 0);
    EXPECT_EQ(analyses::kernel_family(word), KernelFamily::other) << word;
    EXPECT_FALSE(analyses::uses_tensor_cores(word)) << word;
    EXPECT_FALSE(analyses::is_communication_kernel(word)) << word;
    seen.insert(word);
  }
  EXPECT_EQ(seen.size(), 2000U);
  EXPECT_FALSE(KeyedWords::is_replacement("bcdfghjkpqr"));
  EXPECT_FALSE(KeyedWords::is_replacement("bcdfghjkpqra"));
}

}  // namespace
}  // namespace tbtrace::chrome
