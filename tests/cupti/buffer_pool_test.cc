#include "cupti/buffer_pool.h"

#include <algorithm>
#include <cstdlib>
#include <set>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

namespace tbtrace::cupti {
namespace {

constexpr BufferPool::Limits kSmall = {.buffer_bytes = 8192, .most_buffers = 3};

bool is_zero(const std::uint8_t* buffer) {
  return std::all_of(buffer, buffer + kSmall.buffer_bytes, [](auto byte) { return byte == 0; });
}

TEST(CuptiBufferPool, GivesZeroedBuffersUpToItsLimit) {
  BufferPool pool(kSmall);
  pool.reserve(2);
  EXPECT_EQ(pool.bytes(), 2 * kSmall.buffer_bytes);
  std::set<std::uint8_t*> buffers;
  for (int i = 0; i < 3; ++i) {
    std::uint8_t* const buffer = pool.take().buffer;
    ASSERT_NE(buffer, nullptr);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(buffer) % 8, 0U);
    EXPECT_TRUE(is_zero(buffer));
    buffers.insert(buffer);
  }
  EXPECT_EQ(buffers.size(), 3U);
  EXPECT_EQ(pool.take().buffer, nullptr);
  EXPECT_EQ(pool.in_flight(0, pool.taken()), 3U);

  std::uint8_t* const back = *buffers.begin();
  std::fill_n(back, 100, std::uint8_t{7});
  EXPECT_EQ(pool.came_back(back), BufferPool::Back::mine);
  EXPECT_EQ(pool.take().buffer, nullptr);  // nobody has given it for the next
  pool.give(back, 100);
  EXPECT_EQ(pool.take().buffer, back);
  EXPECT_TRUE(is_zero(back));
  for (std::uint8_t* const buffer : buffers) {
    EXPECT_EQ(pool.came_back(buffer), BufferPool::Back::mine);
    pool.give(buffer, kSmall.buffer_bytes);
  }
  EXPECT_EQ(pool.bytes(), 3 * kSmall.buffer_bytes);
}

TEST(CuptiBufferPool, KnowsWhichOfTheFirstBuffersAreStillOut) {
  BufferPool pool(kSmall);
  std::uint8_t* const first = pool.take().buffer;
  std::uint8_t* const second = pool.take().buffer;
  const std::uint64_t taken = pool.taken();
  EXPECT_EQ(pool.in_flight(0, taken), 2U);
  pool.came_back(first);
  pool.give(first, 0);
  EXPECT_EQ(pool.take().buffer, first);  // a later one, though at the same place
  EXPECT_EQ(pool.in_flight(0, taken), 1U);
  EXPECT_EQ(pool.in_flight(0, pool.taken()), 2U);
  for (std::uint8_t* const buffer : {first, second}) {
    pool.came_back(buffer);
    pool.give(buffer, 0);
  }
  EXPECT_EQ(pool.in_flight(0, pool.taken()), 0U);
}

TEST(CuptiBufferPool, WhatIsNotItsOwnIsForeign) {
  BufferPool pool(kSmall);
  std::uint8_t other[8] = {};
  EXPECT_EQ(pool.came_back(other), BufferPool::Back::foreign);
  EXPECT_EQ(pool.came_back(nullptr), BufferPool::Back::foreign);
  std::uint8_t* const mine = pool.take().buffer;
  pool.came_back(mine);
  EXPECT_EQ(pool.came_back(mine), BufferPool::Back::foreign);  // twice
  pool.give(mine, 0);
}

TEST(CuptiBufferPool, ScrapsBeyondTheLimitTakeAtMostAsMuchMemoryAgain) {
  BufferPool pool({.buffer_bytes = 32768, .most_buffers = 1, .never_empty = true});
  std::uint8_t* const within = pool.take().buffer;
  std::vector<std::uint8_t*> scraps;
  for (;;) {
    const BufferPool::Taken scrap = pool.take();
    if (scrap.buffer == nullptr) break;
    EXPECT_EQ(scrap.bytes, BufferPool::kScrapBytes);
    scraps.push_back(scrap.buffer);
    ASSERT_LE(scraps.size(), 4U);
  }
  EXPECT_EQ(scraps.size(), 4U);
  EXPECT_EQ(pool.bytes(), 2 * 32768U);
  for (std::uint8_t* const scrap : scraps) {
    EXPECT_EQ(pool.came_back(scrap), BufferPool::Back::scrap);
    pool.give(scrap, 0, BufferPool::Back::scrap);
  }
  EXPECT_EQ(pool.bytes(), 32768U);
  EXPECT_EQ(pool.came_back(within), BufferPool::Back::mine);
  pool.give(within, 0);
}

TEST(CuptiBufferPool, LimitMayChange) {
  BufferPool pool(kSmall);
  std::vector<std::uint8_t*> buffers;
  for (int i = 0; i < 3; ++i) buffers.push_back(pool.take().buffer);
  EXPECT_EQ(pool.take().buffer, nullptr);
  pool.set_most_buffers(4);
  buffers.push_back(pool.take().buffer);
  EXPECT_NE(buffers.back(), nullptr);
  pool.set_most_buffers(1);
  EXPECT_EQ(pool.bytes(), 4 * kSmall.buffer_bytes);
  for (std::uint8_t* const buffer : buffers) {
    pool.came_back(buffer);
    pool.give(buffer, 0);
  }
  EXPECT_EQ(pool.bytes(), kSmall.buffer_bytes);
}

TEST(CuptiBufferPool, WhatIsWrittenOffMakesRoom) {
  BufferPool pool({.buffer_bytes = 8192, .most_buffers = 1});
  std::uint8_t* const lost = pool.take().buffer;
  EXPECT_EQ(pool.take().buffer, nullptr);
  pool.write_off(pool.taken());
  EXPECT_EQ(pool.in_flight(0, pool.taken()), 0U);
  std::uint8_t* const next = pool.take().buffer;
  ASSERT_NE(next, nullptr);
  EXPECT_NE(next, lost);  // CUPTI may still write there
  EXPECT_EQ(pool.came_back(lost), BufferPool::Back::foreign);
  pool.came_back(next);
  pool.give(next, 0);
  std::free(lost);
}

TEST(CuptiBufferPool, IsForManyThreads) {
  BufferPool pool({.buffer_bytes = 4096, .most_buffers = 8});
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      for (int round = 0; round < 2000; ++round) {
        std::uint8_t* const buffer = pool.take().buffer;
        if (buffer == nullptr) continue;
        EXPECT_EQ(buffer[0], 0);
        buffer[0] = 1;
        EXPECT_EQ(pool.came_back(buffer), BufferPool::Back::mine);
        pool.give(buffer, 8);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(pool.in_flight(0, pool.taken()), 0U);
  EXPECT_LE(pool.bytes(), 8 * 4096U);
}

}  // namespace
}  // namespace tbtrace::cupti
