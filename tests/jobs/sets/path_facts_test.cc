#include "jobs/sets/path_facts.h"

#include <optional>
#include <string>

#include <gtest/gtest.h>

namespace tbtrace::jobs {
namespace {

struct Case {
  std::string path;
  std::optional<std::int64_t> rank;
  std::optional<std::int64_t> iteration;
};

TEST(PathFacts, RanksAndIterationsOfKnownLayouts) {
  const std::optional<std::int64_t> none;
  const Case cases[] = {
      {"outputs/profile_trace/iteration_10/rank3_trace.json", 3, 10},  // torchtitan, torchtune
      {"torch_profile/rank-12.json.gz", 12, none},                     // Megatron-LM
      {"rank-0.Jul_15_10_52_41.1074.pt.trace.json.gz", 0, none},       // Kineto on demand
      {"dp0_pp0_tp1_dcp0_ep1_rank1.1700000000000000000.pt.trace.json.gz", 1, none},       // vLLM
      {"e2e/actor_e2e_rank3-of-8_tp1-pp0-dp1_pid77_20261129150100123.json.gz", 3, none},  // verl
      {"profile_3.json", 3, none},                             // accelerate
      {"node0_1234.1700000000000.pt.trace.json", none, none},  // torch's handler
      {"step_200/rank[7].json", 7, 200},
      {"rank=5/trace.json", 5, none},
      {"RANK_05.json.zst", 5, none},
      {"iter-4/host-a/Rank 6/x.trace.json", 6, 4},
      {"global_step100/rank_1.json", 1, 100},
      {"rank2/rank3.json", 3, none},  // the name is nearer than the folder
      {"frank3.json", none, none},
      {"local_rank_0.json", none, none},
      {"ranking.json", none, none},
      {"rank.json", none, none},
      {"rank123456789012345678901.json", none, none},
      {"rank3a.json", none, none},
      {"", none, none},
      {"rank", none, none},
      {"profile_.json", none, none},
      {std::string("rank\xff 4.json"), none, none},
  };
  for (const Case& each : cases) {
    const PathFacts facts = facts_of_path(each.path);
    EXPECT_EQ(facts.rank, each.rank) << each.path;
    EXPECT_EQ(facts.iteration, each.iteration) << each.path;
  }
}

TEST(PathFacts, FilesOfOneJobHaveFolderAndNameInCommon) {
  const PathFacts one = facts_of_path("job/iteration_10/rank3_trace.json");
  const PathFacts two = facts_of_path("job/iteration_20/rank12_trace.json.gz");
  EXPECT_EQ(one.folder, two.folder);
  EXPECT_EQ(one.name, two.name);
  EXPECT_EQ(one.folder, "job/iteration_*");
  EXPECT_EQ(one.name, "rank*_trace");
  EXPECT_NE(facts_of_path("job/a_rank0.json").name, facts_of_path("job/b_rank0.json").name);
  EXPECT_NE(facts_of_path("a/rank0.json").folder, facts_of_path("b/rank0.json").folder);
  EXPECT_EQ(facts_of_path("/rank0.json").folder, "/");
}

TEST(PathFacts, TimesInNamesDoNotTellFilesApart) {
  EXPECT_EQ(facts_of_path("rank0.1700000000000.pt.trace.json").name,
            facts_of_path("rank0.1700000000999.pt.trace.json").name);
  EXPECT_NE(facts_of_path("rank0.17.pt.trace.json").name,
            facts_of_path("rank0.18.pt.trace.json").name);
}

TEST(PathFacts, RecordingsOfOneProcessHaveTheirNameInCommon) {
  const PathFacts first = facts_of_path("e2e/actor_rank0-of-2_pid77_20261129150100123.json.gz");
  EXPECT_EQ(facts_of_path("e2e/actor_rank0-of-2_pid77_20261129150100123_cycle12.json.gz").name,
            first.name);
  EXPECT_EQ(first.name, "actor_rank*-of-2_pid77_*");
  EXPECT_EQ(facts_of_path("rank0_cycle.json").name, "rank*_cycle");
  EXPECT_EQ(facts_of_path("rank0_cycle1a.json").name, "rank*_cycle1a");
}

TEST(PathFacts, GroupsOfSglangAreKept) {
  const PathFacts facts = facts_of_path("1700000000.5-TP-3-DP-1-PP-0.trace.json.gz");
  EXPECT_EQ(facts.rank, std::nullopt);
  EXPECT_EQ(facts.tensor_parallel, 3);
  EXPECT_EQ(facts.other_groups, "-DP-1-PP-0");
  EXPECT_EQ(facts_of_path("1700000000.5-TP-2-DP-0-PP-0.trace.json.gz").name, facts.name);
}

TEST(PathFacts, WorkersOfTorchsHandler) {
  EXPECT_EQ(facts_of_path("a/host.b_12_1234.1700000000000.pt.trace.json.gz").worker,
            "host.b_12_1234");
  EXPECT_EQ(facts_of_path("worker0.1700000000000.pt.trace.json").worker, "");
  EXPECT_EQ(facts_of_path("host_12.17.pt.trace.json").worker, "");
}

}  // namespace
}  // namespace tbtrace::jobs
