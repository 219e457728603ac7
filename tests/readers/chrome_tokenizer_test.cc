#include "readers/chrome_tokenizer.h"

#include <string>
#include <string_view>
#include <utility>

#include <gtest/gtest.h>

#include "fixtures/tokenized.h"

namespace tbtrace::readers {
namespace {

using fixtures::Tokenized;
using wire::Quoting;

TokenEnd end_of(std::string text, Quoting quoting = Quoting::escaped) {
  ChromeTokenizer tokenizer;
  return Tokenized(std::move(text), tokenizer, quoting).end;
}

TEST(ChromeTokenizer, FindsTheTextOfEachField) {
  ChromeTokenizer tokenizer;
  const std::string text =
      R"({"ph": "X", "cat":"cpu_op" , "name" : "a\"b", "pid": 1 ,"tid" :"stream 7","ts": 1.500,)"
      R"("dur":2,"id":9,"args": {"External id": 5, "Input Dims": [[1, {}], []],"finished":false}},7)";
  const Tokenized tokens(text, tokenizer);
  ASSERT_EQ(tokens.end, TokenEnd::complete);
  EXPECT_EQ(tokens[Field::phase], "X");
  EXPECT_EQ(tokens[Field::category], "cpu_op");
  EXPECT_EQ(tokens[Field::name], R"(a\"b)") << "escapes are left alone";
  EXPECT_EQ(tokens[Field::process], "1");
  EXPECT_EQ(tokens[Field::thread], "stream 7");
  EXPECT_EQ(tokens[Field::timestamp], "1.500");
  EXPECT_EQ(tokens[Field::duration], "2");
  EXPECT_EQ(tokens[Field::flow_id], "9");
  EXPECT_EQ(tokens[Field::external_id], "5");
  EXPECT_EQ(tokens[Field::input_dims], "[[1, {}], []]");
  EXPECT_EQ(tokens[Field::finished], "false");
  EXPECT_EQ(tokens[Field::correlation], "-");
  EXPECT_EQ(tokens.behind, text.size() - 2) << "at the comma behind the event";
}

TEST(ChromeTokenizer, TellsStringsFromScalarsAndNestedValues) {
  ChromeTokenizer tokenizer;
  const Tokenized tokens(R"({"name":"","pid":"1","tid":1,"ts":[],"dur":{"dur":1}})", tokenizer);
  ASSERT_EQ(tokens.end, TokenEnd::complete);
  EXPECT_EQ(tokens.event[Field::name].type, Token::Type::string);
  EXPECT_EQ(tokens[Field::name], "");
  EXPECT_TRUE(tokens.event[Field::process].is_string());
  EXPECT_EQ(tokens.event[Field::thread].type, Token::Type::scalar);
  EXPECT_EQ(tokens.event[Field::timestamp].type, Token::Type::nested);
  EXPECT_EQ(tokens[Field::timestamp], "[]");
  EXPECT_EQ(tokens[Field::duration], R"({"dur":1})");
}

TEST(ChromeTokenizer, ForgetsTheEventOfBefore) {
  ChromeTokenizer tokenizer;
  RawEvent event;
  const Tokenized first(R"({"ph":"X","name":"a","ts":1,"ts":2,"args":{"correlation":5}})",
                        tokenizer);
  const Tokenized second(R"({"ph":"M"})", tokenizer);
  EXPECT_TRUE(first.event.has_repeated_key());
  EXPECT_FALSE(second.event.has_repeated_key());
  EXPECT_EQ(second[Field::name], "-");
  EXPECT_EQ(second[Field::correlation], "-");
}

TEST(ChromeTokenizer, NotesRepeatedKeysThatMeanSomething) {
  ChromeTokenizer tokenizer;
  const Tokenized twice(R"({"ts":1,"ts":2})", tokenizer);
  EXPECT_TRUE(twice.event.has_repeated_key());
  EXPECT_EQ(twice[Field::timestamp], "2");
  EXPECT_TRUE(Tokenized(R"({"args":{"Ev Idx":1,"Ev Idx":1}})", tokenizer).event.has_repeated_key());
  EXPECT_TRUE(
      Tokenized(R"({"args":{"Input Dims":1,"Input dims":1}})", tokenizer).event.has_repeated_key())
      << "two spellings of one";
  EXPECT_FALSE(
      Tokenized(R"({"x":1,"x":2,"args":{"x":3,"x":4}})", tokenizer).event.has_repeated_key());
}

TEST(ChromeTokenizer, KnowsEachKeyInAnyOrderAndHoweverOftenItCame) {
  ChromeTokenizer tokenizer;
  for (int round = 0; round < 3; ++round) {
    for (const FieldRow& row : kEventKeys) {
      if (row.field == Field::arguments) continue;
      const std::string text = R"({"zzz":1,")" + std::string(row.key) + R"(":"v","y":2})";
      EXPECT_EQ(Tokenized(text, tokenizer)[row.field], "v") << row.key;
    }
    for (const FieldRow& row : kArgumentKeys) {
      const std::string text = R"({"args":{"zzz":1,")" + std::string(row.key) + R"(":"v","y":2}})";
      EXPECT_EQ(Tokenized(text, tokenizer)[row.field], "v") << row.key;
    }
  }
}

TEST(ChromeTokenizer, ReadsEmptyObjects) {
  ChromeTokenizer tokenizer;
  const Tokenized empty("{}", tokenizer);
  EXPECT_EQ(empty.end, TokenEnd::complete);
  EXPECT_EQ(empty.event.present, 0u);
  EXPECT_EQ(empty.behind, 2u);
  EXPECT_EQ(end_of(R"({"args":{}})"), TokenEnd::complete);
  EXPECT_EQ(end_of(R"({ "args" : { } , "ts" : 1 })"), TokenEnd::complete);
}

TEST(ChromeTokenizer, SaysWhereTheTextEndsInsideTheEvent) {
  const std::string text =
      R"({"ph":"X","pid":12,"x":[1,{"y":2}],"args":{"Ev Idx":5,"z":[]},"ts":1})";
  for (std::size_t cut = 1; cut < text.size(); ++cut) {
    const std::string part = text.substr(0, cut);
    // The index refuses a text that ends inside a string.
    if (std::count(part.begin(), part.end(), '"') % 2 != 0) continue;
    EXPECT_EQ(end_of(part), TokenEnd::incomplete) << part;
  }
  EXPECT_EQ(end_of(text), TokenEnd::complete);
}

TEST(ChromeTokenizer, RefusesWhatIsNoEvent) {
  for (const std::string_view text :
       {R"({"a" 1, "b": 2})", R"({1:2,"b":3})", R"({"a":1 2,"b":3})", R"({"a":1,,"b":3})",
        R"({"a":1;"b":3})", R"({"a":1]   )", R"({"a":"x" "y","b":1})", R"({a:1,"b":3})",
        R"({"a":1,"args":{"b":2],"c":3})", R"({"a":,"b":3})", R"({:1,"b":2})", R"(["a",1,2,3])"}) {
    EXPECT_EQ(end_of(std::string(text)), TokenEnd::broken) << text;
  }
}

TEST(ChromeTokenizer, LeavesThePositionOfAnEventThatItCouldNotRead) {
  ChromeTokenizer tokenizer;
  EXPECT_EQ(Tokenized(R"({"a" 1, "b": 2})", tokenizer).behind, 0u);
  EXPECT_EQ(Tokenized(R"({"a": 1, "b": )", tokenizer).behind, 0u);
}

TEST(ChromeTokenizer, SuspectsNamesThatDoNotEndAsKinetosDo) {
  const std::string inside_line = "{\n \"ph\": \"X\", \"name\": \"a\", \"b\": \"c\", \"pid\": 1\n}";
  EXPECT_EQ(end_of(inside_line), TokenEnd::complete);
  EXPECT_EQ(end_of(inside_line, Quoting::kineto_lines), TokenEnd::suspicious);
  EXPECT_EQ(end_of(inside_line, Quoting::kineto_inline), TokenEnd::suspicious);
  const std::string own_line = "{\n \"ph\": \"X\",\n \"name\": \"a\",\n \"b\": \"c\"\n}";
  EXPECT_EQ(end_of(own_line, Quoting::kineto_lines), TokenEnd::complete);
  EXPECT_EQ(end_of(own_line, Quoting::kineto_inline), TokenEnd::complete);
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
