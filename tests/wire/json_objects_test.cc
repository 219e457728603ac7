#include "wire/json_objects.h"

#include <string>
#include <string_view>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tbtrace::wire {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;

std::vector<std::string> texts(std::string_view json) {
  std::vector<std::string> texts;
  for (const JsonObject& object : json_objects(json, "id")) texts.push_back(object.text);
  return texts;
}

std::vector<std::string> ids(std::string_view json) {
  std::vector<std::string> ids;
  for (const JsonObject& object : json_objects(json, "id")) ids.push_back(object.member);
  return ids;
}

TEST(JsonObjects, AreThoseOfTheArrayWithTheirTexts) {
  EXPECT_THAT(texts(R"([{"id":0},{"a":[{"id":1}],"b":{}},{}])"),
              ElementsAre(R"({"id":0})", R"({"a":[{"id":1}],"b":{}})", "{}"));
  EXPECT_THAT(texts(R"([1,{"n":"]},{"},[{"id":3}],null,"{}",{"x":"\"}"}])"),
              ElementsAre(R"({"n":"]},{"})", R"({"x":"\"}"})"));
}

TEST(JsonObjects, HaveTheirFirstMemberOfAName) {
  EXPECT_THAT(ids(R"([{"id":5},{"a":1,"id":-7,"b":2},{"id":1.5e3},{"id":"6"},{"a":{"id":1}}])"),
              ElementsAre("5", "-7", "1.5e3", "\"6\"", ""));
  EXPECT_THAT(ids(R"([{"id":1,"id":2},{"ID":1},{"a":"id"}])"), ElementsAre("1", "", ""));
}

TEST(JsonObjects, AreNoneOfOtherTexts) {
  for (const std::string_view json :
       {"", "{}", R"({"a":{"id":0}})", "5", "null", "\"[{}]\"", "["}) {
    EXPECT_THAT(texts(json), IsEmpty()) << json;
  }
  EXPECT_THAT(texts("[]"), IsEmpty());
}

TEST(JsonScalars, AreTheMembersThatAreNotListsOrObjects) {
  EXPECT_THAT(
      json_scalars(
          R"({"a":1,"b":[{"a":2},"c"],"t":"x\"}","d":{"a":{"t":3}},"n":null,"y":true,"e":{}})"),
      ElementsAre(Pair("a", "1"), Pair("n", "null"), Pair("t", R"("x\"}")"), Pair("y", "true")));
  EXPECT_THAT(json_scalars(R"({"big":1180591620717411303424,"real":-1.5e300,"k\u0041":0})"),
              ElementsAre(Pair("big", "1180591620717411303424"), Pair("kA", "0"),
                          Pair("real", "-1.5e300")));
  EXPECT_THAT(json_scalars(R"({"a":1,"a":2,"b":3,"b":[]})"), ElementsAre(Pair("a", "2")))
      << "the last one counts";
  for (const std::string_view json : {"", "{}", R"([{"a":0}])", "5", "null", R"("{}")"}) {
    EXPECT_THAT(json_scalars(json), IsEmpty()) << json;
  }
}

}  // namespace
}  // namespace tbtrace::wire
