#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>
#include <simdjson.h>

#include <tbtrace/report.h>

#include "base/utf8.h"
#include "fixtures/hostile_names.h"

namespace tbtrace {
namespace {

TEST(JsonTable, IsOneObjectWithARowALine) {
  const Table table = {.columns = {"key", "count", "parent"},
                       .rows = {{std::string("aten::mm"), std::int64_t{2}, std::monostate()},
                                {std::string("aten::add"), std::int64_t{1}, std::int64_t{0}}}};
  EXPECT_EQ(table_json("tbtrace.ops/1", table, {{"window_ns", "12"}, {"links", "{\"a\": 1}"}}),
            "{\"schema\": \"tbtrace.ops/1\",\n"
            "\"rows\": [\n"
            "{\"key\": \"aten::mm\", \"count\": 2, \"parent\": null},\n"
            "{\"key\": \"aten::add\", \"count\": 1, \"parent\": 0}\n"
            "],\n"
            "\"window_ns\": 12,\n"
            "\"links\": {\"a\": 1}\n"
            "}\n");
}

TEST(JsonTable, WithoutRowsHasAnEmptyList) {
  simdjson::dom::parser parser;
  const simdjson::padded_string json(table_json("s", {.columns = {"a"}, .rows = {}}, {}));
  const simdjson::dom::element object = parser.parse(json);
  EXPECT_EQ(object["rows"].get_array().size(), 0u);
}

TEST(JsonTable, KeepsTheKindOfEachCell) {
  const Table table = {
      .columns = {"bool", "int", "uint", "double", "list", "json", "none"},
      .rows = {{true, std::numeric_limits<std::int64_t>::min(),
                std::numeric_limits<std::uint64_t>::max(), 0.1,
                std::vector<std::string>{"f;g", "\"h\""}, Json{"[[2], []]"}, std::monostate()}}};
  EXPECT_NE(table_json("s", table, {})
                .find(R"({"bool": true, "int": -9223372036854775808, )"
                      R"("uint": 18446744073709551615, "double": 0.1, "list": ["f;g", "\"h\""], )"
                      R"("json": [[2], []], "none": null})"),
            std::string::npos);
}

TEST(JsonTable, HasNoNumberThatJsonDoesNotKnow) {
  const Table table = {.columns = {"a", "b"},
                       .rows = {{std::numeric_limits<double>::infinity(),
                                 std::numeric_limits<double>::quiet_NaN()}}};
  EXPECT_NE(table_json("s", table, {}).find(R"({"a": null, "b": null})"), std::string::npos);
}

TEST(JsonTable, BringsHostileNamesBackAndMakesTheRestUtf8) {
  simdjson::dom::parser parser;
  for (const std::string_view name : fixtures::kHostileNames) {
    const Table table = {.columns = {"key"}, .rows = {{std::string(name)}}};
    const std::string json = table_json("s", table, {});
    std::string_view back;
    ASSERT_EQ(parser.parse(json)["rows"].at(0)["key"].get(back), simdjson::SUCCESS) << json;
    EXPECT_EQ(back, to_utf8(name));
    EXPECT_TRUE(is_utf8(json));
  }
}

TEST(JsonTable, MayStandInAScriptOfAPage) {
  const Table table = {.columns = {"key"}, .rows = {{std::string(fixtures::kScript)}}};
  EXPECT_EQ(table_json("s", table, {}).find('<'), std::string::npos);
}

TEST(JsonTable, HasNoRawControlCharacterInAName) {
  const Table table = {.columns = {"key"},
                       .rows = {{std::string(fixtures::kBell) + std::string(fixtures::kNewlines)}}};
  std::string json = table_json("s", table, {});
  std::erase(json, '\n');  // between the rows
  for (const char c : json) {
    EXPECT_FALSE(static_cast<unsigned char>(c) < 0x20 || c == 0x7f) << int{c};
  }
}

}  // namespace
}  // namespace tbtrace
