// Jobs of two ranks of which it is known what a change brings.
#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <tbtrace/job_paths.h>
#include <tbtrace/tables.h>

#include "fixtures/trace_rows.h"
#include "trace/trace_builder.h"

namespace tbtrace {
namespace {

using testing::Contains;
using testing::HasSubstr;

constexpr std::int64_t kStart = 10'000;  // from a call of c10d to the start of its collective
constexpr std::int64_t kCall = 20'000;   // the call
constexpr std::int64_t kTransfer = 500'000;
constexpr std::int64_t kRest = 5'000;     // from the end of the collective to the next operator
constexpr std::int64_t kAfter = 100'000;  // that operator
constexpr int kSteps = 6;

/// A rank whose steps work, wait for a collective of gloo, and do a little more.
struct Rank {
  std::int64_t work_ns = 0;
  std::int64_t clock_ns = 0;  // what its clock is ahead
};

Trace trace_of(const std::vector<Rank>& ranks, std::size_t own, int steps = kSteps) {
  TraceBuilder builder;
  const std::int64_t most = std::ranges::max(ranks, {}, &Rank::work_ns).work_ns;
  const std::int64_t length = most + kStart + kTransfer + kRest + kAfter;
  for (int number = 0; number < steps; ++number) {
    const std::int64_t start = ranks[own].clock_ns + number * length;
    const std::int64_t call = start + ranks[own].work_ns;
    const std::int64_t end = start + most + kStart + kTransfer;
    fixtures::add(builder, {.category = "user_annotation",
                            .name = "ProfilerStep#" + std::to_string(number),
                            .start = start,
                            .duration = length});
    fixtures::add(builder, {.name = "work", .start = start, .duration = ranks[own].work_ns});
    fixtures::add(builder, {.name = "c10d::allreduce_", .start = call, .duration = kCall});
    fixtures::add(builder, {.category = "user_annotation",
                            .name = "gloo:all_reduce",
                            .start = call + kStart,
                            .duration = end - call - kStart,
                            .thread = 2});
    fixtures::add(builder, {.name = "after", .start = end + kRest, .duration = kAfter});
  }
  return fixtures::finished(builder);
}

class JobReportTest : public testing::Test {
 protected:
  explicit JobReportTest(const std::vector<Rank>& ranks = {{4'000'000, 0}, {6'000'000, 70'000}})
      : ranks_(ranks) {
    for (std::size_t rank = 0; rank < ranks_.size(); ++rank) {
      traces_.push_back(trace_of(ranks_, rank));
    }
  }
  std::vector<RankTrace> inputs() const {
    std::vector<RankTrace> inputs;
    for (const Trace& trace : traces_) {
      inputs.push_back({&trace, "job/rank" + std::to_string(inputs.size()) + ".json"});
    }
    return inputs;
  }
  Result<JoinedReport> whatif(const std::string& change) const {
    return job_path_report(*table_named("whatif"), inputs(),
                           {{"changes", std::vector<std::string>{change}}});
  }
  /// Of the mean step; nothing if the ranks were not replayed together.
  std::optional<std::int64_t> predicted(const std::string& change) const {
    const Result<JoinedReport> made = whatif(change);
    if (!made.ok() || !made->report) return std::nullopt;
    return total(*made->report, "predicted_ns");
  }
  static std::optional<std::int64_t> total(const AnalysisReport& report, std::string_view name) {
    for (const auto& [key, value] : report.totals) {
      const auto* const number = std::get_if<std::int64_t>(&value);
      if (key == name && number != nullptr) return *number;
    }
    return std::nullopt;
  }
  static std::int64_t length(std::int64_t work) {
    return work + kStart + kTransfer + kRest + kAfter;
  }

  std::vector<Rank> ranks_;
  std::vector<Trace> traces_;
};

TEST_F(JobReportTest, PathGoesThroughTheRankThatComesLast) {
  const Result<JoinedReport> made = job_path_report(*table_named("critical_path"), inputs(), {});
  ASSERT_TRUE(made.ok() && made->report) << made->problem;
  EXPECT_EQ(total(*made->report, "on_path_ns"), kSteps * length(6'000'000));
  EXPECT_EQ(total(*made->report, "steps"), kSteps);
  EXPECT_EQ(total(*made->report, "unexplained_ns"), 0);
  const Table& rows = made->report->table;
  const auto column = [&](std::string_view name) {
    return static_cast<std::size_t>(std::ranges::find(rows.columns, name) - rows.columns.begin());
  };
  ASSERT_FALSE(rows.rows.empty());
  const std::vector<Cell>& first = rows.rows.front();
  EXPECT_EQ(first[column("input")], Cell("job/rank1.json"));
  EXPECT_EQ(first[column("rank")], Cell(std::int64_t{1}));
  EXPECT_EQ(first[column("name")], Cell("work"));
  EXPECT_EQ(first[column("on_path_ns")], Cell(kSteps * std::int64_t{6'000'000}));
  for (const std::vector<Cell>& row : rows.rows) {
    // The wait of rank 0 in its part does not count as work.
    if (row[column("name")] != Cell("gloo:all_reduce")) continue;
    EXPECT_EQ(row[column("total_ns")], Cell(kSteps * kTransfer));
  }
}

TEST_F(JobReportTest, WaitsGetShorterIfTheLastRankIsFaster) {
  EXPECT_EQ(predicted("rank:1 x0.5"), length(4'000'000));
  EXPECT_EQ(predicted("rank:0 x0.5"), length(6'000'000));
  EXPECT_EQ(predicted("rank:0 x2"), length(8'000'000) + kRest + kAfter);
}

TEST_F(JobReportTest, OperatorsOfAllRanksChange) {
  EXPECT_EQ(predicted("operator:work x0.5"), length(3'000'000));
}

TEST_F(JobReportTest, CommunicationIsTheTransfer) {
  EXPECT_EQ(predicted("communication x3"), length(6'000'000) + 2 * kTransfer);
  EXPECT_EQ(predicted("communication x0"), 6'000'000 + kCall + kRest + kAfter);
}

TEST_F(JobReportTest, PaceOfTheOthersIsTheirOwnWork) {
  const Result<JoinedReport> made = whatif("rank:1 =others");
  ASSERT_TRUE(made.ok() && made->report);
  // Own work has the call in place of the collective.
  const double factor = static_cast<double>(4'000'000 + kCall + kRest + kAfter) /
                        static_cast<double>(6'000'000 + kCall + kRest + kAfter);
  EXPECT_NEAR(static_cast<double>(*total(*made->report, "predicted_ns")),
              static_cast<double>(length(4'000'000)), 20'000);
  EXPECT_THAT(made->report->notes, Contains(HasSubstr("if rank 1 were as fast as the others")));
  EXPECT_THAT(made->report->notes,
              Contains(HasSubstr("its work takes " + std::to_string(factor).substr(0, 5))));
}

TEST_F(JobReportTest, ARankThatIsNotThereIsAnError) {
  const Result<JoinedReport> made = whatif("rank:7 x0.5");
  ASSERT_FALSE(made.ok());
  EXPECT_EQ(made.status().message(), "the job has no rank 7");
}

TEST_F(JobReportTest, AnOperatorOfOneRankIsEnough) {
  EXPECT_EQ(predicted("operator:after x0"), length(6'000'000) - kAfter);
  const Result<JoinedReport> made = whatif("operator:nothing x0");
  ASSERT_FALSE(made.ok());
  EXPECT_THAT(made.status().message(), HasSubstr("no operator named 'nothing'"));
}

/// As those that were read from memory.
TEST_F(JobReportTest, RecordingsOfOneNameAreNotMixedUp) {
  std::vector<RankTrace> inputs = this->inputs();
  for (RankTrace& each : inputs) each.path = "<bytes>";
  const Result<JoinedReport> made = job_path_report(*table_named("critical_path"), inputs, {});
  ASSERT_TRUE(made.ok());
  EXPECT_FALSE(made->report);
  EXPECT_FALSE(made->problem.empty());
}

TEST_F(JobReportTest, RanksWithoutCounterpartsAreByThemselves) {
  traces_[1] = trace_of(ranks_, 1, 3);
  const Result<JoinedReport> made = whatif("operator:work x0.5");
  ASSERT_TRUE(made.ok());
  EXPECT_FALSE(made->report);
  EXPECT_THAT(note_of_problem(*made), HasSubstr("each rank was replayed by itself"));
  const Result<JoinedReport> of_rank = whatif("rank:1 x0.5");
  ASSERT_FALSE(of_rank.ok());
  EXPECT_THAT(of_rank.status().message(), HasSubstr("cannot be replayed together"));
}

TEST_F(JobReportTest, OneRecordingHasNoOtherRanks) {
  const Result<AnalysisReport> made =
      make_table("whatif", traces_[0], {{"changes", std::vector<std::string>{"rank:0 x0.5"}}});
  ASSERT_FALSE(made.ok());
  EXPECT_THAT(made.status().message(), HasSubstr("recordings of all ranks"));
  EXPECT_TRUE(joins_ranks(*table_named("whatif")));
  EXPECT_FALSE(joins_ranks(*table_named("steps")));
}

}  // namespace
}  // namespace tbtrace
