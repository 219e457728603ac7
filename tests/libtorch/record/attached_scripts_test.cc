#include <cstdint>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <torch/script.h>
#include <torch/torch.h>

#include <tbtrace/modules.h>
#include <tbtrace/profiler.h>

#include "libtorch/record/recorded.h"

namespace tbtrace {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

torch::jit::Module activation() {
  torch::jit::Module module("Activation");
  module.define("def forward(self, x):\n    return torch.relu(x)\n");
  return module;
}

/// Activation, weight, activation.
torch::jit::Module block() {
  torch::jit::Module module("Block");
  module.register_parameter("weight", torch::ones({4, 4}), false);
  module.register_module("act", activation());
  module.define(R"(
    def forward(self, x):
        x = self.act.forward(x)
        return self.act.forward(self.scaled(torch.matmul(x, self.weight)))
    def scaled(self, x):
        return torch.sigmoid(x)
  )");
  return module;
}

torch::jit::Module script() {
  torch::jit::Module module("Script");
  module.register_module("first", block());
  module.register_module("second", block());
  module.define(R"(
    def forward(self, x):
        return torch.tanh(self.second.forward(self.first.forward(x))) + 1
  )");
  return module;
}

/// Frames of modules in order, as `path Class`, each in as many blanks as frames are around it.
std::vector<std::string> frames(const Trace& trace) {
  std::vector<std::string> texts;
  std::vector<std::int64_t> ends;
  for (const EventId event : trace.by_start()) {
    if (!trace.events().is_module(event)) continue;
    while (!ends.empty() && ends.back() <= trace.events().start_ns(event)) ends.pop_back();
    std::string name(trace.name(event).substr(std::string("nn.Module: ").size()));
    texts.push_back(std::string(ends.size(), ' ') +
                    std::string(trace.argument_text(event, Argument::module_path)) + " " +
                    name.substr(0, name.rfind('_')));
    ends.push_back(trace.events().end_ns(event));
  }
  return texts;
}

void run(torch::jit::Module& model, int times = 1) {
  const torch::NoGradGuard no_grad;
  for (int run = 0; run < times; ++run) model.forward({torch::ones({2, 4})});
}

const std::vector<std::string> kCall = {"net Script",
                                        " net.first Block",
                                        "  net.first.act Activation",
                                        "  net.first.act Activation",
                                        " net.second Block",
                                        "  net.second.act Activation",
                                        "  net.second.act Activation"};

TEST(AttachedScripts, PartsAreThoseThatTheInterpreterNames) {
  torch::jit::Module model = script();
  run(model, 3);
  Profiler profiler({.activities = {Activity::cpu}});
  profiler.attach(model, "net");
  profiler.start();
  run(model);
  run(model);
  profiler.stop();
  std::vector<std::string> twice = kCall;
  twice.insert(twice.end(), kCall.begin(), kCall.end());
  EXPECT_EQ(frames(*profiler.trace()), twice);
}

TEST(AttachedScripts, FrozenModelsHaveTheSameFrames) {
  torch::jit::Module model = script();
  model.eval();
  torch::jit::Module frozen = torch::jit::freeze(model);
  run(frozen, 3);
  Profiler profiler({.activities = {Activity::cpu}});
  profiler.attach(frozen, "net");
  profiler.start();
  run(frozen);
  profiler.stop();
  EXPECT_EQ(frames(*profiler.trace()), kCall);
}

TEST(AttachedScripts, OperatorsAreInTheirModules) {
  torch::jit::Module model = script();
  run(model, 3);
  Profiler profiler({.activities = {Activity::cpu}});
  profiler.attach(model, "net");
  profiler.start();
  run(model);
  profiler.stop();
  const EventList events = profiler.events();
  const auto module_of = [&](const std::string& name) {
    std::string around = "no such operator";
    for (const FunctionEvent& event : events) {
      if (event.key != name) continue;
      around = "none";
      for (auto at = event.parent; at && around == "none"; at = events[*at].parent) {
        if (events[*at].key.starts_with("nn.Module: ")) around = events[*at].key;
      }
    }
    return around;
  };
  EXPECT_EQ(module_of("aten::matmul"), "nn.Module: Block_1");
  EXPECT_EQ(module_of("aten::sigmoid"), "nn.Module: Block_1") << "another method of the module";
  EXPECT_EQ(module_of("aten::relu"), "nn.Module: Activation_1");
  EXPECT_EQ(module_of("aten::tanh"), "nn.Module: Script_0");
}

TEST(AttachedScripts, BackwardsAreNobodysForward) {
  torch::jit::Module model = script();
  for (auto& module : std::vector<torch::jit::Module>{model.attr("first").toModule(),
                                                      model.attr("second").toModule()}) {
    module.attr("weight").toTensor().requires_grad_(true);
  }
  const auto train = [&] { model.forward({torch::ones({2, 4})}).toTensor().sum().backward(); };
  for (int step = 0; step < 4; ++step) train();
  Profiler profiler({.activities = {Activity::cpu}});
  profiler.attach(model, "net");
  profiler.start();
  train();
  profiler.stop();
  EXPECT_EQ(frames(*profiler.trace()), kCall);
}

TEST(AttachedScripts, OtherModelsOfTheClassHaveNoFrames) {
  torch::jit::Module model = script();
  torch::jit::Module other = script();
  run(model, 3);
  run(other, 3);
  Profiler profiler({.activities = {Activity::cpu}});
  profiler.attach(model, "net");
  profiler.start();
  run(other);
  profiler.stop();
  EXPECT_THAT(frames(*profiler.trace()), IsEmpty());

  Profiler both({.activities = {Activity::cpu}});
  both.attach(model, "a");
  both.attach(other, "b");
  both.start();
  run(other);
  run(model);
  both.stop();
  const std::vector<std::string> found = frames(*both.trace());
  ASSERT_EQ(found.size(), 2 * kCall.size());
  EXPECT_EQ(found.front(), "b Script");
  EXPECT_EQ(found[kCall.size()], "a Script");
}

TEST(AttachedScripts, FramesTakeThePlaceOfHierarchies) {
  torch::jit::Module model = script();
  torch::jit::Module other = script();
  run(model, 3);
  run(other, 3);
  const testing::Folder folder;
  for (const bool with_modules : {false, true}) {
    Profiler profiler({.activities = {Activity::cpu}, .with_modules = with_modules});
    profiler.attach(model, "net");
    profiler.start();
    run(model);
    if (with_modules) run(other);
    profiler.stop();
    const Trace& trace = *profiler.trace();
    const ModuleTree tree = *module_tree(trace);
    std::vector<std::string> paths;
    for (const ModuleRow& module : tree.modules) paths.push_back(module.path);
    EXPECT_THAT(paths, Contains("net.second.act"));
    EXPECT_THAT(paths, Not(Contains(HasSubstr("net.Script"))));
    EXPECT_EQ(trace.argument(Argument::module_hierarchy).empty(), !with_modules);
    ASSERT_TRUE(profiler.export_chrome_trace(folder / "trace.json").ok());
    std::ifstream file(folder / "trace.json");
    const std::string text(std::istreambuf_iterator<char>(file), {});
    EXPECT_THAT(text, HasSubstr(R"("Module path":"net.first.act")"));
  }
}

TEST(AttachedScripts, ModelsThatAreGoneAreForgotten) {
  Profiler profiler({.activities = {Activity::cpu}});
  {
    torch::jit::Module model = script();
    profiler.attach(model, "gone");
  }
  torch::jit::Module model = script();
  run(model, 3);
  profiler.start();
  run(model);
  profiler.stop();
  EXPECT_THAT(frames(*profiler.trace()), IsEmpty());
}

}  // namespace
}  // namespace tbtrace
