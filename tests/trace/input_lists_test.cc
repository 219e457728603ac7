#include "trace/input_lists.h"

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fixtures/trace_rows.h"

namespace tbtrace {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

/// `32x28|list||`, a part for each argument.
std::string dims_of(std::string_view json) {
  std::string text;
  for (const InputDims& input : parse_dims(json)) {
    if (input.is_list) text += "list";
    for (const std::int64_t size : input.sizes) text.append("x").append(std::to_string(size));
    text += '|';
  }
  return text;
}

TEST(ParseDims, ReadsSizesOfEachArgument) {
  EXPECT_EQ(dims_of("[[32, 28], [], [7]]"), "x32x28||x7|");
  EXPECT_EQ(dims_of("[[32,28],[],[7]]"), "x32x28||x7|");
  EXPECT_EQ(dims_of(" [\n\t[ 32 , 28 ] , [ ] ] "), "x32x28||");
  EXPECT_EQ(dims_of("[[0, -1, 9223372036854775807]]"), "x0x-1x9223372036854775807|");
}

TEST(ParseDims, MarksListsOfTensors) {
  EXPECT_EQ(dims_of("[[[2, 3], [4]], [5]]"), "list|x5|");
  EXPECT_EQ(dims_of("[[[]], [[[1]]], []]"), "list|list||");
}

TEST(ParseDims, ReadsNothingWhereThereIsNothing) {
  for (const std::string_view json : {"", "[]", " [ ] ", "null", "{}", "7", "\"[[1]]\""}) {
    EXPECT_THAT(parse_dims(json), IsEmpty()) << json;
  }
}

TEST(ParseDims, TakesWhatMakesSenseOfTextThatIsNoList) {
  EXPECT_EQ(dims_of("[[1, 2], [3"), "x1x2||") << "the unfinished argument has no sizes";
  EXPECT_EQ(dims_of("[[1], null, [2]]"), "x1|");
  EXPECT_EQ(dims_of("[[1], [2, x], [3]]"), "x1||x3|");
  EXPECT_EQ(dims_of("[[1], [1.5], [3]]"), "x1||x3|");
  EXPECT_EQ(dims_of("[[99999999999999999999], [3]]"), "|x3|");
  EXPECT_EQ(dims_of("["), "");
  EXPECT_EQ(dims_of("[["), "|");
}

TEST(ParseDims, EndsInTimeOnHostileNesting) {
  const auto start = std::chrono::steady_clock::now();
  const std::string open(200'000, '[');
  const std::string close(200'000, ']');
  EXPECT_EQ(dims_of(open), "list|");
  EXPECT_EQ(dims_of(open + close), "list|");
  std::string pairs = "[";
  for (int pair = 0; pair < 100'000; ++pair) pairs += "[[],";
  EXPECT_EQ(dims_of(pairs), "list|");
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(5));
}

TEST(ParseTexts, ReadsTypesAndValues) {
  EXPECT_THAT(parse_texts(R"(["float", "", "Scalar"])"), ElementsAre("float", "", "Scalar"));
  EXPECT_THAT(parse_texts(R"( [ "a" , "b" ] )"), ElementsAre("a", "b"));
  EXPECT_THAT(parse_texts(R"(["[1, 2]", "[]"])"), ElementsAre("[1, 2]", "[]"));
  EXPECT_THAT(parse_texts("[]"), IsEmpty());
  EXPECT_THAT(parse_texts(""), IsEmpty());
  EXPECT_THAT(parse_texts("null"), IsEmpty());
}

TEST(ParseTexts, KeepsQuotesThatTheWriterDidNotEscape) {
  EXPECT_THAT(parse_texts(R"(["say "hi" twice", "x"])"), ElementsAre(R"(say "hi" twice)", "x"));
  EXPECT_THAT(parse_texts(R"(["""", "x"])"), ElementsAre(R"("")", "x"));
}

TEST(ParseTexts, StopsWhereTheListBreaks) {
  EXPECT_THAT(parse_texts(R"(["a", 5, "b"])"), ElementsAre("a"));
  EXPECT_THAT(parse_texts(R"(["a", "b)"), ElementsAre("a"));
  EXPECT_THAT(parse_texts(R"(["a" "b"])"), ElementsAre(R"(a" "b)"));
}

TEST(ParseTexts, EndsInTimeOnQuotesWithoutAnEnd) {
  const auto start = std::chrono::steady_clock::now();
  EXPECT_THAT(parse_texts("[" + std::string(200'000, '"')), IsEmpty());
  std::string spaced = "[";
  for (int quote = 0; quote < 50'000; ++quote) spaced += "\"    x";
  EXPECT_THAT(parse_texts(spaced), IsEmpty());
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(5));
}

TEST(ParseIntegers, ReadsAListAndNothingElse) {
  std::vector<std::int64_t> values;
  EXPECT_TRUE(parse_integers("[1, -2,3]", values));
  EXPECT_THAT(values, ElementsAre(1, -2, 3));
  EXPECT_TRUE(parse_integers(" [ 4 ] ", values));
  EXPECT_THAT(values, ElementsAre(4)) << "values of before are gone";
  EXPECT_TRUE(parse_integers("[]", values));
  EXPECT_THAT(values, IsEmpty());
  for (const std::string_view json :
       {"", "same", "5", "[", "[1", "[1,", "[1 2]", "[1.5]", "[a]", "[[1]]", "[1] x", "[\"1\"]",
        "[1]]", "[,1]", "[99999999999999999999]"}) {
    EXPECT_FALSE(parse_integers(json, values)) << json;
  }
}

TEST(ShapesText, LooksAsPythonPrintsIt) {
  EXPECT_EQ(shapes_text(parse_dims("[[32, 28], [], [7]]"), {"float", "Scalar", "float"}),
            "[[32, 28], [], [7]]");
  EXPECT_EQ(shapes_text({}, {}), "[]");
}

TEST(ShapesText, LeavesOutTheSizesOfListsOfTensors) {
  EXPECT_EQ(shapes_text(parse_dims("[[[2, 3], [4]], [5]]"), {"TensorList", "float"}), "[[], [5]]");
  EXPECT_EQ(shapes_text(parse_dims("[[2, 3], [5]]"), {"TensorList"}), "[[], [5]]")
      << "the type decides";
  EXPECT_EQ(shapes_text(parse_dims("[[2, 3], [5]]"), {}), "[[2, 3], [5]]")
      << "types may be missing";
}

TEST(ShapesOf, ReadsTheTextsOfAnOperator) {
  TraceBuilder builder;
  const EventId event = fixtures::add(builder, {});
  const EventId without_sizes = fixtures::add(builder, {});
  const EventId bare = fixtures::add(builder, {});
  builder.add_argument(event, Argument::input_dims, builder.intern("[[2, 3], [[4]]]"));
  builder.add_argument(event, Argument::input_types, builder.intern(R"(["float", "TensorList"])"));
  builder.add_argument(without_sizes, Argument::input_types, builder.intern(R"(["float"])"));
  const Trace trace = fixtures::finished(builder);
  EXPECT_EQ(shapes_of(trace, inputs_of(trace, event)), "[[2, 3], []]");
  EXPECT_EQ(shapes_of(trace, inputs_of(trace, without_sizes)), "");
  EXPECT_TRUE(inputs_of(trace, without_sizes).is_given());
  EXPECT_FALSE(inputs_of(trace, bare).is_given());
}

}  // namespace
}  // namespace tbtrace
