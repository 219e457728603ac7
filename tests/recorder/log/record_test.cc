#include "recorder/log/record.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <thread>
#include <variant>
#include <vector>

#include <gtest/gtest.h>

namespace tbtrace::recorder {
namespace {

constexpr std::int64_t kMostInteger = std::numeric_limits<std::int64_t>::max();

/// A begin that was read, with what it points to.
struct Begin {
  explicit Begin(const BeginRecord& from)
      : record(from),
        inputs(from.inputs == nullptr ? "none" : std::string(from.inputs, from.inputs_size)),
        stack(from.stack.begin(), from.stack.end()),
        storages(from.storages.begin(), from.storages.end()),
        arguments(from.arguments) {}
  BeginRecord record;
  std::string inputs;
  std::vector<void*> stack;
  std::vector<std::uint64_t> storages;
  std::string arguments;
};

struct Instant {
  InstantRecord record;
  std::string arguments;
};

struct AllRecords {
  std::vector<std::variant<Begin, EndRecord, MemoryEvent, Instant, CounterRecord>> all;

  void operator()(const BeginRecord& record, const std::uint64_t* first) {
    EXPECT_EQ(nearest_ticks(begin_record(first).ticks, record.ticks), record.ticks);
    all.emplace_back(Begin(record));
  }
  void operator()(const EndRecord& record) { all.emplace_back(record); }
  void operator()(const MemoryEvent& event) { all.emplace_back(event); }
  void operator()(const InstantRecord& record) {
    all.emplace_back(Instant{record, std::string(record.arguments)});
  }
  void operator()(const CounterRecord& record) { all.emplace_back(record); }
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
  EXPECT_EQ(read.arguments, Begin(written).arguments);
}

/// Begins with all mixtures of what may be there.
class AllBegins {
 public:
  explicit AllBegins(NameTable& names) {
    for (std::size_t frame = 0; frame < 40; ++frame) stack_.push_back(&stack_);
    for (std::size_t at = 0; at < 300; ++at) bytes_.push_back(static_cast<char>(at));
    const NameNumber name = names.find("aten::add");
    std::uint64_t ticks = 0;
    for (const Scope scope : {Scope::function, Scope::backward_function,
                              Scope::torchscript_function, static_cast<Scope>(255), Scope::user}) {
      for (const std::int64_t sequence_number : {std::int64_t{-1}, std::int64_t{0}, kMostInteger}) {
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
              if (ticks % 2 == 0) record.module = 0x7fff'ffff'fff8;
              if (ticks % 3 == 0) record.script_stack = name;
              if (ticks % 5 == 0) record.script_modules = name;
              record.storages = std::span<const std::uint64_t>(storages_).first(ticks % 4);
              record.arguments = std::string_view(bytes_).substr(0, ticks % 18);
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

TEST(Record, InstantsAndCountersAreReadAsTheyWereWritten) {
  ThreadLog log({});
  const NameNumber name = log.names().find("saved");
  const std::string bytes(100'000, 'x');
  for (const std::size_t size : {0, 1, 7, 8, 9, 100'000}) {
    write(log,
          InstantRecord{
              .ticks = size, .name = name, .arguments = std::string_view(bytes).substr(0, size)});
    write(log,
          CounterRecord{.ticks = size, .name = name, .value = 0.1 * static_cast<double>(size)});
  }
  write(log,
        CounterRecord{.ticks = 1, .name = name, .value = -std::numeric_limits<double>::infinity()});
  const AllRecords read = read_back(log);
  ASSERT_EQ(read.all.size(), 13U);
  std::size_t at = 0;
  for (const std::size_t size : {0, 1, 7, 8, 9, 100'000}) {
    const auto& instant = std::get<Instant>(read.all[at++]);
    EXPECT_EQ(instant.record.ticks, size);
    EXPECT_EQ(instant.record.name, name);
    EXPECT_EQ(instant.arguments, bytes.substr(0, size));
    const auto& counter = std::get<CounterRecord>(read.all[at++]);
    EXPECT_EQ(counter.ticks, size);
    EXPECT_EQ(counter.name, name);
    EXPECT_EQ(counter.value, 0.1 * static_cast<double>(size));
  }
  EXPECT_EQ(std::get<CounterRecord>(read.all[at]).value, -std::numeric_limits<double>::infinity());
}

TEST(Record, EndsAndMemoryAreReadAsTheyWereWritten) {
  constexpr std::uint64_t kLastTick = (std::uint64_t{1} << kTickBits) - 1;
  ThreadLog log({}, std::make_shared<const RecordingOptions>(), kLastTick);
  for (const bool is_async : {false, true}) {
    write(log, EndRecord{.ticks = kLastTick, .key = 0x7fff'ffff'fff8, .is_async = is_async});
  }
  for (const std::int64_t bytes : {std::int64_t{0}, kMostInteger, -kMostInteger}) {
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
    EXPECT_EQ(event.bytes, (std::array{std::int64_t{0}, kMostInteger, -kMostInteger})[at - 2]);
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

std::vector<std::uint64_t> words_of(const ThreadLog& log) {
  std::vector<std::uint64_t> all;
  log.for_each_chunk([&](const std::uint64_t* words, std::size_t count) {
    all.insert(all.end(), words, words + count);
  });
  return all;
}

// Nothing in a log is an address of the process that wrote it, but for what are addresses by their
// nature: keys, frames, storages.
TEST(Record, NamesAreWrittenAsNumbers) {
  std::vector<std::vector<std::uint64_t>> logs;
  for (int process = 0; process < 2; ++process) {
    ThreadLog log({});
    for (int name = 0; name < 100; ++name) {
      const NameNumber number = log.names().find("name " + std::to_string(name));
      const NameNumber script = log.names().find("file.py(" + std::to_string(name) + "): f;");
      write(log, BeginRecord{.ticks = 1,
                             .name = number,
                             .key = 16,
                             .module = 3,
                             .script_stack = script,
                             .script_modules = number});
      write(log, EndRecord{.ticks = 2, .key = 16});
    }
    log.close();
    EXPECT_EQ(log.name(static_cast<NameNumber>(1)).text, "name 0");
    logs.push_back(words_of(log));
  }
  EXPECT_EQ(logs[0], logs[1]);
}

TEST(Record, RangesWithoutOthersWithinThemEndWithOneWord) {
  ThreadLog log({});
  const NameNumber name = log.names().find("a");
  write(log, BeginRecord{.ticks = 1, .name = name, .key = 16});
  write(log, BeginRecord{.ticks = 2, .name = name, .key = 32});
  write(log, MemoryEvent{.ticks = 3, .address = 64, .bytes = 1});
  write(log, EndRecord{.ticks = 4, .key = 32});
  write(log, EndRecord{.ticks = 5, .key = 16});
  write(log, BeginRecord{.ticks = 6, .name = name, .key = 16});
  write(log, EndRecord{.ticks = 7, .key = 16, .is_async = true});
  const AllRecords read = read_back(log);
  EXPECT_EQ(words_of(log).size(), 3 * 3 + 3 + 1 + 2 + 2);
  ASSERT_EQ(read.all.size(), 7U);
  EXPECT_EQ(std::get<EndRecord>(read.all[3]).key, 32U);
  EXPECT_EQ(std::get<EndRecord>(read.all[4]).key, 16U);
  EXPECT_EQ(std::get<EndRecord>(read.all[6]).key, 16U);
  EXPECT_TRUE(std::get<EndRecord>(read.all[6]).is_async);
}

// 278 days at 3 GHz after the process began.
TEST(Record, TicksOfMoreThan56BitsComeBackWhole) {
  constexpr std::uint64_t kOverflow = std::uint64_t{1} << kTickBits;
  for (const std::uint64_t overflow : {kOverflow, 5 * kOverflow}) {
    ThreadLog log({}, std::make_shared<const RecordingOptions>(), overflow - 100);
    write(log, EndRecord{.ticks = overflow - 120, .key = 8});
    write(log, BeginRecord{.ticks = overflow - 1, .name = log.names().find("a"), .key = 8});
    write(log, EndRecord{.ticks = overflow, .key = 8});
    write(log, MemoryEvent{.ticks = overflow + 7, .address = 8, .bytes = 1});
    write(log, MemoryEvent{.ticks = overflow + kOverflow / 3, .address = 8, .bytes = 1});
    write(log, MemoryEvent{.ticks = overflow + 2 * (kOverflow / 3), .address = 8, .bytes = 1});
    const AllRecords read = read_back(log);
    ASSERT_EQ(read.all.size(), 6U);
    EXPECT_EQ(std::get<EndRecord>(read.all[0]).ticks, overflow - 120);
    EXPECT_EQ(std::get<Begin>(read.all[1]).record.ticks, overflow - 1);
    EXPECT_EQ(std::get<EndRecord>(read.all[2]).ticks, overflow);
    EXPECT_EQ(std::get<MemoryEvent>(read.all[3]).ticks, overflow + 7);
    EXPECT_EQ(std::get<MemoryEvent>(read.all[4]).ticks, overflow + kOverflow / 3);
    EXPECT_EQ(std::get<MemoryEvent>(read.all[5]).ticks, overflow + 2 * (kOverflow / 3));
  }
}

TEST(Record, WhatIsNotARecordEndsTheReadingOfItsChunk) {
  // Kinds that there are not; an end of nothing; a begin, an end, a memory event that are cut off;
  // a begin with more frames, and one with more storages, than there are words.
  const std::vector<std::vector<std::uint64_t>> unsound = {
      {0},
      {7},
      {5},
      {5, std::uint64_t{9} << 32, 0},
      {6, 1},
      {0xff, 1, 2},
      {3},
      {1, 16},
      {2},
      {4, 1},
      {1, 16, std::uint64_t{100} << 32},
      {1, std::uint64_t{1} << 56, 0},
      {1, std::uint64_t{8} << 56, 0, ~std::uint64_t{0}},
      {1, std::uint64_t{64} << 56, 0, 2, 0},
      {1, std::uint64_t{128} << 56, 0},
      {1, std::uint64_t{128} << 56, 0, 9, 0},
      {1, std::uint64_t{128} << 56, 0, ~std::uint64_t{0}, 0}};
  for (const std::vector<std::uint64_t>& words : unsound) {
    ThreadLog log({});
    write(log, MemoryEvent{.ticks = 1, .address = 8, .bytes = 1});
    std::uint64_t* const at = log.room(words.size());
    std::copy(words.begin(), words.end(), at);
    log.commit(at + words.size());
    log.close();
    AllRecords read;
    EXPECT_EQ(read_records(log, read), 1U) << words[0];
    EXPECT_EQ(read.all.size(), 1U) << words[0];
  }
}

}  // namespace
}  // namespace tbtrace::recorder
