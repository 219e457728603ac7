#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <torch/torch.h>

#include <tbtrace/profiler.h>

#include "libtorch/record/recorded.h"

namespace tbtrace {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

const ProfilerOptions kAll = {.activities = {Activity::cpu},
                              .record_shapes = true,
                              .profile_memory = true,
                              .with_stack = true};

std::string text_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

std::string exported(Profiler& profiler, const std::string& name = "timeline.json",
                     std::string_view device = "cpu") {
  const testing::Folder folder;
  const Status written = profiler.export_memory_timeline(folder / name, device);
  EXPECT_TRUE(written.ok()) << written.message();
  EXPECT_THAT(folder.files(), ElementsAre(name));
  return text_of(folder / name);
}

/// The last row of sizes: torch's 0, then bytes by category.
std::string last_sizes(Profiler& profiler) {
  const std::string json = exported(profiler);
  const std::size_t start = json.rfind('[');
  return json.substr(start, json.find(']', start) + 1 - start);
}

TEST(MemoryTimeline, SaysWhatIsMissing) {
  Profiler none({.activities = {Activity::cpu}});
  const Status all = none.export_memory_timeline("never.json");
  EXPECT_EQ(all.code(), StatusCode::invalid_argument);
  EXPECT_EQ(all.message(),
            "export_memory_timeline() requires record_shapes = true, profile_memory = true, "
            "with_stack = true");
  Profiler one({.activities = {Activity::cpu}, .record_shapes = true, .with_stack = true});
  EXPECT_EQ(one.export_memory_timeline("never.json").message(),
            "export_memory_timeline() requires profile_memory = true");
}

TEST(MemoryTimeline, DevicesAreThoseOfTorch) {
  Profiler profiler(kAll);
  for (const std::string device : {"gpu", "cuda:", "cuda:-1", "cuda:1x", "cuda:999", "cuda: 1"}) {
    const Status status = profiler.export_memory_timeline("never.json", device);
    EXPECT_EQ(status.code(), StatusCode::invalid_argument) << device;
    EXPECT_THAT(status.message(), HasSubstr("'" + device + "'"));
  }
  profiler.start();
  const torch::Tensor tensor = torch::ones({4});
  profiler.stop();
  EXPECT_EQ(exported(profiler, "timeline.json", "cuda:0"), "[[], []]");
}

TEST(MemoryTimeline, BeforeARecordingThereIsNone) {
  Profiler profiler(kAll);
  EXPECT_FALSE(profiler.export_memory_timeline("never.json").ok());
}

TEST(MemoryTimeline, ParametersAndGradientsAreThoseOfAttachedModels) {
  torch::nn::Linear model(8, 4);  // 144 bytes
  const torch::Tensor input = torch::ones({2, 8});
  Profiler profiler(kAll);
  profiler.attach(model);
  profiler.start();
  const torch::Tensor output = model->forward(input);
  EXPECT_EQ(output.size(1), 4);
  profiler.stop();
  EXPECT_EQ(last_sizes(profiler), "[0, 144, 0, 64, 0, 32, 0, 0, 0]");
}

TEST(MemoryTimeline, GradientsOfBeforeAreKnown) {
  torch::nn::Linear model(8, 4);
  model->forward(torch::ones({2, 8})).sum().backward();
  Profiler profiler(kAll);
  profiler.attach(model);
  profiler.start();
  profiler.stop();
  EXPECT_EQ(last_sizes(profiler), "[0, 144, 0, 0, 0, 0, 144, 0, 0]");
}

TEST(MemoryTimeline, WithoutAModelAForwardIsUnknown) {
  torch::nn::Linear model(8, 4);
  const torch::Tensor input = torch::ones({2, 8});
  Profiler profiler(kAll);
  profiler.start();
  const torch::Tensor output = model->forward(input);
  profiler.stop();
  EXPECT_EQ(last_sizes(profiler), "[0, 0, 0, 0, 0, 0, 0, 0, 240]");
}

TEST(MemoryTimeline, MomentsOfAdamAreOptimizerState) {
  torch::nn::Linear model(8, 4);
  torch::optim::Adam optimizer(model->parameters());
  const torch::Tensor input = torch::ones({2, 8});
  Profiler profiler(kAll);
  profiler.attach(model);
  profiler.start();
  for (int step = 0; step < 2; ++step) {
    optimizer.zero_grad();
    model->forward(input).sum().backward();
    optimizer.step();
  }
  profiler.stop();
  EXPECT_THAT(last_sizes(profiler), StartsWith("[0, 144, 288, "));
}

TEST(MemoryTimeline, FormsGoByTheName) {
  Profiler profiler(kAll);
  profiler.start();
  const torch::Tensor tensor = torch::ones({4});
  profiler.stop();
  EXPECT_THAT(exported(profiler), StartsWith("[[1"));
  EXPECT_THAT(exported(profiler, "a.raw.json.gz"), StartsWith("\x1f\x8b"));
  EXPECT_THAT(exported(profiler, "a.html"), HasSubstr("At most 16 B at a time"));
}

TEST(MemoryTimeline, ListsOfTensorsAndThoseWithoutMemoryAreRead) {
  Profiler profiler(kAll);
  profiler.start();
  const torch::Tensor a = torch::ones({4});
  const torch::Tensor b = torch::cat({a, a.slice(0, 1, 3), torch::empty({0})});
  const torch::Tensor sparse = torch::eye(2).to_sparse();
  const torch::Tensor dense = sparse.to_dense();
  EXPECT_EQ(b.numel() + dense.numel(), 10);
  profiler.stop();
  const std::string json = exported(profiler);
  EXPECT_THAT(json, StartsWith("[["));
  EXPECT_GT(json.size(), 100U);
}

}  // namespace
}  // namespace tbtrace
