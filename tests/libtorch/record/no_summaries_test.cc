// Of builds without protobuf.
#include <string>
#include <string_view>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <torch/torch.h>

#include <tbtrace/profiler.h>

#include "libtorch/record/recorded.h"

namespace tbtrace {
namespace {

TEST(TraceHandlerWithoutProtobuf, WritesTracesAndSaysOnceThatThereAreNoSummaries) {
  const testing::Folder folder;
  std::vector<std::string> warnings;
  Profiler profiler({.activities = {Activity::cpu},
                     .schedule = schedule({.warmup = 1, .active = 1, .repeat = 2}),
                     .on_trace_ready = tensorboard_trace_handler(folder.path()),
                     .experimental = {.on_warning = [&](std::string_view sentence) {
                       warnings.emplace_back(sentence);
                     }}});
  profiler.start();
  for (int step = 0; step < 4; ++step) {
    torch::ones({2});
    profiler.step();
  }
  profiler.stop();
  EXPECT_TRUE(profiler.wait_for_exports().ok());
  EXPECT_THAT(folder.files(), ::testing::SizeIs(2));
  EXPECT_THAT(folder.files(), ::testing::Each(::testing::HasSubstr(".pt.trace.json")));
  EXPECT_THAT(warnings, ::testing::ElementsAre(
                            ::testing::AllOf(::testing::StartsWith("windows have no summaries: "),
                                             ::testing::HasSubstr("install libprotobuf-dev"))));
}

}  // namespace
}  // namespace tbtrace
