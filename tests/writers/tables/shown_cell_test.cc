#include "writers/tables/shown_cell.h"

#include <cstdint>
#include <string>

#include <gtest/gtest.h>

namespace tbtrace::writers {
namespace {

TEST(ShownCell, CellsHaveTheUnitOfTheirColumn) {
  EXPECT_EQ(shown_cell("total_ns", std::int64_t{1'500}), "1.500 us");
  EXPECT_EQ(shown_cell("growth_per_step_bytes", std::int64_t{-2048}), "-2.00 KiB");
  EXPECT_EQ(shown_cell("least_ns", INT64_MIN), "-9223372036.855 s");
  EXPECT_EQ(shown_cell("mean_ns", 1'500.4), "1.500 us");
  EXPECT_EQ(shown_cell("occupancy_percent", 12.34), "12.3 %");
  EXPECT_EQ(shown_cell("gpu_utilization", 0.5), "50.0 %");
  EXPECT_EQ(shown_cell("count", std::uint64_t{18'446'744'073'709'551'615U}),
            "18446744073709551615");
  EXPECT_EQ(shown_cell("mean", 2.0), "2");
  EXPECT_EQ(shown_cell("mean", 2.345), "2.35");
  EXPECT_EQ(shown_cell("tensor_cores_used", true), "yes");
  EXPECT_EQ(shown_cell("count", {}), "-");
}

TEST(ShownCell, HeadingsLoseTheirUnit) {
  EXPECT_EQ(heading_of("idle_host_wait_ns"), "idle host wait");
  EXPECT_EQ(heading_of("peak_bytes"), "peak");
  EXPECT_EQ(heading_of("occupancy_percent"), "occupancy");
  EXPECT_EQ(heading_of("gpu_utilization"), "gpu utilization");
}

TEST(ShownCell, CharactersThatActOnATerminalAreEscaped) {
  EXPECT_EQ(shown_cell("name", std::string("a\xc2\x9b"
                                           "31m")),
            "a\\x9b31m");
  EXPECT_EQ(shown_cell("name", std::string("a\u202egpj")), "a\\u202egpj");
  EXPECT_EQ(shown_cell("name", std::string("a\u2069")), "a\\u2069");
  EXPECT_EQ(shown_cell("name", std::string("\u00e9\u4e2d")), "\u00e9\u4e2d");
}

TEST(ShownCell, ShowsOperationsWithDecimalPrefixes) {
  EXPECT_EQ(shown_cell("macs", std::uint64_t{4089184256}), "4.09 G");
  EXPECT_EQ(shown_cell("flops_in_steps", std::uint64_t{12}), "12");
  EXPECT_EQ(shown_cell("achieved_flops_per_s", 12.345e12), "12.3 TFLOP/s");
  EXPECT_EQ(heading_of("forward_macs_per_sample"), "forward macs per sample");
}

}  // namespace
}  // namespace tbtrace::writers
