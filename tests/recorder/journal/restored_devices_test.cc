#include "recorder/journal/restored_devices.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <deque>
#include <filesystem>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fixtures/device_trace_text.h"
#include "fixtures/random_rounds.h"
#include "fixtures/scratch_folder.h"
#include "recorder/journal/device_log.h"
#include "recorder/journal/journal.h"
#include "recorder/journal/restore.h"
#include "recorder/log/recording.h"
#include "recorder/window/read_window.h"
#include "recorder/window/window.h"

namespace tbtrace::recorder::journal {
namespace {

using fixtures::device_trace_text;

constexpr const char* kEarly = "the process ended before CUPTI had returned all records";

/// Adds random rows to a trace and to its journal, as whoever traces does.
class RandomDevice {
 public:
  RandomDevice(std::uint64_t seed, DeviceJournal& journal) : random_(seed), journal_(journal) {
    trace.problem = pick(2) == 0 ? "" : "markers are not recorded";
    trace.interface_version = 130001;
    trace.driver_version = 13000;
    trace.runtime_version = 12080;
    trace.devices.resize(pick(3));
    for (DeviceProperties& device : trace.devices) {
      device = {.id = static_cast<std::uint32_t>(pick(8)),
                .name = "GPU " + std::to_string(pick(100)),
                .total_memory_bytes = random_(),
                .compute_major = 9,
                .warp_size = 32,
                .multiprocessors = static_cast<int>(pick(200))};
    }
    journal_.begin(trace);
  }

  void add() {
    switch (pick(12)) {
      case 0:
        return add_name();
      case 1:
        trace.launches.push_back({.name = some(trace.names.size()),
                                  .grid = {number(), -number(), number()},
                                  .block = {number(), number(), number()},
                                  .registers_per_thread = word(),
                                  .static_shared_bytes = number(),
                                  .dynamic_shared_bytes = number()});
        return journal_.add_launch(last(trace.launches), trace.launches.back());
      case 2:
        trace.peers.push_back({word(), word(), word(), word()});
        return journal_.add_peers(last(trace.peers), trace.peers.back());
      case 3:
        trace.functions.push_back(
            {.number = word(),
             .name = some(trace.names.size()),
             .library = pick(2) == 0 ? ApiLibrary::runtime : ApiLibrary::driver});
        return journal_.add_function(last(trace.functions), trace.functions.back());
      case 4:
        if (trace.functions.empty()) return;
        return keep(trace.calls, ApiCall{.start_ticks = start(),
                                         .end_ticks = end(),
                                         .thread = word(),
                                         .correlation = correlation(),
                                         .function = some(trace.functions.size())});
      case 5:
        return keep(trace.synchronizations,
                    DeviceSynchronization{.start_ticks = start(),
                                          .end_ticks = end(),
                                          .context = word(),
                                          .stream = word(),
                                          .correlation = correlation(),
                                          .event = word(),
                                          .kind = static_cast<std::uint8_t>(pick(256))});
      case 6:
        return keep(trace.events, DeviceEvent{correlation(), word(), word(), word()});
      case 7:
        return keep(trace.overheads,
                    DeviceOverhead{.start_ticks = start(), .end_ticks = end(), .kind = word()});
      case 8:
        return keep(trace.markers, DeviceMarker{.start_ticks = start(),
                                                .end_ticks = end(),
                                                .thread = word(),
                                                .name = some(trace.names.size()),
                                                .domain = some(trace.names.size())});
      case 9:
        return keep(trace.checks, DeviceCheck{.correlation = word(), .begin_ticks = random_()});
      case 10:
        trace.lost += pick(3);
        trace.untimed += pick(3);
        return journal_.count(trace.lost, trace.untimed);
      default:
        return add_activity();
    }
  }

  /// What a process that ends now leaves.
  DeviceTrace ended_early() const {
    DeviceTrace early = trace;
    add_begun(early, outside);
    early.problem += (early.problem.empty() ? "" : "; ") + std::string(kEarly);
    return early;
  }

  DeviceTrace trace;
  DeviceActivities outside;

