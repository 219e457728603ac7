#include "inputs/search.h"

#include <algorithm>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fixtures/archive_bytes.h"
#include "fixtures/gzip_member.h"
#include "fixtures/scratch_folder.h"
#include "fixtures/whole_file.h"

namespace tbtrace::inputs {
namespace {

namespace fs = std::filesystem;
using fixtures::gzip_member;
using fixtures::ScratchFolder;
using fixtures::write_whole_file;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;

constexpr std::string_view kTrace = R"({"schemaVersion": 1, "traceEvents": []})";

/// A scratch folder that is the current one.
class InputSearchTest : public testing::Test {
 protected:
  InputSearchTest() : before_(fs::current_path()) { fs::current_path(scratch_.root()); }
  ~InputSearchTest() override { fs::current_path(before_); }

  static void put(const std::string& name, std::string_view text = kTrace) {
    const fs::path folder = fs::path(name).parent_path();
    if (!folder.empty()) fs::create_directories(folder);
    write_whole_file(name, text);
  }

  /// `path run` of each file.
  static std::vector<std::string> found(const std::vector<std::string>& named,
                                        const std::string& log_directory = "the_logs") {
    std::vector<std::string> lines;
    for (const FoundInput& input : find_inputs(named, log_directory).files) {
      EXPECT_TRUE(input.problem.ok()) << input.problem.message();
      lines.push_back(input.path + " " + input.run);
    }
    return lines;
  }

  static std::vector<std::string> passed_over(const std::vector<std::string>& named) {
    return find_inputs(named, "the_logs").passed_over;
  }

  static std::string refusal(const std::vector<std::string>& named,
                             const std::string& log_directory = "the_logs") {
    std::string refused;
    for (const FoundInput& input : find_inputs(named, log_directory).files) {
      if (input.problem.ok()) continue;
      EXPECT_EQ(input.problem.code(), StatusCode::unreadable_input);
      refused += input.path + ": " + input.problem.message();
    }
    return refused;
  }

  std::string root() const { return scratch_.root().string(); }
  std::string root_name() const { return scratch_.root().filename().string(); }

