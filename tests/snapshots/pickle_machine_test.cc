// Opcodes one by one: what they give, and what is refused.
#include "snapshots/pickle_machine.h"

#include <string>
#include <string_view>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "io/source.h"
#include "snapshots/assembly.h"
#include "snapshots/data.h"

namespace tbtrace::snapshots {
namespace {

using namespace std::string_view_literals;
using testing::HasSubstr;

struct Outcome {
  std::string message;
  PickleMachine::End end = PickleMachine::End::whole;
  Value root;
};

Outcome outcome(std::string_view pickle) {
  const auto source = io::memory_source(pickle);
  PickleBytes bytes(*source);
  SnapshotData data;
  Assembly assembly(data);
  const Result<PickleMachine::Read> read = PickleMachine(bytes, assembly).run();
  if (!read.ok()) return {read.status().message(), {}, {}};
  return {{}, read->end, read->root};
}

Value whole(std::int64_t number) { return {Kind::integer, static_cast<std::uint64_t>(number)}; }

TEST(PickleMachine, ReadsNumbersOfAllSizes) {
  EXPECT_EQ(outcome("\x80\x02K\xff."sv).root, whole(255));
  EXPECT_EQ(outcome("\x80\x02M\x00\x80."sv).root, whole(32768));
  EXPECT_EQ(outcome("\x80\x02J\xfe\xff\xff\xff."sv).root, whole(-2));
  EXPECT_EQ(outcome("\x80\x02\x8a\x00."sv).root, whole(0));
  EXPECT_EQ(outcome("\x80\x02\x8a\x01\xff."sv).root, whole(-1));
  EXPECT_EQ(outcome("\x80\x02\x8a\x08\x00\x00\x00\x00\x00\x00\x00\x80."sv).root,
            whole(std::int64_t{1} << 63));
  const Value huge = {Kind::huge, 0xffffffffffffffff};
  EXPECT_EQ(outcome("\x80\x02\x8a\x09\xff\xff\xff\xff\xff\xff\xff\xff\x00."sv).root, huge);
  EXPECT_EQ(outcome("\x80\x02\x8a\x09\xff\xff\xff\xff\xff\xff\xff\xff\x01."sv).root.kind,
            Kind::other);
}

TEST(PickleMachine, SharesWhatIsInTheMemo) {
  EXPECT_EQ(outcome("\x80\x04\x8c\x01"
                    "a\x94h\x00\x86."sv)
                .root.kind,
            Kind::list);
  EXPECT_EQ(outcome("\x80\x04]\x94h\x00\x86."sv).message, "");  // an empty list, twice
  EXPECT_EQ(outcome("\x80\x04h\x07."sv).end, PickleMachine::End::damaged);
}

TEST(PickleMachine, RefusesObjectsThatContainThemselves) {
  EXPECT_THAT(outcome("\x80\x04]\x94(h\x00h\x00"
                      "e."sv)
                  .message,
              HasSubstr("contains itself"));
  EXPECT_THAT(outcome("\x80\x04]\x94h\x00"
                      "a."sv)
                  .message,
              HasSubstr("changes an object that is a part of another one at byte 6"));
  EXPECT_THAT(outcome("\x80\x04}\x94(K\x01h\x00u."sv).message, HasSubstr("contains itself"));
}

TEST(PickleMachine, RefusesEverythingThatIsNotData) {
  for (const auto& [opcode, name] : {std::pair("c"sv, "GLOBAL"),
                                     {"\x93"sv, "STACK_GLOBAL"},
                                     {"R"sv, "REDUCE"},
                                     {"b"sv, "BUILD"},
                                     {"i"sv, "INST"},
                                     {"o"sv, "OBJ"},
                                     {"\x81"sv, "NEWOBJ"},
                                     {"\x92"sv, "NEWOBJ_EX"},
                                     {"P"sv, "PERSID"},
                                     {"Q"sv, "BINPERSID"},
                                     {"\x82"sv, "EXT1"}}) {
    const std::string message =
        outcome("\x80\x04N" + std::string(opcode) + "os\nsystem\n.").message;
    EXPECT_THAT(message, HasSubstr("is a pickle with " + std::string(name) + " at byte 3"));
    EXPECT_THAT(message, HasSubstr("makes Python run code"));
  }
  EXPECT_THAT(outcome("\x80\x04\x8f."sv).message, HasSubstr("EMPTY_SET at byte 2, which no"));
  EXPECT_THAT(outcome("\x80\x06."sv).message, HasSubstr("protocol 6"));
}

TEST(PickleMachine, EndsWhereThePickleIsCutOrMakesNoSense) {
  for (const std::string_view cut :
       {""sv, "\x80"sv, "\x80\x04}("sv, "\x80\x04X\x05\x00\x00"sv, "\x80\x04K"sv,
        "\x80\x04\x8a\x05"
        "ab"sv}) {
    EXPECT_EQ(outcome(cut).end, PickleMachine::End::cut);
  }
  for (const std::string_view damaged : {"\x80\x04\xff"sv, "\x80\x04t."sv,
                                         "\x80\x04"
                                         "e."sv,
                                         "\x80\x04s."sv, "\x80\x04\x94."sv, "\x80\x04\x87."sv,
                                         "\x80\x04(."sv, "\x80\x04NN."sv, "\x80\x04}(Nu."sv}) {
    EXPECT_EQ(outcome(damaged).end, PickleMachine::End::damaged);
  }
}

TEST(PickleMachine, KeepsStackAndMemoWithinTheSizeOfThePickle) {
  EXPECT_THAT(outcome("\x80\x04" + std::string(300'000, 'N')).message, HasSubstr("on its stack"));
  EXPECT_THAT(outcome("\x80\x04" + std::string(2'000, '(')).message, HasSubstr("1,000 deep"));
  EXPECT_THAT(outcome("\x80\x04Nr\xff\xff\xff\x7f."sv).message, HasSubstr("of its memo"));
  EXPECT_THAT(outcome("\x80\x04" + std::string(200'000, ']')).message, testing::Ne(""));
}

}  // namespace
}  // namespace tbtrace::snapshots
