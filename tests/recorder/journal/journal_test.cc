#include "recorder/journal/journal.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <memory>
#include <mutex>
#include <random>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fixtures/random_rounds.h"
#include "fixtures/scratch_folder.h"
#include "recorder/journal/checksums.h"
#include "recorder/journal/layout.h"
#include "recorder/journal/restore.h"
#include "recorder/journal/written_journal.h"
#include "recorder/log/active.h"
#include "recorder/log/inputs.h"
#include "recorder/log/module_map.h"
#include "recorder/log/range_arguments.h"
#include "recorder/log/record.h"
#include "recorder/log/recording.h"
#include "recorder/process/process.h"
#include "recorder/window/window.h"

namespace tbtrace::recorder::journal {
namespace {

TEST_F(JournalOf, AnOpenWindowHasAllThatWasRecorded) {
  const auto journal = open();
  Recording recording({.record_shapes = true, .element_types = {"float", "double"}},
                      journal->new_window());
  EXPECT_TRUE(recording.add_metadata("before", "1").ok());
  recording.start();
  EXPECT_TRUE(recording.add_metadata("after", "\"two\"").ok());
  recording.add_known_tensors({{.address = 4096, .bytes = 12, .is_gradient = true}});
  const auto log = recording.add_thread({.system_id = 7, .logical_id = 3, .name = "worker"});
  const NameNumber name = log->names().find("aten::add", "Tensor");
  Collective reduced{.name = "allreduce", .rank = 2, .group_size = 4, .group = "tp"};
  const NameNumber collective = log->names().add(kCollectiveRange, reduced);
  InputsWriter inputs;
  inputs.tensor(1, std::vector<std::int64_t>{2, 3}, std::vector<std::int64_t>{3, 1});
  const std::uint64_t now = ticks();
  write(*log, BeginRecord{.ticks = now,
                          .name = name,
                          .key = 17,
                          .sequence_number = 5,
                          .inputs = inputs.data(),
                          .inputs_size = static_cast<std::uint32_t>(inputs.size())});
  write(*log, BeginRecord{.ticks = now + 10, .name = collective, .key = 18});
  write(*log, EndRecord{.ticks = now + 20, .key = 18});

  const RestoredJournal found = restored(copy_of(directory(), dir_));
  EXPECT_EQ(found.process, ::getpid());
  EXPECT_EQ(found.unreadable_chunks, 0U);
  ASSERT_EQ(found.windows.size(), 1U);
  EXPECT_TRUE(found.windows[0].was_open);
  const Recording& again = *found.windows[0].recording;
  EXPECT_EQ(again.trace_id(), recording.trace_id());
  EXPECT_TRUE(again.options().record_shapes);
  EXPECT_EQ(again.options().element_types, recording.options().element_types);
  EXPECT_EQ(again.metadata().at("before"), "1");
  EXPECT_EQ(again.metadata().at("after"), "\"two\"");
  ASSERT_EQ(again.known_tensors().size(), 1U);
  EXPECT_TRUE(again.known_tensors()[0].is_gradient);
  EXPECT_EQ(again.lost(), 0U);
  ASSERT_EQ(again.logs().size(), 1U);
  EXPECT_EQ(again.logs()[0]->identity().name, "worker");
  EXPECT_EQ(again.logs()[0]->identity().logical_id, 3U);

  const Window window(found.windows[0].recording);
  ASSERT_EQ(window.ranges().size(), 2U);
  EXPECT_EQ(window.name(window.ranges()[0]).text, "aten::add");
  EXPECT_EQ(window.name(window.ranges()[0]).overload, "Tensor");
  EXPECT_TRUE(window.ranges()[0].is_open);
  EXPECT_EQ(window.ranges()[0].end_ticks, again.ended().ticks);
  EXPECT_GE(again.ended().ticks, now + 20);
  const BeginRecord first = begin_record(window.ranges()[0].record);
  EXPECT_EQ(first.sequence_number, 5);
  EXPECT_EQ(std::string(first.inputs, first.inputs_size),
            std::string(inputs.data(), inputs.size()));
  EXPECT_FALSE(window.ranges()[1].is_open);
  const auto& described = window.name(window.ranges()[1]).collective;
  ASSERT_NE(described, nullptr);
  EXPECT_EQ(described->name, "allreduce");
  EXPECT_EQ(described->group_size, 4);
  EXPECT_EQ(described->group, "tp");
}

TEST_F(JournalOf, ModulesThatShareATensorAreTold) {
  const auto journal = open();
  const std::string bytes = "weights";
  const auto map = std::make_shared<ModuleMap>();
  const auto own = [&](const void* instance, const char* type, const char* path) {
    map->own(&bytes, {.module = map->add(instance, type, path),
                      .begin = bytes.data(),
                      .end = bytes.data() + bytes.size()});
  };
  own(bytes.data(), "9Embedding", "a.embedding");
  own(bytes.data() + 1, "6Linear", "a.head");
  Recording recording({.modules = map}, journal->new_window());
  recording.start();
  write_number(*recording.add_thread({.system_id = 1}), 1, 0);
  const RestoredJournal found = restored(copy_of(directory(), dir_));
  ASSERT_EQ(found.windows.size(), 1U);
  const auto& again = found.windows[0].recording->options().modules;
  ASSERT_NE(again, nullptr);
  EXPECT_EQ(again->modules()[again->module_of(1, "aten::embedding")].path, "a.embedding");
  EXPECT_EQ(again->modules()[again->module_of(1, "aten::linear")].path, "a.head");
}

TEST_F(JournalOf, ManyChunksAreWhole) {
  const auto journal = open();
  Recording recording({}, journal->new_window());
  recording.start();
  const auto log = recording.add_thread({.system_id = 1});
  constexpr std::size_t kRecords = 60'000;  // 1.4 MB
  for (std::size_t number = 0; number < kRecords; ++number) {
    write_number(*log, 1, number);
    if (number % 5'000 == 0) look_after(*journal);
  }
  ASSERT_EQ(log->lost(), 0U);
  const RestoredJournal found = restored(copy_of(directory(), dir_));
  ASSERT_EQ(found.windows.size(), 1U);
  EXPECT_EQ(numbers_of(*found.windows[0].recording->logs()[0]), first_numbers(kRecords));
}

TEST_F(JournalOf, AClosedWindowEndsWhereItEnded) {
  const auto journal = open();
  Recording recording({}, journal->new_window());
  recording.start();
  write_number(*recording.add_thread({.system_id = 1}), 1, 0);
  recording.close();
  const RestoredJournal found = restored(copy_of(directory(), dir_));
  ASSERT_EQ(found.windows.size(), 1U);
  EXPECT_FALSE(found.windows[0].was_open);
  EXPECT_EQ(found.windows[0].recording->ended().ticks, recording.ended().ticks);
  EXPECT_EQ(Window(found.windows[0].recording).start_ns(),
            TickScale(recording.started(), recording.ended()).unix_ns(recording.started().ticks));
}

TEST_F(JournalOf, AWindowThatIsWrittenOrGoneIsNotRestored) {
  const auto journal = open();
  {
    Recording gone({}, journal->new_window());
    gone.start();
    write_number(*gone.add_thread({.system_id = 1}), 1, 0);
  }
  Recording written({}, journal->new_window());
  written.start();
  write_number(*written.add_thread({.system_id = 1}), 1, 0);
  written.close();
  written.forget_journal();
  EXPECT_EQ(restored(copy_of(directory(), dir_)).windows.size(), 0U);
}

TEST_F(JournalOf, AWindowThatIsGivenBackIsNotDamaged) {
  const auto journal = open();
  Recording recording({}, journal->new_window());
  recording.start();
  const auto log = recording.add_thread({.system_id = 1});
  for (std::size_t number = 0; number < 20'000; ++number) {
    write_number(*log, 1, number);
    if (number % 5'000 == 0) look_after(*journal);
  }
  ASSERT_EQ(log->lost(), 0U);
  recording.close();
  recording.forget_journal();
  log->drop_chunks();  // all but the last: the process ends there
  const RestoredJournal found = restored(copy_of(directory(), dir_));
  EXPECT_EQ(found.unreadable_chunks, 0U);
  EXPECT_EQ(found.windows.size(), 0U);
}

TEST_F(JournalOf, TheEndRemovesTheFilesUnlessAWindowIsKept) {
  for (const bool is_kept : {false, true}) {
    auto journal = open();
    {
      Recording recording({}, journal->new_window());
      recording.start();
      const auto log = recording.add_thread({.system_id = 1});
      write_number(*log, 1, 0);
      write(*recording.add_thread({.system_id = 2}),
            BeginRecord{.ticks = ticks(), .name = name_of_process("test::kept"), .key = 1});
      recording.close();
      if (is_kept) recording.keep_journal();
    }
    journal->end();
    journal.reset();
    EXPECT_EQ(journals_in(directory()).size(), is_kept ? 1U : 0U);
  }
  const RestoredJournal found = restored(directory());
  ASSERT_EQ(found.windows.size(), 1U);
  EXPECT_EQ(numbers_of(*found.windows[0].recording->logs()[0]), first_numbers(1));
  const Window window(found.windows[0].recording);
  EXPECT_EQ(window.name(window.ranges()[0]).text, "test::kept");
  remove_journal(journals_in(directory()).front());
  EXPECT_EQ(journals_in(directory()).size(), 0U);
}

TEST_F(JournalOf, ARecordOfAnySizeIsKept) {
  const auto journal = open();
  Recording recording({}, journal->new_window());
  recording.start();
  const auto log = recording.add_thread({.system_id = 1});
  RangeArgumentsWriter arguments;
  arguments.add("text", std::string(3 << 20, 'x'));
  write(*log,
        InstantRecord{
            .ticks = ticks(), .name = log->names().find("mark"), .arguments = arguments.bytes()});
  const RestoredJournal found = restored(copy_of(directory(), dir_));
  ASSERT_EQ(found.windows.size(), 1U);
  const Window window(found.windows[0].recording);
  ASSERT_EQ(window.marks().size(), 1U);
  EXPECT_EQ(std::get<InstantRecord>(window.marks()[0].record).arguments, arguments.bytes());
}

TEST_F(JournalOf, AProcessThatEndsWhileItMakesFilesLeavesNoDamage) {
  const auto journal = open();
  Recording recording({}, journal->new_window());
  recording.start();
  write_number(*recording.add_thread({.system_id = 1}), 1, 0);
  const fs::path copy = copy_of(directory(), dir_);
  const fs::path folder = journals_in(copy).front();
  std::ofstream(folder / "segment-000008.tbj");
  std::ofstream(folder / "segment-000009.tbj") << std::string(20'000, '\0');
  const auto with_segments = restore_journal(folder);
  ASSERT_TRUE(with_segments.ok());
  EXPECT_EQ(with_segments->unreadable_chunks, 0U);
  EXPECT_EQ(with_segments->windows.size(), 1U);
  for (const std::size_t bytes : {std::size_t{0}, kHeadBytes}) {
    std::ofstream(folder / kHeadName, std::ios::trunc) << std::string(bytes, '\0');
    const auto without_head = restore_journal(folder);
    ASSERT_TRUE(without_head.ok()) << without_head.status().message();
    EXPECT_EQ(without_head->windows.size(), 0U);
  }
}

TEST_F(JournalOf, SlotsAreUsedAgain) {
  JournalOptions options = small_options();
  options.slots.most_bytes = std::uint64_t{24} << 20;
  const auto journal = open(options);
  for (int window = 0; window < 60; ++window) {  // 1 MB each
    Recording recording({}, journal->new_window());
    recording.start();
    const auto log = recording.add_thread({.system_id = 1});
    for (std::size_t number = 0; number < 40'000; ++number) {
      write_number(*log, 1, number);
      if (number % 4'000 == 0) look_after(*journal);
    }
    EXPECT_EQ(log->lost(), 0U);
  }
}

TEST_F(JournalOf, AForkedChildHasAJournalOfItsOwn) {
  auto journal = open();
  auto recording = std::make_shared<Recording>(RecordingOptions{}, journal->new_window());
  recording->start();
  const auto slot = activate(recording);
  ASSERT_TRUE(slot);
  const auto write_some = [](std::size_t of, std::uint64_t thread) {
    for (std::uint64_t number = 0; number < 1000; ++number) {
      if (ThreadLog* const log = this_thread_log(of)) write_number(*log, thread, number);
    }
  };
  const auto id = [] { return static_cast<std::uint64_t>(this_thread_identity().system_id); };
  write_some(*slot, id());
  const pid_t child = ::fork();
  if (child == 0) {
    write_some(*slot, 0);  // nothing is recorded there
    const auto its = Journal::open(directory(), small_options());
    const auto again = std::make_shared<Recording>(RecordingOptions{}, (*its)->new_window());
    again->start();
    write_some(*activate(again), id());
    // The child lets go of what it has of its parent.
    recording->forget_journal();
    recording.reset();
    journal->end();
    journal.reset();
    ::_exit(0);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
  const fs::path copy = copy_of(directory(), dir_);
  deactivate(*slot);
  const auto folders = journals_in(copy);
  ASSERT_EQ(folders.size(), 2U);
  for (const fs::path& folder : folders) {
    const auto found = restore_journal(folder);
    ASSERT_TRUE(found.ok());
    EXPECT_EQ(found->unreadable_chunks, 0U);
    ASSERT_EQ(found->windows.size(), 1U) << folder;
    ASSERT_EQ(found->windows[0].recording->logs().size(), 1U);
    EXPECT_EQ(numbers_of(*found->windows[0].recording->logs()[0]), first_numbers(1000));
  }
}

/// The journal's files in memory, with the faults that a test wants.
class FaultyFiles final : public SegmentFiles {
 public:
  std::size_t left_bytes = std::size_t{1} << 40;
  std::atomic<bool> is_slow = false;

  Result<char*> create(const std::string& /*name*/, std::size_t bytes) override {
    if (is_slow.load()) std::this_thread::sleep_for(std::chrono::milliseconds(300));
    if (bytes > left_bytes) return Status(StatusCode::unwritable_output, "no space left");
    left_bytes -= bytes;
    return files_.emplace_back(std::make_unique<char[]>(bytes)).get();
  }
  Status sync() override { return {}; }
  void remove(std::span<const std::span<char>> /*kept*/) override {}

 private:
  std::vector<std::unique_ptr<char[]>> files_;
};

TEST(JournalOnADisk, ThatIsFullCountsWhatIsLost) {
  auto files = std::make_unique<FaultyFiles>();
  files->left_bytes = std::size_t{18} << 20;  // the first files
  std::atomic<int> warnings = 0;
  JournalOptions options = small_options();
  options.warn = [&](std::string_view sentence) {
    EXPECT_NE(sentence.find("no space left"), std::string_view::npos);
    ++warnings;
  };
  const auto journal = Journal::open_in(std::move(files), options);
  ASSERT_TRUE(journal.ok());
  Recording recording({}, (*journal)->new_window());
  recording.start();
  const auto log = recording.add_thread({.system_id = 1});
  constexpr std::size_t kRecords = 1'000'000;  // 24 MB
  for (std::size_t number = 0; number < kRecords; ++number) {
    write_number(*log, 1, number);
    if (number % 10'000 == 0) look_after(**journal);
  }
  recording.close();
  EXPECT_GT(recording.lost(), 0U);
  EXPECT_EQ(numbers_of(*log).size() + recording.lost(), kRecords);
  EXPECT_EQ(warnings.load(), 1);
}

TEST(JournalOnADisk, IsUsedToItsLastChunk) {
  auto files = std::make_unique<FaultyFiles>();
  FaultyFiles& faults = *files;
  faults.left_bytes = std::size_t{30} << 20;  // less than two files of the usual size
  const auto journal = Journal::open_in(std::move(files), small_options());
  ASSERT_TRUE(journal.ok());
  Recording recording({}, (*journal)->new_window());
  recording.start();
  const auto log = recording.add_thread({.system_id = 1});
  constexpr std::size_t kRecords = 2'000'000;  // more than there is room for
  for (std::size_t number = 0; number < kRecords; ++number) {
    write_number(*log, 1, number);
    if (number % 10'000 == 0) look_after(**journal);
  }
  recording.close();
  EXPECT_GT(recording.lost(), 0U);
  (*journal)->end();
  EXPECT_LT(faults.left_bytes, std::size_t{512} << 10);
}

TEST(JournalOnADisk, ThatIsSlowKeepsNobodyWaiting) {
  auto files = std::make_unique<FaultyFiles>();
  FaultyFiles& faults = *files;
  const auto journal = Journal::open_in(std::move(files), live_options());
  ASSERT_TRUE(journal.ok());
  faults.is_slow.store(true);
  Recording recording({}, (*journal)->new_window());
  recording.start();
  const auto log = recording.add_thread({.system_id = 1});
  constexpr std::size_t kRecords = 2'000'000;  // more than the first files have room for
  std::chrono::steady_clock::duration longest{};
  for (std::size_t number = 0; number < kRecords; ++number) {
    const auto before = std::chrono::steady_clock::now();
    write_number(*log, 1, number);
    longest = std::max(longest, std::chrono::steady_clock::now() - before);
  }
  recording.close();
  EXPECT_LT(longest, std::chrono::milliseconds(250));  // less than one new file takes
  EXPECT_EQ(numbers_of(*log).size() + recording.lost(), kRecords);
}

TEST_F(JournalOf, ADamagedOneGivesNothingThatWasNotWritten) {
  const auto journal = open();
  Recording recording({}, journal->new_window());
  recording.start();
  const auto log = recording.add_thread({.system_id = 1});
  for (std::size_t number = 0; number < 20'000; ++number) write_number(*log, 1, number);
  look_after(*journal);
  const fs::path copy = copy_of(directory(), dir_);
  std::vector<fs::path> files;
  for (const auto& entry : fs::recursive_directory_iterator(copy)) {
    if (entry.is_regular_file()) files.push_back(entry.path());
  }
  std::mt19937_64 random(20260101);
  for (int round = 0; round < fixtures::random_rounds(100); ++round) {
    const fs::path& file = files[random() % files.size()];
    std::fstream stream(file, std::ios::in | std::ios::out | std::ios::binary);
    // Where most of what is written stands, or anywhere.
    const auto size = fs::file_size(file);
    const auto at = static_cast<std::streamoff>(
        random() % (random() % 2 == 0 ? size : std::min<std::uintmax_t>(size, 8192)));
    stream.seekg(at);
    const char before = static_cast<char>(stream.get());
    const char after = static_cast<char>(before ^ (1 << random() % 8));
    stream.seekp(at);
    stream.put(after);
    stream.flush();
    const auto found = restore_journal(journals_in(copy).front());
    if (found.ok()) {
      for (const RestoredWindow& window : found->windows) {
        const Window rows(window.recording);
        for (const Window::Memory& row : rows.memory()) {
          EXPECT_EQ(row.event.address, value_of(1, static_cast<std::uint64_t>(row.event.bytes)));
        }
      }
    }
    stream.seekp(at);
    stream.put(before);
  }
}

}  // namespace
}  // namespace tbtrace::recorder::journal
