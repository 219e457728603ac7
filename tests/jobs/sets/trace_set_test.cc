#include <algorithm>
#include <csignal>
#include <cstdint>
#include <fstream>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <tbtrace/trace_set.h>

#include "fixtures/chrome_text.h"
#include "fixtures/scratch_folder.h"
#include "fixtures/whole_file.h"

namespace tbtrace {
namespace {

using testing::ElementsAre;
using testing::EndsWith;
using testing::HasSubstr;

class TraceSetTest : public testing::Test {
 protected:
  /// A file with one operator, named like the file; of a rank if it is not negative.
  std::string file(const std::string& name, int rank = -1) {
    fixtures::ChromeText text;
    if (rank >= 0) {
      text.before.emplace_back("distributedInfo",
                               R"({"rank": )" + std::to_string(rank) + R"(, "world_size": 64})");
    }
    text.events.push_back(fixtures::op(name));
    return put(name, text.text());
  }

  std::string put(const std::string& name, const std::string& text) {
    fixtures::write_whole_file(folder.path(name), text);
    return folder.path(name);
  }

  /// The names of the operators, in the order of the traces.
  static std::vector<std::string> operators(const TraceSet& set) {
    std::vector<std::string> names;
    for (const TraceOfSet& each : set) {
      names.emplace_back(each.trace.name(each.trace.by_start().front()));
    }
    return names;
  }

