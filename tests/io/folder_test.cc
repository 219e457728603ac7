#include "io/folder.h"

#include <algorithm>
#include <filesystem>
#include <string>
#include <system_error>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "fixtures/scratch_folder.h"
#include "fixtures/whole_file.h"

namespace tbtrace::io {
namespace {

namespace fs = std::filesystem;
using fixtures::ScratchFolder;
using testing::ElementsAre;
using testing::IsEmpty;

/// `<path below the folder> <type>`, sorted.
std::vector<std::string> texts(const std::vector<FolderEntry>& entries, const fs::path& folder) {
  std::vector<std::string> texts;
  for (const FolderEntry& entry : entries) {
    std::string type = "other";
    if (entry.type == fs::file_type::regular) type = "file";
    if (entry.type == fs::file_type::directory) type = "folder";
    if (entry.type == fs::file_type::symlink) type = "link";
    texts.push_back(entry.path.lexically_relative(folder).string() + " " + type);
  }
  std::sort(texts.begin(), texts.end());
  return texts;
}

/// A file, a link to it, a pipe, and a folder with a file, an empty folder and a link to the top.
void fill(const ScratchFolder& scratch) {
  fixtures::write_whole_file(scratch.path("a.json"), "{}");
  fs::create_symlink("a.json", scratch.path("link"));
  ASSERT_EQ(::mkfifo(scratch.path("pipe").c_str(), 0600), 0);
  fs::create_directories(scratch.path("below/empty"));
  fixtures::write_whole_file(scratch.path("below/..b"), "");
  fs::create_directory_symlink(scratch.root(), scratch.path("below/up"));
}

TEST(Folder, EntriesHaveTheTypeOfALinkNotOfItsTarget) {
  const ScratchFolder scratch;
  fill(scratch);
  std::error_code error = std::make_error_code(std::errc::io_error);
  const std::vector<FolderEntry> entries = entries_of(scratch.root(), error);
  EXPECT_FALSE(error);
  EXPECT_THAT(texts(entries, scratch.root()),
              ElementsAre("a.json file", "below folder", "link link", "pipe other"));
}

TEST(Folder, EntriesBelowComeBeforeTheirFolder) {
  const ScratchFolder scratch;
  fill(scratch);
  const std::vector<FolderEntry> entries = all_entries_below(scratch.root());
  EXPECT_THAT(texts(entries, scratch.root()),
              ElementsAre("a.json file", "below folder", "below/..b file", "below/empty folder",
                          "below/up link", "link link", "pipe other"));
  const auto is_below = [&](const FolderEntry& entry) {
    return entry.path.parent_path() == scratch.path("below");
  };
  const auto below = std::find_if(entries.begin(), entries.end(), [&](const FolderEntry& entry) {
    return entry.path == scratch.path("below");
  });
  EXPECT_EQ(std::count_if(entries.begin(), below, is_below), 3);
}

TEST(Folder, AFolderThatIsMissingOrAFileIsAnError) {
  const ScratchFolder scratch;
  fixtures::write_whole_file(scratch.path("file"), "");
  std::error_code error;
  EXPECT_THAT(entries_of(scratch.path("none"), error), IsEmpty());
  EXPECT_EQ(error, std::errc::no_such_file_or_directory);
  EXPECT_THAT(entries_of(scratch.path("file"), error), IsEmpty());
  EXPECT_EQ(error, std::errc::not_a_directory);
  EXPECT_THAT(all_entries_below(scratch.path("none")), IsEmpty());
}

TEST(Folder, RemovingAFolderLeavesWhatItsLinksLeadTo) {
  const ScratchFolder scratch;
  fs::create_directories(scratch.path("kept"));
  fixtures::write_whole_file(scratch.path("kept/file"), "kept");
  fs::create_directories(scratch.path("removed/a/b/c"));
  fixtures::write_whole_file(scratch.path("removed/a/b/file"), "");
  fs::create_directory_symlink(scratch.path("kept"), scratch.path("removed/a/link"));
  remove_folder(scratch.path("removed"));
  EXPECT_THAT(scratch.names(), ElementsAre("kept"));
  EXPECT_EQ(fixtures::read_whole_file(scratch.path("kept/file")), "kept");
}

}  // namespace
}  // namespace tbtrace::io
