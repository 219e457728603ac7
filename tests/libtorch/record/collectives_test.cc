#include "libtorch/record/collectives.h"

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <c10/util/ThreadLocalDebugInfo.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <torch/torch.h>

#include <tbtrace/profiler.h>

#include "fixtures/whole_file.h"
#include "libtorch/record/collective_call.h"
#include "libtorch/record/recorded.h"
#include "libtorch/record/torch_version.h"

namespace tbtrace {
namespace {

using testing::CollectiveCall;
using testing::Folder;
using ::testing::HasSubstr;
using ::testing::Not;
using testing::run_collective;

/// The file's line of the range that c10d describes.
std::string line_of(Profiler& profiler) {
  const Folder folder;
  const std::string path = folder / "trace.json";
  const Status written = profiler.export_chrome_trace(path);
  EXPECT_TRUE(written.ok()) << written.message();
  const std::string text = fixtures::read_whole_file(path);
  const std::size_t at = text.find(R"("name":"record_param_comms")");
  if (at == std::string::npos) return "none";
  const std::size_t start = text.rfind('\n', at) + 1;
  return text.substr(start, text.find('\n', at) - start);
}

std::string recorded(const CollectiveCall& call, ProfilerOptions options = {}) {
  options.activities = {Activity::cpu};
  Profiler profiler(options);
  profiler.start();
  run_collective(call);
  profiler.stop();
  return line_of(profiler);
}

TEST(Collectives, AreRecordedWithTheirArguments) {
  const CollectiveCall call = {.name = "all_to_allv",
                               .in_elements = 6,
                               .out_elements = 8,
                               .type = torch::kHalf,
                               .in_splits = {1, 2, 3},
                               .rank = 1,
                               .first_rank = 4,
                               .rank_stride = 2,
                               .group_size = 2,
                               .group = "7",
                               .description = "experts",
                               .sequence = 12};
  for (const bool inputs : {false, true}) {
    for (const bool stacks : {false, true}) {
      const std::string line = recorded(call, {.record_shapes = inputs, .with_stack = stacks});
      EXPECT_THAT(line, HasSubstr(R"("cat":"cpu_op")"));
      EXPECT_THAT(line, HasSubstr(R"("Collective name":"all_to_allv","dtype":"Half",)"
                                  R"("In msg nelems":6,"Out msg nelems":8,)"
                                  R"("In split size":"[1, 2, 3]","Out split size":"[]")"));
      EXPECT_THAT(line, HasSubstr(R"("Rank":1)"));
#if TBTRACE_TORCH_AT_LEAST(2, 10)
      EXPECT_THAT(line,
                  HasSubstr(R"("Global rank start":4,"Global rank stride":2,"Group size":2,)"
                            R"("Process Group Name":"7",)"
                            R"("Process Group Description":"experts",)"
                            R"("Process Group Ranks":"[4, 6]","Rank":1,"Seq":12,"Comms Id":)"));
      const std::string_view truth = TBTRACE_TORCH_WRITES_WORDS ? "true" : "1";
      EXPECT_THAT(line, HasSubstr(R"("Is asynchronized op":)" + std::string(truth)));
      EXPECT_EQ(line.find(R"("Concrete Inputs")") != std::string::npos, inputs);
#else
      EXPECT_THAT(line, Not(HasSubstr("Group")));
#endif
    }
  }
}

TEST(Collectives, OneAfterAnotherKeepTheirOwn) {
  Profiler profiler({.activities = {Activity::cpu}});
  profiler.start();
  run_collective({.name = "broadcast", .in_elements = 1});
  run_collective({.name = "allreduce", .in_elements = 2},
                 [] { run_collective({.name = "wait", .in_elements = 3}); });
  { RECORD_FUNCTION("record_param_comms", std::vector<c10::IValue>()); }
  profiler.stop();
  const Folder folder;
  ASSERT_TRUE(profiler.export_chrome_trace(folder / "trace.json").ok());
  std::string text = fixtures::read_whole_file(folder / "trace.json");
  for (const char* row : {R"("Collective name":"broadcast","dtype":"Float","In msg nelems":1)",
                          R"("Collective name":"allreduce","dtype":"Float","In msg nelems":2)",
                          R"("Collective name":"wait","dtype":"Float","In msg nelems":3)"}) {
    const std::size_t at = text.find(row);
    ASSERT_NE(at, std::string::npos) << row;
    text.erase(0, at + 1);
  }
  EXPECT_THAT(text, HasSubstr(R"("name":"record_param_comms")"));  // that is not described
  EXPECT_THAT(text, Not(HasSubstr(R"("Collective name")")));
}

TEST(Collectives, ThatNobodyDescribesAreRangesLikeOthers) {
  struct Other final : c10::DebugInfoBase {};
  Profiler profiler({.activities = {Activity::cpu}});
  profiler.start();
  {
    const c10::DebugInfoGuard other(c10::DebugInfoKind::PARAM_COMMS_INFO,
                                    std::make_shared<Other>());
    RECORD_FUNCTION("record_param_comms", std::vector<c10::IValue>());
  }
  profiler.stop();
  EXPECT_EQ(testing::count(profiler, "record_param_comms"), 1);
  EXPECT_THAT(line_of(profiler), Not(HasSubstr("Collective name")));
}

TEST(Collectives, HostileTextsAreKept) {
  const std::string line = recorded({.name = "\"}\\\n\x01 b", .group = "\"", .description = "\\"});
  EXPECT_THAT(line, HasSubstr(R"("Collective name":"\"}\\\n\u0001 b")"));
#if TBTRACE_TORCH_AT_LEAST(2, 10)
  EXPECT_THAT(line, HasSubstr(R"("Process Group Name":"\"","Process Group Description":"\\")"));
#endif
}

#if TBTRACE_TORCH_AT_LEAST(2, 10)
TEST(Collectives, MessagesNameTheOtherEndAmongAllRanks) {
  CollectiveCall call = {.name = "send",
                         .rank = 2,
                         .first_rank = 10,
                         .rank_stride = 3,
                         .group_size = 4,
                         .sequence = 5,
                         .is_message = true};
  EXPECT_THAT(recorded(call), HasSubstr(R"("Rank":2,"Dst Rank":16,"Seq":5)"));
  call.name = "recv";
  EXPECT_THAT(recorded(call), HasSubstr(R"("Rank":2,"Src Rank":16,"Seq":5)"));
  call.rank = 4;  // of no rank of the group
  EXPECT_THAT(recorded(call), HasSubstr(R"("Rank":4,"Seq":5)"));
}

/// Those of a message and of a collective with the same number differ, and all ranks have the same.
TEST(Collectives, HaveAnIdThatRanksShare) {
  const auto id_of = [](const CollectiveCall& call) {
    const std::string line = recorded(call);
    const std::size_t at = line.find(R"("Comms Id":)");
    return at == std::string::npos ? "none" : line.substr(at, line.find_first_of(",}", at) - at);
  };
  const CollectiveCall call = {.rank = 0, .sequence = 5};
  EXPECT_EQ(id_of(call), id_of({.in_elements = 8, .rank = 1, .sequence = 5}));
  EXPECT_NE(id_of(call), id_of({.sequence = 6}));
  EXPECT_NE(id_of(call), id_of({.sequence = 5, .is_message = true}));
  EXPECT_NE(id_of(call), id_of({.group = "1", .sequence = 5}));
  EXPECT_EQ(id_of({.sequence = -1}), "none");
}
#endif

}  // namespace
}  // namespace tbtrace