 private:
  ScratchFolder scratch_;
  fs::path before_;
};

TEST_F(InputSearchTest, NothingNamedIsNothing) { EXPECT_THAT(found({}), IsEmpty()); }

TEST_F(InputSearchTest, FilesAreTakenAsTheyAre) {
  put("runs/a/x.json", "no trace at all");
  put("here.txt", "");
  EXPECT_THAT(found({"runs/a/x.json", "here.txt", "-", root() + "/runs/../runs/a/./x.json"}),
              ElementsAre("runs/a/x.json a", "here.txt " + root_name(), "- stdin"));
  EXPECT_THAT(found({"runs/a/../a/x.json"}), ElementsAre("runs/a/../a/x.json a"));
}

TEST_F(InputSearchTest, AFileOfTheRootIsOfTheRunTraces) {
  EXPECT_THAT(found({"/no-such-trace.json"}), ElementsAre("/no-such-trace.json traces"));
}

TEST_F(InputSearchTest, WhatIsNotThereStaysForTheReader) {
  EXPECT_THAT(found({"no/such.json"}), ElementsAre("no/such.json no"));
  fs::create_symlink("nowhere", "dangling*.json");
  EXPECT_THAT(found({"dangling*.json"}), ElementsAre("dangling*.json " + root_name()));
}

TEST_F(InputSearchTest, PipesAreTakenWhenNamedAndNotOpened) {
  ASSERT_EQ(::mkfifo("pipe.json", 0600), 0);
  EXPECT_THAT(found({"pipe.json"}), ElementsAre("pipe.json " + root_name()));
  EXPECT_THAT(refusal({"."}), HasSubstr("contains no traces"));
}

TEST_F(InputSearchTest, FoldersAreSearched) {
  put("runs/b.json");
  put("runs/a/ranks/x.json.gz", gzip_member(kTrace));
  put("runs/a/ranks/.hidden.json");
  put("runs/a.d/x.json");
  put("runs/B.json");
  put("runs/notes.txt");
  put("runs/x.json.bak");
  const auto expected =
      ElementsAre("runs/B.json runs", "runs/b.json runs", "runs/a/ranks/.hidden.json runs/a/ranks",
                  "runs/a/ranks/x.json.gz runs/a/ranks", "runs/a.d/x.json runs/a.d");
  EXPECT_THAT(found({"runs"}), expected);
  EXPECT_THAT(passed_over({"runs"}), IsEmpty());
}

TEST_F(InputSearchTest, AFolderMayBeWrittenInAnyWay) {
  put("runs/a/x.json");
  for (const std::string& name :
       {std::string("runs/"), std::string("./runs"), std::string("runs/."),
        std::string("runs/a/.."), root() + "/runs"}) {
    const std::vector<std::string> inputs = found({name});
    ASSERT_EQ(inputs.size(), 1U);
    EXPECT_THAT(inputs[0], HasSubstr("x.json runs/a")) << name;
  }
  EXPECT_THAT(found({"."}), ElementsAre("./runs/a/x.json " + root_name() + "/runs/a"));
}

TEST_F(InputSearchTest, OnlyTracesAreTakenFromFolders) {
  put("runs/bare.json", R"( [ {"ph": "X"}])");
  put("runs/bom.json", "\xef\xbb\xbf\r\n\t" + std::string(kTrace));
  put("runs/cut.json.gz", gzip_member(kTrace).substr(0, 50));
  put("runs/many_ranks.json", R"({"distributedInfo": {"pg_config": [)" + std::string(100000, ' '));
  put("runs/not_named_so.json", gzip_member(kTrace));  // recognised by content
  const auto expected =
      ElementsAre("runs/bare.json runs", "runs/bom.json runs", "runs/cut.json.gz runs",
                  "runs/many_ranks.json runs", "runs/not_named_so.json runs");
  EXPECT_THAT(found({"runs"}), expected);

  put("runs/._bare.json", "\x05\x16\x07 by another system");
  put("runs/config.json", R"({"lr": 0.1})");
  put("runs/late.json", "{" + std::string(70000, ' ') + R"("traceEvents": []})");
  put("runs/null.json", "null");
  put("runs/quoted.json", R"("traceEvents")");
  EXPECT_THAT(found({"runs"}), expected);
  EXPECT_THAT(passed_over({"runs"}),
              ElementsAre("runs/._bare.json", "runs/config.json", "runs/late.json",
                          "runs/null.json", "runs/quoted.json"));
  EXPECT_EQ(passed_over({"runs", "runs"}).size(), 5U);
}

// Their reader says what is wrong; a rank that died while it wrote must not vanish.
TEST_F(InputSearchTest, FilesThatAreNotJsonAreTakenFromFolders) {
  put("runs/blank.json", " \n");
  put("runs/empty.json", "");
  put("runs/log.json", "torch was not found");
  put("runs/other.json.gz", "PK\x03\x04 and so on");
  put("runs/w.1.pt.trace.json", "{}");
  put("runs/z/text.json", "the \"traceEvents\" of today");
  EXPECT_THAT(found({"runs", "runs"}),
              ElementsAre("runs/blank.json runs", "runs/empty.json runs", "runs/log.json runs",
                          "runs/other.json.gz runs", "runs/w.1.pt.trace.json runs",
                          "runs/z/text.json runs/z"));
  EXPECT_THAT(passed_over({"runs"}), IsEmpty());
}

TEST_F(InputSearchTest, AFolderWithoutTracesIsAFailureThatNamesIt) {
  put("good/x.json");
  put("bad/config.json", "{}");
  fs::create_directories("empty/folder");
  EXPECT_THAT(refusal({"good", "bad"}), StartsWith("bad: contains no traces; "));
  EXPECT_THAT(refusal({"empty"}), StartsWith("empty: contains no traces; "));
  put("empty/within/a.tbp", "x");
  EXPECT_EQ(refusal({"empty"}),
            "empty: contains no traces, but partials; name those themselves: "
            "`empty/within/*.tbp`");
}

TEST_F(InputSearchTest, AFileIsTakenOnce) {
  put("runs/a/x.json");
  put("runs/a/y.json");
  fs::create_symlink("x.json", "runs/a/link.json");
  EXPECT_THAT(found({"runs/a/y.json", "runs", "runs/a", "./runs/a/x.json", "runs/a/link.json"}),
              ElementsAre("runs/a/y.json a", "runs/a/x.json runs/a"));
  EXPECT_THAT(found({"-", "-"}), ElementsAre("- stdin"));
  EXPECT_THAT(found({"no.json", "./no.json"}), ElementsAre("no.json " + root_name()));
}

TEST_F(InputSearchTest, LinksAreFollowedAfterWhatTheyMayLeadTo) {
  put("runs/step5/x.json");
  put("elsewhere/y/y.json");
  put("single.json");
  fs::create_directory_symlink("step5", "runs/latest");
  fs::create_symlink("step5/x.json", "runs/latest.json");
  fs::create_symlink("../single.json", "runs/a.json");
  fs::create_directory_symlink("../elsewhere", "runs/more");
  fs::create_symlink("nowhere", "runs/dangling.txt");
  EXPECT_THAT(found({"runs"}), ElementsAre("runs/step5/x.json runs/step5", "runs/a.json runs",
                                           "runs/more/y/y.json runs/more/y"));
  EXPECT_THAT(passed_over({"runs"}), IsEmpty());
  fs::create_directory_symlink("runs", "link");
  EXPECT_EQ(found({"link"}).front(), "link/step5/x.json link/step5");
}

TEST_F(InputSearchTest, LinksToTracesThatAreGoneAreNamed) {
  put("runs/x.json");
  fs::create_symlink("nowhere", "runs/gone.json");
  fs::create_symlink("nowhere", "runs/.hidden.json");
  const std::vector<FoundInput> files = find_inputs({"runs"}, "").files;
  ASSERT_EQ(files.size(), 2U);
  EXPECT_TRUE(files[0].problem.ok());
  EXPECT_EQ(files[1].path, "runs/gone.json");
  EXPECT_EQ(files[1].problem.message(),
            "is a link to nowhere, which is not there; restore that file or remove the link");
}

TEST_F(InputSearchTest, LinksThatLeadBackEnd) {
  put("runs/a/x.json");
  put("outside.json");
  fs::create_directory_symlink(".", "runs/a/self");
  fs::create_directory_symlink("..", "runs/a/up");
  fs::create_directory_symlink("../..", "runs/a/out");  // above the searched folder
  fs::create_directory_symlink("/", "runs/a/root");
  fs::create_directory_symlink("loop", "runs/a/loop");
  put("runs/b/y.json");
  fs::create_directory_symlink("../b", "runs/a/b");
  fs::create_directory_symlink("../a", "runs/b/a");
  EXPECT_THAT(found({"runs"}), ElementsAre("runs/a/x.json runs/a", "runs/b/y.json runs/b"));
}

TEST_F(InputSearchTest, DepthIsNoProblem) {
  std::string folder = "runs";
  for (int level = 0; level < 300; ++level) folder += "/d";
  put(folder + "/x.json");
  EXPECT_EQ(found({"runs"}).size(), 1U);
}

TEST_F(InputSearchTest, FoldersThatCannotBeReadArePassedOver) {
  if (::geteuid() == 0) GTEST_SKIP() << "root may read everything";
  put("runs/a/x.json");
  put("runs/b/y.json");
  put("runs/z.json");
  fs::permissions("runs/a", fs::perms::none);
  fs::permissions("runs/z.json", fs::perms::none);
  EXPECT_THAT(found({"runs"}), ElementsAre("runs/b/y.json runs/b"));
  EXPECT_THAT(passed_over({"runs"}), ElementsAre("runs/z.json", "runs/a"));
  EXPECT_THAT(refusal({"runs/a"}), StartsWith("runs/a: cannot read this directory: Perm"));
  fs::permissions("runs/a", fs::perms::owner_all);
}

TEST_F(InputSearchTest, TheLogDirectoryIsNotSearched) {
  put("job/x.json");
  put("job/logs/run/w.1.pt.trace.json");
  put("job/.logs.tbtrace-partial/run/.run/w.2.pt.trace.json");
  put("job/.others.tbtrace-partial/run/.run/w.3.pt.trace.json");
  fs::create_directory_symlink("logs/run", "job/link");
  fs::create_directory_symlink("job/logs", "logs_link");
  for (const std::string& logs :
       {std::string("job/logs"), std::string("job/logs/"), std::string("./job/../job/logs"),
        std::string("logs_link"), root() + "/job/logs"}) {
    EXPECT_THAT(found({"job"}, logs), ElementsAre("job/x.json job")) << logs;
    for (const char* named : {"job/logs", "job/logs/run", "job/link", "logs_link",
                              "job/.logs.tbtrace-partial", "job/.logs.tbtrace-partial/run"}) {
      EXPECT_THAT(refusal({named}, logs), HasSubstr("is inside the log directory")) << named;
    }
    EXPECT_THAT(found({"job/logs/run/w.1.pt.trace.json"}, logs),
                ElementsAre("job/logs/run/w.1.pt.trace.json run"));
    EXPECT_THAT(refusal({"job/*/*/*.json"}, logs), HasSubstr("no file matches"));
  }
  EXPECT_THAT(found({"job/link"}, "job/log"), testing::SizeIs(1));  // another, not yet there
  EXPECT_THAT(found({"job/link"}, ""), testing::SizeIs(1));
}

TEST_F(InputSearchTest, PatternsAreExpanded) {
  put("runs/b1/x.json");
  put("runs/a1/x.json");
  put("runs/a1/y.json", R"({"lr": 0.1})");
  put("runs/a2/deep/x.json");
  EXPECT_THAT(found({"runs/*/*.json"}),
              ElementsAre("runs/a1/x.json a1", "runs/a1/y.json a1", "runs/b1/x.json b1"));
  EXPECT_THAT(found({"runs/a[0-9]"}),
              ElementsAre("runs/a1/x.json a1", "runs/a2/deep/x.json a2/deep"));
  EXPECT_THAT(found({"runs/?1"}), ElementsAre("runs/a1/x.json a1", "runs/b1/x.json b1"));
  EXPECT_THAT(found({"ru*"}, "runs/b1"),
              ElementsAre("runs/a1/x.json runs/a1", "runs/a2/deep/x.json runs/a2/deep"));
  EXPECT_THAT(found({"runs/*"}, "runs/b1"),
              ElementsAre("runs/a1/x.json a1", "runs/a2/deep/x.json a2/deep"));
}

TEST_F(InputSearchTest, FilesAreInTheirNaturalOrder) {
  for (const char* name : {"b.json", "B.json", "a.json", "_.json", "10.json", "9.json"}) put(name);
  std::vector<std::string> expected;
  for (const char* name : {"9", "10", "B", "_", "a", "b"}) {
    expected.push_back(name + std::string(".json ") + root_name());
  }
  EXPECT_EQ(found({"*.json"}), expected);
  for (std::string& each : expected) each.insert(0, "./");
  EXPECT_EQ(found({"."}), expected);
}

TEST_F(InputSearchTest, ANameIsNoPatternWhereThereIsOne) {
  put("a[1].json");
  put("a1.json");
  EXPECT_THAT(found({"a[1].json"}), ElementsAre("a[1].json " + root_name()));
}

TEST_F(InputSearchTest, APatternWithoutMatchIsAFailureThatNamesIt) {
  put("runs/config.json", "{}");
  EXPECT_THAT(refusal({"no/*.json"}), StartsWith("no/*.json: "));
  EXPECT_THAT(refusal({"ru*"}), StartsWith("runs: contains no traces; "));
  EXPECT_THAT(refusal({"ru*"}, "runs"), StartsWith("ru*: "));
}

TEST_F(InputSearchTest, ArchivesAreLikeFolders) {
  const std::string tar = fixtures::tar_archive({{"r1.json", std::string(kTrace)},
                                                 {"host/r2.json.gz", gzip_member(kTrace)},
                                                 {"config.json", "{}"},
                                                 {"README", "text"},
                                                 {"._r1.json", "by another system"}});
  put("ranks.tar.gz", gzip_member(tar));
  EXPECT_THAT(found({"ranks.tar.gz", "./ranks.tar.gz"}),
              ElementsAre("ranks.tar.gz/r1.json ranks", "ranks.tar.gz/host/r2.json.gz ranks/host"));
  EXPECT_THAT(passed_over({"ranks.tar.gz"}),
              ElementsAre("ranks.tar.gz/config.json", "ranks.tar.gz/._r1.json"));
  put("job/code.zip", fixtures::zip_archive({{"train.py", "import torch"}}));
  put("job/r.json.zip", fixtures::zip_archive({{"../r.json", std::string(kTrace)}}));
  put("job/text.zip", "not an archive");
  EXPECT_THAT(found({"job"}), ElementsAre("job/r.json.zip/__/r.json job/r.json/__"));
  EXPECT_THAT(passed_over({"job"}), ElementsAre("job/code.zip", "job/text.zip"));
  EXPECT_THAT(found({"job/code.zip"}), ElementsAre("job/code.zip job")) << "its reader says why";
}

TEST_F(InputSearchTest, ArchivesThatAreCutFailAndGiveTheirBeginning) {
  const std::string tar = fixtures::tar_archive({{"r1.json", std::string(kTrace)},
                                                 {"r2.json", std::string(kTrace)},
                                                 {"r3.json", std::string(kTrace)}});
  put("ranks.tar", tar.substr(0, 2300));
  std::vector<std::string> paths;
  for (const FoundInput& input : find_inputs({"ranks.tar"}, "").files) {
    paths.push_back(input.path + (input.problem.ok() ? "" : ": " + input.problem.message()));
  }
  ASSERT_EQ(paths.size(), 3U);
  EXPECT_EQ(paths[0], "ranks.tar/r1.json");
  EXPECT_EQ(paths[1], "ranks.tar/r2.json");
  EXPECT_THAT(paths[2], StartsWith("ranks.tar: is a tar archive that is damaged ("));
}

// A rank that cannot be read must not vanish.
TEST_F(InputSearchTest, WhatIsNamedLikeATraceIsTakenOrFails) {
  put("runs/A.JSON");
  put("runs/b.json.lz4", "\x04\x22\x4d\x18 and so on");
  put("runs/c.json.zst", "damaged");
  put("runs/d.json.tmp", "{\"traceEvents\": [");
  put("runs/e.json.gz.part", "\x1f\x8b");
  put("runs/f.json.xz", "damaged");
  put("runs/config.json.tmp", "{\"lr\": 0.1}");
  put("runs/notes.txt.part", "text");
  std::vector<std::string> paths;
  std::vector<std::string> failed;
  for (const FoundInput& input : find_inputs({"runs"}, "").files) {
    (input.problem.ok() ? paths : failed).push_back(input.path);
    if (!input.problem.ok()) {
      EXPECT_EQ(input.problem.code(), StatusCode::unreadable_input);
      EXPECT_THAT(input.problem.message(), HasSubstr("a trace that is not finished; wait"));
    }
  }
  EXPECT_THAT(paths,
              ElementsAre("runs/A.JSON", "runs/b.json.lz4", "runs/c.json.zst", "runs/f.json.xz"));
  EXPECT_THAT(failed, ElementsAre("runs/d.json.tmp", "runs/e.json.gz.part"));
  EXPECT_THAT(passed_over({"runs"}), ElementsAre("runs/config.json.tmp"));
  EXPECT_THAT(found({"runs/d.json.tmp"}), ElementsAre("runs/d.json.tmp runs"))
      << "a file that is named is read";
}

TEST_F(InputSearchTest, RunsAreSafeNames) {
  put("my\\runs/.hidden/a\nb/x.json");
  EXPECT_THAT(found({"my\\runs"}), ElementsAre("my\\runs/.hidden/a\nb/x.json my_runs/_hidden/a_b"));
  EXPECT_THAT(found({"my\\runs/.hidden/a\nb/x.json"}),
              ElementsAre("my\\runs/.hidden/a\nb/x.json a_b"));
}

TEST_F(InputSearchTest, TooManyDirectoriesAreRefused) {
  for (const char* const folder : {"1", "2", "3"}) put("many/" + std::string(folder) + "/a.json");
  const auto found_among = [](std::size_t most) {
    return find_inputs({"many"}, "the_logs", Wanted::traces, most).files;
  };
  EXPECT_EQ(found_among(4).size(), 3u);
  const std::vector<FoundInput> refused = found_among(3);
  ASSERT_EQ(refused.size(), 1u);
  EXPECT_THAT(refused[0].problem.message(), HasSubstr("has more than 3 directories in it"));
}

}  // namespace
}  // namespace tbtrace::inputs
