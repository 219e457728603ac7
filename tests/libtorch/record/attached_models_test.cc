#include <algorithm>
#include <cstdint>
#include <memory>
#include <new>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <torch/torch.h>

#include <tbtrace/profiler.h>

#include "libtorch/record/recorded.h"

namespace tbtrace {
namespace {

using ::testing::Contains;
using testing::count;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

/// Linear, dropout, linear, and the sum with what came in.
template <bool kMarked>
struct BlockImpl : torch::nn::Module {
  torch::Tensor forward(const torch::Tensor& input) {
    std::unique_ptr<module_scope> scope;
    if (kMarked) scope = std::make_unique<module_scope>(*this);
    return second(torch::relu(first(input))) + input;
  }
  torch::nn::Linear first = register_module("first", torch::nn::Linear(8, 8));
  torch::nn::Linear second = register_module("second", torch::nn::Linear(8, 8));
};

template <bool kMarked>
struct NetImpl : torch::nn::Module {
  torch::Tensor forward(torch::Tensor input) {
    std::unique_ptr<module_scope> scope;
    if (kMarked) scope = std::make_unique<module_scope>(*this);
    input = norm(stem(input));
    for (const auto& block : blocks) input = block->forward(input);
    return head(input);
  }
  torch::nn::Linear stem = register_module("stem", torch::nn::Linear(4, 8));
  torch::nn::BatchNorm1d norm = register_module("norm", torch::nn::BatchNorm1d(8));
  std::vector<std::shared_ptr<BlockImpl<kMarked>>> blocks = {
      register_module("block1", std::make_shared<BlockImpl<kMarked>>()),
      register_module("block2", std::make_shared<BlockImpl<kMarked>>())};
  torch::nn::Linear head = register_module("head", torch::nn::Linear(8, 2));
};
using Plain = NetImpl<false>;
using Marked = NetImpl<true>;

template <typename Net>
void train(Net& net, torch::optim::Optimizer& optimizer) {
  optimizer.zero_grad();
  net.forward(torch::ones({4, 4})).sum().backward();
  optimizer.step();
}

/// Frames of modules in order, as `Class_k`, each in as many spaces as frames are around it.
std::vector<std::string> modules(Profiler& profiler) {
  const std::string kModule = "nn.Module: ";
  const EventList events = profiler.events();
  std::vector<std::string> names;
  for (const FunctionEvent& event : events) {
    if (!event.key.starts_with(kModule)) continue;
    std::string name = event.key.substr(kModule.size());
    name.erase(std::min(name.find('<'), name.size()), name.find('>') - name.find('<') + 1);
    for (auto at = event.parent; at; at = events[*at].parent) {
      if (events[*at].key.starts_with(kModule)) name.insert(0, 1, ' ');
    }
    names.push_back(name);
  }
  return names;
}

const std::vector<std::string> kForward = {
    "Net_0",      " Linear_0", " BatchNorm1d_0", " Block_0",   "  Linear_1",
    "  Linear_2", " Block_1",  "  Linear_3",     "  Linear_4", " Linear_5"};

std::vector<std::string> twice(std::vector<std::string> frames) {
  const std::vector<std::string> once = frames;
  frames.insert(frames.end(), once.begin(), once.end());
  return frames;
}

TEST(Modules, OfAnAttachedModelAreFoundByWhatOperatorsTake) {
  const auto net = std::make_shared<Plain>();
  torch::optim::SGD optimizer(net->parameters(),
                              torch::optim::SGDOptions(0.1).momentum(0.9).weight_decay(0.1));
  Profiler profiler({.activities = {Activity::cpu}});
  profiler.attach(net, "net");
  profiler.start();
  train(*net, optimizer);
  train(*net, optimizer);
  profiler.stop();
  EXPECT_EQ(modules(profiler), twice(kForward));
}

TEST(Modules, AreNotCalledByAnOptimizerThatScalesWeights) {
  Plain net;
  torch::optim::AdamW optimizer(net.parameters(), torch::optim::AdamWOptions().weight_decay(0.1));
  train(net, optimizer);
  Profiler profiler({.activities = {Activity::cpu}, .record_shapes = true});
  profiler.attach(net);
  profiler.start();
  train(net, optimizer);
  profiler.stop();
  EXPECT_EQ(modules(profiler), kForward);
}

TEST(Modules, OfAnInferenceAreFoundToo) {
  Plain net;
  net.eval();
  const torch::NoGradGuard no_grad;
  Profiler profiler({.activities = {Activity::cpu}, .record_shapes = true});
  profiler.attach(net);
  profiler.start();
  net.forward(torch::ones({4, 4}));
  net.forward(torch::ones({4, 4}));
  profiler.stop();
  EXPECT_EQ(modules(profiler), twice(kForward));
}

TEST(Modules, AreTheSameByTheirOwnRanges) {
  Marked net;
  torch::optim::SGD optimizer(net.parameters(), 0.1);
  Profiler own({.activities = {Activity::cpu}, .with_modules = true});
  own.start();
  train(net, optimizer);
  own.stop();
  EXPECT_THAT(modules(own), ElementsAre("Net_0", " Block_0", " Block_1"));

  Profiler both({.activities = {Activity::cpu}});
  both.attach(net);
  both.start();
  train(net, optimizer);
  train(net, optimizer);
  both.stop();
  EXPECT_EQ(modules(both), twice(kForward));
}

TEST(Modules, RangesAreRecordedOnlyWhereTheyAreAskedFor) {
  Marked net;
  Profiler plain({.activities = {Activity::cpu}});
  Profiler shapes({.activities = {Activity::cpu}, .record_shapes = true});
  plain.start();
  shapes.start();
  const record_function range("around");
  net.forward(torch::ones({4, 4}));
  shapes.stop();
  plain.stop();
  for (Profiler* const profiler : {&plain, &shapes}) {
    EXPECT_THAT(modules(*profiler), IsEmpty());
    EXPECT_GT(count(*profiler, "aten::addmm"), 0);
  }
}

TEST(Modules, KeepTheirModelWhenItsTensorsMove) {
  Plain net;
  Profiler profiler({.activities = {Activity::cpu}});
  profiler.attach(net);
  net.to(torch::kFloat64);
  profiler.start();
  net.forward(torch::ones({4, 4}, torch::kFloat64));
  profiler.stop();
  EXPECT_EQ(modules(profiler), kForward);
}

TEST(Modules, OfAModelThatIsGoneAreNone) {
  Profiler profiler({.activities = {Activity::cpu}});
  {
    Plain net;
    profiler.attach(net);
  }
  profiler.start();
  torch::ones({4}) + 1;
  profiler.stop();
  EXPECT_THAT(modules(profiler), IsEmpty());
  EXPECT_EQ(count(profiler, "aten::add"), 1);
}

TEST(Modules, OfAnotherModelAtTheSamePlaceAreItsOwn) {
  Profiler profiler({.activities = {Activity::cpu}});
  alignas(Plain) unsigned char bytes[sizeof(Plain)];
  auto* const first = new (bytes) Plain;
  profiler.attach(*first, "first");
  first->~Plain();
  auto* const second = new (bytes) Marked;
  profiler.attach(*second, "second");
  profiler.start();
  second->forward(torch::ones({4, 4}));
  profiler.stop();
  second->~Marked();
  EXPECT_EQ(modules(profiler), kForward);
}

TEST(Modules, ATensorThatTakesAPlaceIsNotTheModulesThatHadIt) {
  torch::nn::Linear layer(4, 3);
  Profiler profiler({.activities = {Activity::cpu}});
  profiler.attach(layer);
  profiler.start();
  {
    const torch::NoGradGuard no_grad;
    layer->weight.set_data(torch::ones({3, 4}));
  }
  for (int times = 0; times < 20; ++times) torch::ones({3, 4}) + torch::ones({1, 4});
  profiler.stop();
  EXPECT_THAT(modules(profiler), IsEmpty());
}

TEST(Modules, TwoModelsOfOneNameAreTwo) {
  torch::nn::Sequential one(torch::nn::Linear(4, 4));
  torch::nn::Sequential two(torch::nn::Linear(4, 4));
  Profiler profiler({.activities = {Activity::cpu}});
  profiler.attach(one);
  profiler.attach(two);
  profiler.start();
  one->forward(torch::ones({2, 4}));
  two->forward(torch::ones({2, 4}));
  profiler.stop();
  EXPECT_THAT(modules(profiler),
              ElementsAre("Sequential_0", " Linear_0", "Sequential_1", " Linear_1"));
}

TEST(Modules, APartAndItsWholeCanBeAttachedInAnyOrderAndAgain) {
  for (const bool part_first : {true, false}) {
    torch::nn::Sequential whole(torch::nn::Linear(4, 4), torch::nn::Linear(4, 4));
    const auto part = whole[0];
    Profiler profiler({.activities = {Activity::cpu}});
    if (part_first) profiler.attach(part, "part");
    profiler.attach(whole, "");
    profiler.attach(part, "part");
    profiler.attach(whole, "whole");
    profiler.start();
    whole->forward(torch::ones({2, 4}));
    profiler.stop();
    EXPECT_THAT(modules(profiler), ElementsAre("Sequential_0", " Linear_0", " Linear_1"));
  }
}

TEST(Modules, TensorsInOneStorageAreOfTheirOwnModules) {
  torch::nn::Sequential net(torch::nn::Linear(4, 4), torch::nn::Linear(4, 4));
  const torch::Tensor flat = torch::ones({40});
  std::int64_t at = 0;
  for (torch::Tensor& parameter : net->parameters()) {
    parameter.set_data(flat.narrow(0, at, parameter.numel()).view(parameter.sizes()));
    at += parameter.numel();
  }
  Profiler profiler({.activities = {Activity::cpu}});
  profiler.attach(net);
  profiler.start();
  net->forward(torch::ones({2, 4}));
  profiler.stop();
  EXPECT_THAT(modules(profiler), ElementsAre("Sequential_0", " Linear_0", " Linear_1"));
}

std::vector<std::string> paths(const Trace& trace) {
  std::vector<std::string> paths;
  trace.argument(Argument::module_path).for_each([&](EventId event) {
    EXPECT_TRUE(trace.name(event).starts_with("nn.Module: "));
    EXPECT_TRUE(trace.events().is_module(event));
    paths.emplace_back(trace.argument_text(event, Argument::module_path));
  });
  return paths;
}

TEST(Modules, HaveThePathsOfNamedModulesInFiles) {
  const auto net = std::make_shared<Plain>();
  Profiler profiler({.activities = {Activity::cpu}});
  profiler.attach(net, "G");
  profiler.start();
  net->forward(torch::ones({4, 4}));
  profiler.stop();
  std::vector<std::string> named;
  for (const auto& module : net->named_modules("G")) named.push_back(module.key());
  ASSERT_THAT(named, Contains("G.block1.first"));
  const testing::Folder folder;
  ASSERT_TRUE(profiler.export_chrome_trace(folder / "trace.json").ok());
  const Result<Trace> trace =
      read_trace(folder / "trace.json", {.arguments = {Argument::module_path}});
  ASSERT_TRUE(trace.ok());
  EXPECT_EQ(paths(*trace), named);
  for (const Dialect dialect : {Dialect::plugin, Dialect::kineto}) {
    ASSERT_TRUE(
        write_chrome_trace(*trace, folder / "again.json", {.dialect = dialect, .overwrite = true})
            .ok());
    EXPECT_EQ(paths(*read_trace(folder / "again.json", {.arguments = {Argument::module_path}})),
              named);
  }
}

TEST(Modules, NoModelIsRefused) {
  Profiler profiler;
  EXPECT_THROW(profiler.attach(std::shared_ptr<Plain>()), std::invalid_argument);
}

TEST(Modules, HoldersAndReferencesCanBeAttached) {
  torch::nn::Linear holder(4, 4);
  torch::nn::Sequential sequence(torch::nn::Linear(4, 4), torch::nn::ReLU());
  Profiler profiler({.activities = {Activity::cpu}});
  profiler.attach(holder, "one");
  profiler.attach(*sequence, "two");
  profiler.start();
  holder(torch::ones({2, 4}));
  sequence->forward(torch::ones({2, 4}));
  profiler.stop();
  EXPECT_THAT(modules(profiler), ElementsAre("Linear_0", "Sequential_0", " Linear_1"));
}

}  // namespace
}  // namespace tbtrace
