#include "libtorch/profile/distributed_info.h"

#include <cstdlib>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <torch/torch.h>

#include "libtorch/record/recorded.h"

namespace tbtrace::libtorch {
namespace {

/// RANK and WORLD_SIZE as a launcher sets them, null for not at all, until its end.
class Launched {
 public:
  Launched(const char* rank, const char* world_size) {
    set("RANK", rank);
    set("WORLD_SIZE", world_size);
  }
  ~Launched() {
    set("RANK", nullptr);
    set("WORLD_SIZE", nullptr);
  }
  Launched(const Launched&) = delete;
  Launched& operator=(const Launched&) = delete;

 private:
  static void set(const char* name, const char* value) {
    if (value == nullptr) {
      ::unsetenv(name);
    } else {
      ::setenv(name, value, 1);
    }
  }
};

std::string of(const char* rank, const char* world_size) {
  const Launched launched(rank, world_size);
  return distributed_info_of_environment();
}

TEST(DistributedInfo, IsThatOfTheLauncher) {
  EXPECT_EQ(of("3", "8"), R"({"backend": "", "rank": 3, "world_size": 8})");
  EXPECT_EQ(of("0", "1"), R"({"backend": "", "rank": 0, "world_size": 1})");
}

TEST(DistributedInfo, IsLeftOutIfTheNumbersAreNotThoseOfARank) {
  EXPECT_EQ(of(nullptr, nullptr), "");
  EXPECT_EQ(of("3", nullptr), "");
  EXPECT_EQ(of(nullptr, "8"), "");
  EXPECT_EQ(of("8", "8"), "");
  EXPECT_EQ(of("-1", "8"), "");
  EXPECT_EQ(of("", "8"), "");
  EXPECT_EQ(of("3", "8 "), "");
  EXPECT_EQ(of("three", "8"), "");
  EXPECT_EQ(of("3", "99999999999999999999"), "");
}

TEST(DistributedInfo, OfTheLauncherIsInTheFileUntilTheProgramSetsIts) {
  const testing::Folder folder;
  const Launched launched("3", "8");
  Profiler profiler({.activities = {Activity::cpu}});
  const auto rank = [&] {
    profiler.start();
    torch::ones({2});
    profiler.stop();
    EXPECT_TRUE(profiler.export_chrome_trace(folder / "trace.json").ok());
    const Result<Trace> trace = read_trace(folder / "trace.json", {.strict = true});
    EXPECT_TRUE(trace.ok()) << trace.status().message();
    return trace.ok() ? trace->identity().rank.value_or(-1) : -1;
  };
  EXPECT_EQ(rank(), 3);
  profiler.set_distributed_info({.backend = "gloo", .rank = 5, .world_size = 8});
  EXPECT_EQ(rank(), 5);
}

}  // namespace
}  // namespace tbtrace::libtorch
