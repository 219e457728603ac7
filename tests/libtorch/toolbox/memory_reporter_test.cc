// MemoryReporter against plain sums over the tensors.
#include <map>
#include <set>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <torch/script.h>
#include <torch/torch.h>

#include <tbtrace/memory_reporter.h>

#include "libtorch/toolbox/tied_model.h"
#include "published_models.h"

namespace tbtrace {
namespace {

namespace nn = torch::nn;

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::HasSubstr;

/// Each storage once.
std::uint64_t bytes_of_storages(const std::vector<at::Tensor>& tensors) {
  std::set<const void*> storages;
  std::uint64_t bytes = 0;
  for (const at::Tensor& tensor : tensors) {
    if (tensor.defined() && storages.insert(tensor.storage().unsafeGetStorageImpl()).second) {
      bytes += tensor.storage().nbytes();
    }
  }
  return bytes;
}

const HeldTensor& tensor_of(const MemoryReport& report, const std::string& path) {
  for (const HeldTensor& tensor : report.tensors) {
    if (tensor.path == path) return tensor;
  }
  throw std::out_of_range(path);
}

TEST(MemoryReporter, AddsUpToThePlainSum) {
  const auto model = published::resnet18();
  MemoryReporter reporter(model);
  const MemoryReport before = reporter.report();
  std::vector<at::Tensor> tensors = model->parameters();
  EXPECT_EQ(before.bytes_of(TensorRole::parameter), bytes_of_storages(tensors));
  EXPECT_EQ(before.bytes_of(TensorRole::buffer), bytes_of_storages(model->buffers()));
  EXPECT_EQ(before.bytes_of(TensorRole::gradient), 0U);
  const HeldTensor& weight = tensor_of(before, "layer4.1.conv2.weight");
  EXPECT_EQ(weight.shape, (TensorShape{{512, 512, 3, 3}, "float32"}));
  EXPECT_EQ(weight.device, "cpu");
  EXPECT_EQ(weight.bytes, 512U * 512 * 9 * 4);

  model->forward(torch::randn({2, 3, 32, 32})).sum().backward();
  const MemoryReport after = reporter.report();
  std::vector<at::Tensor> gradients;
  for (const at::Tensor& parameter : tensors) gradients.push_back(parameter.grad());
  EXPECT_EQ(after.bytes_of(TensorRole::gradient), bytes_of_storages(gradients));
  const std::vector<at::Tensor> buffers = model->buffers();
  tensors.insert(tensors.end(), buffers.begin(), buffers.end());
  tensors.insert(tensors.end(), gradients.begin(), gradients.end());
  EXPECT_EQ(after.total_bytes(), bytes_of_storages(tensors));
  ASSERT_EQ(after.devices.size(), 1U);
  EXPECT_EQ(after.devices.front().tensor_bytes, after.total_bytes());
  const DeviceTensors& host = after.devices.front();
  EXPECT_FALSE(host.other_bytes().has_value());
  EXPECT_THAT(after.notes, Contains(HasSubstr("What the allocator holds of cpu is not recorded")));
  EXPECT_GT(after.resident_bytes.value(), after.total_bytes());
}

TEST(MemoryReporter, KnowsTheStatesOfOptimizers) {
  nn::Linear model(8, 4);
  const auto train = [&](torch::optim::Optimizer& optimizer) {
    model(torch::randn({2, 8})).sum().backward();
    optimizer.step([&] {
      optimizer.zero_grad();
      torch::Tensor loss = model(torch::ones({2, 8})).pow(2).sum();
      loss.backward();
      return loss;
    });
  };
  const std::uint64_t bytes = 4 * (8 * 4 + 4);
  const auto states_of = [&](torch::optim::Optimizer& optimizer) {
    MemoryReporter reporter(model, "net");
    reporter.add(optimizer);
    EXPECT_EQ(reporter.report().bytes_of(TensorRole::optimizer_state), 0U);
    train(optimizer);
    return reporter.report();
  };
  torch::optim::Adam adam(model->parameters());
  const MemoryReport of_adam = states_of(adam);
  EXPECT_EQ(of_adam.bytes_of(TensorRole::optimizer_state), 2 * bytes);
  EXPECT_EQ(tensor_of(of_adam, "Adam.net.weight.exp_avg_sq").shape.sizes,
            (std::vector<std::int64_t>{4, 8}));
  torch::optim::AdamW adamw(model->parameters(), torch::optim::AdamWOptions().amsgrad(true));
  EXPECT_EQ(states_of(adamw).bytes_of(TensorRole::optimizer_state), 3 * bytes);
  torch::optim::SGD sgd(model->parameters(), torch::optim::SGDOptions(0.1).momentum(0.9));
  EXPECT_EQ(states_of(sgd).bytes_of(TensorRole::optimizer_state), bytes);
  torch::optim::RMSprop rmsprop(model->parameters());
  EXPECT_EQ(states_of(rmsprop).bytes_of(TensorRole::optimizer_state), bytes);
  torch::optim::LBFGS lbfgs(model->parameters());
  EXPECT_GT(states_of(lbfgs).bytes_of(TensorRole::optimizer_state), 2 * bytes);
}

TEST(MemoryReporter, ShowsSharedMemoryOnce) {
  testing::TiedModel model;
  MemoryReporter reporter(*model);
  const MemoryReport report = reporter.report();
  const HeldTensor& tied = tensor_of(report, "decoder.weight");
  EXPECT_EQ(tied.shares_with, "embedding.weight");
  EXPECT_EQ(tied.storage_bytes, 0U);
  EXPECT_EQ(tied.bytes, 100U * 16 * 4);
  EXPECT_EQ(report.total_bytes(), bytes_of_storages(model->parameters()));
  // Of a part of a larger tensor the whole is held.
  MemoryReporter others;
  const torch::Tensor whole = torch::zeros({100, 10}, torch::kDouble);
  others.add(whole.narrow(0, 5, 1), "row");
  EXPECT_EQ(tensor_of(others.report(), "row").bytes, 80U);
  EXPECT_EQ(tensor_of(others.report(), "row").storage_bytes, 8000U);
}

TEST(MemoryReporter, SaysHowMuchGrowsPerStep) {
  nn::Linear model(8, 4);
  MemoryReporter reporter(model);
  EXPECT_EQ(reporter.report().growth_per_step_bytes(), std::nullopt);
  for (int step = 0; step < 4; ++step) {
    model->register_buffer("kept_" + std::to_string(step), torch::zeros({100}));
    reporter.step();
  }
  const MemoryReport report = reporter.report();
  EXPECT_EQ(report.steps, 4U);
  EXPECT_EQ(report.growth_per_step_bytes(), 400.0);
  EXPECT_EQ(tensor_of(report, "kept_2").growth_bytes, 400);
  EXPECT_EQ(tensor_of(report, "weight").growth_bytes, 0);
  reporter.reset();
  EXPECT_EQ(reporter.report().growth_per_step_bytes(), std::nullopt);
}

TEST(MemoryReporter, TakesScriptsAndPrints) {
  torch::jit::Module script("Net");
  script.register_parameter("weight", torch::randn({4, 8}), false);
  script.define("def forward(self, x):\n  return torch.matmul(x, self.weight.t())\n");
  MemoryReporter reporter(script);
  const MemoryReport report = reporter.report();
  EXPECT_EQ(report.total_bytes(), 128U);
  std::ostringstream text;
  text << report;
  EXPECT_EQ(text.str(), report.table());
  EXPECT_THAT(reporter.table(), AllOf(HasSubstr("weight"), HasSubstr("[4, 8]"),
                                      HasSubstr("cpu: 128 bytes of tensors.")));
  EXPECT_THAT(report.json(), AllOf(HasSubstr("tbtrace.memory_report/1"),
                                   HasSubstr("\"allocator\":\"not recorded\"")));
  EXPECT_EQ(report.report().table.rows.size(), 1U);
  EXPECT_EQ(tensor_role_name(TensorRole::optimizer_state), "optimizer_state");
}

TEST(MemoryReporter, RefusesTensorsWithoutName) {
  MemoryReporter reporter;
  EXPECT_THROW(reporter.add(torch::zeros({1})), std::invalid_argument);
  EXPECT_THROW(reporter.add(torch::Tensor(), "nothing"), std::invalid_argument);
  EXPECT_TRUE(reporter.report().tensors.empty());
}

}  // namespace
}  // namespace tbtrace
