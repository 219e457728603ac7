// The list of views, and what each says of traces that lack what it shows.
#include <string>

#include <gtest/gtest.h>

#include <tbtrace/views.h>

#include "fixtures/chrome_text.h"
#include "fixtures/read_text.h"
#include "pages/written_view.h"

namespace tbtrace {
namespace {

using fixtures::JsonTree;

const ReadOptions kAll = {.threads = 1, .arguments = view_arguments()};

TEST(Views, HaveNamesOfTheirOwn) {
  for (const ViewDescription& view : views()) EXPECT_EQ(view_named(view.name), &view);
  EXPECT_EQ(view_named("nothing"), nullptr);
}

TEST(Views, SayWhyTheyAreEmpty) {
  const Trace trace = fixtures::read(fixtures::trace_text({fixtures::op("aten::add")}), kAll);
  for (const ViewDescription& view : views()) {
    SCOPED_TRACE(view.name);
    const Result<std::string> json = view_document(view.name, trace);
    ASSERT_TRUE(json.ok()) << json.status().message();
    if (view.name == "timeline") continue;  // timeline_text_test.cc
    const JsonTree tree = pages::parsed(*json);
    EXPECT_EQ(pages::member(tree, "schema"), "tbtrace.view/1");
    EXPECT_EQ(pages::member(tree, "view"), view.name);
    for (const JsonTree& table : tree.find("tables")->items) {
      EXPECT_EQ(pages::member(table, "rows") == "0", pages::member(table, "empty") != "-")
          << pages::member(table, "name");
    }
    for (const JsonTree& stacks : tree.find("stacks")->items) {
      EXPECT_EQ(pages::member(stacks, "total") == "0", pages::member(stacks, "empty") != "-");
    }
  }
}

/// Why a table or stacks of a view are empty; `-` if they are not.
std::string why_empty(const Trace& trace, std::string_view view, std::string_view part) {
  const JsonTree tree = pages::parsed(*view_document(view, trace));
  for (const char* const list : {"tables", "stacks"}) {
    for (const JsonTree& each : tree.find(list)->items) {
      if (pages::member(each, "name") == part) return pages::member(each, "empty");
    }
  }
  return "there is no such part";
}

TEST(Views, AskForWhatTheTraceLacks) {
  const Trace bare = fixtures::read(fixtures::trace_text({fixtures::op("aten::add")}), kAll);
  EXPECT_EQ(why_empty(bare, "lines", "all"),
            "the trace has no lines of source; record with with_stack=True");
  EXPECT_EQ(why_empty(bare, "lines", "own"),
            "the trace has no lines of the program's own; record with with_stack=True");
  EXPECT_EQ(why_empty(bare, "flame_graph", "device"), why_empty(bare, "gpu", "devices"));
  EXPECT_EQ(why_empty(bare, "flame_graph", "memory"), why_empty(bare, "memory", "peak"));
}

TEST(Views, DoNotAskForWhatWasRecorded) {
  fixtures::ChromeEvent allocation = fixtures::op("[memory]");
  allocation.with("ph", "\"i\"").without("cat").without("dur");
  allocation.arg("Bytes", "100").arg("Device Type", "1").arg("Device Id", "0").arg("Addr", "7");
  allocation.arg("Total Allocated", "100");
  const Trace trace =
      fixtures::read(fixtures::trace_text({fixtures::op("aten::add"), allocation}), kAll);
  EXPECT_EQ(why_empty(trace, "memory", "peak"), "-");
  EXPECT_EQ(why_empty(trace, "flame_graph", "memory"), "no operator allocated memory on the CPU");

  fixtures::ChromeEvent module = fixtures::op("nn.Module: Linear_0", "9", "20");
  module.with("cat", "\"python_function\"").arg("Python id", "1").arg("Python module id", "0");
  const Trace modules =
      fixtures::read(fixtures::trace_text({module, fixtures::op("aten::add")}), kAll);
  EXPECT_EQ(why_empty(modules, "lines", "all"),
            "the trace has no lines of source; its stacks name modules only");
}

TEST(Views, FailForANameThatThereIsNot) {
  const Trace trace = fixtures::read(fixtures::trace_text({fixtures::op("aten::add")}), kAll);
  EXPECT_EQ(view_document("kernel", trace).status().message(), "there is no view 'kernel'");
  const Status wrong = check_report_page_options({.views = {"kernel"}});
  EXPECT_EQ(wrong.message(), "there is no view 'kernel' (did you mean 'kernels'?)");
}

TEST(Views, FailForATraceThatWasReadWithoutTheirArguments) {
  const Trace trace =
      fixtures::read(fixtures::trace_text({fixtures::op("aten::add")}), {.threads = 1});
  EXPECT_FALSE(view_document("kernels", trace).ok());
}

}  // namespace
}  // namespace tbtrace
