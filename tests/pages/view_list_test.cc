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
    const Result<std::string> json = view_json(view.name, trace);
    ASSERT_TRUE(json.ok()) << json.status().message();
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

TEST(Views, FailForANameThatThereIsNot) {
  const Trace trace = fixtures::read(fixtures::trace_text({fixtures::op("aten::add")}), kAll);
  EXPECT_EQ(view_json("kernel", trace).status().message(), "there is no view 'kernel'");
  const Status wrong = check_report_page_options({.views = {"kernel"}});
  EXPECT_EQ(wrong.message(), "there is no view 'kernel' (did you mean 'kernels'?)");
}

TEST(Views, FailForATraceThatWasReadWithoutTheirArguments) {
  const Trace trace =
      fixtures::read(fixtures::trace_text({fixtures::op("aten::add")}), {.threads = 1});
  EXPECT_FALSE(view_json("kernels", trace).ok());
}

}  // namespace
}  // namespace tbtrace
