#include <cstddef>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <torch/torch.h>

#include <tbtrace/profiler.h>
#include <tbtrace/steps.h>

#include "libtorch/record/recorded.h"

namespace tbtrace {
namespace {

using testing::count;
using ::testing::Each;
using ::testing::ElementsAre;
using testing::names;

struct Numbers : torch::data::Dataset<Numbers> {
  torch::data::Example<> get(std::size_t index) override {
    return {torch::full({2}, static_cast<double>(index)), torch::zeros({1})};
  }
  torch::optional<std::size_t> size() const override { return 6; }
};

auto loader_of_numbers(std::size_t workers = 0) {
  return torch::data::make_data_loader<torch::data::samplers::SequentialSampler>(
      Numbers().map(torch::data::transforms::Stack<>()),
      torch::data::DataLoaderOptions(2).workers(workers));
}

const std::string kLoading = "enumerate(DataLoader)#StatelessDataLoader.__next__";

TEST(DataLoader, EachWaitForABatchIsARange) {
  for (const std::size_t workers : {0, 2}) {
    const auto loader = loader_of_numbers(workers);
    Profiler profiler({.activities = {Activity::cpu}});
    profiler.start();
    std::vector<double> sums;
    for (auto& batch : data_loader(*loader)) sums.push_back(batch.data.sum().item<double>());
    profiler.stop();
    EXPECT_THAT(sums, ElementsAre(2, 10, 18)) << workers;
    EXPECT_EQ(count(profiler, kLoading), 4) << "the last one finds the end";
    if (workers > 0) continue;
    // What the loader does is within the ranges, also for the first batch.
    const EventList events = profiler.events();
    for (const FunctionEvent& event : events) {
      if (event.key != "aten::stack") continue;
      ASSERT_TRUE(event.parent.has_value());
      EXPECT_EQ(events[*event.parent].key, kLoading);
    }
  }
}

TEST(DataLoader, LoadsAgainInTheNextEpochAndWithoutAProfiler) {
  const auto loader = loader_of_numbers();
  for (int epoch = 0; epoch < 2; ++epoch) {
    int batches = 0;
    for (auto& batch : data_loader(loader)) batches += batch.data.size(0) == 2 ? 1 : 0;
    EXPECT_EQ(batches, 3);
  }
}

TEST(DataLoader, OtherRangesAreLoadersToo) {
  std::vector<std::unique_ptr<int>> values;
  for (int value = 0; value < 3; ++value) values.push_back(std::make_unique<int>(value));
  const std::vector<int> none;
  Profiler profiler({.activities = {Activity::cpu}});
  profiler.start();
  for (auto& value : data_loader(values)) ++*value;
  for (const int value : data_loader(none)) ADD_FAILURE() << value;
  int sum = 0;
  for (const int value : data_loader(std::vector<int>{1, 2})) sum += value;
  profiler.stop();
  EXPECT_EQ(*values[2], 3);
  EXPECT_EQ(sum, 3);
  EXPECT_EQ(names(profiler).size(), 4U + 1 + 3);
  EXPECT_THAT(names(profiler), Each("enumerate(DataLoader)#vector.__next__"));
}

struct Failing : torch::data::Dataset<Failing> {
  torch::data::Example<> get(std::size_t) override { throw std::runtime_error("no file"); }
  torch::optional<std::size_t> size() const override { return 2; }
};

TEST(DataLoader, WhatALoaderThrowsPassesThrough) {
  const auto loader = torch::data::make_data_loader<torch::data::samplers::SequentialSampler>(
      Failing().map(torch::data::transforms::Stack<>()), torch::data::DataLoaderOptions(1));
  Profiler profiler({.activities = {Activity::cpu}});
  profiler.start();
  EXPECT_THROW(for (auto& batch
                    : data_loader(*loader)) ADD_FAILURE()
                   << batch.data,
               std::runtime_error);
  profiler.stop();
  EXPECT_EQ(count(profiler, kLoading), 1);
}

class Halving : public torch::optim::SGD {
 public:
  using SGD::SGD;
};

TEST(OptimizerStep, HasTheNameThatPythonGivesIt) {
  torch::Tensor weight = torch::ones({2}, torch::requires_grad());
  torch::optim::SGD sgd({weight}, 0.5);
  torch::optim::AdamW adam({weight}, torch::optim::AdamWOptions(0.5));
  Halving own({weight}, 0.5);
  torch::optim::LBFGS lbfgs({weight}, torch::optim::LBFGSOptions(0.1).max_iter(1));
  (weight * 3).sum().backward();
  Profiler profiler({.activities = {Activity::cpu}});
  profiler.start();
  step(sgd);
  step(static_cast<torch::optim::Optimizer&>(adam));
  step(own);
  const torch::Tensor loss = step(lbfgs, [&] {
    zero_grad(lbfgs);
    torch::Tensor sum = weight.sum();
    sum.backward();
    return sum;
  });
  zero_grad(sgd);
  profiler.stop();
  EXPECT_TRUE(loss.defined());
  for (const char* const name :
       {"Optimizer.step#SGD.step", "Optimizer.step#AdamW.step", "Optimizer.step#Halving.step",
        "Optimizer.step#LBFGS.step", "Optimizer.zero_grad#SGD.zero_grad"}) {
    EXPECT_EQ(count(profiler, name), 1) << name;
  }
  EXPECT_GE(count(profiler, "Optimizer.zero_grad#LBFGS.zero_grad"), 1);
}

TEST(OptimizerStep, ChangesTheWeightsAlsoWithoutAProfiler) {
  torch::Tensor weight = torch::ones({1}, torch::requires_grad());
  torch::optim::SGD sgd({weight}, 0.5);
  (weight * 3).sum().backward();
  step(sgd);
  EXPECT_EQ(weight.item<double>(), -0.5);
  zero_grad(sgd);
  EXPECT_FALSE(weight.grad().defined() && weight.grad().item<double>() != 0);
}

TEST(TrainingLoop, StepsShowItsParts) {
  const auto loader = loader_of_numbers();
  torch::Tensor weight = torch::ones({2}, torch::requires_grad());
  torch::optim::SGD sgd({weight}, 0.01);
  Profiler profiler({.activities = {Activity::cpu},
                     .schedule = schedule({.warmup = 1, .active = 2, .repeat = 1})});
  profiler.start();
  for (auto& batch : data_loader(*loader)) {
    zero_grad(sgd);
    (batch.data * weight).sum().backward();
    step(sgd);
    profiler.step();
  }
  profiler.stop();
  const StepBreakdown steps = step_breakdown(*profiler.trace());
  ASSERT_EQ(steps.steps.size(), 2U);
  for (const StepTime& times : steps.steps) {
    EXPECT_GT(times.ns(StepRole::data_loader), 0);
    EXPECT_GT(times.ns(StepPhase::data), 0);
    EXPECT_GT(times.ns(StepPhase::optimizer), 0);
  }
}

}  // namespace
}  // namespace tbtrace
