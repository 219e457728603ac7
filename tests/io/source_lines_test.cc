// Lines of source files, and that nothing else is read.
#include "io/source_lines.h"

#include <filesystem>
#include <string>

#include <gtest/gtest.h>

#include "fixtures/scratch_folder.h"
#include "fixtures/whole_file.h"

namespace tbtrace::io {
namespace {

struct SourceLinesTest : testing::Test {
  void SetUp() override {
    std::filesystem::create_directories(folder.path("src/net"));
    fixtures::write_whole_file(folder.path("src/net/train.py"), "import torch\n\n  step()  \r\n");
    fixtures::write_whole_file(folder.path("src/notes.txt"), "secret\n");
    fixtures::write_whole_file(folder.path("outside.py"), "secret\n");
  }

  std::string line(const std::string& file, std::int64_t number) {
    Result<SourceLines> lines = SourceLines::below(folder.path("src"));
    EXPECT_TRUE(lines.ok());
    return lines->line(file, number).value_or("nothing");
  }

  fixtures::ScratchFolder folder;
};

TEST_F(SourceLinesTest, AreThoseOfTheFile) {
  EXPECT_EQ(line("net/train.py", 1), "import torch");
  EXPECT_EQ(line("net/train.py", 2), "");
  EXPECT_EQ(line("net/train.py", 3), "step()");
  EXPECT_EQ(line(folder.path("src/net/train.py"), 3), "step()")
      << "an absolute path below the root";
  EXPECT_EQ(line("net/../net/train.py", 1), "import torch");
}

TEST_F(SourceLinesTest, EndWithTheFile) {
  EXPECT_EQ(line("net/train.py", 0), "nothing");
  EXPECT_EQ(line("net/train.py", -1), "nothing");
  EXPECT_EQ(line("net/train.py", 4), "nothing");
  EXPECT_EQ(line("net/other.py", 1), "nothing");
  EXPECT_EQ(line("net", 1), "nothing");
  EXPECT_EQ(line("", 1), "nothing");
}

TEST_F(SourceLinesTest, NothingOutsideOfTheRootIsRead) {
  EXPECT_EQ(line("../outside.py", 1), "nothing");
  EXPECT_EQ(line(folder.path("outside.py"), 1), "nothing");
  EXPECT_EQ(line("/etc/passwd", 1), "nothing");
  EXPECT_EQ(line("notes.txt", 1), "nothing") << "no source file";
  std::filesystem::create_symlink(folder.path("outside.py"), folder.path("src/link.py"));
  EXPECT_EQ(line("link.py", 1), "nothing") << "a link that leads out";
  std::filesystem::create_directory_symlink(folder.root(), folder.path("src/up"));
  EXPECT_EQ(line("up/outside.py", 1), "nothing");
  std::filesystem::create_symlink(folder.path("src/net/train.py"), folder.path("src/inside.py"));
  EXPECT_EQ(line("inside.py", 1), "import torch") << "a link that stays inside";
  // `src2` begins as `src` does, and is not below it.
  std::filesystem::create_directories(folder.path("src2"));
  fixtures::write_whole_file(folder.path("src2/a.py"), "secret\n");
  EXPECT_EQ(line(folder.path("src2/a.py"), 1), "nothing");
}

TEST_F(SourceLinesTest, FailsForARootThatIsNoDirectory) {
  EXPECT_FALSE(SourceLines::below(folder.path("missing")).ok());
  EXPECT_FALSE(SourceLines::below(folder.path("outside.py")).ok());
}

}  // namespace
}  // namespace tbtrace::io
