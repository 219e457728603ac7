#include "recorder/record.h"

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <thread>
#include <variant>
#include <vector>

#include <gtest/gtest.h>

namespace tbtrace::recorder {
namespace {

constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();

/// A begin that was read, with what it points to.
struct Begin {
  explicit Begin(const BeginRecord& from)
      : record(from),
        inputs(from.inputs == nullptr ? "none" : std::string(from.inputs, from.inputs_size)),
        stack(from.stack.begin(), from.stack.end()),
        storages(from.storages.begin(), from.storages.end()) {}
  BeginRecord record;
  std::string inputs;
  std::vector<void*> stack;
  std::vector<std::uint64_t> storages;
};

struct AllRecords {
  std::vector<std::variant<Begin, EndRecord, MemoryEvent>> all;

  void operator()(const BeginRecord& record, const std::uint64_t* first) {
    EXPECT_EQ(begin_record(first).ticks, record.ticks);
    all.emplace_back(Begin(record));
  }
  void operator()(const EndRecord& record) { all.emplace_back(record); }
  void operator()(const MemoryEvent& event) { all.emplace_back(event); }
};

AllRecords read_back(ThreadLog& log) {
  log.close();
  AllRecords records;
  read_records(log, records);
  return records;
}

void expect_same(const Begin& read, const BeginRecord& written) {
  EXPECT_EQ(read.record.ticks, written.ticks);
  EXPECT_EQ(read.record.name, written.name);
  EXPECT_EQ(read.record.key, written.key);
  EXPECT_EQ(read.record.scope, written.scope);
  EXPECT_EQ(read.record.sequence_number, written.sequence_number);
  EXPECT_EQ(read.record.forward_thread, written.forward_thread);
  EXPECT_EQ(read.record.module, written.module);
  EXPECT_EQ(read.record.script_stack, written.script_stack);
  EXPECT_EQ(read.record.script_modules, written.script_modules);
  EXPECT_EQ(read.inputs, Begin(written).inputs);
  EXPECT_EQ(read.stack, Begin(written).stack);
  EXPECT_EQ(read.storages, Begin(written).storages);
}

/// Begins with all mixtures of what may be there.
class AllBegins {
 public:
  explicit AllBegins(NameTable& names) {
    for (std::size_t frame = 0; frame < 40; ++frame) stack_.push_back(&stack_);
    for (std::size_t at = 0; at < 300; ++at) bytes_.push_back(static_cast<char>(at));
    const Name* const name = names.find("aten::add");
    std::uint64_t ticks = 0;
    for (const Scope scope : {Scope::function, Scope::backward_function,
                              Scope::torchscript_function, static_cast<Scope>(255), Scope::user}) {
      for (const std::int64_t sequence_number : {std::int64_t{-1}, std::int64_t{0}, kMost}) {
        for (const std::uint64_t forward_thread : {std::uint64_t{0}, ~std::uint64_t{0}}) {
          for (const int inputs_size : {-1, 0, 1, 7, 8, 9, 300}) {
            for (const std::size_t frames : {0, 1, 40}) {
              BeginRecord record;
              record.ticks = ++ticks;
              record.name = name;
              record.key = 0x7fff'ffff'ffff - ticks;
              record.scope = scope;
              record.sequence_number = sequence_number;
              record.forward_thread = forward_thread;
              if (inputs_size >= 0) {
                record.inputs = bytes_.data();
                record.inputs_size = static_cast<std::uint32_t>(inputs_size);
              }
              record.stack = std::span<void* const>(stack_).first(frames);
              if (ticks % 2 == 0) record.module = this;
              if (ticks % 3 == 0) record.script_stack = name;
              if (ticks % 5 == 0) record.script_modules = name;
              record.storages = std::span<const std::uint64_t>(storages_).first(ticks % 4);
              records.push_back(record);
            }
          }
        }
      }
    }
  }

  std::vector<BeginRecord> records;

