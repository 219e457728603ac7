#include "writers/tables/input_labels.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace tbtrace::writers {
namespace {

using Names = std::vector<std::string>;

Names labels(const Names& paths) { return input_labels(paths); }

TEST(InputLabels, LackTheFoldersAndTheEndThatAllShare) {
  EXPECT_EQ(labels({"/logs/iteration_10/rank0_trace.json", "/logs/iteration_20/rank1_trace.json"}),
            (Names{"iteration_10/rank0", "iteration_20/rank1"}));
  EXPECT_EQ(labels({"/logs/worker0.1623143089861.pt.trace.json.gz",
                    "/logs/worker0.1623143566756.pt.trace.json.gz"}),
            (Names{"worker0.1623143089861", "worker0.1623143566756"}));
  EXPECT_EQ(labels({"a/trace.json", "b/trace.json"}), (Names{"a", "b"}));
}

TEST(InputLabels, KeepWholeWords) {
  EXPECT_EQ(labels({"rank10.json", "rank20.json"}), (Names{"rank10", "rank20"}));
  EXPECT_EQ(labels({"/job/ranks_a", "/job/ranks_b"}), (Names{"ranks_a", "ranks_b"}));
  EXPECT_EQ(labels({"x10", "y10"}), (Names{"x10", "y10"}));
}

TEST(InputLabels, AreNeverEmptyAndDiffer) {
  EXPECT_EQ(labels({"trace.json", "b/trace.json"}), (Names{"trace", "b/trace"}));
  EXPECT_EQ(labels({".json", "a.json"}), (Names{".json", "a.json"}));
  EXPECT_EQ(labels({"-", "a.json"}), (Names{"-", "a.json"}));
}

TEST(InputLabels, OfOneInputIsItsFileName) {
  EXPECT_EQ(labels({"/logs/trace.json"}), Names{"trace.json"});
  EXPECT_EQ(labels({"/logs/a.json", "/logs/a.json"}), (Names{"a.json", "a.json"}));
  EXPECT_EQ(labels({}), Names{});
}

}  // namespace
}  // namespace tbtrace::writers