 private:
  std::uint64_t pick(std::uint64_t count) { return random_() % count; }
  std::uint32_t word() { return static_cast<std::uint32_t>(random_()); }
  std::int32_t number() { return static_cast<std::int32_t>(pick(100'000)); }
  std::uint32_t some(std::size_t count) { return static_cast<std::uint32_t>(pick(count)); }
  std::uint32_t correlation() { return static_cast<std::uint32_t>(1 + pick(50)); }
  std::uint64_t start() { return start_ = pick(std::uint64_t{1} << 40); }
  std::uint64_t end() { return start_ + pick(1000); }
  template <typename List>
  std::uint32_t last(const List& list) {
    return static_cast<std::uint32_t>(list.size() - 1);
  }
  template <typename List, typename Row>
  void keep(List& list, const Row& row) {
    list.push_back(row);
    journal_.add(row);
  }

  void add_name() {
    trace.names.push_back("kernel " + std::string(pick(20), 'x') + std::to_string(pick(1000)));
    journal_.add_name(last(trace.names), trace.names.back());
  }
  void add_activity() {
    if (trace.launches.empty()) return;
    const auto kind = static_cast<DeviceActivityKind>(pick(3));
    DeviceActivity activity{.start_ticks = start(),
                            .end_ticks = end(),
                            .correlation = correlation(),
                            .kind = kind,
                            .place = {.graph_node = pick(5),
                                      .graph = some(3),
                                      .device = some(8),
                                      .context = some(4),
                                      .stream = some(60),
                                      .channel = some(4),
                                      .channel_type = static_cast<std::uint8_t>(pick(3))}};
    if (kind == DeviceActivityKind::kernel) {
      activity.launch = some(trace.launches.size());
    } else {
      activity.transfer = {.bytes = random_(),
                           .peers = some(trace.peers.size() + 1),
                           .copy_kind = static_cast<std::uint8_t>(pick(256)),
                           .from_memory = static_cast<std::uint8_t>(pick(256)),
                           .to_memory = static_cast<std::uint8_t>(pick(256))};
    }
    if (pick(3) != 0) return keep(trace.activities, activity);
    outside.push_back(activity);
    journal_.add_outside(activity);
  }

  std::mt19937_64 random_;
  DeviceJournal& journal_;
  std::uint64_t start_ = 0;
};

/// Memory of the process that refuses some chunks, and knows how much of the others is written.
class RefusingHome final : public LogHome {
 public:
  explicit RefusingHome(std::uint64_t seed = 0, unsigned refused_of_ten = 0)
      : random_(seed), refused_of_ten_(refused_of_ten) {}

  Chunk* take(std::size_t words, std::size_t /*bytes*/) override {
    if (refuses_all || random_() % 10 < refused_of_ten_) return nullptr;
    const std::size_t capacity = words + random_() % 200;
    Taken& taken = taken_.emplace_back();
    taken.memory.resize(sizeof(Chunk) / sizeof(std::uint64_t) + capacity);
    Chunk* const chunk = new (taken.memory.data()) Chunk;
    chunk->capacity = capacity;
    chunk->end = &taken.end;
    taken.end.store(reinterpret_cast<std::uintptr_t>(chunk->words()));
    return chunk;
  }
  void fill(Chunk* /*chunk*/) override {}
  void give(Chunk* /*chunk*/) override {}
  void add_name(NameNumber /*number*/, const Name& /*name*/) override {}
  void count_lost() override {}

  using Words = std::vector<std::uint64_t>;
  std::vector<Words> written() {
    std::vector<Words> all;
    for (Taken& taken : taken_) {
      const auto* const words = reinterpret_cast<const Chunk*>(taken.memory.data())->words();
      all.emplace_back(words, words + (taken.end.load() - reinterpret_cast<std::uintptr_t>(words)) /
                                          sizeof(std::uint64_t));
    }
    return all;
  }

  bool refuses_all = false;

 private:
  struct Taken {
    std::vector<std::uint64_t> memory;
    std::atomic<std::uint64_t> end;
  };

  std::mt19937_64 random_;
  const unsigned refused_of_ten_;
  std::deque<Taken> taken_;
};

class DevicesInAJournal : public ::testing::Test {
 protected:
  void SetUp() override {
    JournalOptions options;
    options.slots.ready = 4;
    options.heartbeat = std::chrono::milliseconds(5);
    auto opened = Journal::open(dir_.root() / "journal", std::move(options));
    ASSERT_TRUE(opened.ok()) << opened.status().message();
    journal_ = *opened;
  }

  /// The windows that the process would leave if it ended now.
  RestoredJournal left() {
    const std::filesystem::path copy = dir_.root() / ("copy " + std::to_string(++copies_));
    std::filesystem::copy(dir_.root() / "journal", copy, std::filesystem::copy_options::recursive);
    RestoredJournal restored = in(copy);
    std::filesystem::remove_all(copy);
    return restored;
  }
  static RestoredJournal in(const std::filesystem::path& directory) {
    auto restored = restore_journal(journals_in(directory).at(0));
    EXPECT_TRUE(restored.ok()) << restored.status().message();
    return *std::move(restored);
  }
  /// Of the only window.
  std::shared_ptr<const Recording> recording_left() {
    const RestoredJournal found = left();
    EXPECT_EQ(found.unreadable_chunks, 0U);
    EXPECT_EQ(found.windows.size(), 1U);
    return found.windows.empty() ? nullptr : found.windows[0].recording;
  }

  fixtures::ScratchFolder dir_;
  std::shared_ptr<Journal> journal_;
  int copies_ = 0;
};

TEST_F(DevicesInAJournal, RowsAreThoseThatWereAdded) {
  for (int round = 0; round < fixtures::random_rounds(10); ++round) {
    Recording recording({}, journal_->new_window());
    recording.start();
    EXPECT_EQ(recording_left()->device_trace(), nullptr);
    const auto journal = recording.device_journal();
    RandomDevice device(static_cast<std::uint64_t>(round), *journal);
    for (int row = 0; row < 3000; ++row) device.add();
    EXPECT_EQ(device_trace_text(*recording_left()->device_trace()),
              device_trace_text(device.ended_early()));
    recording.close();  // what CUPTI returns afterwards belongs to the window as well
    for (int row = 0; row < 300; ++row) device.add();
    EXPECT_EQ(device_trace_text(*recording_left()->device_trace()),
              device_trace_text(device.ended_early()));
    add_begun(device.trace, device.outside);
    device.trace.problem = "";
    device.trace.runtime_version = 13000;  // a later one was loaded meanwhile
    journal->end(device.trace);
    EXPECT_EQ(device_trace_text(*recording_left()->device_trace()),
              device_trace_text(device.trace));
  }
}

TEST_F(DevicesInAJournal, TheJournalOfAWindowOutlivesItsRecording) {
  std::shared_ptr<DeviceJournal> journal;
  {
    Recording recording({}, journal_->new_window());
    recording.start();
    journal = recording.device_journal();
  }
  RandomDevice device(1, *journal);
  for (int row = 0; row < 1000; ++row) device.add();
  EXPECT_EQ(left().windows.size(), 0U);
  journal.reset();
  EXPECT_EQ(left().unreadable_chunks, 0U);
}

TEST_F(DevicesInAJournal, AKeptWindowKeepsItsRows) {
  DeviceTrace rows;
  {
    Recording recording({}, journal_->new_window());
    recording.start();
    const auto journal = recording.device_journal();
    RandomDevice device(2, *journal);
    for (int row = 0; row < 1000; ++row) device.add();
    recording.close();
    recording.keep_journal();
    rows = device.ended_early();
  }
  EXPECT_EQ(device_trace_text(*recording_left()->device_trace()), device_trace_text(rows));
}

TEST_F(DevicesInAJournal, TheEndOfAWindowHasOnlyTheRowsOfItsTime) {
  Recording recording({}, journal_->new_window());
  recording.start();
  const std::uint64_t now = recording.started().ticks;
  const auto journal = recording.device_journal();
  journal->begin({});
  journal->add_name(1, "cudaLaunchKernel");
  journal->add_function(0, {.number = 211, .name = 1});
  journal->add_launch(0, {.name = 1});
  std::uint64_t later = ticks();
  while (later < now + 200) later = ticks();
  for (const std::uint64_t at : {now, later}) {
    const std::uint32_t correlation = at == now ? 7 : 8;
    journal->add(ApiCall{.start_ticks = at, .end_ticks = at + 1, .correlation = correlation});
    journal->add(
        DeviceActivity{.start_ticks = at, .end_ticks = at + 1, .correlation = correlation});
    journal->add(DeviceOverhead{.start_ticks = at, .end_ticks = at + 1});
    journal->add(DeviceSynchronization{.start_ticks = at, .end_ticks = at + 1});
    journal->add(DeviceMarker{.start_ticks = at, .end_ticks = at + 1, .name = 1});
  }
  recording.close();
  const auto restored = recording_left();
  const Window whole(restored);
  EXPECT_EQ(whole.device_trace()->activities.size(), 2U);
  const Window last(restored, {.from = later - 100});
  EXPECT_EQ(last.device_trace()->activities.size(), 1U);
  EXPECT_EQ(last.device_trace()->activities.start_ticks(0), later);
  EXPECT_EQ(last.device_trace()->calls.size(), 1U);
  EXPECT_EQ(last.device_trace()->overheads.size(), 1U);
  EXPECT_EQ(last.device_trace()->synchronizations.size(), 1U);
  EXPECT_EQ(last.device_trace()->markers.size(), 1U);
}

/// Rows that refer to one that is missing say so, or are counted; the others are right.
TEST(DeviceRowsWithoutRoom, NeverReferToAnotherRow) {
  for (int round = 0; round < fixtures::random_rounds(40); ++round) {
    const auto seed = static_cast<std::uint64_t>(round);
    const auto home = std::make_shared<RefusingHome>(seed, 5);
    std::atomic<std::uint64_t> losses = 0;
    DeviceLog log(home, &losses);
    log.begin({});
    constexpr std::uint32_t kKernels = 2000;
    for (std::uint32_t kernel = 0; kernel < kKernels; ++kernel) {
      log.add_name(kernel + 1, "kernel " + std::to_string(kernel));
      log.add_launch(kernel,
                     {.name = kernel + 1, .grid = {static_cast<std::int32_t>(kernel), 1, 1}});
      log.add(DeviceActivity{
          .correlation = kernel, .place = {.stream = kernel % 400}, .launch = kernel});
    }
    RestoredDevices restored;
    for (const auto& words : home->written()) {
      EXPECT_TRUE(restored.add(words.data(), words.size()));
    }
    const auto trace = restored.take();
    EXPECT_GT(losses.load(), 0U);
    std::uint64_t named = 0;
    for (std::size_t row = 0; row < trace->activities.size(); ++row) {
      const DeviceActivity activity = trace->activities[row];
      EXPECT_EQ(activity.launch, activity.correlation);
      EXPECT_EQ(activity.place.stream, activity.correlation % 400);
      const KernelLaunch& launch = trace->launches[activity.launch];
      const std::string& name = trace->names[launch.name];
      if (name == "(name not in the journal)") continue;
      ++named;
      EXPECT_EQ(name, "kernel " + std::to_string(activity.correlation));
    }
    EXPECT_GT(named, kKernels / 4);
    EXPECT_LE(trace->activities.size() + trace->lost, kKernels);
    EXPECT_GE(trace->activities.size() + trace->lost + losses.load(), kKernels);
  }
}

/// What the reader makes of any words can be written as a file.
TEST(DeviceRowsThatAreHostile, AreLeftOut) {
  std::mt19937_64 random(20260101);
  for (int round = 0; round < fixtures::random_rounds(300); ++round) {
    const auto home = std::make_shared<RefusingHome>(random(), 0);
    DeviceLog log(home, nullptr);
    RandomDevice device(random(), log);
    for (int row = 0; row < 300; ++row) device.add();
    const auto memory_home = std::make_shared<RefusingHome>(random(), 0);
    DeviceMemoryLog memory_log(memory_home, nullptr);
    const auto thread = std::make_shared<ThreadLog>(ThreadIdentity{});
    for (std::uint64_t at = 1; at < 50; ++at) {
      memory_log.add({.kind = static_cast<AllocatorEvent::Kind>(random() % 4),
                      .device = static_cast<int>(random() % 3),
                      .address = at * 512,
                      .requested = 512},
                     {.allocated = 512, .active = 1024, .reserved = 4096}, at, thread.get());
    }
    RestoredDevices devices;
    RestoredDeviceMemory::Logs logs = {{0, thread}};
    RestoredDeviceMemory memory(logs);
    const auto damage = [&](std::vector<std::uint64_t>& words) {
      if (words.empty()) return;
      for (std::uint64_t times = random() % 8; times > 0; --times) {
        std::uint64_t& word = words[random() % words.size()];
        switch (random() % 3) {
          case 0:
            word ^= std::uint64_t{1} << random() % 64;
            break;
          case 1:
            word = random();
            break;
          default:
            word = random() % 2 == 0 ? ~std::uint64_t{0} : 0;
        }
      }
    };
    for (auto& words : home->written()) {
      damage(words);
      devices.add(words.data(), words.size());
    }
    for (auto& words : memory_home->written()) {
      damage(words);
      memory.add(words.data(), words.size());
    }
    RestoredRecording parts;
    parts.options = std::make_shared<const RecordingOptions>();
    parts.process.first_sample = first_clock_sample();
    parts.started = sample_clocks();
    parts.ended = sample_clocks();
    parts.logs = {thread};
    parts.device_trace = devices.take();
    parts.device_memory = memory.take();
    const auto window = std::make_shared<const Window>(Recording::restored(std::move(parts)));
    EXPECT_FALSE(text_of(window).empty());
  }
}

TEST(DeviceRowsThatAreHostile, TakeLittleMemoryForWhatIsMissing) {
  std::vector<std::uint64_t> words;
  for (std::uint64_t number = 1; number < 100; ++number) {
    words.push_back(std::uint64_t{8} << 32 | static_cast<std::uint64_t>(DeviceRecordKind::name));
    words.push_back(number * 100'000'000);
    words.push_back(std::uint64_t{8} << 32 | static_cast<std::uint64_t>(DeviceRecordKind::name));
    words.push_back(number * 1'000'000);
  }
  RestoredDevices devices;
  EXPECT_FALSE(devices.add(words.data(), words.size()));
  EXPECT_LT(devices.take()->names.size(), std::size_t{2} << 20);
}

using MemoryRow = std::tuple<std::uint64_t, std::uint64_t, std::int64_t, int, std::int64_t,
                             std::int64_t, std::int64_t, std::int64_t>;

std::vector<MemoryRow> rows_of(const Recording& recording) {
  std::vector<MemoryRow> rows;
  for (const DeviceMemory& memory : recording.device_memory()) {
    for (const DeviceMemoryEvent& event : memory.events()) {
      rows.emplace_back(event.event.ticks, event.event.address, event.event.bytes, event.device,
                        event.totals.allocated, event.totals.active, event.totals.reserved,
                        event.log->identity().system_id);
    }
  }
  return rows;
}

TEST_F(DevicesInAJournal, MemoryEventsAreThoseThatWereAdded) {
  std::mt19937_64 random(20260101);
  for (int round = 0; round < fixtures::random_rounds(10); ++round) {
    Recording recording({}, journal_->new_window());
    recording.start();
    std::vector<std::shared_ptr<ThreadLog>> threads;
    for (std::int64_t thread = 1; thread < 4; ++thread) {
      threads.push_back(recording.add_thread({.system_id = thread}));
    }
    for (int part = 0; part < 3; ++part) {
      DeviceMemory memory(recording.device_memory_journal());
      AllocatorTotals totals[2] = {};
      for (int device = 0; device < 2; ++device) {
        if (random() % 2 == 0) memory.start(device, totals[device]);
      }
      for (int event = 0; event < 500; ++event) {
        const int device = static_cast<int>(random() % 2);
        const auto bytes = static_cast<std::int64_t>(512 * (1 + random() % 100));
        const auto kind = static_cast<AllocatorEvent::Kind>(random() % 4);
        const std::size_t thread = random() % 4;
        memory.add({.kind = kind, .device = device, .address = random(), .requested = bytes - 5},
                   totals[device], ticks(), thread == 3 ? nullptr : threads[thread].get());
        totals[device].allocated += kind == AllocatorEvent::Kind::free ? -bytes : bytes;
        totals[device].active += bytes;
        totals[device].reserved = static_cast<std::int64_t>(random() % 1'000'000);
        if (random() % 50 == 0) memory.lose(device);
      }
      memory.close();
      if (random() % 2 == 0) memory.end(0, totals[0]);
      recording.add_device_memory(std::move(memory));
    }
    const auto restored = recording_left();
    EXPECT_EQ(rows_of(*restored), rows_of(recording));
    EXPECT_EQ(restored->lost(), recording.lost());
    EXPECT_GE(restored->ended().ticks, std::get<0>(rows_of(recording).back()));
    EXPECT_EQ(Window(restored).memory().size(), rows_of(recording).size());
  }
}

/// The size of a block comes from two totals; with an event missing between them, it is what was
/// asked for.
TEST(DeviceMemoryWithoutRoom, ComparesOnlyWhatFollowsEachOther) {
  using Kind = AllocatorEvent::Kind;
  const auto home = std::make_shared<RefusingHome>();
  std::atomic<std::uint64_t> losses = 0;
  DeviceMemoryLog log(home, &losses);
  const auto thread = std::make_shared<ThreadLog>(ThreadIdentity{});
  log.begin();
  log.add({.kind = Kind::allocate, .address = 512, .requested = 100}, {}, 1, thread.get());
  home->refuses_all = true;
  std::uint64_t other = 2;
  for (; losses.load() == 0; ++other) {  // until the chunk is full
    log.add({.kind = Kind::other}, {.allocated = 512, .active = 512}, other, thread.get());
  }
  log.add({.kind = Kind::allocate, .address = 1024, .requested = 7000},
          {.allocated = 512, .active = 512}, ++other, thread.get());
  home->refuses_all = false;
  log.add({.kind = Kind::free, .address = 512, .requested = 100},
          {.allocated = 7168, .active = 7680}, ++other, thread.get());
  log.add({.kind = Kind::free, .address = 1024, .requested = 7000},
          {.allocated = 0, .active = 7680}, ++other, thread.get());
  const RestoredDeviceMemory::Logs logs = {{0, thread}};
  RestoredDeviceMemory restored(logs);
  for (const auto& words : home->written()) EXPECT_TRUE(restored.add(words.data(), words.size()));
  const std::vector<DeviceMemory> parts = restored.take();
  ASSERT_EQ(parts.size(), 1U);
  ASSERT_EQ(parts[0].events().size(), 3U);
  EXPECT_EQ(parts[0].events()[0].event.bytes, 512);
  EXPECT_EQ(parts[0].events()[1].event.bytes, -512);  // and not the difference, 6656
  EXPECT_EQ(parts[0].events()[2].event.bytes, -7168);
  EXPECT_EQ(losses.load(), 2U);
}

struct DeviceAccounts {
  std::atomic<std::uint64_t> rows;
  std::atomic<std::uint64_t> events;
};

[[noreturn]] void trace_until_killed(const std::filesystem::path& directory,
                                     DeviceAccounts& accounts) {
  const auto journal = Journal::open(directory, {});
  if (!journal.ok()) ::_exit(1);
  Recording recording({}, (*journal)->new_window());
  recording.start();
  const auto rows = recording.device_journal();
  const auto log = recording.add_thread({.system_id = 1});
  DeviceMemory memory(recording.device_memory_journal());
  rows->begin({});
  rows->add_name(1, "cudaLaunchKernel");
  rows->add_function(0, {.number = 211, .name = 1});
  for (std::uint32_t number = 0;; ++number) {
    rows->add(ApiCall{.start_ticks = number, .end_ticks = number + 1, .correlation = number});
    accounts.rows.store(number + 1, std::memory_order_release);
    memory.add({.kind = AllocatorEvent::Kind::out_of_memory, .requested = number}, {}, ticks(),
               log.get());
    accounts.events.store(number + 1, std::memory_order_release);
    if (number % 500 == 0) std::this_thread::sleep_for(std::chrono::microseconds(500));
  }
}

TEST_F(DevicesInAJournal, AKilledProcessLosesOnlyTheRowThatIsBeingWritten) {
  void* const shared = ::mmap(nullptr, sizeof(DeviceAccounts), PROT_READ | PROT_WRITE,
                              MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(shared, MAP_FAILED);
  std::mt19937_64 random(20260101);
  for (int round = 0; round < fixtures::random_rounds(10); ++round) {
    const fixtures::ScratchFolder dir;
    auto& accounts = *new (shared) DeviceAccounts{};
    const pid_t child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0) trace_until_killed(dir.root(), accounts);
    while (accounts.events.load() == 0) ASSERT_EQ(::waitpid(child, nullptr, WNOHANG), 0);
    std::this_thread::sleep_for(std::chrono::microseconds(random() % 60'000));
    ::kill(child, SIGKILL);
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    ASSERT_TRUE(WIFSIGNALED(status)) << status;
    const RestoredJournal found = in(dir.root());
    EXPECT_EQ(found.unreadable_chunks, 0U);
    ASSERT_EQ(found.windows.size(), 1U);
    const Recording& recording = *found.windows[0].recording;
    if (recording.lost() > 0) continue;  // the machine was too busy to make room
    const auto trace = recording.device_trace();
    EXPECT_EQ(trace->problem, kEarly);
    EXPECT_GE(trace->calls.size(), accounts.rows.load());
    EXPECT_LE(trace->calls.size(), accounts.rows.load() + 1);
    for (std::uint32_t row = 0; row < trace->calls.size(); ++row) {
      ASSERT_EQ(trace->calls[row].correlation, row);
    }
    ASSERT_EQ(recording.device_memory().size(), 1U);
    const auto& events = recording.device_memory()[0].events();
    EXPECT_GE(events.size(), accounts.events.load());
    EXPECT_LE(events.size(), accounts.events.load() + 1);
    for (std::size_t row = 0; row < events.size(); ++row) {
      ASSERT_EQ(events[row].event.bytes, static_cast<std::int64_t>(row));
    }
  }
  ::munmap(shared, sizeof(DeviceAccounts));
}

}  // namespace
}  // namespace tbtrace::recorder::journal
