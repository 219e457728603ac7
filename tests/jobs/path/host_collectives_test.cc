// What started the collectives that run on threads of the host.
#include "jobs/path/host_collectives.h"

#include <cstdint>
#include <string_view>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fixtures/trace_rows.h"
#include "trace/trace_builder.h"

namespace tbtrace::jobs {
namespace {

using testing::ElementsAre;

constexpr std::int64_t kUs = 1'000;

class HostCollectivesTest : public testing::Test {
 protected:
  void call(std::string_view name, std::int64_t us) {
    fixtures::add(builder_, {.name = name, .start = us * kUs, .duration = 50 * kUs});
  }
  void collective(std::string_view name, std::int64_t us, std::int64_t duration) {
    fixtures::add(builder_, {.category = "user_annotation",
                             .name = name,
                             .start = us * kUs,
                             .duration = duration * kUs,
                             .thread = 2});
  }
  /// When the calls began, in the order of the collectives.
  std::vector<std::int64_t> calls() {
    const Trace trace = fixtures::finished(builder_);
    std::vector<std::int64_t> starts;
    for (const analyses::HostCollective& one :
         host_collectives(trace, recorded_collectives(trace))) {
      starts.push_back(trace.events().start_ns(one.call) / kUs);
    }
    return starts;
  }

  TraceBuilder builder_;
};

TEST_F(HostCollectivesTest, ThoseThatWaitBeginInTheOrderOfTheirCalls) {
  call("c10d::allreduce_", 1'000);
  call("c10d::allreduce_", 2'000);
  call("c10d::allreduce_", 2'500);
  collective("gloo:all_reduce", 1'100, 1'900);
  collective("gloo:all_reduce", 3'000, 2'000);
  collective("gloo:all_reduce", 5'000, 2'000);
  EXPECT_THAT(calls(), ElementsAre(1'000, 2'000, 2'500));
}

TEST_F(HostCollectivesTest, ACallOfAnotherKindIsLeftOut) {
  call("c10d::broadcast_", 500);  // of another backend
  call("c10d::allreduce_", 1'000);
  call("c10d::allgather_", 1'500);
  collective("gloo:all_reduce", 1'100, 900);
  collective("gloo:all_gather", 2'000, 900);
  EXPECT_THAT(calls(), ElementsAre(1'000, 1'500));
}

TEST_F(HostCollectivesTest, WithoutACallOfItsKindItIsTheLast) {
  call("record_param_comms", 1'000);
  call("record_param_comms", 1'500);
  collective("gloo:all_reduce", 1'600, 900);
  EXPECT_THAT(calls(), ElementsAre(1'500));
}

}  // namespace
}  // namespace tbtrace::jobs
