#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <tbtrace/flame_graph.h>
#include <tbtrace/report.h>
#include <tbtrace/status.h>

#include "fixtures/scratch_folder.h"
#include "fixtures/whole_file.h"

namespace tbtrace {
namespace {

using fixtures::read_whole_file;
using fixtures::ScratchFolder;

StackTree one_stack() {
  StackTree stacks("ns");
  stacks.add(stacks.child(StackTree::kRoot, stacks.frame_number("main")), 5);
  return stacks;
}

TEST(WriteText, MakesAFileAndNothingElse) {
  const ScratchFolder folder;
  EXPECT_TRUE(write_text("a\n", folder.path("out.txt")).ok());
  EXPECT_EQ(read_whole_file(folder.path("out.txt")), "a\n");
  EXPECT_EQ(folder.names(), std::vector<std::string>{"out.txt"});
}

TEST(WriteText, LeavesAnExistingFileAloneUnlessTold) {
  const ScratchFolder folder;
  const std::string path = folder.path("out.txt");
  ASSERT_TRUE(write_text("first", path).ok());
  const Status second = write_text("second", path);
  EXPECT_EQ(second.code(), StatusCode::output_exists);
  EXPECT_EQ(check_output(path).message(), second.message());
  EXPECT_TRUE(check_output(path, true).ok());
  EXPECT_TRUE(check_output("-").ok());
  EXPECT_EQ(read_whole_file(path), "first");
  EXPECT_TRUE(write_text("third", path, true).ok());
  EXPECT_EQ(read_whole_file(path), "third");
  EXPECT_EQ(folder.names(), std::vector<std::string>{"out.txt"});
}

TEST(WriteText, FailsWhereThereIsNoFolder) {
  const ScratchFolder folder;
  const Status status = write_text("a", folder.path("none/out.txt"));
  EXPECT_EQ(status.code(), StatusCode::unwritable_output);
  EXPECT_TRUE(folder.names().empty());
}

TEST(WriteFoldedStacks, WritesWhatTheTextIs) {
  const ScratchFolder folder;
  const StackTree stacks = one_stack();
  EXPECT_TRUE(write_folded_stacks(stacks, folder.path("out")).ok());
  EXPECT_EQ(read_whole_file(folder.path("out")), folded_stacks(stacks));
  EXPECT_FALSE(write_folded_stacks(stacks, folder.path("out")).ok());
  EXPECT_TRUE(write_folded_stacks(stacks, folder.path("out"), true).ok());
  std::ostringstream stream;
  EXPECT_TRUE(write_folded_stacks(stacks, stream).ok());
  EXPECT_EQ(stream.str(), folded_stacks(stacks));
  stream.setstate(std::ios::badbit);
  EXPECT_EQ(write_folded_stacks(stacks, stream).code(), StatusCode::unwritable_output);
}

TEST(WriteFlameGraphSvg, WritesThePictureWithItsOptions) {
  const ScratchFolder folder;
  const StackTree stacks = one_stack();
  const FlameGraphSvgOptions options = {.title = "mine", .width = 500, .inverted = true};
  EXPECT_TRUE(write_flame_graph_svg(stacks, folder.path("out.svg"), options).ok());
  EXPECT_EQ(read_whole_file(folder.path("out.svg")), *flame_graph_svg(stacks, options));
  EXPECT_FALSE(write_flame_graph_svg(stacks, folder.path("out.svg"), options).ok());
}

}  // namespace
}  // namespace tbtrace
