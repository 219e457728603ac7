// The page as a file: what is in it, its size, and that no name of a trace is markup.
#include <regex>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <tbtrace/memory_snapshot.h>
#include <tbtrace/views.h>

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

Trace trace_of(const std::vector<std::string>& names) {
  std::vector<fixtures::ChromeEvent> events;
  for (std::size_t at = 0; at < names.size(); ++at) {
    std::string name;
    wire::append_json_string(name, names[at]);
    events.push_back(fixtures::op("", std::to_string(10 * at)).with("name", name));
  }
  return fixtures::read(fixtures::trace_text(events),
                        {.threads = 1, .arguments = view_arguments()});
}

std::string html_of(const Trace& trace, const std::string& name, ReportPageOptions options = {}) {
  ReportPage page(std::move(options));
  const Status added = page.add(trace, name);
  EXPECT_TRUE(added.ok()) << added.message();
  const Result<std::string> html = page.html();
  EXPECT_TRUE(html.ok());
  return html.ok() ? *html : "";
}

JsonTree index_of(const std::string& html) {
  const std::size_t begin = html.find("id=\"index\">") + 11;
  return pages::parsed(html.substr(begin, html.find("</script>", begin) - begin));
}

TEST(ReportPage, HasTheViewsOfAMemorySnapshot) {
  const Result<MemorySnapshot> snapshot =
      read_memory_snapshot(TBTRACE_TEST_DATA "/failed_training.pickle");
  ASSERT_TRUE(snapshot.ok()) << snapshot.status().message();
  ReportPage page;
  ASSERT_TRUE(page.add(*snapshot, "rank0_memory_snapshot.pickle").ok());
  Result<std::string> html = page.html();
  ASSERT_TRUE(html.ok());
  EXPECT_THAT(
      *html,
      HasSubstr(R"("views": [{"name": "memory", "title": "Memory"}, {"name": "flame_graph")"));
  EXPECT_THAT(*html, HasSubstr("id=\"view-0-memory\">H4sI"));
  EXPECT_THAT(*html, Not(HasSubstr("id=\"view-0-summary\"")));
  ASSERT_TRUE(page.add(trace_of({"aten::add"}), "rank0.json").ok());
  html = page.html();
  ASSERT_TRUE(html.ok());
  EXPECT_THAT(*html, HasSubstr("id=\"view-1-summary\">H4sI"));
  EXPECT_THAT(*html, HasSubstr("id=\"view-1-memory\">H4sI"));

  EXPECT_THAT(ReportPage({.views = {"kernels"}}).add(*snapshot, "").message(),
              HasSubstr("only the views 'memory' and 'flame_graph'"));
  EXPECT_THAT(ReportPage({.steps = StepRange{1, 2}}).add(*snapshot, "").message(),
              HasSubstr("no steps"));
}

TEST(ReportPage, HasASectionForEachViewAndTrace) {
  ReportPage page;
  ASSERT_TRUE(page.add(trace_of({"aten::add"}), "ranks/rank0.json").ok());
  ASSERT_TRUE(page.add(trace_of({"aten::mul"}), "ranks/rank1.json").ok());
  const Result<std::string> html = page.html();
  ASSERT_TRUE(html.ok());
  for (const ViewDescription& view : views()) {
    for (const char* const trace : {"0", "1"}) {
      // gzip in base64
      const std::string begin =
          "id=\"view-" + std::string(trace) + "-" + std::string(view.name) + "\">H4sI";
      EXPECT_EQ(html->find(begin) != std::string::npos, view.in_report) << view.name;
    }
  }
  const JsonTree index = index_of(*html);
  EXPECT_EQ(pages::member(index, "title"), "rank0.json and 1 more");
  EXPECT_EQ(pages::member(index.find("traces")->items.at(1), "name"), "rank1.json");
}

TEST(ReportPage, KeepsPathsWhereFileNamesAreAlike) {
  ReportPage page;
  ASSERT_TRUE(page.add(trace_of({"a"}), "0/trace.json").ok());
  ASSERT_TRUE(page.add(trace_of({"b"}), "1/trace.json").ok());
  const JsonTree index = index_of(*page.html());
  EXPECT_EQ(pages::member(index.find("traces")->items.at(1), "name"), "1/trace.json");
}

