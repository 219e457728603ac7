#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <tbtrace/jobs.h>

#include "fixtures/chrome_text.h"
#include "fixtures/gzip_member.h"
#include "fixtures/scratch_folder.h"
#include "fixtures/whole_file.h"

namespace tbtrace {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

constexpr std::int64_t kRecorded = 1'700'000'000'000'000'000;

/// What a file of a rank has in it. Negative numbers are left out.
struct Content {
  std::int64_t rank = -1;
  std::int64_t world = -1;
  std::string process = "1";
  std::int64_t start_us = 10;
  std::int64_t base = kRecorded;
  std::string nccl = {};
  bool base_at_end = false;
  std::size_t events = 1;
};

std::string text_of(const Content& content) {
  fixtures::ChromeText text;
  if (content.rank >= 0) {
    std::string info = R"({"backend": "nccl", "rank": )" + std::to_string(content.rank);
    if (content.world >= 0) info += ", \"world_size\": " + std::to_string(content.world);
    if (!content.nccl.empty()) info += ", \"nccl_version\": \"" + content.nccl + "\"";
    text.before.emplace_back("distributedInfo", info + "}");
  }
  if (content.base >= 0) {
    (content.base_at_end ? text.after : text.before)
        .emplace_back("baseTimeNanoseconds", std::to_string(content.base));
  }
  for (std::size_t event = 0; event < content.events; ++event) {
    text.events.push_back(
        fixtures::op("op", std::to_string(content.start_us)).with("pid", content.process));
  }
  return text.text();
}

class JobsTest : public testing::Test {
 protected:
  std::string put_text(const std::string& name, const std::string& text) {
    const std::string path = folder.path(name);
    std::filesystem::create_directories(std::filesystem::path(path).parent_path());
    fixtures::write_whole_file(path, text);
    return path;
  }
  std::string put(const std::string& name, const Content& content) {
    return put_text(name, text_of(content));
  }

  JobList find() const { return find_jobs({folder.root().string()}); }
  Job only_job() const {
    JobList list = find();
    EXPECT_EQ(list.jobs.size(), 1U);
    return list.jobs.empty() ? Job() : list.jobs.front();
  }

  std::vector<std::string> names(const std::vector<JobFile>& files) const {
    std::vector<std::string> names;
    for (const JobFile& file : files) {
      names.push_back(std::filesystem::path(file.path).lexically_relative(folder.root()).string());
    }
    return names;
  }

