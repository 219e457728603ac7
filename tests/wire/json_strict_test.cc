#include "wire/json_strict.h"

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <simdjson.h>

#include "fixtures/random_json.h"
#include "fixtures/random_rounds.h"
#include "wire/json_text.h"

namespace tbtrace::wire {
namespace {

using fixtures::random_rounds;

/// What is appended to text that is there already; `refused` if it stays as it was.
std::string strict(std::string_view value, bool spaced = false) {
  const std::string before = "{\"before\":";
  std::string json = before;
  if (append_strict_json(json, value, spaced)) return json.substr(before.size());
  EXPECT_EQ(json, before) << "something was appended of: " << value;
  return "refused";
}

std::string nested(std::size_t depth, std::string_view open, std::string_view inside,
                   std::string_view close) {
  std::string text;
  for (std::size_t level = 0; level < depth; ++level) text += open;
  text += inside;
  for (std::size_t level = 0; level < depth; ++level) text += close;
  return text;
}

TEST(JsonNumber, IsWhatTheGrammarSays) {
  for (const std::string_view number :
       {"0", "-0", "1", "-1", "10", "1234567890123456789012345678901234567890", "0.0", "-0.5",
        "1.25", "1e5", "1E5", "1e+5", "1e-5", "0e0", "0E-0", "1.5e300", "1e999"}) {
    EXPECT_TRUE(is_json_number(number)) << number;
    EXPECT_EQ(strict(number), number);
  }
}

TEST(JsonNumber, IsNothingElse) {
  for (const std::string_view text :
       {"",     "-",    "+1",    "01",  "-01",      "00",        "1.",    ".5",   "-.5",
        "1.e5", "1e",   "1e+",   "1E-", "1e5.0",    "0x1f",      "1_000", "1,5",  "1 ",
        " 1",   "NaN",  "nan",   "inf", "Infinity", "-Infinity", "1f",    "--1",  "1-",
        "1e5e", "true", "\"1\"", "N/A", "\u0661",   "1\n",       "0.0.0", "1e 5", "- 1"}) {
    EXPECT_FALSE(is_json_number(text)) << text;
  }
}

TEST(StrictJson, TakesEveryKindOfValue) {
  for (const std::string_view value :
       {"true", "false", "null", "\"\"", "\"a\"", "{}", "[]", "[1]", "{\"a\":1}", "[[],{}]",
        "{\"a\":{},\"b\":[]}", "[1,2,3]", "{\"a\":1,\"a\":2}", "{\"\":null}"}) {
    EXPECT_EQ(strict(value), value);
  }
}

TEST(StrictJson, LeavesOutBlanks) {
  EXPECT_EQ(strict(" \t\r\n1 \t\r\n"), "1");
  EXPECT_EQ(strict(" { \"a\" :\n[ 1 ,\t2 ] , \"b\" : { } } "), R"({"a":[1,2],"b":{}})");
  EXPECT_EQ(strict("[ ]"), "[]");
  EXPECT_EQ(strict("[\"a  b\"]"), "[\"a  b\"]") << "those in strings stay";
}

TEST(StrictJson, PutsBlanksBehindCommasAndColonsIfAsked) {
  EXPECT_EQ(strict(R"({"a":[1,2],"b":{}})", true), R"({"a": [1, 2], "b": {}})");
  EXPECT_EQ(strict(" [ \"a,b:c\" ,1]", true), R"(["a,b:c", 1])");
}

TEST(StrictJson, RefusesWhatIsNoJson) {
  for (const std::string_view text : {"",
                                      " ",
                                      "[",
                                      "]",
                                      "{",
                                      "}",
                                      "[1",
                                      "{\"a\"",
                                      "{\"a\":",
                                      "{\"a\":1",
                                      "[1,]",
                                      "[,1]",
                                      "[,]",
                                      "[1,,2]",
                                      "{\"a\":1,}",
                                      "{,}",
                                      "{1:2}",
                                      "{a:1}",
                                      "{'a':1}",
                                      "['a']",
                                      "[1 2]",
                                      "{\"a\" 1}",
                                      "{\"a\":}",
                                      "{\"a\"}",
                                      "[1:2]",
                                      "[\"a\":1]",
                                      "{\"a\",1}",
                                      "1 2",
                                      "1,",
                                      "[]]",
                                      "{}}",
                                      "[}",
                                      "{]",
                                      "[1}",
                                      "{\"a\":1]",
                                      "[[1]",
                                      "True",
                                      "NULL",
                                      "nul",
                                      "truex",
                                      "undefined",
                                      "NaN",
                                      "[NaN]",
                                      "[Infinity]",
                                      "[-Infinity]",
                                      "[01]",
                                      "[+1]",
                                      "[.5]",
                                      "[1.]",
                                      "[0x10]",
                                      "// a\n1",
                                      "/* a */1",
                                      "[1]//",
                                      "\xef\xbb\xbf[1]",
                                      "\f1",
                                      "\v1",
                                      "\xa0"
                                      "1",
                                      "N/A",
                                      ":",
                                      ",",
                                      "{\"a\"::1}",
                                      "{{}}",
                                      "{[]}",
                                      "{\"a\":1:2}"}) {
    EXPECT_EQ(strict(text), "refused") << text;
    EXPECT_EQ(strict(text, true), "refused") << text;
  }
  EXPECT_EQ(strict(std::string_view("1\0", 2)), "refused");
}

TEST(StrictJson, WritesStringsTheOneWay) {
  EXPECT_EQ(strict(R"("\u0041\/\u00e9\n\t")"), "\"A/\u00e9\\n\\t\"");
  EXPECT_EQ(strict(R"("\b\f\r\u007f")"), R"("\u0008\u000c\u000d\u007f")");
  EXPECT_EQ(strict(R"("\u0000")"), R"("\u0000")");
  EXPECT_EQ(strict(R"("\"\\")"), R"("\"\\")");
  EXPECT_EQ(strict("\"\u6f22\U0001f525\""), "\"\u6f22\U0001f525\"");
  EXPECT_EQ(strict(R"({"\u0061\"":1})"), R"({"a\"":1})") << "keys too";
}

TEST(StrictJson, TakesStringsThatBecomeLonger) {
  for (const bool spaced : {false, true}) {
    for (std::size_t strings = 1; strings <= 65; strings *= 2) {
      std::string text = "[";
      std::string expected = "[";
      for (std::size_t string = 0; string < strings; ++string) {
        text += R"("\b\b\b\b",[1],)";
        expected += R"("\u0008\u0008\u0008\u0008",)";
        expected += spaced ? " [1], " : "[1],";
      }
      EXPECT_EQ(strict(text + "2]", spaced), expected + "2]");
    }
  }
}

TEST(StrictJson, JoinsSurrogatesAndReplacesLoneOnes) {
  EXPECT_EQ(strict(R"("\ud83d\udd25")"), "\"\U0001f525\"");
  EXPECT_EQ(strict(R"("\ud83d")"), "\"\ufffd\"");
  EXPECT_EQ(strict(R"("\udd25\ud83d")"), "\"\ufffd\ufffd\"");
  EXPECT_EQ(strict(R"("\ud83dx")"), "\"\ufffdx\"");
}

TEST(StrictJson, RefusesStringsThatAreNone) {
  for (const std::string_view text :
       {"\"", "\"a", "a\"", "\"\\\"", "\"\\x\"", "\"\\u12\"", "\"\\u12g4\"", "\"\\U0041\"",
        "\"\\\n\"", "\"a\nb\"", "\"a\tb\"", "\"\x1f\"", "\"\x01\"", "\"a\"b\"", "\"\"\"", "'a'",
        "\"\\"}) {
    EXPECT_EQ(strict(text), "refused") << text;
    EXPECT_EQ(strict("{" + std::string(text) + ":1}"), "refused") << text;
  }
  EXPECT_EQ(strict(std::string_view("\"\0\"", 3)), "refused");
}

TEST(StrictJson, RefusesWhatIsNoUtf8) {
  for (const std::string_view text :
       {"\"\x80\"", "\"\xff\"", "\"\xc3\"", "\"\xc0\xaf\"", "\"\xe2\x82\"", "\"\xed\xa0\x80\"",
        "\"\xf4\x90\x80\x80\"", "[\"a\",\"\xfe\"]"}) {
    EXPECT_EQ(strict(text), "refused");
  }
}

TEST(StrictJson, MayBeNineHundredLevelsDeep) {
  for (const std::size_t depth : {100u, 101u, 899u, 900u}) {
    const std::string lists = nested(depth, "[", "", "]");
    const std::string objects = nested(depth, "{\"a\":", "1", "}");
    EXPECT_EQ(strict(lists), lists) << depth;
    EXPECT_EQ(strict(objects), objects) << depth;
  }
  for (const std::size_t depth : {901u, 2000u}) {
    EXPECT_EQ(strict(nested(depth, "[", "", "]")), "refused") << depth;
    EXPECT_EQ(strict(nested(depth, "{\"a\":", "1", "}")), "refused") << depth;
  }
  EXPECT_EQ(strict(std::string(100'000, '[')), "refused");
  const std::string many = "[" + nested(500, "[[],", "1", "]") + "]";
  EXPECT_EQ(strict(many), many) << "brackets side by side are not deep";
  EXPECT_EQ(strict(nested(200, "[{\"a\":", "1", "}]")), nested(200, "[{\"a\":", "1", "}]"));
  EXPECT_EQ(strict("[" + nested(200, "[{\"a\":", "1", "]}")), "refused");
}

/// The text of a value as a parser reads it, with its strings written our way.
std::string as_parsed(simdjson::dom::element element) {
  std::string text;
  switch (element.type()) {
    case simdjson::dom::element_type::ARRAY:
      for (const auto child : element.get_array())
        text += (text.empty() ? "" : ",") + as_parsed(child);
      return "[" + text + "]";
    case simdjson::dom::element_type::OBJECT:
      for (const auto field : element.get_object()) {
        if (!text.empty()) text += ',';
        append_json_string(text, field.key);
        text += ':' + as_parsed(field.value);
      }
      return "{" + text + "}";
    case simdjson::dom::element_type::STRING:
      append_json_string(text, element.get_string().value());
      return text;
    default:
      return simdjson::minify(element);
  }
}

TEST(StrictJson, MeansTheSameAsBefore) {
  simdjson::dom::parser before;
  simdjson::dom::parser after;
  for (unsigned seed = 0; seed < random_rounds(3000u); ++seed) {
    fixtures::RandomJson random(seed);
    std::string value = random.blanks();
    value += random.value(4);
    value += random.blanks();
    const simdjson::padded_string original(value);
    simdjson::dom::element element;
    ASSERT_EQ(before.parse(original).get(element), simdjson::SUCCESS) << value;
    for (const bool spaced : {false, true}) {
      const std::string copy = strict(value, spaced);
      simdjson::dom::element again;
      ASSERT_EQ(after.parse(simdjson::padded_string(copy)).get(again), simdjson::SUCCESS) << copy;
      EXPECT_EQ(as_parsed(again), as_parsed(element)) << value;
      EXPECT_EQ(strict(copy, spaced), copy) << "what is strict stays as it is";
    }
  }
}

TEST(StrictJson, RefusesWhatAParserRefuses) {
  // Parsers differ in numbers that no double holds, and in lone surrogates.
  simdjson::dom::parser parser;
  constexpr std::string_view kBytes = "{}[],:\"\\u0 \ne-.1ax\x7f\x80\xc3\xa9";
  int refused = 0;
  for (unsigned seed = 0; seed < random_rounds(20'000u); ++seed) {
    fixtures::RandomJson random(seed);
    std::string value = random.value(3);
    for (std::size_t change = random.below(3); change > 0 && !value.empty(); --change) {
      value[random.below(value.size())] = kBytes[random.below(kBytes.size())];
    }
    const simdjson::padded_string text(value);
    simdjson::dom::element element;
    const simdjson::error_code error = parser.parse(text).get(element);
    const bool differs = error == simdjson::NUMBER_ERROR || value.find("\\ud") != value.npos;
    if (differs) continue;
    refused += error == simdjson::SUCCESS ? 0 : 1;
    EXPECT_EQ(strict(value) == "refused", error != simdjson::SUCCESS) << value;
  }
  EXPECT_GT(refused, random_rounds(3000));
}

std::string canonical(std::string_view value) {
  std::string json = "before";
  if (append_canonical_json(json, value)) return json.substr(6);
  EXPECT_EQ(json, "before") << "something was appended of: " << value;
  return "refused";
}

TEST(CanonicalJson, HasOneTextForEachNumber) {
  const std::vector<std::pair<std::string, std::vector<std::string_view>>> numbers = {
      {"0", {"0", "-0", "0.0", "-0.00", "0e5", "0E-5", "-0.0e+9"}},
      {"3", {"3", "3.0", "3e0", "0.3e1", "30e-1", "3.000E+0", "0.003e3"}},
      {"-1000", {"-1000", "-1e3", "-1000.0", "-0.1e4", "-100000e-2"}},
      {"0.25", {"0.25", "0.250", "25e-2", "2.5e-1", "0.00025e3"}},
      {"10.5", {"10.5", "10.50", "1.05e1", "105E-1"}},
      {"1234567890123456789.123", {"1234567890123456789.123", "1.234567890123456789123e18"}},
      {"18446744073709551615", {"18446744073709551615", "1.8446744073709551615e19"}},
      {"0.0000001", {"1e-7", "0.0000001", "0.00001E-2"}},
      {"1e40", {"1e40", "10e39", "0.1e41", "10000000000000000000000000000000000000000.0"}},
      {"-1.5e-50", {"-1.5e-50", "-15e-51", "-0.15e-49"}},
      {"1e999", {"1e999", "10.0e998"}}};
  for (const auto& [expected, texts] : numbers) {
    for (const std::string_view text : texts) EXPECT_EQ(canonical(text), expected) << text;
  }
}

TEST(CanonicalJson, HasOneTextForEachValue) {
  for (const std::string_view text :
       {R"({"a b": [1, [], {}, "\u00e9/\n"], "c": [NaN, -Infinity, null, true]})",
        "{\"a b\":[1,[],{},\"\xc3\xa9\\/\\u000a\"],\"c\":[NaN,-Infinity,null,true]}",
        "\t{ \"\\u0061 b\" :[1.0\n,[ ] ,{\r} , \"\xc3\xa9/\\n\"],\"\\u0063\":[ NaN,-Infinity , "
        "null,true ]\n} "}) {
    EXPECT_EQ(canonical(text),
              "{\"a b\": [1, [], {}, \"\xc3\xa9/\\n\"], \"c\": [NaN, -Infinity, null, true]}");
  }
}

TEST(CanonicalJson, IsItsOwnCanonicalText) {
  for (unsigned seed = 0; seed < random_rounds(3000u); ++seed) {
    fixtures::RandomJson random(seed);
    const std::string value = random.blanks() + random.value(4);
    const std::string once = canonical(value);
    ASSERT_NE(once, "refused") << value;
    ASSERT_EQ(canonical(once), once) << value;
    ASSERT_EQ(strict(once, true), once) << value;
  }
}

TEST(CanonicalJson, RefusesWhatIsNotJson) {
  for (const std::string_view text :
       {"", "[1,]", "[01]", "[+1]", "[1 2]", "{1: 2}", "[nan]", "\"\t\"", "[-NaN]"}) {
    EXPECT_EQ(canonical(text), "refused") << text;
  }
}

}  // namespace
}  // namespace tbtrace::wire