TEST(ReportPage, HasOnlyTheWantedViews) {
  const std::string html = html_of(trace_of({"aten::add"}), "t.json", {.views = {"steps"}});
  EXPECT_THAT(html, HasSubstr("view-0-steps"));
  EXPECT_THAT(html, Not(HasSubstr("view-0-summary")));
}

TEST(ReportPage, AllowsNothingButItsOwnScriptAndStyle) {
  const std::string html = html_of(trace_of({"aten::add"}), "t.json");
  EXPECT_TRUE(std::regex_search(
      html.substr(0, 400),
      std::regex("content=\"default-src 'none'; script-src 'sha256-[A-Za-z0-9+/]{43}='; "
                 "style-src 'sha256-[A-Za-z0-9+/]{43}='\"")));
  for (const char* const word : {"http:", "https:", "innerHTML", "eval(", " style=\""}) {
    std::string without_svg = html;
    const std::string kNamespace = "http://www.w3.org/2000/svg";
    for (std::size_t at; (at = without_svg.find(kNamespace)) != std::string::npos;) {
      without_svg.erase(at, kNamespace.size());
    }
    EXPECT_THAT(without_svg, Not(HasSubstr(word)));
  }
}

TEST(ReportPage, NoNameIsMarkup) {
  std::vector<std::string> names;
  for (const std::string_view name : fixtures::kHostileNames) names.emplace_back(name);
  const std::string name = "</script><script>alert(1)</script>.json";
  const std::string html =
      html_of(trace_of(names), name, {.title = "<img src=x onerror=alert(1)>"});
  EXPECT_THAT(html, Not(HasSubstr("alert(1)</script>")));
  EXPECT_THAT(html, Not(HasSubstr("<img")));
  EXPECT_EQ(pages::member(index_of(html).find("traces")->items.at(0), "name"), "script>.json");
}

TEST(ReportPage, KeepsItsLimit) {
  std::vector<std::string> names;
  for (int at = 0; at < 20000; ++at)
    names.push_back("operator_" + std::to_string(at * 7919 % 20011));
  const Trace trace = trace_of(names);
  const std::size_t whole = html_of(trace, "t.json", {.bytes = 100'000'000}).size();
  const std::size_t limit = whole * 2 / 3;
  const std::string html = html_of(trace, "t.json", {.bytes = limit});
  EXPECT_LE(html.size(), limit);
  EXPECT_GT(html.size(), limit / 3) << "no more is left out than needed, about";
}

TEST(ReportPage, FailsIfItCannotKeepItsLimit) {
  ReportPage page({.bytes = 1000});
  ASSERT_TRUE(page.add(trace_of({"aten::add"}), "t.json").ok());
  EXPECT_THAT(page.html().status().message(),
              testing::MatchesRegex(
                  "the page has at least [0-9]+ KB; allow more, or take fewer traces or views"));
}

TEST(ReportPage, TheViewOfAJobNeedsTwoRanks) {
  ReportPage page({.views = {"ranks"}});
  ASSERT_TRUE(page.add(trace_of({"aten::add"}), "rank0.json").ok());
  EXPECT_THAT(page.html().status().message(), HasSubstr("two or more ranks"));
  ASSERT_TRUE(page.add(trace_of({"aten::add"}), "rank1.json").ok());
  page.add_remark("rank 2 is missing");
  const Result<std::string> html = page.html();
  ASSERT_TRUE(html.ok());
  EXPECT_THAT(*html, HasSubstr("id=\"job-ranks\">H4sI"));
  EXPECT_THAT(*html, Not(HasSubstr("view-0-summary")));
}

TEST(ReportPage, TracesWithoutCollectivesAreNotAJob) {
  ReportPage page;
  ASSERT_TRUE(page.add(trace_of({"aten::add"}), "rank0.json").ok());
  ASSERT_TRUE(page.add(trace_of({"aten::add"}), "rank1.json").ok());
  const Result<std::string> html = page.html();
  ASSERT_TRUE(html.ok());
  EXPECT_THAT(*html, Not(HasSubstr("id=\"job-ranks\"")));
}

TEST(ReportPage, FailsWithoutATrace) { EXPECT_FALSE(ReportPage().html().ok()); }

}  // namespace
}  // namespace tbtrace