 private:
  std::vector<void*> stack_;
  std::vector<std::uint64_t> storages_ = {0, 0x7f00'0000'1000, ~std::uint64_t{0}};
  std::string bytes_;
};

TEST(Record, BeginsOfAllFormsAreReadAsTheyWereWritten) {
  ThreadLog log({});
  const AllBegins begins(log.names());
  for (const BeginRecord& record : begins.records) write(log, record);
  const AllRecords read = read_back(log);
  ASSERT_EQ(read.all.size(), begins.records.size());
  for (std::size_t at = 0; at < read.all.size(); ++at) {
    SCOPED_TRACE(at);
    expect_same(std::get<Begin>(read.all[at]), begins.records[at]);
  }
}

TEST(Record, EndsAndMemoryAreReadAsTheyWereWritten) {
  ThreadLog log({});
  constexpr std::uint64_t kLastTick = (std::uint64_t{1} << kTickBits) - 1;
  for (const bool is_async : {false, true}) {
    write(log, EndRecord{.ticks = kLastTick, .key = 0x7fff'ffff'fff8, .is_async = is_async});
  }
  for (const std::int64_t bytes : {std::int64_t{0}, kMost, -kMost}) {
    write(log, MemoryEvent{.ticks = kLastTick, .address = ~std::uint64_t{0}, .bytes = bytes});
  }
  const AllRecords read = read_back(log);
  ASSERT_EQ(read.all.size(), 5U);
  for (const std::size_t at : {0, 1}) {
    const auto& end = std::get<EndRecord>(read.all[at]);
    EXPECT_EQ(end.ticks, kLastTick);
    EXPECT_EQ(end.key, 0x7fff'ffff'fff8U);
    EXPECT_EQ(end.is_async, at == 1);
  }
  for (const std::size_t at : {2, 3, 4}) {
    const auto& event = std::get<MemoryEvent>(read.all[at]);
    EXPECT_EQ(event.ticks, kLastTick);
    EXPECT_EQ(event.address, ~std::uint64_t{0});
    EXPECT_EQ(event.bytes, (std::array{std::int64_t{0}, kMost, -kMost})[at - 2]);
  }
}

TEST(Record, KindsKeepTheirOrderOverManyChunks) {
  constexpr std::uint64_t kRounds = 30'000;
  ThreadLog log({});
  const AllBegins begins(log.names());
  for (std::uint64_t round = 0; round < kRounds; ++round) {
    write(log, begins.records[round % begins.records.size()]);
    write(log, MemoryEvent{.ticks = round, .address = round, .bytes = 1});
    write(log, EndRecord{.ticks = round, .key = round});
  }
  EXPECT_GT(log.bytes(), 10 * kChunkBytes);
  const AllRecords read = read_back(log);
  ASSERT_EQ(read.all.size(), 3 * kRounds);
  for (std::uint64_t round = 0; round < kRounds && !testing::Test::HasFailure(); ++round) {
    SCOPED_TRACE(round);
    expect_same(std::get<Begin>(read.all[3 * round]),
                begins.records[round % begins.records.size()]);
    EXPECT_EQ(std::get<MemoryEvent>(read.all[3 * round + 1]).address, round);
    EXPECT_EQ(std::get<EndRecord>(read.all[3 * round + 2]).key, round);
  }
}

TEST(Record, OneLargerThanAChunkIsReadWhole) {
  ThreadLog log({});
  std::string bytes;
  for (std::size_t at = 0; at < 3 * kChunkBytes + 5; ++at) {
    bytes.push_back(static_cast<char>(at * 7));
  }
  const BeginRecord large = {.ticks = 2,
                             .name = log.names().find("large"),
                             .key = 8,
                             .inputs = bytes.data(),
                             .inputs_size = static_cast<std::uint32_t>(bytes.size())};
  write(log, EndRecord{.ticks = 1, .key = 8});
  write(log, large);
  write(log, EndRecord{.ticks = 3, .key = 8});
  const AllRecords read = read_back(log);
  ASSERT_EQ(read.all.size(), 3U);
  EXPECT_TRUE(std::get<Begin>(read.all[1]).inputs == bytes);
  EXPECT_EQ(std::get<EndRecord>(read.all[2]).ticks, 3U);
}

TEST(Record, NoneIsTornWhenTheLogIsClosedAmidWriting) {
  for (int round = 0; round < 20; ++round) {
    ThreadLog log({});
    const AllBegins begins(log.names());
    std::atomic<bool> stop = false;
    std::atomic<int> rounds = 0;
    std::jthread writer([&] {
      while (!stop) {
        for (const BeginRecord& record : begins.records) write(log, record);
        ++rounds;
        std::this_thread::yield();
      }
    });
    while (rounds < round % 3) std::this_thread::yield();
    const AllRecords read = read_back(log);
    stop = true;
    for (std::size_t at = 0; at < read.all.size(); ++at) {
      SCOPED_TRACE(at);
      expect_same(std::get<Begin>(read.all[at]), begins.records[at % begins.records.size()]);
      if (testing::Test::HasFailure()) return;
    }
    EXPECT_GE(read.all.size(), static_cast<std::size_t>(round % 3) * begins.records.size());
  }
}

}  // namespace
}  // namespace tbtrace::recorder
