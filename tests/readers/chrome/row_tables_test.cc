#include "readers/chrome/row_tables.h"

#include <cstdint>
#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include "fixtures/read_text.h"
#include "fixtures/reading_ways.h"

namespace tbtrace::readers {
namespace {

using namespace std::string_view_literals;

/// Tracks of events that have only these two ids; `type` is that of the thread's.
class Tracks {
 public:
  TrackId operator()(std::string_view process, std::string_view thread,
                     Token::Type type = Token::Type::string) {
    RawEvent event;
    event.field_bits = bit(EventField::process) | bit(EventField::thread);
    const std::string texts[2] = {std::string(process) + kPadding, std::string(thread) + kPadding};
    event.fields[static_cast<std::size_t>(EventField::process)] = {
        texts[0].data(), static_cast<std::uint32_t>(process.size()), Token::Type::string};
    event.fields[static_cast<std::size_t>(EventField::thread)] = {
        texts[1].data(), static_cast<std::uint32_t>(thread.size()), type};
    return tables_.track(event, 0);
  }

 private:
  static constexpr const char* kPadding = "12345678";

  static std::uint32_t bit(EventField field) { return LeftOutMembers::bit(field); }

  EventBatch batch_;
  IssueLog issues_;
  RowTables tables_{batch_, issues_};
};

TEST(RowTables, TellIdsApartThatEndInZeros) {
  Tracks track;
  const TrackId short_one = track("1", "a");
  EXPECT_NE(track("1", "a\0"sv), short_one);
  EXPECT_NE(track("1", "a\0\0"sv), track("1", "a\0"sv));
  EXPECT_EQ(track("1", "a"), short_one);
  const TrackId other = track("p\0"sv, "1");
  EXPECT_NE(track("p", "1"), other);
  EXPECT_NE(track("p", "1\0"sv), other);
}

TEST(RowTables, TellStringsFromNumbersWithTheSameBytesButOne) {
  Tracks track;
  const TrackId text = track("1", "1234567\xb1");
  EXPECT_NE(track("1", "12345671", Token::Type::scalar), text);
}

TEST(RowTables, KnowTheSameIdAsANumberAndAsText) {
  Tracks track;
  EXPECT_EQ(track("1", "7", Token::Type::scalar), track("1", "7"));
}

TEST(RowTables, GiveTheSameTracksHoweverTheTextIsRead) {
  std::string text = "[";
  for (int number = 0; number < 40; ++number) {
    if (number > 0) text += ",\n";
    text += R"({"ph":"X","name":"f","pid":1,"ts":1,"dur":1,"tid":"a)";
    text.append(static_cast<std::size_t>(number % 3), '\0');
    text += "\"}";
  }
  const Trace trace = fixtures::read(text + "]");
  EXPECT_EQ(trace.tracks().size(), 3u);
  EXPECT_EQ(fixtures::difference_between_threads(text + "]"), "");
}

}  // namespace
}  // namespace tbtrace::readers
