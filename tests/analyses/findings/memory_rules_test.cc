// Memory that the allocator reserves from step to step.
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <tbtrace/findings.h>

#include "fixtures/trace_rows.h"

namespace tbtrace {
namespace {

constexpr std::int64_t kGib = std::int64_t{1} << 30;

struct Amounts {
  std::int64_t allocated = 0;
  std::int64_t reserved = 0;
};

std::optional<Finding> reserved_growth(const std::vector<Amounts>& steps) {
  TraceBuilder builder;
  builder.set_metadata("deviceProperties",
                       R"([{"id": 0, "name": "A100", "totalGlobalMem": 85899345920}])");
  for (std::size_t step = 0; step < steps.size(); ++step) {
    const auto start = static_cast<std::int64_t>(step) * 1'000'000;
    fixtures::add(builder, {.category = "user_annotation",
                            .name = "ProfilerStep#" + std::to_string(step),
                            .start = start,
                            .duration = 900'000});
    fixtures::add(builder, {.name = "aten::empty", .start = start, .duration = 100'000});
    MemoryRecord record;
    record.time_ns = start + 50'000;
    record.bytes = 512;
    record.total_allocated_bytes = steps[step].allocated * kGib;
    record.device_type = DeviceType::cuda;
    record.device_id = 0;
    record.track = fixtures::track(builder, 1, 1);
    builder.add_memory(record);
    builder.add_memory_argument(Argument::total_reserved, steps[step].reserved * kGib);
  }
  const Trace trace = fixtures::finished(builder);
  for (Finding& found : findings(trace)) {
    if (found.id == "reserved_growth") return std::move(found);
  }
  return std::nullopt;
}

TEST(ReservedGrowth, IsFoundWhereAllocatedMemoryStays) {
  const std::optional<Finding> found =
      reserved_growth({{22, 60}, {22, 62}, {22, 64}, {22, 66}, {22, 68}, {22, 70}});
  ASSERT_TRUE(found);
  EXPECT_EQ(found->share_of, ShareOf::peak_memory);
  EXPECT_NEAR(found->share, 48.0 / 70, 1e-9) << "what was never allocated";
  EXPECT_EQ(found->evidence[2].value, Cell(2 * kGib)) << "growth per step";
  EXPECT_EQ(found->evidence[5].value, Cell(std::uint64_t{5})) << "steps until 80 GiB are full";
  EXPECT_THAT(found->remedy, testing::HasSubstr("expandable_segments"));
  EXPECT_TRUE(reserved_growth({{22, 60}, {22, 62}, {22, 62}, {22, 64}, {22, 66}}))
      << "not in every step";
}

TEST(ReservedGrowth, OfWhatIsAllocatedIsNone) {
  EXPECT_FALSE(reserved_growth({{20, 22}, {24, 26}, {28, 30}, {32, 34}})) << "both grow";
  EXPECT_FALSE(reserved_growth({{22, 60}, {22, 60}, {22, 60}, {22, 60}})) << "neither does";
  EXPECT_FALSE(reserved_growth({{10, 22}, {40, 44}, {20, 44}, {22, 44}})) << "one large step";
  EXPECT_FALSE(reserved_growth({{22, 60}, {22, 70}})) << "two steps";
}

}  // namespace
}  // namespace tbtrace
