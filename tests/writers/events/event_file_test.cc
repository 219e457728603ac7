#include "writers/events/event_file.h"

#include <cstdint>
#include <filesystem>
#include <limits>
#include <string>
#include <utility>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fixtures/event_reading.h"
#include "fixtures/file_size_limit.h"
#include "fixtures/scratch_folder.h"
#include "fixtures/whole_file.h"
#include "wire/tfrecord.h"
#include "writers/events/messages.h"

namespace tbtrace::writers {
namespace {

using testing::HasSubstr;
using testing::SizeIs;

Result<std::unique_ptr<EventFile>> create(const std::string& directory, double wall_time = 1e9,
                                          const std::string& suffix = "") {
  return EventFile::create(directory, suffix, wall_time, io::create_append_file);
}

std::string record(std::string_view payload) {
  std::string records;
  wire::append_record(records, payload);
  return records;
}

TEST(EventFileName, IsThatOfTensorBoard) {
  EXPECT_EQ(event_file_name(1234567890.9, "", "host", 42, ".x"),
            "events.out.tfevents.1234567890.host.42.0.x");
  EXPECT_EQ(event_file_name(5, "", "host", 42, ""), "events.out.tfevents.0000000005.host.42.0");
  EXPECT_EQ(event_file_name(-5, "", "host", 42, ""), "events.out.tfevents.0000000000.host.42.0");
}

TEST(EventFileName, SortsBehindAllOthers) {
  const auto behind = [](std::string_view other) {
    const std::string name = event_file_name(1000, other, "host", 1, "");
    EXPECT_GT(name, other);
    return name;
  };
  EXPECT_THAT(behind("events.out.tfevents.0000001000.zzz.9.9"), HasSubstr(".0000001001."));
  EXPECT_THAT(behind("events.out.tfevents.0000002000.a.1.1"), HasSubstr(".0000002001."));
  EXPECT_THAT(behind("events.out.tfevents.0000000999.a.1.1"), HasSubstr(".0000001000."));
  EXPECT_THAT(behind("events.out.tfevents."), HasSubstr(".0000001000."));
  EXPECT_THAT(behind("a.tfevents"), HasSubstr(".0000001000."));
}

TEST(EventFile, BeginsWithItsVersion) {
  const fixtures::ScratchFolder folder;
  const auto file = create(folder.path("a/b/run"), 1e9, ".end");
  ASSERT_TRUE(file.ok()) << file.status().message();
  const auto files = fixtures::event_files(folder.path("a/b/run"));
  ASSERT_THAT(files, SizeIs(1));
  EXPECT_TRUE(files[0].ends_with(".end"));
  const auto events = fixtures::events_in(folder.path("a/b/run"));
  ASSERT_THAT(events, SizeIs(1));
  EXPECT_EQ(events[0].file_version(), "brain.Event:2");
  EXPECT_EQ(events[0].wall_time(), 1e9);
}

TEST(EventFile, IsTheOnlyOneThatIsWrittenInItsDirectory) {
  const fixtures::ScratchFolder folder;
  auto first = create(folder.root());
  ASSERT_TRUE(first.ok());
  const auto second = create(folder.root());
  ASSERT_FALSE(second.ok());
  EXPECT_THAT(second.status().message(), HasSubstr("another writer has"));
  EXPECT_THAT(fixtures::event_files(folder.root()), SizeIs(1));
  first = Status(StatusCode::invalid_argument, "gone");
  const auto third = create(folder.root());
  ASSERT_TRUE(third.ok());
  const auto files = fixtures::event_files(folder.root());
  ASSERT_THAT(files, SizeIs(2));
  EXPECT_THAT(files[1], HasSubstr(".1000000001."));
}

TEST(EventFile, IsNoneWhereAnotherWriterHasTheDirectoryIfThatIsNoFailure) {
  const fixtures::ScratchFolder folder;
  const auto try_create = [&] {
    return EventFile::try_create(folder.path("run"), "", 1e9, io::create_append_file);
  };
  const auto first = try_create();
  ASSERT_TRUE(first.ok() && *first != nullptr);
  const auto second = try_create();
  EXPECT_TRUE(second.ok() && *second == nullptr);
  EXPECT_THAT(fixtures::event_files(folder.path("run")), SizeIs(1));
}

TEST(EventFile, KnowsWhetherItIsThere) {
  const fixtures::ScratchFolder folder;
  const auto file = create(folder.path("run"));
  ASSERT_TRUE(file.ok());
  EXPECT_TRUE((*file)->is_there());
  std::filesystem::remove_all(folder.path("run"));
  EXPECT_FALSE((*file)->is_there());
}

TEST(IsEventFile, GoesByTheName) {
  EXPECT_TRUE(is_event_file("events.out.tfevents.1.host"));
  EXPECT_TRUE(is_event_file("a.tfevents.tmp"));
  EXPECT_FALSE(is_event_file("w.1.pt.trace.json"));
}

TEST(StepsIn, AreThoseOfTheTagsThatCount) {
  const fixtures::ScratchFolder folder;
  const std::string path = folder.path("file");
  using Steps = std::pair<std::int64_t, std::int64_t>;
  const auto steps = [&](std::string_view bytes) {
    fixtures::write_whole_file(path, bytes);
    const StepRange range = steps_in(path, "a/");
    EXPECT_EQ(range.empty(), range.last == -1);
    return Steps(range.first, range.last);
  };
  const auto value = [](std::int64_t step, std::string_view tag = "a/b") {
    return record(text_event({.wall_time = 1, .step = step}, tag, "text"));
  };
  EXPECT_TRUE(steps_in(folder.path("absent"), "").empty());
  EXPECT_EQ(steps(""), Steps(0, -1));
  const std::string start =
      record(file_version_event(1)) + record(session_start_event({.wall_time = 1, .step = 99}));
  EXPECT_EQ(steps(start), Steps(0, -1)) << "no values";
  const std::string first = start + value(3);
  EXPECT_EQ(steps(first + value(12) + value(5)), Steps(3, 12));
  EXPECT_EQ(steps((first + value(12)).substr(0, first.size() + 5)), Steps(3, 3)) << "cut off";
  EXPECT_EQ(steps(first + record("\xff no event") + value(20)), Steps(3, 20));
  EXPECT_EQ(steps(first + value(20, "b/a") + value(0, "c")), Steps(3, 3));
  EXPECT_EQ(steps(first + value(std::numeric_limits<std::int64_t>::max()) + value(-1)),
            Steps(3, 3));
}

TEST(EventFile, LeavesNoFileThatCouldNotBegin) {
  const fixtures::ScratchFolder folder;
  const fixtures::FileSizeLimit limit(10);
  EXPECT_FALSE(create(folder.path("run")).ok());
  EXPECT_THAT(fixtures::event_files(folder.path("run")), SizeIs(0));
}

TEST(EventFile, SaysWhyItCannotBe) {
  const fixtures::ScratchFolder folder;
  fixtures::write_whole_file(folder.path("file"), "x");
  for (const char* const name : {"file", "file/run"}) {
    const auto file = create(folder.path(name));
    ASSERT_FALSE(file.ok());
    EXPECT_EQ(file.status().code(), StatusCode::unwritable_output);
    EXPECT_THAT(file.status().message(), HasSubstr(folder.path("file")));
  }
}

/// Takes bytes while there is room for them.
class SmallDisk final : public io::AppendFile {
 public:
  SmallDisk(std::string& text, std::size_t& room) : text_(text), room_(room) {}
  Written append(std::string_view bytes) override {
    const std::size_t taken = std::min(bytes.size(), room_ - text_.size());
    text_ += bytes.substr(0, taken);
    if (taken == bytes.size()) return {taken, {}};
    return {taken, {StatusCode::unwritable_output, "the disk is full"}};
  }

