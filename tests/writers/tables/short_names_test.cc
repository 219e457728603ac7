#include "writers/tables/short_names.h"

#include <random>
#include <set>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/utf8.h"
#include "fixtures/hostile_names.h"
#include "fixtures/random_rounds.h"

namespace tbtrace::writers {
namespace {

using testing::ElementsAre;
using testing::Ne;

constexpr std::string_view kEllipsis = "\u2026";

std::vector<std::string> shortened(const std::vector<std::string>& names, std::size_t length) {
  return short_names(names, length);
}

TEST(ShortNames, KeepNamesThatFit) {
  EXPECT_THAT(shortened({"aten::mm", "", "void f(int)", "aten::mm"}, 16),
              ElementsAre("aten::mm", "", "void f(int)", "aten::mm"));
}

TEST(ShortNames, LeaveOutResultAndParametersFirst) {
  EXPECT_THAT(shortened({"void at::native::add_kernel<float>(float*, long)"}, 40),
              ElementsAre("at::native::add_kernel<float>"));
  EXPECT_THAT(shortened({"void f<(anonymous namespace)::g(int)>(void (*)(int), int)"}, 40),
              ElementsAre("f<(anonymous namespace)::g(int)>"));
}

TEST(ShortNames, LeaveOutTheMiddle) {
  EXPECT_THAT(shortened({"beginning_of_a_long_name_and_its_end"}, 16),
              ElementsAre("beginnin\u2026its_end"));
}

TEST(ShortNames, ShowWhereLongNamesDiffer) {
  const std::string begin = "elementwise_kernel_with_a_long_name_of_";
  const std::string end = "_and_much_more_that_both_of_them_share_";
  const std::vector<std::string> labels =
      shortened({begin + "add" + end, begin + "mul" + end, begin + "add" + end}, 32);
  EXPECT_THAT(labels[0], testing::AllOf(testing::StartsWith("element"), testing::HasSubstr("add")));
  EXPECT_THAT(labels[1], testing::AllOf(testing::StartsWith("element"), testing::HasSubstr("mul")));
  EXPECT_EQ(labels[0], labels[2]);
}

TEST(ShortNames, TellOverloadsApart) {
  const std::vector<std::string> labels = shortened(
      {"void at::kernel<float>(float*, long, long)", "void at::kernel<float>(int*, long)"}, 32);
  EXPECT_THAT(labels[0], testing::HasSubstr("float*"));
  EXPECT_THAT(labels[1], testing::HasSubstr("int*"));
}

void expect_labels(const std::set<std::string>& names, std::size_t length) {
  const std::vector<std::string> full(names.begin(), names.end());
  const std::vector<std::string> labels = short_names(full, length);
  ASSERT_EQ(labels.size(), full.size());
  EXPECT_EQ(std::set<std::string>(labels.begin(), labels.end()).size(), labels.size());
  for (std::size_t at = 0; at < full.size(); ++at) {
    EXPECT_LE(utf8_length(labels[at]), length) << full[at];
    if (utf8_length(full[at]) <= length) {
      EXPECT_EQ(labels[at], full[at]);
    }
  }
}

TEST(ShortNames, AreDistinctForAllNames) {
  std::mt19937_64 random(20261123);
  for (int round = 0; round < fixtures::random_rounds(300); ++round) {
    std::set<std::string> names;
    // Few letters and long repetitions, so that many share their beginnings and ends.
    for (int name = 0; name < 40; ++name) {
      std::string text;
      for (std::size_t parts = random() % 6; parts > 0; --parts) {
        text.append(random() % 30, "ab(\xc3\xa9"[random() % 5]);
      }
      names.insert(text);
      names.insert("void " + text + "(int)");
      names.insert(text + std::string(kEllipsis) + text);
    }
    expect_labels(names, 16 + random() % 20);
  }
}

TEST(ShortNames, TakeHostileNames) {
  std::set<std::string> names;
  for (const std::string_view name : fixtures::kHostileNames) names.insert(std::string(name));
  expect_labels(names, 16);
}

TEST(ShortNames, NumberNamesThatNothingTellsApart) {
  // Each label of this length is taken by a name that is as long as a label.
  const std::string first = std::string(40, 'x') + "1" + std::string(40, 'x');
  const std::string label = short_names(std::vector{first}, 16).front();
  const std::vector<std::string> labels = shortened({label, first}, 16);
  EXPECT_EQ(labels[0], label);
  EXPECT_THAT(labels[1], Ne(label));
}

TEST(FrameLabels, OfCodeLoseThePathThenTheFile) {
  EXPECT_THAT(frame_labels("/usr/lib/python3/torch/nn/modules/module.py(1501): _call_impl"),
              ElementsAre("/usr/lib/python3/torch/nn/modules/module.py(1501): _call_impl",
                          "modules/module.py(1501): _call_impl", "module.py(1501): _call_impl",
                          "_call_impl"));
  EXPECT_THAT(
      frame_labels("net/net.cpp(7): Net::forward"),
      ElementsAre("net/net.cpp(7): Net::forward", "net.cpp(7): Net::forward", "Net::forward"));
  EXPECT_THAT(frame_labels("C:\\models\\net.py(1): f"),
              ElementsAre("C:\\models\\net.py(1): f", "models\\net.py(1): f", "net.py(1): f", "f"));
  EXPECT_THAT(frame_labels("train.py(3): <module>"),
              ElementsAre("train.py(3): <module>", "<module>"));
}

TEST(FrameLabels, OfModulesLoseWhatAllModulesHave) {
  EXPECT_THAT(frame_labels("nn.Module: Linear_0"), ElementsAre("nn.Module: Linear_0", "Linear_0"));
  EXPECT_THAT(frame_labels("nn.Module: "), ElementsAre("nn.Module: "));
}

TEST(FrameLabels, InBoxesHaveTheEndOfAPathOnly) {
  EXPECT_THAT(box_labels("/home/me/models/net.py(42): forward"),
              ElementsAre("models/net.py(42): forward", "net.py(42): forward", "forward"));
  EXPECT_THAT(box_labels("models/net.py(42): forward"),
              ElementsAre("models/net.py(42): forward", "net.py(42): forward", "forward"));
  EXPECT_THAT(box_labels("aten::mm"), ElementsAre("aten::mm", "mm"));
  EXPECT_THAT(box_labels(""), ElementsAre(""));
}

TEST(FrameLabels, OfFunctionsLoseTheSignatureThenNamespaces) {
  EXPECT_THAT(
      frame_labels("void at::native::f<at::Half>(int)"),
      ElementsAre("void at::native::f<at::Half>(int)", "at::native::f<at::Half>", "f<at::Half>"));
  EXPECT_THAT(frame_labels("aten::mm"), ElementsAre("aten::mm", "mm"));
  EXPECT_THAT(frame_labels("Memcpy HtoD"), ElementsAre("Memcpy HtoD"));
  EXPECT_THAT(frame_labels(""), ElementsAre(""));
  EXPECT_THAT(frame_labels("()"), ElementsAre("()"));
  EXPECT_THAT(frame_labels("void ::"), ElementsAre("void ::", "::"));
}

}  // namespace
}  // namespace tbtrace::writers
