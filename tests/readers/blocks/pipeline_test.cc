#include "readers/blocks/pipeline.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <random>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace tbtrace::readers {
namespace {

struct Block {
  int number = 0;
  int squared = 0;
};

using Pipeline = BlockPipeline<Block>;

constexpr int kBlocks = 500;
constexpr int kThreads[] = {1, 2, 3, 8};

/// Threads + 1 blocks, as readers have.
std::vector<Block> blocks_for(int threads) {
  return std::vector<Block>(threads == 1 ? 1 : static_cast<std::size_t>(threads) + 1);
}

void linger(int number) {
  if (number % 7 == 0) std::this_thread::sleep_for(std::chrono::microseconds(number % 5 * 50));
}

TEST(BlockPipeline, FinishesEachBlockOnceInTheOrderOfReading) {
  for (const int threads : kThreads) {
    std::vector<Block> blocks = blocks_for(threads);
    std::vector<int> finished;
    std::atomic<int> finishing = 0;
    int next = 0;
    Pipeline pipeline(blocks, {.read =
                                   [&](Block& block) {
                                     block.number = next;
                                     return next++ < kBlocks;
                                   },
                               .work =
                                   [&](Block& block) {
                                     linger(block.number);
                                     block.squared = block.number * block.number;
                                   },
                               .finish =
                                   [&](Block& block) {
                                     EXPECT_EQ(finishing++, 0) << "one at a time";
                                     EXPECT_EQ(block.squared, block.number * block.number);
                                     finished.push_back(block.number);
                                     --finishing;
                                     return true;
                                   }});
    pipeline.run(threads);
    ASSERT_EQ(finished.size(), static_cast<std::size_t>(kBlocks)) << threads;
    EXPECT_TRUE(std::is_sorted(finished.begin(), finished.end())) << threads;
  }
}

TEST(BlockPipeline, ReadsOnTheCallingThreadOnly) {
  for (const int threads : kThreads) {
    std::vector<Block> blocks = blocks_for(threads);
    const auto caller = std::this_thread::get_id();
    int next = 0;
    Pipeline pipeline(blocks, {.read =
                                   [&](Block&) {
                                     EXPECT_EQ(std::this_thread::get_id(), caller);
                                     return next++ < kBlocks;
                                   },
                               .work = [](Block&) {},
                               .finish = [](Block&) { return true; }});
    pipeline.run(threads);
    EXPECT_EQ(next, kBlocks + 1) << "the end is asked for once";
  }
}

TEST(BlockPipeline, WorksOnSeveralThreads) {
  std::vector<Block> blocks = blocks_for(2);
  std::atomic<int> working = 0;
  std::atomic<bool> met = false;
  int next = 0;
  Pipeline pipeline(blocks, {.read = [&](Block&) { return next++ < 2; },
                             .work =
                                 [&](Block&) {
                                   ++working;
                                   // Both wait until the other one is there.
                                   const auto end =
                                       std::chrono::steady_clock::now() + std::chrono::seconds(60);
                                   while (working < 2 && std::chrono::steady_clock::now() < end) {
                                     std::this_thread::yield();
                                   }
                                   if (working == 2) met = true;
                                 },
                             .finish = [](Block&) { return true; }});
  pipeline.run(2);
  EXPECT_TRUE(met);
}

TEST(BlockPipeline, StopsWhenFinishingSaysSo) {
  for (const int threads : kThreads) {
    std::vector<Block> blocks = blocks_for(threads);
    int next = 0;
    int finished = 0;
    Pipeline pipeline(blocks, {.read =
                                   [&](Block& block) {
                                     block.number = next++;
                                     return true;  // there is no end
                                   },
                               .work = [](Block& block) { linger(block.number); },
                               .finish =
                                   [&](Block& block) {
                                     EXPECT_EQ(block.number, finished);
                                     return ++finished < 20;
                                   }});
    pipeline.run(threads);
    EXPECT_EQ(finished, 20) << "nothing is finished after it";
  }
}

TEST(BlockPipeline, DoesNothingWithoutBlocks) {
  for (const int threads : kThreads) {
    std::vector<Block> blocks = blocks_for(threads);
    Pipeline pipeline(blocks, {.read = [](Block&) { return false; },
                               .work = [](Block&) { FAIL(); },
                               .finish = [](Block&) { return false; }});
    pipeline.run(threads);
  }
}

enum class Step { read, work, finish };

/// Throws in a step of a block, and returns what reached the caller. All threads are joined: the
/// locals that they use are gone afterwards.
std::string thrown_in(Step where, int at, int threads) {
  std::vector<Block> blocks = blocks_for(threads);
  int next = 0;
  const auto fail = [&](Step step, const Block& block) {
    if (step == where && block.number == at)
      throw std::runtime_error("block " + std::to_string(at));
  };
  Pipeline pipeline(blocks, {.read =
                                 [&](Block& block) {
                                   block.number = next;
                                   fail(Step::read, block);
                                   return next++ < kBlocks;
                                 },
                             .work =
                                 [&](Block& block) {
                                   linger(block.number);
                                   fail(Step::work, block);
                                 },
                             .finish =
                                 [&](Block& block) {
                                   fail(Step::finish, block);
                                   return true;
                                 }});
  try {
    pipeline.run(threads);
  } catch (const std::runtime_error& error) {
    return error.what();
  }
  return "nothing";
}

TEST(BlockPipeline, ThrowsWhatAStepThrewOnAnyThread) {
  for (const int threads : kThreads) {
    for (const Step where : {Step::read, Step::work, Step::finish}) {
      for (const int at : {0, 1, 17, kBlocks - 1}) {
        EXPECT_EQ(thrown_in(where, at, threads), "block " + std::to_string(at))
            << "step " << static_cast<int>(where) << ", " << threads << " threads";
      }
    }
  }
}

TEST(BlockPipeline, ThrowsOneOfManyFailures) {
  for (const int threads : kThreads) {
    std::vector<Block> blocks = blocks_for(threads);
    Pipeline pipeline(blocks, {.read = [](Block&) { return true; },
                               .work = [](Block&) { throw std::runtime_error("every block"); },
                               .finish = [](Block&) { return true; }});
    EXPECT_THROW(pipeline.run(threads), std::runtime_error);
  }
}

}  // namespace
}  // namespace tbtrace::readers