 private:
  std::string& text_;
  std::size_t& room_;
};

TEST(EventFile, GoesOnWhereADiskWasFull) {
  const std::string payloads[] = {"one", "two and more", "three"};
  std::string all;
  for (const std::string& payload : payloads) all += record(payload);
  const std::size_t start = 64;  // of the file, at most
  for (std::size_t room = 0; room <= all.size(); ++room) {
    const fixtures::ScratchFolder folder;
    std::string text;
    std::size_t limit = start;
    const auto file = EventFile::create(folder.root(), "", 1, [&](const std::string&) {
      return std::unique_ptr<io::AppendFile>(std::make_unique<SmallDisk>(text, limit));
    });
    ASSERT_TRUE(file.ok());
    const std::size_t version = text.size();
    limit = version + room;
    bool was_full = false;
    std::string records;
    for (const std::string& payload : payloads) {
      records += record(payload);
      const Status written = (*file)->write(records);
      was_full = was_full || !written.ok();
      EXPECT_EQ(written.ok(), records.empty());
    }
    EXPECT_EQ(was_full, room < all.size());
    limit = version + all.size();
    EXPECT_TRUE((*file)->write(records).ok());
    EXPECT_EQ(text.substr(version), all) << room;
    EXPECT_THAT(fixtures::payloads(text), SizeIs(4));
  }
}

}  // namespace
}  // namespace tbtrace::writers