  fixtures::ScratchFolder folder;
};

TEST_F(TraceSetTest, TracesAreFoundWithoutBeingRead) {
  const std::string first = file("trace_2.json", 1);
  const std::string second = file("trace_10.json", 0);
  put("notes.json", "[1, 2]");
  const std::string missing = folder.path("*.none");
  const FoundTraces found = find_traces({folder.path(""), missing, first, "-"});
  EXPECT_THAT(found.paths, ElementsAre(EndsWith("trace_2.json"), EndsWith("trace_10.json"), "-"));
  EXPECT_THAT(found.passed_over, ElementsAre(EndsWith("notes.json")));
  ASSERT_EQ(found.unread.size(), 1U);
  EXPECT_EQ(found.unread.front().path, missing);
}

TEST_F(TraceSetTest, PartialsAreFoundByTheirNames) {
  file("trace_1.json", 1);
  put("rank_10.tbp", "");
  put("rank_9.tbp", "");
  const FoundTraces found = find_partials({folder.path("")});
  EXPECT_THAT(found.paths, ElementsAre(EndsWith("rank_9.tbp"), EndsWith("rank_10.tbp")));
  EXPECT_TRUE(found.unread.empty());
  EXPECT_EQ(find_traces({folder.path("")}).paths.size(), 1U);
}

TEST_F(TraceSetTest, HasSixtyFourRanksInOrderWhateverTheThreads) {
  std::vector<std::string> expected;
  for (int rank = 0; rank < 64; ++rank) {
    const std::string name = "node_" + std::to_string(63 - rank) + ".json";
    file(name, rank);
    expected.push_back(name);
  }
  for (const int threads : {0, 1, 3, 200}) {
    const Result<TraceSet> set = read_trace_set({folder.path("")}, {.threads = threads});
    ASSERT_TRUE(set.ok()) << set.status().message();
    ASSERT_EQ(set->size(), 64U);
    EXPECT_EQ(operators(*set), expected) << threads;
    EXPECT_TRUE(set->unread().empty());
    for (std::size_t rank = 0; rank < 64; ++rank) {
      EXPECT_EQ((*set)[rank].rank, static_cast<std::int64_t>(rank));
      EXPECT_THAT((*set)[rank].path, EndsWith("/" + expected[rank]));
    }
  }
}

TEST_F(TraceSetTest, PutsTracesWithoutARankLastByName) {
  file("trace_10.json");
  file("trace_9.json");
  file("zero.json", 0);
  const Result<TraceSet> set = read_trace_set({folder.path("")});
  ASSERT_TRUE(set.ok());
  EXPECT_THAT(operators(*set), ElementsAre("zero.json", "trace_9.json", "trace_10.json"));
  EXPECT_EQ((*set)[1].rank, std::nullopt);
  const Result<TraceSet> named =
      read_trace_set({folder.path("trace_10.json"), folder.path("trace_9.json")});
  ASSERT_TRUE(named.ok());
  EXPECT_THAT(operators(*named), ElementsAre("trace_9.json", "trace_10.json"));
}

TEST_F(TraceSetTest, NamesFilesThatAreNotTraces) {
  file("good.json", 1);
  put("settings.json", R"({"epochs": 3})");
  const Result<TraceSet> set = read_trace_set({folder.path("")});
  ASSERT_TRUE(set.ok());
  EXPECT_EQ(set->size(), 1U);
  EXPECT_TRUE(set->unread().empty());
  EXPECT_THAT(set->passed_over(), ElementsAre(EndsWith("settings.json")));
}

TEST_F(TraceSetTest, NamesWhatCannotBeRead) {
  file("good.json", 1);
  const std::string empty = put("rank0.pt.trace.json", "");
  const std::string missing = folder.path("no_such_file.json");
  const Result<TraceSet> set = read_trace_set({folder.path("good.json"), empty, missing});
  ASSERT_TRUE(set.ok());
  EXPECT_THAT(operators(*set), ElementsAre("good.json"));
  ASSERT_EQ(set->unread().size(), 2U);
  EXPECT_EQ(set->unread()[0].path, empty);
  EXPECT_THAT(set->unread()[0].status.message(), HasSubstr("is empty"));
  EXPECT_EQ(set->unread()[1].path, missing);
  EXPECT_EQ(set->unread()[1].status.code(), StatusCode::unreadable_input);
}

TEST_F(TraceSetTest, FailsWithoutAnyTrace) {
  const std::string missing = folder.path("no_such_file.json");
  const Result<TraceSet> set = read_trace_set({missing});
  ASSERT_FALSE(set.ok());
  EXPECT_EQ(set.status().code(), StatusCode::unreadable_input);
  EXPECT_THAT(set.status().message(), HasSubstr(missing));
  EXPECT_EQ(read_trace_set({}).status().code(), StatusCode::invalid_argument);
}

TEST_F(TraceSetTest, StrictReadingLeavesOutInputsWithIssues) {
  file("good.json", 0);
  const std::string cut = put("cut.json", R"({"traceEvents": [)");
  const Result<TraceSet> set = read_trace_set({folder.path("good.json"), cut}, {.strict = true});
  ASSERT_TRUE(set.ok());
  EXPECT_EQ(set->size(), 1U);
  ASSERT_EQ(set->unread().size(), 1U);
  EXPECT_EQ(set->unread()[0].status.code(), StatusCode::check_failed);
}

TEST_F(TraceSetTest, ReportsProgressAndCanBeCancelled) {
  for (int rank = 0; rank < 20; ++rank) file("r" + std::to_string(rank) + ".json", rank);
  for (const int threads : {1, 4}) {
    std::vector<std::size_t> reported;
    TraceSetOptions options = {.threads = threads};
    options.on_progress = [&](std::size_t done, std::size_t inputs) {
      EXPECT_EQ(inputs, 20U);
      reported.push_back(done);
      return true;
    };
    ASSERT_TRUE(read_trace_set({folder.path("")}, options).ok());
    EXPECT_TRUE(std::is_sorted(reported.begin(), reported.end()));
    EXPECT_EQ(reported.back(), 20U);

    for (const std::size_t most : {std::size_t{0}, std::size_t{5}}) {
      std::size_t last = 0;
      int calls_after = 0;
      options.on_progress = [&](std::size_t done, std::size_t) {
        calls_after += last >= most && last > 0 ? 1 : 0;
        last = done;
        return done < most;
      };
      const Result<TraceSet> set = read_trace_set({folder.path("")}, options);
      ASSERT_FALSE(set.ok());
      EXPECT_EQ(set.status().code(), StatusCode::cancelled);
      EXPECT_EQ(last, most) << threads << " threads";
      EXPECT_EQ(calls_after, 0);
    }
  }
}

TEST_F(TraceSetTest, IsCancelledInTheMiddleOfALongFile) {
  fixtures::ChromeText text;
  for (int row = 0; row < 50'000; ++row) text.events.push_back(fixtures::op("aten::mm"));
  const std::string json = text.text();
  const std::string pipe = folder.path("pipe.json");
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  const auto handler = std::signal(SIGPIPE, SIG_IGN);
  bool is_read_whole = false;
  int calls = 0;
  {
    const std::jthread writer([&] {
      std::ofstream file(pipe);
      is_read_whole = static_cast<bool>(file << json << std::flush);
    });
    TraceSetOptions options = {.threads = 1};
    options.on_progress = [&](std::size_t done, std::size_t) {
      EXPECT_EQ(done, 0U);
      return ++calls < 3;
    };
    EXPECT_EQ(read_trace_set({pipe}, options).status().code(), StatusCode::cancelled);
  }
  static_cast<void>(std::signal(SIGPIPE, handler));
  EXPECT_EQ(calls, 3);
  EXPECT_FALSE(is_read_whole) << "the writer of the pipe is told that nobody reads the rest";
}

TEST_F(TraceSetTest, PassesOnWhatACallbackThrows) {
  for (int rank = 0; rank < 20; ++rank) file("r" + std::to_string(rank) + ".json", rank);
  for (const int threads : {1, 4}) {
    TraceSetOptions options = {.threads = threads};
    options.on_progress = [](std::size_t done, std::size_t) {
      if (done == 3) throw std::runtime_error("no window any more");
      return true;
    };
    EXPECT_THROW(static_cast<void>(read_trace_set({folder.path("")}, options)), std::runtime_error);
  }
}

TEST_F(TraceSetTest, EachMatchOfAPatternIsARun) {
  for (const char* path : {"b1.json", "b10.json", "b9.json", "b[1].json", "other.json"})
    file(path, 0);
  const std::string here = folder.path("");
  using Paths = std::vector<std::string>;
  EXPECT_EQ(run_paths(here + "b?*.json"),
            (Paths{here + "b1.json", here + "b9.json", here + "b10.json", here + "b[1].json"}));
  EXPECT_EQ(run_paths(here + "b[1].json"), Paths{here + "b[1].json"}) << "a file of that name";
  EXPECT_EQ(run_paths(here + "c*.json"), Paths{here + "c*.json"});
  EXPECT_EQ(run_paths(here), Paths{here});
}

TEST(OrderInASet, ByRankAndThenByPath) {
  EXPECT_TRUE(comes_before_in_set(0, "b", 1, "a"));
  EXPECT_TRUE(comes_before_in_set(7, "b", std::nullopt, "a"));
  EXPECT_TRUE(comes_before_in_set(1, "trace_9", 1, "trace_10"));
  EXPECT_FALSE(comes_before_in_set(1, "a", 1, "a"));
  EXPECT_FALSE(comes_before_in_set(std::nullopt, "a", 3, "b"));
}

TEST(NameSays, WhatSearchedFoldersAreSearchedBy) {
  for (const auto& [path, says] :
       std::vector<std::pair<std::string, std::string>>{{"rank0.json", "trace"},
                                                        {"deep/er/RANK0.JSON.GZ", "trace"},
                                                        {"rank0.json.part", "unfinished"},
                                                        {"rank0.json.tmp-4711", "unfinished"},
                                                        {"ranks.tar.gz", "archive"},
                                                        {"ranks.zip", "archive"},
                                                        {"rank0.json.zip", "trace"},
                                                        {".rank0.json", ""},
                                                        {".git/rank0.json", "trace"},
                                                        {"run.tbtrace-partial/rank0.json", ""},
                                                        {"notes.txt", ""},
                                                        {"", ""}}) {
    EXPECT_EQ(name_says(path), says) << path;
  }
}

}  // namespace
}  // namespace tbtrace
