#include "recorder/log/device_memory.h"

#include <cstddef>
#include <deque>
#include <iterator>
#include <map>
#include <ostream>
#include <random>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fixtures/random_rounds.h"
#include "recorder/log/storage_key.h"

namespace tbtrace::recorder {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using Kind = AllocatorEvent::Kind;

/// An event as one expects it.
struct Row {
  std::int64_t bytes;
  std::int64_t allocated;
  int device = 0;

  bool operator==(const Row&) const = default;
};
void PrintTo(const Row& row, std::ostream* out) {
  *out << row.bytes << " of " << row.allocated << " on " << row.device;
}

/// Tells what it does as LibTorch's caching allocator, and knows the truth.
class Allocator {
 public:
  void start() {
    for (const auto& [device, totals] : totals_) memory.start(device, totals);
  }
  void end() {
    for (const auto& [device, totals] : totals_) memory.end(device, totals);
  }

  /// `block`: its size, if it is not the smallest one that is enough.
  void allocate(std::uint64_t address, std::int64_t requested, std::int64_t block = 0,
                int device = 0) {
    if (block == 0) block = (requested + 511) / 512 * 512;
    tell(Kind::allocate, address, requested, device);
    blocks_[address] = {requested, block};
    totals_[device].allocated += block;
    totals_[device].active += block;
    truth.push_back({block, totals_[device].allocated, device});
  }
  /// `is_in_use`: a stream still works with it.
  void free(std::uint64_t address, int device = 0, bool is_in_use = false) {
    const auto [requested, block] = blocks_.extract(address).mapped();
    totals_[device].allocated -= block;
    tell(Kind::free, address, requested, device);
    truth.push_back({-block, totals_[device].allocated, device});
    if (is_in_use) {
      in_use_.push_back({device, block});
    } else {
      complete(device, block);
    }
  }
  /// The oldest block that was still in use is no longer.
  void complete() {
    if (in_use_.empty()) return;
    complete(in_use_.front().first, in_use_.front().second);
    in_use_.pop_front();
  }

  std::vector<Row> told() const {
    std::vector<Row> rows;
    for (const DeviceMemoryEvent& event : memory.events()) {
      rows.push_back(
          {event.event.bytes, event.totals.allocated, device_of(event.event.address).index()});
    }
    return rows;
  }

  /// What is alive from now on was there before.
  void forget() {
    truth.clear();
    memory = {};
  }

  DeviceMemory memory;
  std::vector<Row> truth;
  const ThreadLog* log = &thread;
  const ThreadLog thread{{}};

 private:
  void tell(Kind kind, std::uint64_t address, std::int64_t requested, int device) {
    memory.add({.kind = kind, .device = device, .address = address, .requested = requested},
               totals_[device], ++ticks_, log);
  }
  void complete(int device, std::int64_t block) {
    tell(Kind::other, 0, block, device);
    totals_[device].active -= block;
  }

