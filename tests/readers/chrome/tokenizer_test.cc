#include "readers/chrome/tokenizer.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fixtures/tokenized.h"

namespace tbtrace::readers {
namespace {

using fixtures::Tokenized;
using testing::ElementsAre;
using testing::IsEmpty;
using wire::Quoting;

TokenEnd end_of(std::string text, Quoting quoting = Quoting::escaped) {
  ChromeTokenizer tokenizer(ArgumentSet::all());
  return Tokenized(std::move(text), tokenizer, quoting).end;
}

bool repeats_a_key(std::string text) {
  ChromeTokenizer tokenizer(ArgumentSet::all());
  return Tokenized(std::move(text), tokenizer).event.repeats_a_key;
}

TEST(ChromeTokenizer, FindsTheTextOfEachField) {
  ChromeTokenizer tokenizer(ArgumentSet::all());
  const std::string text =
      R"({"ph": "X", "cat":"cpu_op" , "name" : "a\"b", "pid": 1 ,"tid" :"stream 7","ts": 1.500,)"
      R"("dur":2,"id":9,"args": {"External id": 5, "Input Dims": [[1, {}], []],"finished":false}},7)";
  const Tokenized tokens(text, tokenizer);
  ASSERT_EQ(tokens.end, TokenEnd::complete);
  EXPECT_EQ(tokens[EventField::phase], "X");
  EXPECT_EQ(tokens[EventField::category], "cpu_op");
  EXPECT_EQ(tokens[EventField::name], R"(a\"b)") << "escapes are left alone";
  EXPECT_EQ(tokens[EventField::process], "1");
  EXPECT_EQ(tokens[EventField::thread], "stream 7");
  EXPECT_EQ(tokens[EventField::timestamp], "1.500");
  EXPECT_EQ(tokens[EventField::duration], "2");
  EXPECT_EQ(tokens[EventField::flow_id], "9");
  EXPECT_EQ(tokens[Argument::external_id], "5");
  EXPECT_EQ(tokens[Argument::input_dims], "[[1, {}], []]");
  EXPECT_EQ(tokens[Argument::finished], "false");
  EXPECT_EQ(tokens[Argument::correlation], "-");
  EXPECT_EQ(tokens.behind, text.size() - 2) << "at the comma after the event";
}

TEST(ChromeTokenizer, TellsStringsFromScalarsAndNestedValues) {
  ChromeTokenizer tokenizer(ArgumentSet::all());
  const Tokenized tokens(R"({"name":"","pid":"1","tid":1,"ts":[],"dur":{"dur":1}})", tokenizer);
  ASSERT_EQ(tokens.end, TokenEnd::complete);
  EXPECT_EQ(tokens.event[EventField::name].type, Token::Type::string);
  EXPECT_EQ(tokens[EventField::name], "");
  EXPECT_TRUE(tokens.event[EventField::process].is_string());
  EXPECT_EQ(tokens.event[EventField::thread].type, Token::Type::scalar);
  EXPECT_EQ(tokens.event[EventField::timestamp].type, Token::Type::nested);
  EXPECT_EQ(tokens[EventField::timestamp], "[]");
  EXPECT_EQ(tokens[EventField::duration], R"({"dur":1})");
}

TEST(ChromeTokenizer, FindsOnlyTheArgumentsThatAreWanted) {
  ChromeTokenizer tokenizer(ArgumentSet{Argument::correlation});
  const Tokenized tokens(R"({"ts":1,"args":{"External id":5,"correlation":6}})", tokenizer);
  ASSERT_EQ(tokens.end, TokenEnd::complete);
  EXPECT_EQ(tokens[Argument::correlation], "6");
  EXPECT_EQ(tokens[Argument::external_id], "-");
  EXPECT_EQ(tokens[EventField::timestamp], "1") << "fields are always wanted";
}

TEST(ChromeTokenizer, ForgetsTheEventOfBefore) {
  ChromeTokenizer tokenizer(ArgumentSet::all());
  const Tokenized first(R"({"ph":"X","name":"a","ts":1,"ts":2,"args":{"correlation":5}})",
                        tokenizer);
  const Tokenized second(R"({"ph":"M"})", tokenizer);
  EXPECT_TRUE(first.event.repeats_a_key);
  EXPECT_FALSE(second.event.repeats_a_key);
  EXPECT_EQ(second[EventField::name], "-");
  EXPECT_EQ(second[Argument::correlation], "-");
}

TEST(ChromeTokenizer, TakesTheLastOfARepeatedKeyThatMeansSomething) {
  ChromeTokenizer tokenizer(ArgumentSet::all());
  const Tokenized twice(R"({"ts":1,"ts":2})", tokenizer);
  EXPECT_TRUE(twice.event.repeats_a_key);
  EXPECT_EQ(twice[EventField::timestamp], "2");
  EXPECT_TRUE(repeats_a_key(R"({"args":{"Ev Idx":1,"Ev Idx":1}})"));
  EXPECT_FALSE(repeats_a_key(R"({"args":{"Input Dims":1,"Input dims":1}})"))
      << "two spellings are two keys";
  EXPECT_FALSE(repeats_a_key(R"({"x":1,"x":2,"args":{"x":3,"x":4}})"));
}

TEST(ChromeTokenizer, TakesTheNewerOfTwoSpellingsUnlessItIsNull) {
  for (const auto& [json, expected] :
       {std::pair(R"({"args":{"External id":5,"external id":7}})", "5"),
        {R"({"args":{"external id":7,"External id":5}})", "5"},
        {R"({"args":{"External id":5,"external id":null}})", "5"},
        {R"({"args":{"external id":7,"External id":null}})", "7"},
        {R"({"args":{"External id":null,"external id":7}})", "7"},
        {R"({"args":{"external id":7}})", "7"},
        {R"({"args":{"external id":7,"external id":8,"External id":null}})", "8"}}) {
    ChromeTokenizer tokenizer(ArgumentSet::all());
    EXPECT_EQ(Tokenized(json, tokenizer)[Argument::external_id], expected) << json;
  }
}

TEST(ChromeTokenizer, PassesOverValuesOfAnyDepth) {
  for (const std::size_t depth : {1u, 31u, 32u, 33u, 63u, 64u, 65u, 66u, 200u, 5000u}) {
    std::string value;
    for (std::size_t level = 0; level < depth; ++level) value += level % 2 == 0 ? "{\"a\":" : "[";
    value += '1';
    for (std::size_t level = depth; level-- > 0;) value += level % 2 == 0 ? '}' : ']';
    ChromeTokenizer tokenizer(ArgumentSet::all());
    const Tokenized nested(R"({"x":)" + value + R"(,"args":{"y":)" + value + R"(},"ph":"X"})",
                           tokenizer);
    EXPECT_EQ(nested.end, TokenEnd::complete) << depth;
    EXPECT_EQ(nested[EventField::phase], "X") << depth;
  }
}

TEST(ChromeTokenizer, RefusesObjectsThatAreNoJson) {
  for (const char* json : {R"({"x":}})", R"({"x":,"ph":"X"})", R"({"args":{"x":[1}}})",
                           R"({"args":{"x":{1]}})", R"({"x":[[1}]})", R"({"x"::1})"}) {
    ChromeTokenizer tokenizer(ArgumentSet::all());
    EXPECT_EQ(Tokenized(json, tokenizer).end, TokenEnd::broken) << json;
  }
}

TEST(ChromeTokenizer, TakesOnlyTheLastOfRepeatedArguments) {
  ChromeTokenizer tokenizer(ArgumentSet::all(), true);
  const Tokenized twice(
      R"({"args":{"External id":1,"correlation":2,"own":3},"ts":1,"args":{"correlation":4}})",
      tokenizer);
  EXPECT_TRUE(twice.event.repeats_a_key);
  EXPECT_EQ(twice[Argument::correlation], "4");
  EXPECT_EQ(twice[Argument::external_id], "-") << "the earlier object does not count";
  ASSERT_EQ(twice.event.argument_members.size(), 1u);
  for (const std::string_view last : {"null", "[]", "5", "\"text\""}) {
    const Tokenized other(R"({"args":{"External id":1},"args":)" + std::string(last) + "}",
                          tokenizer);
    EXPECT_EQ(other[Argument::external_id], "-") << last;
    EXPECT_THAT(other.event.argument_members, IsEmpty()) << last;
  }
}

TEST(ChromeTokenizer, KnowsEachKeyInAnyOrderAndHoweverOftenItCame) {
  ChromeTokenizer tokenizer(ArgumentSet::all());
  for (int round = 0; round < 3; ++round) {
    for (const EventKey& row : kEventKeys) {
      if (row.field == EventField::arguments) continue;
      const std::string text = R"({"zzz":1,")" + std::string(row.key) + R"(":"v","y":2})";
      EXPECT_EQ(Tokenized(text, tokenizer)[row.field], "v") << row.key;
    }
    for (std::size_t row = 0; row < kArgumentCount; ++row) {
      for (const std::string_view key : kArgumentRows[row].keys) {
        if (key.empty()) continue;
        const std::string text = R"({"args":{"zzz":1,")" + std::string(key) + R"(":"v","y":2}})";
        EXPECT_EQ(Tokenized(text, tokenizer)[static_cast<Argument>(row)], "v") << key;
      }
    }
  }
}

TEST(ChromeTokenizer, ComparesKeysByTheirMeaning) {
  ChromeTokenizer tokenizer(ArgumentSet::all());
  const Tokenized tokens(
      R"({"\u0070h":"X","n\u0061me":"a","args":{"External\u0020id":5,"correlatio\u006E":6}})",
      tokenizer);
  EXPECT_EQ(tokens[EventField::phase], "X");
  EXPECT_EQ(tokens[EventField::name], "a");
  EXPECT_EQ(tokens[Argument::external_id], "5");
  EXPECT_EQ(tokens[Argument::correlation], "6");
  EXPECT_TRUE(repeats_a_key(R"({"ts":1,"\u0074s":2})"));
  EXPECT_EQ(Tokenized(R"({"\\u0070h":"X"})", tokenizer)[EventField::phase], "-")
      << "an escaped backslash";
}

TEST(ChromeTokenizer, ReadsKeysLongerThanItCanRemember) {
  ChromeTokenizer tokenizer(ArgumentSet::all());
  for (const std::size_t size : {20u, 43u, 44u, 45u, 46u, 47u, 60u, 500u}) {
    const std::string key(size, 'k');
    for (int round = 0; round < 2; ++round) {
      const Tokenized tokens("{\"" + key + "\":1,\"ts\"" + std::string(size, ' ') + ":2}",
                             tokenizer);
      ASSERT_EQ(tokens.end, TokenEnd::complete) << size;
      EXPECT_EQ(tokens[EventField::timestamp], "2") << size;
    }
  }
}

TEST(ChromeTokenizer, ReadsEventsOfMoreKeysThanItCanRemember) {
  ChromeTokenizer tokenizer(ArgumentSet::all());
  for (int round = 0; round < 3; ++round) {
    std::string text = "{";
    for (int key = 0; key < 300; ++key) {
      text += "\"key " + std::to_string(key * 7 % 300) + "\":" + std::to_string(round) + ",";
    }
    const Tokenized tokens(text + R"("ph":"X","args":{"correlation":8}})", tokenizer);
    ASSERT_EQ(tokens.end, TokenEnd::complete);
    EXPECT_EQ(tokens[EventField::phase], "X");
    EXPECT_EQ(tokens[Argument::correlation], "8");
  }
}

std::vector<std::string> texts(const std::vector<RawMember>& members) {
  std::vector<std::string> texts;
  for (const RawMember& member : members) {
    texts.push_back(std::string(member.key) + "=" + std::string(member.value.text()));
  }
  return texts;
}

TEST(ChromeTokenizer, ListsAllMembersIfAsked) {
  const std::string text =
      R"({"ph":"X","own":[1, {"a":2}],"args":{"External id":5,"x":"y","n":{"args":{}}},"bp":NaN})";
  ChromeTokenizer tokenizer({}, true);
  const Tokenized tokens(text, tokenizer);
  EXPECT_THAT(texts(tokens.event.members),
              ElementsAre("ph=X", "own=[1, {\"a\":2}]", "args=", "bp=NaN"));
  EXPECT_THAT(texts(tokens.event.argument_members),
              ElementsAre("External id=5", "x=y", "n={\"args\":{}}"));
  EXPECT_EQ(tokens.event.members[0].field, EventField::phase);
  EXPECT_EQ(tokens.event.members[1].field, EventField::none);
  EXPECT_EQ(tokens.event.argument_members[0].argument, Argument::external_id);
  EXPECT_EQ(tokens.event.argument_members[1].argument, Argument::none);
  ChromeTokenizer without({});
  EXPECT_THAT(Tokenized(text, without).event.members, IsEmpty());
}

TEST(ChromeTokenizer, ReadsEmptyObjects) {
  ChromeTokenizer tokenizer(ArgumentSet::all());
  const Tokenized empty("{}", tokenizer);
  EXPECT_EQ(empty.end, TokenEnd::complete);
  EXPECT_EQ(empty.event.field_bits, 0u);
  EXPECT_EQ(empty.event.argument_bits, 0u);
  EXPECT_EQ(empty.behind, 2u);
  EXPECT_EQ(end_of(R"({"args":{}})"), TokenEnd::complete);
  EXPECT_EQ(end_of(R"({ "args" : { } , "ts" : 1 })"), TokenEnd::complete);
}

TEST(ChromeTokenizer, SaysWhereTheTextEndsInsideTheEvent) {
  const std::string text =
      R"({"ph":"X","pid":12,"x":[1,{"y":2}],"args":{"Ev Idx":5,"z":[]},"ts":1})";
  for (std::size_t cut = 1; cut < text.size(); ++cut) {
    const std::string part = text.substr(0, cut);
    // The index gives the positions before a string that is open.
    if (std::count(part.begin(), part.end(), '"') % 2 != 0) continue;
    EXPECT_EQ(end_of(part), TokenEnd::incomplete) << part;
  }
  EXPECT_EQ(end_of(text), TokenEnd::complete);
}

TEST(ChromeTokenizer, RefusesWhatIsNotAnEvent) {
  for (const std::string_view text :
       {R"({"a" 1, "b": 2})", R"({1:2,"b":3})", R"({"a":1 2,"b":3})", R"({"a":1,,"b":3})",
        R"({"a":1;"b":3})", R"({"a":1]   )", R"({"a":"x" "y","b":1})", R"({a:1,"b":3})",
        R"({"a":1,"args":{"b":2],"c":3})", R"({"a":,"b":3})", R"({:1,"b":2})", R"(["a",1,2,3])"}) {
    EXPECT_EQ(end_of(std::string(text)), TokenEnd::broken) << text;
  }
}

TEST(ChromeTokenizer, LeavesThePositionOfAnEventThatItCouldNotRead) {
  ChromeTokenizer tokenizer(ArgumentSet::all());
  EXPECT_EQ(Tokenized(R"({"a" 1, "b": 2})", tokenizer).behind, 0u);
  EXPECT_EQ(Tokenized(R"({"a": 1, "b": )", tokenizer).behind, 0u);
}

TEST(ChromeTokenizer, SuspectsNamesThatDoNotEndAsKinetosDo) {
  const std::string inside_line = "{\n \"ph\": \"X\", \"name\": \"a\", \"b\": \"c\", \"pid\": 1\n}";
  EXPECT_EQ(end_of(inside_line), TokenEnd::complete);
  EXPECT_EQ(end_of(inside_line, Quoting::kineto_lines), TokenEnd::suspicious);
  EXPECT_EQ(end_of(inside_line, Quoting::kineto_inline), TokenEnd::suspicious);
  for (const std::string line_end : {"\n", "\r\n"}) {
    const std::string own_line = "{" + line_end + " \"ph\": \"X\"," + line_end +
                                 " \"name\": \"a\"," + line_end + " \"b\": \"c\"" + line_end + "}";
    EXPECT_EQ(end_of(own_line, Quoting::kineto_lines), TokenEnd::complete);
    EXPECT_EQ(end_of(own_line, Quoting::kineto_inline), TokenEnd::complete);
  }
  const std::string before_pid = "{\n \"ph\": \"X\", \"name\": \"a\", \"pid\": 1\n}";
  EXPECT_EQ(end_of(before_pid, Quoting::kineto_lines), TokenEnd::suspicious);
  EXPECT_EQ(end_of(before_pid, Quoting::kineto_inline), TokenEnd::complete);
  const std::string arrow = "{\n \"ph\": \"s\",\n \"cat\": \"c\", \"name\": \"a\"\n}";
  EXPECT_EQ(end_of(arrow, Quoting::kineto_inline), TokenEnd::complete);
  const std::string brace = "{\n \"ph\": \"X\", \"name\": \"a\"}, {\"b\": \"c\", \"pid\": 1\n}";
  EXPECT_EQ(end_of(brace, Quoting::kineto_lines), TokenEnd::suspicious);
  EXPECT_EQ(end_of(brace, Quoting::kineto_inline), TokenEnd::suspicious);
}

}  // namespace
}  // namespace tbtrace::readers
