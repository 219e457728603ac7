// The document of a comparison and its page: sums, what is left out, sizes, hostile names.
#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <tbtrace/compare_page.h>

#include "fixtures/chrome_text.h"
#include "fixtures/hostile_names.h"
#include "fixtures/read_text.h"
#include "pages/written_view.h"
#include "wire/json_text.h"

namespace tbtrace {
namespace {

using fixtures::JsonTree;
using testing::HasSubstr;
using testing::Not;

struct Sides {
  Diff diff;
  std::vector<RunStacks> base;
  std::vector<RunStacks> changed;
};

/// Two traces of operators one after the other, each as long as its place says.
Sides sides_of(const std::vector<std::string>& base, const std::vector<std::string>& changed) {
  Sides sides;
  std::vector<RunFigures> figures;
  for (const auto& [names, stacks] :
       {std::pair(&base, &sides.base), std::pair(&changed, &sides.changed)}) {
    std::vector<fixtures::ChromeEvent> events;
    std::int64_t at_us = 10;
    for (std::size_t place = 0; place < names->size(); ++place) {
      std::string name;
      wire::append_json_string(name, (*names)[place]);
      const auto duration_us = static_cast<std::int64_t>(place + 1);
      events.push_back(
          fixtures::op("", std::to_string(at_us), std::to_string(duration_us)).with("name", name));
      at_us += duration_us;
    }
    const Trace trace =
        fixtures::read(fixtures::trace_text(events),
                       {.threads = 1, .arguments = diff_arguments() | run_stacks_arguments()});
    RunSum sum(stacks == &sides.base ? "before/t.json" : "after/t.json");
    EXPECT_TRUE(sum.add(trace).ok());
    figures.push_back(sum.figures());
    EXPECT_TRUE(add_stacks(stacks->emplace_back(), trace).ok());
  }
  Result<Diff> found = diff(std::span(figures).first(1), std::span(figures).last(1));
  EXPECT_TRUE(found.ok());
  if (found.ok()) sides.diff = *std::move(found);
  return sides;
}

JsonTree document_of(const Sides& sides, const ComparisonLimits& limits = {}) {
  const Result<std::string> text =
      comparison_document(sides.diff, sides.base, sides.changed, limits);
  EXPECT_TRUE(text.ok());
  return pages::parsed(text.ok() ? *text : "{}");
}

std::string page_of(const Sides& sides, const ComparePageOptions& options = {}) {
  const Result<std::string> html = compare_page(sides.diff, sides.base, sides.changed, options);
  EXPECT_TRUE(html.ok()) << html.status().message();
  return html.ok() ? *html : "";
}

std::vector<std::string> names(std::size_t count) {
  std::vector<std::string> all;
  for (std::size_t at = 0; at < count; ++at) all.push_back("op" + std::to_string(at));
  return all;
}

TEST(Comparison, HasTheComparisonAndBothSidesOfItsStacks) {
  const JsonTree document = document_of(sides_of({"a", "b", "gone"}, {"b", "a", "c", "new"}));
  EXPECT_EQ(pages::member(document, "schema"), "tbtrace.comparison/1");
  EXPECT_EQ(pages::member(*document.find("diff"), "schema"), "tbtrace.diff/1");
  const JsonTree& cpu = document.find("stacks")->items.at(0);
  EXPECT_EQ(pages::member(cpu, "name"), "cpu");
  EXPECT_EQ(pages::list_of(cpu, "base_self"), "0 2000 1000 0 0 3000");
  EXPECT_EQ(pages::list_of(cpu, "new_self"), "0 1000 2000 3000 4000 0");
  EXPECT_EQ(pages::list_of(cpu, "side"), "0 0 0 2 2 1");
  EXPECT_EQ(pages::list_of(cpu, "was"), "-1 -1 -1 -1 -1 -1");
  EXPECT_EQ(pages::list_of(cpu, "parent"), "0 1 2 3 4 5");
  EXPECT_EQ(pages::member(cpu, "base_ns"), "6000");
  EXPECT_EQ(pages::member(cpu, "new_ns"), "10000");
  const JsonTree& device = document.find("stacks")->items.at(1);
  EXPECT_THAT(pages::member(device, "empty"), HasSubstr("Neither side has GPU work"));
  EXPECT_EQ(pages::member(document, "first_stacks"), "cpu");
}

TEST(Comparison, WhatIsLeftOutIsCountedAndItsTimesStay) {
  const Sides sides = sides_of(names(20), {"op0"});
  const JsonTree document = document_of(sides, {.rows = 3, .frames = 5});
  const JsonTree& cpu = document.find("stacks")->items.at(0);
  EXPECT_EQ(pages::member(cpu, "left_out"), "16");
  EXPECT_EQ(pages::member(cpu, "base_ns"), "210000");
  // The root has the times of what is left out: 1 to 16 us.
  EXPECT_EQ(pages::list_of(cpu, "base_self"), "136000 17000 18000 19000 20000");
  std::size_t operators = 0;
  std::int64_t changes = 0;
  for (const JsonTree& row : document.find("diff")->find("rows")->items) {
    if (pages::member(row, "by") != "operator") continue;
    ++operators;
    changes += std::stoll(pages::member(row, "change_ns"));
  }
  EXPECT_EQ(operators, 3U);
  for (const JsonTree& left : document.find("left_out")->items) {
    if (pages::member(left, "by") != "operator") continue;
    EXPECT_EQ(pages::member(left, "rows"), "17");
    changes += std::stoll(pages::member(left, "change_ns"));
  }
  EXPECT_EQ(changes, 1000 - 210'000);
}

TEST(Comparison, ABaselineHasNoStacks) {
  Sides sides = sides_of({"a"}, {"b"});
  sides.base.clear();
  const JsonTree document = document_of(sides);
  EXPECT_TRUE(document.find("stacks")->items.empty());
  EXPECT_THAT(pages::member(document, "no_stacks"), HasSubstr("baseline keeps no stacks"));
}

TEST(Comparison, LongNamesAreCut) {
  const std::string name(100'000, 'x');
  const Sides sides = sides_of({name}, {name, "b"});
  const Result<std::string> text = comparison_document(sides.diff, sides.base, sides.changed);
  ASSERT_TRUE(text.ok());
  EXPECT_LT(text->size(), 20'000U);
}

TEST(ComparePage, IsCompleteAndNoNameIsMarkup) {
  const Sides sides = sides_of({std::string(fixtures::kScript), std::string(fixtures::kNotUtf8)},
                               {std::string(fixtures::kQuotes), std::string(fixtures::kBell)});
  const std::string html = page_of(sides, {.title = "</title><script>alert(1)</script>"});
  EXPECT_THAT(html, Not(HasSubstr("<script>alert")));
  EXPECT_THAT(html, HasSubstr("default-src 'none'; script-src 'sha256-"));
  EXPECT_THAT(html, HasSubstr("id=\"comparison\">H4sI"));
  EXPECT_THAT(html, Not(HasSubstr("src=")));
}

TEST(ComparePage, TitleIsTheNamesOfTheRuns) {
  EXPECT_THAT(page_of(sides_of({"a"}, {"b"})), HasSubstr("<title>t.json \u2192 t.json</title>"));
}

TEST(ComparePage, FitsItsLimitOrSaysWhatItTakes) {
  const Sides sides = sides_of(names(4000), {"op1"});
  const std::size_t whole = page_of(sides).size();
  const std::string small = page_of(sides, {.bytes = whole - 10'000});
  EXPECT_LE(small.size(), whole - 10'000);
  const Result<std::string> none =
      compare_page(sides.diff, sides.base, sides.changed, {.bytes = 1000});
  ASSERT_FALSE(none.ok());
  EXPECT_THAT(none.status().message(), HasSubstr("the page has at least"));
}

}  // namespace
}  // namespace tbtrace