  std::map<std::uint64_t, std::pair<std::int64_t, std::int64_t>> blocks_;  // requested, block
  std::deque<std::pair<int, std::int64_t>> in_use_;
  std::map<int, AllocatorTotals> totals_;
  std::uint64_t ticks_ = 0;
};

class DeviceMemoryTest : public ::testing::Test {
 protected:
  Allocator allocator_;
};

TEST_F(DeviceMemoryTest, OfNothingIsNothing) {
  allocator_.start();
  allocator_.end();
  EXPECT_THAT(allocator_.told(), IsEmpty());
}

TEST_F(DeviceMemoryTest, BlocksHaveTheSizesThatTheAllocatorMadeThem) {
  allocator_.allocate(0x1000, 5'000'000, 6'000'128);  // not split: what is left would be too small
  allocator_.allocate(0x2000, 1);
  allocator_.allocate(0x3000, 2'000'000, 2'900'480);
  allocator_.free(0x1000);
  allocator_.end();
  EXPECT_EQ(allocator_.told(), allocator_.truth);
  EXPECT_THAT(allocator_.told(),
              ElementsAre(Row{6'000'128, 6'000'128}, Row{512, 6'000'640}, Row{2'900'480, 8'901'120},
                          Row{-6'000'128, 2'900'992}));
}

TEST_F(DeviceMemoryTest, EventsSayWhatWasTold) {
  const ThreadLog log{{}};
  allocator_.memory.add({.kind = Kind::allocate, .device = 2, .address = 0x7000, .requested = 9},
                        {.allocated = 10, .active = 20, .reserved = 1 << 21}, 77, &log);
  const DeviceMemoryEvent& event = allocator_.memory.events().front();
  EXPECT_EQ(event.event.ticks, 77U);
  EXPECT_EQ(event.event.address, storage_key(0x7000, MemoryDevice::cuda(2)));
  EXPECT_EQ(event.totals.reserved, 1 << 21);
  EXPECT_EQ(event.log, &log);
}

TEST_F(DeviceMemoryTest, ABlockThatIsFreedAtOnceHasItsSize) {
  allocator_.allocate(0x1000, 5'000'000, 6'000'128);
  allocator_.free(0x1000);
  EXPECT_EQ(allocator_.told(), allocator_.truth);
}

TEST_F(DeviceMemoryTest, BlocksThatAreStillInUseAreFreedWhenTheProgramSaysSo) {
  allocator_.allocate(0x1000, 5'000'000, 6'000'128);
  allocator_.free(0x1000, 0, true);
  allocator_.allocate(0x2000, 2'000'000, 2'900'480);
  allocator_.complete();
  allocator_.free(0x2000);
  EXPECT_EQ(allocator_.told(), allocator_.truth);
}

TEST_F(DeviceMemoryTest, BlocksFromBeforeAreFreedWithTheirSizes) {
  allocator_.allocate(0x1000, 5'000'000, 6'000'128);
  allocator_.allocate(0x2000, 2'000'000, 2'900'480);
  allocator_.forget();
  allocator_.start();
  allocator_.free(0x1000);
  allocator_.allocate(0x3000, 700'000, 900'096);
  allocator_.free(0x2000);
  EXPECT_EQ(allocator_.told(), allocator_.truth);
}

TEST_F(DeviceMemoryTest, WithoutAStartTheFirstFreeIsIt) {
  allocator_.allocate(0x1000, 5'000'000, 6'000'128);
  allocator_.allocate(0x2000, 2'000'000, 2'900'480);
  allocator_.forget();
  allocator_.free(0x1000);
  allocator_.free(0x2000);
  EXPECT_THAT(allocator_.told(), ElementsAre(Row{-2'900'480, 0}));
}

TEST_F(DeviceMemoryTest, WithoutAnEndTheLastBlockIsOfWhatWasAskedFor) {
  allocator_.allocate(0x1000, 700, 4096);
  EXPECT_THAT(allocator_.told(), ElementsAre(Row{1024, 1024}));
}

TEST_F(DeviceMemoryTest, OtherThreadsCountInTheTotalsOnly) {
  allocator_.log = nullptr;
  allocator_.allocate(0x1000, 700, 4096);
  allocator_.log = &allocator_.thread;
  allocator_.allocate(0x2000, 512);
  allocator_.log = nullptr;
  allocator_.free(0x1000);
  allocator_.log = &allocator_.thread;
  allocator_.free(0x2000);
  EXPECT_THAT(allocator_.told(), ElementsAre(Row{512, 4608}, Row{-512, 0}));
}

TEST_F(DeviceMemoryTest, WhatCouldNotBeAllocatedChangesNothing) {
  allocator_.allocate(0x1000, 700, 4096);
  allocator_.memory.add({.kind = Kind::out_of_memory, .requested = 1 << 30},
                        {.allocated = 4096, .active = 4096}, 5, &allocator_.thread);
  allocator_.free(0x1000);
  EXPECT_THAT(allocator_.told(),
              ElementsAre(Row{4096, 4096}, Row{1 << 30, 4096, -1}, Row{-4096, 0}));
}

TEST_F(DeviceMemoryTest, AStartBehindTheFirstEventIsNone) {
  allocator_.allocate(0x1000, 512);
  allocator_.start();
  allocator_.allocate(0x2000, 512);
  allocator_.free(0x1000);
  EXPECT_EQ(allocator_.told(), allocator_.truth);
}

TEST_F(DeviceMemoryTest, WhatIsToldAfterTheCloseOnlySaysHowLargeTheLastBlockIs) {
  allocator_.allocate(0x1000, 700, 4096);
  allocator_.memory.close();
  allocator_.allocate(0x2000, 512);
  allocator_.free(0x1000);
  allocator_.end();
  EXPECT_THAT(allocator_.told(), ElementsAre(Row{4096, 4096}));
}

TEST_F(DeviceMemoryTest, AFreeBehindALostOneIsOfWhatWasAskedFor) {
  allocator_.allocate(0x1000, 5'000'000, 6'000'128);
  allocator_.allocate(0x2000, 512);
  allocator_.memory.lose(0);
  allocator_.free(0x1000);
  EXPECT_EQ(allocator_.told().back(), (Row{-5'000'192, 512}));
}

TEST_F(DeviceMemoryTest, WhatIsLostIsCountedAndNothingIsTakenForIt) {
  allocator_.allocate(0x1000, 5'000'000, 6'000'128);
  allocator_.memory.lose(0);
  allocator_.allocate(0x2000, 2'000'000, 2'900'480);
  allocator_.free(0x1000);
  allocator_.end();
  EXPECT_EQ(allocator_.memory.lost(), 1U);
  EXPECT_THAT(allocator_.told(), ElementsAre(Row{5'000'192, 5'000'192}, Row{2'900'480, 8'900'608},
                                             Row{-6'000'128, 2'900'480}));
}

TEST_F(DeviceMemoryTest, IsTheTruthOfRandomPrograms) {
  std::mt19937 random(7);
  for (int program = 0; program < fixtures::random_rounds(200); ++program) {
    Allocator allocator;
    std::map<std::uint64_t, int> alive;  // device by address
    std::uint64_t next = 0x7f00'0000'0000;
    const auto step = [&] {
      const int device = static_cast<int>(random() % 3);
      if (alive.empty() || random() % 5 < 3) {
        const auto requested = static_cast<std::int64_t>(random() % 3'000'000 + 1);
        const std::int64_t more = random() % 4 != 0 ? 0 : 512 * (random() % 1000);
        allocator.allocate(next, requested, (requested + 511) / 512 * 512 + more, device);
        alive[next] = device;
        next += 4'000'000;
      } else {
        auto place = alive.begin();
        std::advance(place, static_cast<std::ptrdiff_t>(random() % alive.size()));
        allocator.free(place->first, place->second, random() % 8 == 0);
        alive.erase(place);
      }
      if (random() % 8 == 0) allocator.complete();
    };
    for (int count = 0; count < 20; ++count) step();
    allocator.forget();
    allocator.start();
    for (int count = 0; count < 200; ++count) step();
    allocator.end();
    ASSERT_EQ(allocator.told(), allocator.truth) << program;
  }
}

}  // namespace
}  // namespace tbtrace::recorder
