#include "recorder/log/chunk.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <set>
#include <thread>
#include <vector>

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

namespace tbtrace::recorder {
namespace {

constexpr std::size_t kUsualWords = (kChunkBytes - sizeof(Chunk)) / sizeof(std::uint64_t);

std::vector<Chunk*> take(std::size_t count) {
  std::vector<Chunk*> chunks;
  while (chunks.size() < count) chunks.push_back(take_chunk());
  return chunks;
}

void give(const std::vector<Chunk*>& chunks) {
  for (Chunk* chunk : chunks) give_chunk(chunk);
}

/// Whether all pages of the chunk have memory.
bool has_its_pages(Chunk* chunk) {
  constexpr std::size_t kPage = 4096;
  std::vector<unsigned char> pages(kChunkBytes / kPage);
  if (::mincore(chunk, kChunkBytes, pages.data()) != 0) return false;
  return std::all_of(pages.begin(), pages.end(),
                     [](unsigned char page) { return (page & 1) != 0; });
}

TEST(Chunk, OfTheUsualSizeHoldsWhatFitsBehindItsHead) {
  for (const std::size_t words : {std::size_t{0}, std::size_t{1}, kUsualWords}) {
    Chunk* const chunk = take_chunk(words);
    ASSERT_NE(chunk, nullptr);
    EXPECT_EQ(chunk->capacity, kUsualWords) << words;
    EXPECT_EQ(chunk->committed, 0U);
    EXPECT_EQ(chunk->next, nullptr);
    std::fill_n(chunk->words(), kUsualWords, ~std::uint64_t{0});
    give_chunk(chunk);
  }
}

TEST(Chunk, LargeRequestsGetChunksOfTheirOwnSize) {
  for (const std::size_t words : {kUsualWords + 1, std::size_t{100'000}, std::size_t{3'000'000}}) {
    Chunk* const chunk = take_chunk(words);
    ASSERT_NE(chunk, nullptr);
    EXPECT_EQ(chunk->capacity, words);
    std::fill_n(chunk->words(), words, words);
    EXPECT_EQ(chunk->words()[words - 1], words);
    give_chunk(chunk);
  }
}

TEST(Chunk, ThatIsGivenBackIsUsedAgainAndIsAsNew) {
  Chunk* const first = take_chunk();
  first->next = first;
  first->committed = 7;
  std::fill_n(first->words(), kUsualWords, ~std::uint64_t{0});
  give_chunk(first);
  Chunk* const second = take_chunk();
  EXPECT_EQ(second, first);
  EXPECT_EQ(second->next, nullptr);
  EXPECT_EQ(second->committed, 0U);
  EXPECT_EQ(second->capacity, kUsualWords);
  give_chunk(second);
}

TEST(Chunk, LargeOnesDoNotComeBackAsUsualOnes) {
  give_chunk(take_chunk(kUsualWords + 1));
  Chunk* const usual = take_chunk();
  EXPECT_EQ(usual->capacity, kUsualWords);
  Chunk* const large = take_chunk(kUsualWords + 2);
  EXPECT_EQ(large->capacity, kUsualWords + 2);
  give({usual, large});
}

TEST(Chunk, MoreThanAreKeptComeBackWholeAfterTheirPagesWereGivenToTheSystem) {
  constexpr std::size_t kMany = 300;
  std::vector<Chunk*> chunks = take(kMany);
  for (Chunk* chunk : chunks) chunk->words()[kUsualWords - 1] = 1;
  give(chunks);
  chunks = take(kMany);
  std::set<Chunk*> different;
  for (std::size_t at = 0; at < kMany; ++at) {
    different.insert(chunks[at]);
    EXPECT_EQ(chunks[at]->capacity, kUsualWords);
    std::fill_n(chunks[at]->words(), kUsualWords, at);
  }
  EXPECT_EQ(different.size(), kMany);
  for (std::size_t at = 0; at < kMany; ++at) {
    EXPECT_EQ(chunks[at]->words()[0], at);
    EXPECT_EQ(chunks[at]->words()[kUsualWords - 1], at);
  }
  give(chunks);
}

// In a process of its own, whose pool holds nothing yet.
TEST(ChunkDeathTest, ReservedOnesHaveTheirPages) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(
      {
        ::prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0);  // or a slab's first page brings the others
        constexpr std::size_t kMany = 64;
        reserve_chunks(kMany);
        const std::vector<Chunk*> chunks = take(kMany);
        const bool all = std::all_of(chunks.begin(), chunks.end(), has_its_pages);
        Chunk* const next = take_chunk();
        ::_exit(all && !has_its_pages(next) ? 0 : 1);
      },
      testing::ExitedWithCode(0), "");
}

TEST(ChunkDeathTest, SpareOnesLeaveThoseThatAreReserved) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(
      {
        ::prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0);
        reserve_chunks(2);
        std::vector<Chunk*> spare;
        while (spare.size() < 20) spare.push_back(take_spare_chunk());
        const bool none = std::none_of(spare.begin(), spare.end(), has_its_pages);
        const std::vector<Chunk*> ready = take(2);
        const bool all = std::all_of(ready.begin(), ready.end(), has_its_pages);
        const bool usual = std::all_of(spare.begin(), spare.end(), [](const Chunk* chunk) {
          return chunk->capacity == kUsualWords && chunk->next == nullptr;
        });
        ::_exit(none && all && usual ? 0 : 1);
      },
      testing::ExitedWithCode(0), "");
}

TEST(ChunkDeathTest, ThoseThatNobodyTouchedAreNotReserved) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(
      {
        ::prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0);
        give_chunk(take_chunk());  // its slab has others, which are free, but without pages
        reserve_chunks(8);
        std::vector<Chunk*> chunks = take(8);
        bool all = std::all_of(chunks.begin(), chunks.end(), has_its_pages);
        const std::vector<Chunk*> more = take(300);
        for (Chunk* chunk : more) chunk->words()[kUsualWords - 1] = 1;
        give(more);  // some go back to the system
        give(chunks);
        for (int round = 0; round < 2; ++round) {
          reserve_chunks(300);
          chunks = take(300);
          all = all && std::all_of(chunks.begin(), chunks.end(), has_its_pages);
          give(chunks);
        }
        ::_exit(all ? 0 : 1);
      },
      testing::ExitedWithCode(0), "");
}

TEST(Chunk, ThreadsNeverGetTheSameOne) {
  std::vector<std::size_t> foreign(8);
  {
    std::vector<std::jthread> threads;
    for (std::size_t thread = 0; thread < foreign.size(); ++thread) {
      threads.emplace_back([&foreign, thread] {
        for (int round = 0; round < 200; ++round) {
          const std::vector<Chunk*> chunks = take(3);
          for (Chunk* chunk : chunks) chunk->words()[0] = thread;
          std::this_thread::yield();
          for (Chunk* chunk : chunks) foreign[thread] += chunk->words()[0] != thread ? 1 : 0;
          give(chunks);
        }
      });
    }
  }
  EXPECT_EQ(foreign, std::vector<std::size_t>(8));
}

}  // namespace
}  // namespace tbtrace::recorder
