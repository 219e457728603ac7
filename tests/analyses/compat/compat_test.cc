#include <algorithm>
#include <string>
#include <string_view>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <tbtrace/compat.h>

#include "fixtures/trace_rows.h"

namespace tbtrace {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

TEST(Compat, ListsTheFiguresOfEachTableItsOwnFirst) {
  EXPECT_THAT(figures_of("ops"), ElementsAre(Figures::torch, Figures::exact, Figures::plugin));
  EXPECT_THAT(figures_of("gpu"), ElementsAre(Figures::exact, Figures::plugin));
  EXPECT_THAT(figures_of("flamegraph"), ElementsAre(Figures::exact, Figures::torch));
  EXPECT_THAT(figures_of("lines"), IsEmpty());
}

/// The list and the functions agree: a function fails just for figures that the list does not have.
TEST(Compat, FunctionsMakeTheFiguresThatAreListed) {
  TraceBuilder builder;
  const Trace trace = fixtures::finished(builder);
  const auto code = [&](std::string_view table, Figures figures) {
    if (table == "ops") return operator_summary(trace, figures).status();
    if (table == "steps") return step_breakdown(trace, figures).status();
    if (table == "kernels") return kernels_report(trace, figures).status();
    if (table == "gpu") return gpu_report(trace, figures).status();
    if (table == "memory") return memory_report(trace, figures).status();
    return modules_report(trace, figures).status();
  };
  for (const std::string_view table : {"ops", "steps", "kernels", "gpu", "memory", "modules"}) {
    for (const Figures figures : {Figures::exact, Figures::torch, Figures::plugin}) {
      const Status status = code(table, figures);
      const auto listed = figures_of(table);
      const bool is_listed = std::ranges::find(listed, figures) != listed.end();
      EXPECT_EQ(status.ok(), is_listed) << table << " " << figures_name(figures);
      if (status.ok()) continue;
      EXPECT_THAT(status.message(), HasSubstr(std::string(figures_name(figures))));
    }
  }
}

TEST(Compat, ThePluginShowsAllModulesOfAWholeRecording) {
  TraceBuilder builder;
  const Trace trace = fixtures::finished(builder);
  ModulesOptions options;
  options.depth = 1;
  EXPECT_FALSE(modules_report(trace, Figures::plugin, options).ok());
  options = {};
  options.group_by = ModuleGrouping::type;
  EXPECT_FALSE(modules_report(trace, Figures::plugin, options).ok());
}

TEST(Compat, FailsForKernelGroupingsThatThePluginDoesNotHave) {
  TraceBuilder builder;
  const Trace trace = fixtures::finished(builder);
  for (const Status& status :
       {kernels_report(trace, Figures::plugin, {.group_by = KernelGrouping::op}).status(),
        kernels_report(trace, Figures::plugin, {.group_by = KernelGrouping::family}).status(),
        kernels_report(trace, Figures::plugin, {.by = {GroupKey::device}}).status()}) {
    EXPECT_EQ(status.code(), StatusCode::invalid_argument);
  }
}

}  // namespace
}  // namespace tbtrace
