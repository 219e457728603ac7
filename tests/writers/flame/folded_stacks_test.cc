#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include <tbtrace/flame_graph.h>
#include <tbtrace/report.h>

#include "fixtures/hostile_names.h"
#include "fixtures/random_rounds.h"
#include "fixtures/stack_path.h"

namespace tbtrace {
namespace {

using fixtures::add_path;

std::string line_of(const std::vector<std::string_view>& frames) {
  StackTree stacks("ns");
  add_path(stacks, frames, 7);
  return folded_stacks(stacks);
}

TEST(FoldedStacks, HaveALineForEachStackWithAWeight) {
  StackTree stacks("ns");
  add_path(stacks, {"main", "b"}, 2);
  add_path(stacks, {"main"}, 5);
  add_path(stacks, {"main", "a", "c"}, 3);  // `main;a` has nothing of its own
  add_path(stacks, {"main", "b"}, 4);
  EXPECT_EQ(folded_stacks(stacks), "main 5\nmain;a;c 3\nmain;b 6\n");
}

TEST(FoldedStacks, OfNothingAreEmpty) { EXPECT_EQ(folded_stacks(StackTree("ns")), ""); }

TEST(FoldedStacks, DoNotDependOnTheOrderInWhichStacksCame) {
  StackTree one("ns");
  add_path(one, {"b"}, 1);
  add_path(one, {"a", "c"}, 2);
  StackTree other("ns");
  add_path(other, {"a", "c"}, 2);
  add_path(other, {"b"}, 1);
  EXPECT_EQ(folded_stacks(one), folded_stacks(other));
}

TEST(FoldedStacks, AreSortedByBytesNotByLetters) {
  StackTree stacks("ns");
  for (const std::string_view frame : {"\u00e9", "b", "B", "a;", "a"}) add_path(stacks, {frame}, 1);
  EXPECT_EQ(folded_stacks(stacks), "B 1\na 1\na\\x3b 1\nb 1\n\u00e9 1\n");
}

TEST(FoldedStacks, HoldTheLargestWeight) {
  StackTree stacks("bytes");
  add_path(stacks, {"a"}, std::numeric_limits<std::int64_t>::max());
  EXPECT_EQ(folded_stacks(stacks), "a 9223372036854775807\n");
}

TEST(FoldedStacks, EscapeWhatSeparatesFrames) {
  EXPECT_EQ(line_of({"a;b", "c"}), "a\\x3bb;c 7\n");
  EXPECT_EQ(line_of({"a\\", "c"}), "a\\\\;c 7\n");
  EXPECT_EQ(line_of({"a\\;", "c"}), "a\\\\\\x3b;c 7\n");
}

TEST(FoldedStacks, EscapeControlCharacters) {
  EXPECT_EQ(line_of({fixtures::kBell}), "a\\x07\\x1b[31m\\x7f 7\n");
  EXPECT_EQ(line_of({fixtures::kNewlines}), "first\\x0asecond\\x0d\\x0athird\\x09end 7\n");
  EXPECT_EQ(line_of({std::string_view("\0", 1)}), "\\x00 7\n");
}

TEST(FoldedStacks, LeaveOtherTextAsItIs) {
  EXPECT_EQ(
      line_of({fixtures::kScript}),
      std::string(fixtures::kScript).replace(std::string(fixtures::kScript).find(";"), 1, "\\x3b") +
          " 7\n");
  EXPECT_EQ(line_of({fixtures::kRightToLeft}), std::string(fixtures::kRightToLeft) + " 7\n");
  EXPECT_EQ(line_of({fixtures::kPipes.substr(0, 4)}), "|a|| 7\n");
}

TEST(FoldedStacks, KeepNamesApartThatEscapesCouldMakeEqual) {
  // A newline, and the three characters of its escape.
  EXPECT_NE(line_of({"a\nb"}), line_of({"a\\x0ab"}));
  EXPECT_NE(line_of({"a;b"}), line_of({"a", "b"}));
  EXPECT_NE(line_of({"a\\;b"}), line_of({"a;b"}));
}

TEST(FoldedStacks, HaveOneLineWhateverTheName) {
  for (const std::string_view name : fixtures::kHostileNames) {
    const std::string text = line_of({name, "inner"});
    EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 1) << text;
    EXPECT_TRUE(text.ends_with(";inner 7\n")) << text;
  }
}

/// The lines as they are defined, made one by one from the root and sorted as texts.
std::string sorted_lines(const StackTree& stacks) {
  constexpr std::string_view kHex = "0123456789abcdef";
  std::vector<std::string> lines;
  for (StackTree::Node node = 1; node < stacks.size(); ++node) {
    if (stacks.self(node) == 0) continue;
    std::string line;
    for (StackTree::Node up = node; up != StackTree::kRoot; up = stacks.parent(up)) {
      std::string frame;
      for (const char c : stacks.frame(up)) {
        const auto byte = static_cast<unsigned char>(c);
        if (c == '\\') {
          frame += "\\\\";
        } else if (c == ';' || byte < ' ' || byte == 127) {
          frame += std::string("\\x") + kHex[byte / 16] + kHex[byte % 16];
        } else {
          frame += c;
        }
      }
      line = up == node ? frame : frame + ";" + line;
    }
    lines.push_back(line + " " + std::to_string(stacks.self(node)) + "\n");
  }
  std::sort(lines.begin(), lines.end());
  std::string text;
  for (const std::string& line : lines) text += line;
  return text;
}

/// Frames of few characters, which are those that come before and after `;` and the blank before a
/// weight, or are escaped: nearly all frames begin alike, and many begin with another frame.
TEST(FoldedStacks, AreSortedAsTheirWholeTextsOnRandomTrees) {
  constexpr std::string_view kCharacters(
      "a ;:\\\n\x7f\x00\x1f"
      "1x\xc3~0",
      14);
  std::mt19937 random(13);
  std::size_t lines = 0;
  for (int round = 0; round < fixtures::random_rounds(3000); ++round) {
    StackTree stacks("ns");
    const std::size_t nodes = 1 + random() % 60;
    const std::size_t letters = 1 + random() % kCharacters.size();
    const std::size_t depth = 1 + random() % nodes;
    for (std::size_t node = 0; node < nodes; ++node) {
      std::string frame(random() % 4, ' ');
      for (char& c : frame) c = kCharacters[random() % letters];
      const std::size_t behind = std::min<std::size_t>(random() % depth, stacks.size() - 1);
      const auto parent = static_cast<StackTree::Node>(stacks.size() - 1 - behind);
      const StackTree::Node child = stacks.child(parent, stacks.frame_number(frame));
      const auto most = static_cast<std::int64_t>(random() % 120);
      stacks.add(child, static_cast<std::int64_t>(random() % 3) * most);
    }
    const std::string expected = sorted_lines(stacks);
    ASSERT_EQ(folded_stacks(stacks), expected);
    lines += static_cast<std::size_t>(std::count(expected.begin(), expected.end(), '\n'));
  }
  EXPECT_GT(lines, fixtures::random_rounds(40'000u));
}

}  // namespace
}  // namespace tbtrace
