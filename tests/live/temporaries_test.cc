// What public functions return by value is safe to use without a name: accessors of a temporary
// give values, or do not compile.
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <tbtrace/analysis_context.h>
#include <tbtrace/collectives.h>
#include <tbtrace/flame_difference.h>
#include <tbtrace/operators.h>
#include <tbtrace/partial.h>
#include <tbtrace/report.h>
#include <tbtrace/status.h>
#include <tbtrace/tables.h>
#include <tbtrace/trace.h>
#include <tbtrace/trace_set.h>

namespace tbtrace {
namespace {

/// Whether the call compiles on a temporary, constant or not.
#define TBTRACE_WORKS_ON_TEMPORARY(Type, ...)                               \
  ([]<typename T>(std::type_identity<T>) {                                  \
    return requires(T && one) { std::forward<T>(one).__VA_ARGS__; }         \
    || requires(const T&& one) { std::forward<const T>(one).__VA_ARGS__; }; \
  }(std::type_identity<Type>()))

// Views and references into a temporary.
static_assert(!TBTRACE_WORKS_ON_TEMPORARY(Trace, events()));
static_assert(!TBTRACE_WORKS_ON_TEMPORARY(Trace, string(StringId{})));
static_assert(!TBTRACE_WORKS_ON_TEMPORARY(Trace, name(EventId{})));
static_assert(!TBTRACE_WORKS_ON_TEMPORARY(Trace, category(EventId{})));
static_assert(!TBTRACE_WORKS_ON_TEMPORARY(Trace, track(TrackId{})));
static_assert(!TBTRACE_WORKS_ON_TEMPORARY(Trace, tracks()));
static_assert(!TBTRACE_WORKS_ON_TEMPORARY(Trace, categories()));
static_assert(!TBTRACE_WORKS_ON_TEMPORARY(Trace, memory()));
static_assert(!TBTRACE_WORKS_ON_TEMPORARY(Trace, flows()));
static_assert(!TBTRACE_WORKS_ON_TEMPORARY(Trace, argument(Argument{})));
static_assert(!TBTRACE_WORKS_ON_TEMPORARY(Trace, memory_argument(Argument{})));
static_assert(!TBTRACE_WORKS_ON_TEMPORARY(Trace, argument_text(EventId{}, Argument{})));
static_assert(!TBTRACE_WORKS_ON_TEMPORARY(Trace, steps()));
static_assert(!TBTRACE_WORKS_ON_TEMPORARY(Trace, by_start()));
static_assert(!TBTRACE_WORKS_ON_TEMPORARY(Trace, metadata()));
static_assert(!TBTRACE_WORKS_ON_TEMPORARY(Trace, issues()));
static_assert(!TBTRACE_WORKS_ON_TEMPORARY(Trace, links()));
static_assert(!TBTRACE_WORKS_ON_TEMPORARY(AnalysisContext, host_ranges()));
static_assert(!TBTRACE_WORKS_ON_TEMPORARY(AnalysisContext, device_links()));
static_assert(!TBTRACE_WORKS_ON_TEMPORARY(AnalysisContext, device_link(EventId{})));
static_assert(!TBTRACE_WORKS_ON_TEMPORARY(JobCollectives, part(CollectiveMember())));
static_assert(!TBTRACE_WORKS_ON_TEMPORARY(JobCollectives, name(MatchedCollective())));
static_assert(!TBTRACE_WORKS_ON_TEMPORARY(RunStacks, stacks(StackWeight::cpu)));
static_assert(!TBTRACE_WORKS_ON_TEMPORARY(Partial, options()));
static_assert(!TBTRACE_WORKS_ON_TEMPORARY(Partial, sources()));
static_assert(!TBTRACE_WORKS_ON_TEMPORARY(StackTree, frame(StackTree::kRoot)));
static_assert(!TBTRACE_WORKS_ON_TEMPORARY(OptionValues, find("")));
static_assert(!TBTRACE_WORKS_ON_TEMPORARY(TableDescription, option("")));
static_assert(!TBTRACE_WORKS_ON_TEMPORARY(TraceSet, operator[](0)));
// They are there for what has a name.
static_assert(requires(const Trace& trace) { trace.events(); });
static_assert(requires(const TraceSet& traces) { traces[0]; });

// Values of a temporary.
static_assert(std::is_object_v<decltype(std::declval<OperatorSummary>().rows())>);
static_assert(
    std::is_same_v<decltype(std::declval<OperatorSummary>().rows()), std::vector<OperatorRow>>);
static_assert(std::is_same_v<decltype(std::declval<OperatorSummary>().data()), OperatorRows>);
static_assert(std::is_same_v<decltype(std::declval<OperatorSummary>().source()), SourceReport>);
static_assert(
    std::is_same_v<decltype(std::declval<OperatorSummary>().threads()), std::vector<ThreadTotal>>);
static_assert(std::is_same_v<decltype(std::declval<OperatorSummary>()[0]), OperatorRow>);
static_assert(std::is_same_v<decltype(std::declval<EventList>()[0]), FunctionEvent>);
static_assert(std::is_same_v<decltype(std::declval<EventList>().source()), SourceReport>);
static_assert(std::is_same_v<decltype(std::declval<FlameDifference>().root()), DifferenceNode>);
static_assert(std::is_same_v<decltype(std::declval<StackTree>().unit()), std::string>);
static_assert(
    std::is_same_v<decltype(std::declval<TraceSet>().unread()), std::vector<UnreadInput>>);
static_assert(
    std::is_same_v<decltype(std::declval<TraceSet>().passed_over()), std::vector<std::string>>);
static_assert(std::is_same_v<decltype(std::declval<Status>().message()), std::string>);
using Numbers = Result<std::vector<int>>;
static_assert(std::is_same_v<decltype(*std::declval<Numbers>()), std::vector<int>>);
static_assert(std::is_same_v<decltype(std::declval<Numbers>().value()), std::vector<int>>);
static_assert(std::is_same_v<decltype(std::declval<Numbers>().status()), Status>);
static_assert(std::is_same_v<decltype(*std::declval<Numbers&>()), std::vector<int>&>);

OperatorSummary three_rows() {
  OperatorRows rows;
  for (const std::string name : {"aten::a_name_too_long_to_be_short", "aten::b", "aten::c"}) {
    rows.rows.emplace_back().key = name;
  }
  return {std::move(rows), Figures::torch};
}

TEST(Temporaries, LoopsOverRowsSeeAllOfThem) {
  std::string of_summary;
  for (const OperatorRow& row : three_rows()) of_summary += row.key;
  EXPECT_EQ(of_summary, "aten::a_name_too_long_to_be_shortaten::baten::c");
  std::string of_rows;
  for (const OperatorRow& row : three_rows().rows()) of_rows += row.key;
  EXPECT_EQ(of_rows, of_summary);
  const OperatorSummary summary = three_rows();
  EXPECT_EQ(summary.size(), 3U);
  EXPECT_EQ(&summary[2], &summary.rows()[2]);
}

TEST(Temporaries, LoopsOverTheValueOfAResultAreSafe) {
  const auto made = [] { return Numbers(std::vector<int>(1000, 1)); };
  int sum = 0;
  for (const int number : *made()) sum += number;
  for (const int number : made().value()) sum += number;
  EXPECT_EQ(sum, 2000);
}

}  // namespace
}  // namespace tbtrace
