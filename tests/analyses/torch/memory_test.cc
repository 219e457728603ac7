// The memory of ranges against a sum over all records, one by one.
#include "analyses/torch/memory.h"

#include <cstddef>
#include <cstdint>
#include <limits>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "fixtures/trace_rows.h"

namespace tbtrace::analyses {
namespace {

struct Record {
  std::int64_t time = 0;
  std::int64_t bytes = 0;
  std::int16_t device = 0;  // 0 is the CPU, 1 CUDA
};

std::vector<Record> random_records(std::mt19937& random, std::size_t count) {
  std::uniform_int_distribution<std::int64_t> sizes(std::numeric_limits<std::int64_t>::min());
  std::vector<Record> records(count);
  std::int64_t time = 100;
  for (Record& record : records) {
    time += random() % 3;  // some at the same time
    record = {time, sizes(random), static_cast<std::int16_t>(random() % 2)};
  }
  return records;
}

TorchRows::Memory expected(const std::vector<Record>& records, std::int64_t start,
                           std::int64_t end) {
  TorchRows::Memory sum;
  for (const Record& record : records) {
    if (record.time < start || record.time > end) continue;
    (record.device == 0 ? sum.cpu_bytes : sum.device_bytes) += record.bytes;
  }
  return sum;
}

TEST(TorchMemory, OfARangeIsTheSumOfItsRecords) {
  std::mt19937 random(5);
  for (const std::size_t count : {0u, 1u, 15u, 16u, 17u, 33u, 160u, 203u}) {
    const std::vector<Record> records = random_records(random, count);
    TraceBuilder builder;
    for (const Record& record : records) {
      MemoryRecord row;
      row.time_ns = record.time;
      row.bytes = record.bytes;
      row.device_type = DeviceType{record.device};
      row.track = builder.track({.number = 1}, {.number = 1});
      builder.add_memory(row);
    }
    const Trace trace = fixtures::finished(builder);
    const TorchMemory memory(trace.memory(), {});
    const std::int64_t last = records.empty() ? 100 : records.back().time;
    std::size_t near = 0;
    for (std::int64_t start = 98; start <= last + 2; ++start) {
      for (const std::int64_t length : {0, 1, 9, 30, 40, 90, 500}) {
        EXPECT_TRUE(memory.within(start, start + length, near) ==
                    expected(records, start, start + length))
            << count << " records, from " << start << ", " << length << " ns";
      }
    }
  }
}

}  // namespace
}  // namespace tbtrace::analyses