  fixtures::ScratchFolder folder;
};

TEST_F(JobsTest, RanksOfAJobByContentInTheirOrder) {
  for (const int rank : {10, 2, 0}) {
    put("worker" + std::to_string(100 - rank) + ".json", {.rank = rank, .world = 12});
  }
  const Job job = only_job();
  EXPECT_THAT(job.ranks(), ElementsAre(0, 2, 10));
  EXPECT_THAT(names(job.files), ElementsAre("worker100.json", "worker98.json", "worker90.json"));
  EXPECT_EQ(job.world_size, 12);
  EXPECT_EQ(job.backend, "nccl");
  EXPECT_EQ(job.files[0].rank_source, RankSource::content);
  EXPECT_EQ(job.files[0].process, "1");
  EXPECT_EQ(job.files[0].start_ns, kRecorded + 10'000);
  EXPECT_EQ(job.files[0].base_time_ns, kRecorded);
  ASSERT_THAT(job.missing_ranks, SizeIs(3));
  EXPECT_EQ(job.missing_ranks[0].first, 1);
  EXPECT_EQ(job.missing_ranks[1].first, 3);
  EXPECT_EQ(job.missing_ranks[1].last, 9);
  EXPECT_EQ(job.missing_ranks[2].first, 11);
  EXPECT_THAT(job_remarks(find()),
              ElementsAre("ranks 1, 3-9, 11 have no trace (the job has 12 ranks); results are of "
                          "the ranks that are there"));
}

TEST_F(JobsTest, RanksByPathWhereTheContentSaysNothing) {
  put("iteration_10/rank0_trace.json", Content{});
  put("iteration_10/rank2_trace.json", Content{});
  put("iteration_20/rank0_trace.json", {.start_us = 20});
  const Job job = only_job();
  EXPECT_THAT(job.ranks(), ElementsAre(0, 2));
  EXPECT_THAT(job.iterations(), ElementsAre(10, 20));
  EXPECT_EQ(job.files[0].rank_source, RankSource::path);
  EXPECT_THAT(names(job.files),
              ElementsAre("iteration_10/rank0_trace.json", "iteration_10/rank2_trace.json",
                          "iteration_20/rank0_trace.json"));
  EXPECT_THAT(job_remarks(find()),
              ElementsAre("rank 1 has no trace; results are of the ranks that are there"));
}

TEST_F(JobsTest, TheRankInAFileCountsMoreThanItsName) {
  const std::string path = put("rank5.json", {.rank = 1, .world = 2});
  put("rank0.json", {.rank = 0, .world = 2});
  const Job job = only_job();
  EXPECT_THAT(job.ranks(), ElementsAre(0, 1));
  EXPECT_EQ(job.files[1].rank_of_path, 5);
  EXPECT_THAT(job_remarks(find()),
              ElementsAre(path + " has rank 1 in it, not rank 5 as its path says; the rank in the "
                                 "file counts"));
}

TEST_F(JobsTest, JobsOfDifferentSizesInOneFolder) {
  put("a0.json", {.rank = 0, .world = 2});
  put("a1.json", {.rank = 1, .world = 2});
  put("b0.json", {.rank = 0, .world = 4, .start_us = 20});
  const JobList list = find();
  ASSERT_THAT(list.jobs, SizeIs(2));
  EXPECT_EQ(list.jobs[0].world_size, 2);
  EXPECT_EQ(list.jobs[1].world_size, 4);
  EXPECT_THAT(job_remarks(list).front(), HasSubstr("the inputs are of 2 jobs: "));
  EXPECT_THAT(job_remarks(list).back(), HasSubstr("ranks 1-3 have no trace in "));
}

TEST_F(JobsTest, RunsOfOneScriptAreJobsByTheirProcesses) {
  for (int rank = 0; rank < 2; ++rank) {
    const std::string name = "host_" + std::to_string(rank);
    put(name + "a.json", {.rank = rank, .world = 2, .process = "10" + std::to_string(rank)});
    put(name + "b.json", {.rank = rank,
                          .world = 2,
                          .process = "20" + std::to_string(rank),
                          .start_us = 9'000'000'000});
  }
  const JobList list = find();
  ASSERT_THAT(list.jobs, SizeIs(2));
  EXPECT_THAT(names(list.jobs[0].files), ElementsAre("host_0a.json", "host_1a.json"));
  EXPECT_THAT(names(list.jobs[1].files), ElementsAre("host_0b.json", "host_1b.json"));
  EXPECT_NE(list.jobs[0].name, list.jobs[1].name);
}

TEST_F(JobsTest, JobsBesideEachOtherInContainersByTheirNames) {
  put("old_rank0.json", {.rank = 0, .world = 2});
  put("old_rank1.json", {.rank = 1, .world = 2});
  put("new_rank0.json", {.rank = 0, .world = 2, .start_us = 50});
  put("new_rank1.json", {.rank = 1, .world = 2, .start_us = 50});
  const JobList list = find();
  ASSERT_THAT(list.jobs, SizeIs(2));
  EXPECT_THAT(list.jobs[0].name, HasSubstr("new_rank*"));
  EXPECT_THAT(names(list.jobs[0].files), ElementsAre("new_rank0.json", "new_rank1.json"));
}

TEST_F(JobsTest, WindowsOfAProfilerAreRecordingsOfOneRank) {
  put("w_1.1700000000000000020.pt.trace.json", {.rank = 0, .world = 1, .start_us = 20});
  put("w_1.1700000000000000010.pt.trace.json", {.rank = 0, .world = 1, .start_us = 10});
  const Job job = only_job();
  ASSERT_THAT(job.files, SizeIs(2));
  EXPECT_EQ(job.files[0].window, 0U);
  EXPECT_THAT(job.files[0].path, HasSubstr("0010.pt"));
  EXPECT_EQ(job.files[1].window, 1U);
  EXPECT_THAT(job.repeated, IsEmpty());
  EXPECT_THAT(job_remarks(find()), IsEmpty());
}

TEST_F(JobsTest, ARankThatIsThereTwice) {
  put("a.json", {.rank = 0, .world = 1});
  put("b.json", {.rank = 0, .world = 1, .events = 2});  // the same start, but another content
  const Job job = only_job();
  EXPECT_THAT(job.files, SizeIs(1));
  ASSERT_THAT(job.repeated, SizeIs(1));
  EXPECT_FALSE(job.repeated[0].is_same_file);
  EXPECT_THAT(job_remarks(find()).front(), HasSubstr("rank 0 is there twice with the same start"));
}

TEST_F(JobsTest, ARankThatIsThereTwiceUnderAnotherName) {
  for (int rank = 0; rank < 3; ++rank) {
    put("rank_" + std::to_string(rank) + ".json",
        {.rank = rank, .world = 3, .process = std::to_string(rank)});
  }
  const std::string again =
      put("rank_2_again.json", {.rank = 2, .world = 3, .process = "2", .events = 2});
  const Job job = only_job();
  EXPECT_THAT(job.ranks(), ElementsAre(0, 1, 2));
  ASSERT_THAT(job.repeated, SizeIs(1));
  EXPECT_EQ(job.repeated[0].file.path, again);
  EXPECT_THAT(job_remarks(find()), ElementsAre(HasSubstr("rank 2 is there twice with the same")));
  put("rank_2_later.json", {.rank = 2, .world = 3, .process = "2", .start_us = 90});
  EXPECT_THAT(job_remarks(find()).front(), HasSubstr("rank_*_later (rank 2 of 3)"));
}

TEST_F(JobsTest, FilesOfACopiedFolderAreRepeated) {
  const std::string one = put("job/rank0.json", {.rank = 0, .world = 2});
  put("job/rank1.json", {.rank = 1, .world = 2, .start_us = 11});
  const std::string other = put("job_copied/rank0.json", {.rank = 0, .world = 2, .events = 2});
  put("job_copied/rank1.json", {.rank = 1, .world = 2, .start_us = 77});  // of another start
  const JobList list = find();
  EXPECT_THAT(list.jobs, SizeIs(2));
  const std::vector<RepeatedFile> repeated = repeated_files(list);
  ASSERT_THAT(repeated, SizeIs(1));
  EXPECT_EQ(repeated[0].file.path, other);
  EXPECT_EQ(repeated[0].repeats, one);
}

TEST_F(JobsTest, RanksThatNoJobHas) {
  EXPECT_THAT(*missing_ranks(find()), IsEmpty());
  put("a/rank1.json", {.rank = 1, .world = 6});
  EXPECT_THAT(*missing_ranks(find()), ElementsAre(0, 2, 3, 4, 5));
  put("b/rank3.json", {.rank = 3, .world = 5, .start_us = 1});
  put("b/rank0.json", {.rank = 0, .world = 5, .start_us = 1});
  EXPECT_THAT(*missing_ranks(find()), ElementsAre(2, 4, 5));
  put("c/rank9.json", {.rank = 9, .world = INT64_MAX});
  EXPECT_EQ(missing_ranks(find()).status().code(), StatusCode::unreadable_input);
}

TEST_F(JobsTest, RanksThatNoJobHasAmongThoseThatAreThere) {
  put("rank4.json", Content{});
  put("rank1.json", {.start_us = 12});
  EXPECT_THAT(*missing_ranks(find()), ElementsAre(0, 2, 3));
}

TEST_F(JobsTest, ACopyOfAFile) {
  const std::string one = put("rank0.json", {.rank = 0, .world = 1});
  const std::string two = put("copy/rank0 (1).json", {.rank = 0, .world = 1});
  const Job job = only_job();
  EXPECT_THAT(job.files, SizeIs(1));
  ASSERT_THAT(job.repeated, SizeIs(1));
  EXPECT_TRUE(job.repeated[0].is_same_file);
  EXPECT_THAT(job_remarks(find()), SizeIs(1));
  EXPECT_THAT(job_remarks(find()).front(), HasSubstr("is a copy of"));
}

TEST_F(JobsTest, HostsWithFoldersOfTheirOwnAreOneJob) {
  put("node0/trace_a.json", {.rank = 0, .world = 4});
  put("node0/trace_b.json", {.rank = 1, .world = 4});
  put("node1/trace_a.json", {.rank = 2, .world = 4, .start_us = 500});
  put("node1/trace_b.json", {.rank = 3, .world = 4});
  const Job job = only_job();
  EXPECT_THAT(job.ranks(), ElementsAre(0, 1, 2, 3));
  EXPECT_EQ(job.name, folder.root().string());
  EXPECT_THAT(job.missing_ranks, IsEmpty());
}

TEST_F(JobsTest, FoldersWithoutWorldSizesAreOneJobIfTheirRanksDiffer) {
  put("host0/rank0.json", {.start_us = 1});
  put("host1/rank1.json", {.start_us = 2});
  EXPECT_THAT(only_job().ranks(), ElementsAre(0, 1));
  put("host2/rank7.json", {.rank = 7, .world = 8});
  EXPECT_THAT(only_job().ranks(), ElementsAre(0, 1, 7));
  EXPECT_EQ(only_job().world_size, 8);
  put("host3/rank9.json", {.start_us = 3});  // there is no rank 9 in that job
  EXPECT_THAT(find().jobs, SizeIs(2));
}

TEST_F(JobsTest, FoldersWithTheSameRanksAreJobs) {
  put("monday/trace.json", {.rank = 0, .world = 2});
  put("tuesday/trace.json", {.rank = 0, .world = 2, .start_us = 77});
  EXPECT_THAT(find().jobs, SizeIs(2));
}

TEST_F(JobsTest, AFileWithoutAWorldSizeBelongsToTheJobInItsFolder) {
  put("rank0.json", {.rank = 0, .world = 2});
  put("rank1.json", Content{});
  const Job job = only_job();
  EXPECT_THAT(job.ranks(), ElementsAre(0, 1));
  EXPECT_THAT(job.missing_ranks, IsEmpty());
}

TEST_F(JobsTest, UnknownRanksStayUnknown) {
  put("a.json", {.start_us = 1});
  put("b.json", {.start_us = 2});
  const Job job = only_job();
  EXPECT_THAT(job.ranks(), IsEmpty());
  EXPECT_THAT(job.files, SizeIs(2));
  EXPECT_EQ(job.files[0].rank_source, RankSource::unknown);
  EXPECT_THAT(job_remarks(find()), IsEmpty());
  put("rank0.json", {.start_us = 3});
  EXPECT_THAT(job_remarks(find()),
              ElementsAre("2 files do not say of which rank they are, neither in the content nor "
                          "in the path"));
}

TEST_F(JobsTest, EmptyAndUnreadableFilesAreNamedAndTheRestGoesOn) {
  put("rank0.json", {.rank = 0, .world = 2});
  const std::string empty = put_text("rank1.json", "");
  put_text("notes.json", "[1, 2]");
  const JobList list = find();
  ASSERT_THAT(list.unread, SizeIs(1));
  EXPECT_EQ(list.unread[0].path, empty);
  EXPECT_THAT(list.unread[0].status.message(), HasSubstr("is empty"));
  EXPECT_THAT(list.passed_over, SizeIs(1));
  ASSERT_THAT(list.jobs, SizeIs(1));
  EXPECT_THAT(list.jobs[0].ranks(), ElementsAre(0));
  EXPECT_THAT(job_remarks(list).front(), HasSubstr("rank 1 has no trace"));
}

TEST_F(JobsTest, VersionsThatDifferBetweenRanks) {
  put("rank0.json", {.rank = 0, .world = 3, .nccl = "2.21.5"});
  put("rank1.json", {.rank = 1, .world = 3, .nccl = "2.20.5"});
  put("rank2.json", {.rank = 2, .world = 3, .nccl = "2.21.5"});
  EXPECT_THAT(job_remarks(find()),
              ElementsAre("ranks were recorded with different versions of NCCL: 2.20.5 (rank 1), "
                          "2.21.5 (ranks 0, 2); check that the job was meant to run so"));
}

TEST_F(JobsTest, TheTimeBaseAfterTheEventsIsFoundAtTheEnd) {
  const std::size_t many = 20'000;  // more than is looked at from the start
  const std::string text = text_of({.rank = 0, .world = 1, .base_at_end = true, .events = many});
  const std::string plain = put_text("plain.json", text);
  const std::string packed = put_text("packed.json.gz", fixtures::gzip_member(text));
  const auto base_of = [](const std::string& path, bool find_base) {
    return find_jobs({path}, {.find_base_times = find_base}).jobs.at(0).files.at(0).base_time_ns;
  };
  EXPECT_EQ(base_of(plain, false), kRecorded);
  EXPECT_EQ(base_of(plain, true), kRecorded);
  EXPECT_EQ(base_of(packed, false), std::nullopt);
  EXPECT_EQ(base_of(packed, true), kRecorded);
  const JobFile file = find_jobs({plain}).jobs.at(0).files.at(0);
  EXPECT_EQ(file.start_ns, kRecorded + 10'000);
}

TEST_F(JobsTest, TextInEventsIsNotTakenForMembersAtTheEnd) {
  fixtures::ChromeText text;
  for (int event = 0; event < 5000; ++event) text.events.push_back(fixtures::op("op"));
  text.events.push_back(
      fixtures::op("x").arg("trap", R"({"list": [1], "baseTimeNanoseconds": 7})"));
  const std::string path = put_text("trap.json", text.text());
  EXPECT_EQ(find_jobs({path}).jobs.at(0).files.at(0).base_time_ns, std::nullopt);
}

TEST_F(JobsTest, ALongListOfGroupsBeforeTheEvents) {
  std::string groups = "[0";
  for (int rank = 1; rank < 60'000; ++rank) groups += ", " + std::to_string(rank);
  fixtures::ChromeText text;
  text.before.emplace_back("distributedInfo",
                           R"({"pg_config": )" + groups + R"(], "rank": 7, "world_size": 60000})");
  text.events.push_back(fixtures::op("op"));
  put_text("a.json", text.text());
  EXPECT_THAT(only_job().ranks(), ElementsAre(7));
}

TEST_F(JobsTest, AHugeWorldSizeIsOnlyARange) {
  put("a.json", {.rank = 0, .world = INT64_MAX});
  const Job job = only_job();
  ASSERT_THAT(job.missing_ranks, SizeIs(1));
  EXPECT_EQ(job.missing_ranks[0].last, INT64_MAX - 1);
}

TEST_F(JobsTest, TensorParallelRanksOfServersWithoutOtherGroups) {
  put("id-TP-0-DP-0.trace.json", {.start_us = 1});
  put("id-TP-1-DP-0.trace.json", {.start_us = 2});
  EXPECT_THAT(only_job().ranks(), ElementsAre(0, 1));
  put("id-TP-0-DP-1.trace.json", {.start_us = 3});
  EXPECT_THAT(only_job().ranks(), IsEmpty());
}

TEST_F(JobsTest, MergedTracesBelongToNoJob) {
  put("rank0.json", {.rank = 0, .world = 1});
  const std::string merged =
      put_text("job.json", R"({"schemaVersion": 1, "mergedRanks": {}, "traceEvents": []})");
  const JobList list = find();
  EXPECT_THAT(list.merged, ElementsAre(merged));
  ASSERT_THAT(list.jobs, SizeIs(1));
  EXPECT_THAT(list.jobs[0].files, SizeIs(1));
}

TEST_F(JobsTest, MergedTracesOfSglangBelongToNoJob) {
  put("1700000000.5-TP-0.trace.json", {.rank = 0, .world = 2, .start_us = 1});
  put("1700000000.5-TP-1.trace.json", {.rank = 1, .world = 2, .start_us = 2});
  fixtures::ChromeText text;
  text.events.push_back(fixtures::op("op").with("pid", "\"[TP00-DP00] 1\""));
  text.events.push_back(fixtures::op("op").with("pid", "\"[TP01-DP00] 1\""));
  text.after.emplace_back("distributedInfo", R"({"rank": 0, "world_size": 2})");
  const std::string merged = put_text("merged-1700000000.5.trace.json", text.text());
  text.events.front() = fixtures::op("op").with("pid", "\"[TP] 1\"");
  const std::string other = put_text("other/a.json", text.text());
  const JobList list = find();
  EXPECT_THAT(list.merged, ElementsAre(merged));
  ASSERT_THAT(list.jobs, SizeIs(2));
  EXPECT_THAT(list.jobs[0].ranks(), ElementsAre(0, 1));
  EXPECT_EQ(list.jobs[1].files.front().path, other);
}

/// The names of four ranks' traces, as trainers and servers write them.
struct Layout {
  std::string of;
  std::vector<std::string> paths;
};

TEST_F(JobsTest, LayoutsOfTrainersAndServersAreOneJobInTheOrderOfRanks) {
  const Layout layouts[] = {
      {"torchtitan",
       {"profile_trace/iteration_10/rank0_trace.json",
        "profile_trace/iteration_10/rank1_trace.json",
        "profile_trace/iteration_10/rank2_trace.json",
        "profile_trace/iteration_10/rank3_trace.json"}},
      {"verl",
       {"e2e/actor_e2e_rank0-of-4_tp0-pp0-dp0_pid40_20261129150100123.json.gz",
        "e2e/actor_e2e_rank1-of-4_tp1-pp0-dp0_pid77_20261129150100456.json.gz",
        "e2e/actor_e2e_rank2-of-4_tp0-pp0-dp1_pid41_20261129150100789.json.gz",
        "e2e/actor_e2e_rank3-of-4_tp1-pp0-dp1_pid78_20261129150101012.json.gz"}},
      {"vLLM",
       {"dp0_pp0_tp0_dcp0_ep0_rank0.1700000000000000001.pt.trace.json.gz",
        "dp0_pp0_tp1_dcp0_ep1_rank1.1700000000000000002.pt.trace.json.gz",
        "dp1_pp0_tp0_dcp0_ep2_rank2.1700000000000000003.pt.trace.json.gz",
        "dp1_pp0_tp1_dcp0_ep3_rank3.1700000000000000004.pt.trace.json.gz"}},
      {"SGLang",
       {"1700000000.5-TP-0-DP-0-PP-0-EP-0.trace.json.gz",
        "1700000000.5-TP-1-DP-0-PP-0-EP-0.trace.json.gz",
        "1700000000.5-TP-2-DP-0-PP-0-EP-0.trace.json.gz",
        "1700000000.5-TP-3-DP-0-PP-0-EP-0.trace.json.gz"}},
      {"accelerate", {"profile_0.json", "profile_1.json", "profile_2.json", "profile_3.json"}},
  };
  for (const bool says_rank : {false, true}) {
    for (const Layout& layout : layouts) {
      const std::string place = layout.of + (says_rank ? "_said/" : "/");
      std::vector<std::string> expected;
      for (std::size_t rank = 0; rank < layout.paths.size(); ++rank) {
        Content content = {.process = std::to_string(100 + rank),
                           .start_us = static_cast<std::int64_t>(10 + rank)};
        if (says_rank) {
          content.rank = static_cast<std::int64_t>(rank);
          content.world = 4;
        }
        expected.push_back(put(place + layout.paths[rank], content));
      }
      const JobList list = find_jobs(find_traces({folder.path(place)}));
      ASSERT_THAT(list.jobs, SizeIs(1)) << place;
      EXPECT_THAT(list.jobs[0].ranks(), ElementsAre(0, 1, 2, 3)) << place;
      std::vector<std::string> found;
      for (const JobFile& file : list.jobs[0].files) found.push_back(file.path);
      EXPECT_EQ(found, expected) << place;
    }
  }
}

TEST_F(JobsTest, CyclesOfVerlAreRecordingsOfTheirRanks) {
  for (const char* const role : {"actor", "critic"}) {
    for (int rank = 0; rank < 2; ++rank) {
      for (int cycle = 0; cycle < 2; ++cycle) {
        const int of_role = role[0] == 'a' ? 40 : 50;
        const std::string process = std::to_string(of_role + rank);
        put(std::string("e2e/") + role + "_e2e_rank" + std::to_string(rank) + "-of-2_pid" +
                process + "_20261129150100123" + (cycle == 0 ? "" : "_cycle1") + ".json",
            {.process = process, .start_us = of_role + 1000 * cycle + rank});
      }
    }
  }
  const JobList list = find();
  ASSERT_THAT(list.jobs, SizeIs(2)) << "one per role";
  for (const Job& job : list.jobs) {
    EXPECT_THAT(job.ranks(), ElementsAre(0, 1));
    ASSERT_THAT(job.files, SizeIs(4));
    EXPECT_EQ(job.files[1].window, job.files[0].window + 1);
  }
}

TEST_F(JobsTest, StagesOfSglangAreRecordingsOfTheirRanks) {
  for (int rank = 0; rank < 2; ++rank) {
    for (const char* const stage : {"EXTEND", "DECODE"}) {
      put("1700000000.5-TP-" + std::to_string(rank) + "-" + stage + ".trace.json",
          {.rank = rank,
           .world = 2,
           .process = std::to_string(40 + rank),
           .start_us = (stage[0] == 'E' ? 10 : 1000) + rank});
    }
  }
  const Job job = only_job();
  EXPECT_THAT(job.ranks(), ElementsAre(0, 1));
  EXPECT_THAT(job.files, SizeIs(4));
}

TEST_F(JobsTest, StandardInputIsNotPartOfAJob) {
  const JobList list = find_jobs(std::vector<std::string>{"-"});
  EXPECT_THAT(list.jobs, IsEmpty());
  EXPECT_THAT(list.unread, SizeIs(1));
}

PartialSource source_of(std::int64_t rank, const std::string& name) {
  PartialSource source;
  source.name = name;
  source.digest = name;
  source.rank = rank;
  source.world_size = 4;
  source.start_ns = 1'700'000'000'000'000'000 + rank % 1000;
  source.process = std::to_string(rank);
  return source;
}

TEST(JobsOfPartials, AreThoseOfTheirSources) {
  std::vector<PartialSource> sources;
  for (const std::int64_t rank : {0, 1, 3}) {
    sources.push_back(source_of(rank, "ranks/rank" + std::to_string(rank) + ".json"));
    sources.back().versions["NCCL"] = rank == 3 ? "2.19" : "2.21";
    sources.back().backend = "nccl";
  }
  sources.push_back(sources.front());  // the same recording, written again
  sources.back().name = "ranks/rank00.json";
  const JobList list = find_jobs(sources);
  ASSERT_EQ(list.jobs.size(), 1u);
  EXPECT_EQ(list.jobs[0].ranks(), (std::vector<std::int64_t>{0, 1, 3}));
  EXPECT_EQ(list.jobs[0].backend, "nccl");
  const std::vector<std::string> remarks = job_remarks(list);
  const auto says = [&](const std::string& words) {
    return std::ranges::any_of(remarks, [&](const std::string& remark) {
      return remark.find(words) != std::string::npos;
    });
  };
  EXPECT_TRUE(says("rank 2 has no trace (the job has 4 ranks)"));
  EXPECT_TRUE(says("rank 0 is there twice with the same start: ranks/rank0.json and"));
  EXPECT_TRUE(says("different versions of NCCL: 2.19 (rank 3), 2.21 (ranks 0-1)"));
}

TEST(JobsOfPartials, OfSeveralFoldersAndSizesAreSeveral) {
  std::vector<PartialSource> sources;
  for (const std::int64_t rank : {0, 1}) {
    for (const std::int64_t ranks : {2, 4}) {
      const std::string folder = "job_of_" + std::to_string(ranks);
      sources.push_back(source_of(rank, folder + "/rank" + std::to_string(rank) + ".json"));
      sources.back().world_size = ranks;
    }
  }
  const std::vector<std::string> remarks = job_remarks(find_jobs(sources));
  ASSERT_FALSE(remarks.empty());
  EXPECT_NE(remarks.front().find("the inputs are of 2 jobs"), std::string::npos);
  EXPECT_TRUE(job_remarks(find_jobs(std::span<const PartialSource>())).empty());
}

/// No rank of a trace is that large, but a partial may have any number.
TEST(JobsOfPartials, RanksThatCannotBeAreUnknown) {
  std::vector<PartialSource> sources = {source_of(INT64_MAX, "a.json"),
                                        source_of(INT64_MIN, "b.json")};
  const JobList list = find_jobs(sources);
  for (const Job& job : list.jobs) EXPECT_TRUE(job.ranks().empty());
}

TEST(RankList, RunsBecomeRanges) {
  EXPECT_EQ(rank_list({0, 1, 2, 5, 7, 8}), "0-2, 5, 7-8");
  EXPECT_EQ(rank_list({}), "");
}

/// A file without a rank in it.
std::string text_with(std::string_view category) {
  fixtures::ChromeText text;
  text.events = {fixtures::op("op"),
                 fixtures::op("gemm").with("cat", "\"" + std::string(category) + "\"")};
  return text.text();
}

TEST_F(JobsTest, AProcessWithoutDeviceWorkBesideRanksIsNotARank) {
  for (const bool have_ranks : {true, false}) {
    const std::string rank = have_ranks ? "rank" : "worker_";
    put_text("a/" + rank + "0.json", text_with("kernel"));
    put_text("a/" + rank + "1.json", text_with("kernel"));
    const std::string front_end = put_text("a/front_end.json", text_with("cpu_op"));
    const JobList list = find();
    EXPECT_THAT(list.not_ranks, ElementsAre(front_end));
    ASSERT_THAT(list.jobs, SizeIs(1));
    EXPECT_THAT(list.jobs[0].files, SizeIs(2));
    EXPECT_THAT(job_remarks(list), testing::Contains(HasSubstr("a process that is not a rank")));
    EXPECT_THAT(find_jobs({folder.root().string()}, {.find_other_processes = false}).not_ranks,
                IsEmpty());
    std::filesystem::remove_all(folder.path("a"));
  }
}

TEST_F(JobsTest, FilesWithoutDeviceWorkAreRanksIfNothingSpeaksAgainstIt) {
  const auto others = [&](const std::string& one, const std::string& other) {
    put_text("one.json", one);
    put_text("other.json", other);
    return find().not_ranks;
  };
  EXPECT_THAT(others(text_with("cpu_op"), text_with("cpu_op")), IsEmpty()) << "nobody has any";
  EXPECT_THAT(others(text_with("kernel"), text_with("cpu_op")), IsEmpty()) << "of which job is it?";
  EXPECT_THAT(others(text_of({.rank = 0, .world = 2}), text_with("cpu_op")), IsEmpty())
      << "the rank has none either";
  put_text("rank2.json", text_with("kernel"));
  EXPECT_THAT(others(text_of({.rank = 0, .world = 2}), text_of({.rank = 1, .world = 2})), IsEmpty())
      << "they say that they are ranks";
}

}  // namespace
}  // namespace tbtrace
