#include "readers/blocks/directory.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fixtures/chrome_text.h"
#include "fixtures/read_text.h"
#include "fixtures/reading_ways.h"

namespace tbtrace::readers {
namespace {

using fixtures::ChromeText;
using fixtures::Layout;
using fixtures::op;
using fixtures::read_blocks;
using testing::IsEmpty;
using testing::SizeIs;

ChromeText long_trace(int events) {
  ChromeText trace;
  for (int row = 0; row < events; ++row) {
    auto event = op("op " + std::to_string(row), std::to_string(1000 + row * 7 % 900), "2.125");
    if (row % 4 == 0) event.with("ph", "\"C\"");
    event.arg("list", R"([{"ph":"X","name":"inner"},{"ph":"X"}])");
    trace.events.push_back(event);
  }
  trace.after = {{"more", "[1,2,3]"}};
  return trace;
}

/// What a reader of one block alone would see: the events that start in it.
void expect_partition(const std::string& text, const Reading& reading) {
  const std::vector<BlockDirectory::Block>& blocks = reading.blocks.blocks();
  const Events& events = reading.trace.events();
  ASSERT_FALSE(blocks.empty());
  EXPECT_EQ(blocks.front().first_event, 0u);
  EXPECT_GT(blocks.front().offset, text.find('['));
  EXPECT_LE(reading.blocks.end_offset(), text.size());
  for (std::size_t number = 0; number < blocks.size(); ++number) {
    const bool is_last = number + 1 == blocks.size();
    const std::uint64_t end = is_last ? reading.blocks.end_offset() : blocks[number + 1].offset;
    const std::size_t end_event = is_last ? events.size() : blocks[number + 1].first_event;
    ASSERT_LE(blocks[number].offset, end);
    if (blocks[number].offset == end) continue;  // the rest of a file that was cut
    ASSERT_LE(blocks[number].first_event, end_event);
    // Read alone, the text between is an array of the same ranges.
    std::string part = text.substr(blocks[number].offset, end - blocks[number].offset);
    if (is_last && part.ends_with(']')) part.pop_back();
    const Trace alone = fixtures::read("[" + part + "]");
    ASSERT_EQ(alone.events().size(), end_event - blocks[number].first_event);
    std::int64_t first = std::numeric_limits<std::int64_t>::max();
    std::int64_t last = std::numeric_limits<std::int64_t>::min();
    for (std::size_t row = 0; row < alone.events().size(); ++row) {
      const auto event = static_cast<EventId>(row);
      const auto in_trace = static_cast<EventId>(blocks[number].first_event + row);
      ASSERT_EQ(alone.name(event), reading.trace.name(in_trace));
      first = std::min(first, events.start_ns(in_trace));
      last = std::max(last, events.end_ns(in_trace));
    }
    EXPECT_EQ(blocks[number].first_ns, first);
    EXPECT_EQ(blocks[number].last_ns, last);
  }
}

TEST(BlockDirectory, PartitionsTheEvents) {
  const ChromeText trace = long_trace(9000);
  for (const Layout layout : fixtures::kAllLayouts) {
    const std::string text = trace.text(layout);
    for (const auto& [bytes, threads] : fixtures::reading_ways(4096)) {
      const Reading reading = read_blocks(text, {.threads = threads}, {bytes});
      ASSERT_TRUE(reading.blocks.is_sound());
      ASSERT_GT(reading.blocks.blocks().size(), 3u);
      ASSERT_NO_FATAL_FAILURE(expect_partition(text, reading)) << bytes << ' ' << threads;
    }
  }
}

TEST(BlockDirectory, HasOneBlockForAFewEvents) {
  for (const Layout layout : fixtures::kAllLayouts) {
    const std::string text = long_trace(5).text(layout);
    const Reading reading = read_blocks(text);
    EXPECT_THAT(reading.blocks.blocks(), SizeIs(1));
    ASSERT_NO_FATAL_FAILURE(expect_partition(text, reading));
  }
}

TEST(BlockDirectory, EndsBeforeTheEndOfAFileThatWasCut) {
  const std::string text = long_trace(5000).text();
  const Reading reading = read_blocks(text.substr(0, text.size() - 60));
  EXPECT_TRUE(reading.blocks.is_sound()) << "a cut is not damage";
  EXPECT_LE(reading.blocks.end_offset(), text.size() - 60);
  ASSERT_NO_FATAL_FAILURE(expect_partition(text, reading));
}

TEST(BlockDirectory, KnowsHowTheStringsAreWritten) {
  const ChromeText trace = long_trace(3);
  EXPECT_EQ(read_blocks(trace.text(Layout::minified)).blocks.quoting, wire::Quoting::escaped);
  EXPECT_EQ(read_blocks(trace.text(Layout::kineto_lines)).blocks.quoting,
            wire::Quoting::kineto_lines);
  EXPECT_EQ(read_blocks(trace.text(Layout::kineto_inline)).blocks.quoting,
            wire::Quoting::kineto_inline);
}

TEST(BlockDirectory, IsNotSoundWhereAnEventIsNotJson) {
  const std::string text = long_trace(50).text();
  for (const std::string_view garbage : {"@@@,", "{\"ph\":\"X\",", "\"a\tb\",", "nul,"}) {
    std::string damaged = text;
    damaged.insert(damaged.find("{\"ph\"", text.size() / 2), garbage);
    EXPECT_FALSE(read_blocks(damaged).blocks.is_sound()) << garbage;
  }
  std::string with_number = text;
  with_number.insert(with_number.find("{\"ph\"", text.size() / 2), "17,");
  EXPECT_TRUE(read_blocks(with_number).blocks.is_sound()) << "valid JSON";
}

TEST(BlockDirectory, CountsOnlyTheLastArrayOfEvents) {
  const std::string array = fixtures::array_text(long_trace(3000).events, Layout::minified);
  const std::string text = "{\"traceEvents\":" + array + ",\"traceEvents\":" + array + "}";
  const Reading reading = read_blocks(text);
  EXPECT_EQ(reading.blocks.replaced_arrays(), 1);
  EXPECT_GT(reading.blocks.blocks().front().offset, array.size());
  EXPECT_EQ(reading.blocks.blocks().front().first_event, 0u);
  const Reading empty = read_blocks("{\"traceEvents\":" + array + ",\"traceEvents\":[]}");
  EXPECT_EQ(empty.trace.events().size(), 0u);
}

TEST(BlockDirectory, JoinsBlocksThatAreSmall) {
  BlockDirectory directory;
  EventBatch rows;
  directory.add(100, 0, rows);
  directory.add(200, 3, rows);
  EXPECT_THAT(directory.blocks(), SizeIs(1));
  directory.add(100 + (std::uint64_t{1} << 20), 9, rows);
  ASSERT_THAT(directory.blocks(), SizeIs(2));
  EXPECT_EQ(directory.blocks()[1].first_event, 9u);
  directory.restart();
  EXPECT_THAT(directory.blocks(), IsEmpty());
}

}  // namespace
}  // namespace tbtrace::readers
