// What a comparison says in one sentence.
#include "analyses/changes/sentence.h"

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <tbtrace/diff.h>

namespace tbtrace::analyses {
namespace {

using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

struct PartChange {
  std::string key;
  double base_ms;
  double new_ms;
};

std::vector<DiffRow> rows_of(const std::vector<PartChange>& changes, double change_ms) {
  std::vector<DiffRow> rows;
  for (const PartChange& each : changes) {
    DiffRow& row = rows.emplace_back();
    row.key = each.key;
    row.base_ns = each.base_ms * 1e6;
    row.new_ns = each.new_ms * 1e6;
    row.change_ns = row.new_ns - row.base_ns;
    if (change_ms != 0) row.share = row.change_ns / (change_ms * 1e6);
  }
  return rows;
}

Diff with_parts(const std::vector<PartChange>& parts) {
  Diff diff;
  diff.base_names = {"a"};
  diff.new_names = {"b"};
  for (const PartChange& part : parts) {
    diff.step.base_ns += part.base_ms * 1e6;
    diff.step.new_ns += part.new_ms * 1e6;
  }
  diff.step.change = diff.step.new_ns / diff.step.base_ns - 1;
  diff.rows[static_cast<std::size_t>(DiffBy::part)] =
      rows_of(parts, (diff.step.new_ns - diff.step.base_ns) / 1e6);
  return diff;
}

TEST(DiffSentence, NamesThePartThatExplainsTheChange) {
  const Diff diff = with_parts({{"kernel", 60, 61}, {"data_loader", 30, 16}, {"other", 10, 10.2}});
  EXPECT_EQ(sentence_of(diff, "step"),
            "The step is 12.8 % shorter; nearly all of it is less waiting for the data loader; one "
            "run a side cannot say whether that is chance.");
}

TEST(DiffSentence, NamesTheOperatorOfAPartOfOperators) {
  Diff diff = with_parts({{"cpu_op", 10, 14}});
  diff.rows[static_cast<std::size_t>(DiffBy::op)] =
      rows_of({{"aten::mm", 5, 8}, {"[no operator]", 1, 9}}, 4);
  diff.verdict = DiffVerdict::slower;
  EXPECT_EQ(sentence_of(diff, "step"),
            "The step is 40.0 % longer; nearly all of it is more time in operators on the host, "
            "75.0 % of the change in aten::mm.");
  diff.rows[static_cast<std::size_t>(DiffBy::op)] = rows_of({{"aten::mm", 5, 5.1}}, 4);
  EXPECT_THAT(sentence_of(diff, "step"), Not(HasSubstr("aten::mm")))
      << "it explains next to nothing";
}

TEST(DiffSentence, SaysWhatUndoesAPart) {
  const Diff diff = with_parts({{"kernel", 50, 30}, {"memcpy", 10, 20}});
  EXPECT_THAT(
      sentence_of(diff, "step"),
      StartsWith("The step is 16.7 % shorter; what explains it is less time in GPU kernels, "
                 "in part undone by more time in memcpys; "));
}

TEST(DiffSentence, SaysMostWhereOtherPartsChangedToo) {
  EXPECT_THAT(
      sentence_of(with_parts({{"kernel", 50, 60}, {"memcpy", 10, 14}, {"other", 9, 5}}), "step"),
      HasSubstr("; most of it is more time in GPU kernels"));
  EXPECT_THAT(
      sentence_of(with_parts({{"kernel", 50, 54}, {"memcpy", 10, 13}, {"other", 9, 12}}), "step"),
      HasSubstr("; 40.0 % of it is more time in GPU kernels"));
}

TEST(DiffSentence, SaysIfNoPartExplainsIt) {
  EXPECT_THAT(sentence_of(with_parts({{"[rest]", 50, 60}}), "recording"),
              StartsWith("The recording is 20.0 % longer; no part of it explains that alone; "));
}

TEST(DiffSentence, SeesPartsThatMakeUpForEachOther) {
  EXPECT_THAT(
      sentence_of(with_parts({{"kernel", 50, 60}, {"data_loader", 40, 30.2}}), "step"),
      StartsWith("The step takes as long as before (+0.2 %), but more time in GPU kernels and "
                 "less waiting for the data loader make up for each other; one run"));
  EXPECT_EQ(sentence_of(with_parts({{"kernel", 50, 50.1}, {"other", 40, 39.9}}), "step"),
            "The step takes as long as before; one run a side cannot say whether that is chance.");
}

TEST(DiffSentence, SaysTimesOfLargeChangesAndPointsToWarnings) {
  Diff diff = with_parts({{"kernel", 10, 50}});
  diff.comparable = Comparable::warning;
  diff.new_names = {"b", "c"};
  EXPECT_EQ(sentence_of(diff, "step"),
            "The step takes 5.0 times as long; nearly all of it is more time in GPU kernels; the "
            "warnings name what else may explain it.");
  diff.comparable = Comparable::yes;
  EXPECT_THAT(sentence_of(diff, "step"),
              HasSubstr("; the runs cannot say whether that is chance."));
}

TEST(DiffSentence, ExplainsASmallChangeThatTheRunsProve) {
  Diff diff = with_parts({{"kernel", 1000, 1005}});
  diff.verdict = DiffVerdict::same;
  EXPECT_EQ(sentence_of(diff, "step"), "The step takes as long as before (+0.5 %).");
  diff.verdict = DiffVerdict::slower;
  EXPECT_EQ(sentence_of(diff, "step"),
            "The step is 0.5 % longer; nearly all of it is more time in GPU kernels.");
}

TEST(DiffSentence, IsEmptyWithoutAComparison) {
  Diff diff = with_parts({{"kernel", 10, 50}});
  diff.is_same_recording = true;
  EXPECT_EQ(sentence_of(diff, "step"), "");
  diff.is_same_recording = false;
  diff.comparable = Comparable::no;
  EXPECT_EQ(sentence_of(diff, "step"), "");
  EXPECT_EQ(sentence_of(Diff(), "step"), "");
}

}  // namespace
}  // namespace tbtrace::analyses
