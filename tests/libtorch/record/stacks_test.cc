#include <algorithm>
#include <fstream>
#include <iterator>
#include <sstream>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <torch/script.h>
#include <torch/torch.h>

#include <tbtrace/flame_graph.h>
#include <tbtrace/profiler.h>

#include "libtorch/record/recorded.h"

// Outside of tbtrace, whose frames are left out.
namespace program {

constexpr int kLineOfCall = __LINE__ + 3;
[[gnu::noinline]] torch::Tensor layer(const torch::Tensor& input) {
  torch::NoGradGuard no_grad;
  torch::Tensor answer = torch::relu(input);
  asm volatile("" ::: "memory");
  return answer;
}

struct NetImpl : torch::nn::Module {
  [[gnu::noinline]] torch::Tensor forward(const torch::Tensor& input) {
    const torch::Tensor hidden = torch::relu(first->forward(input));
    return second->forward(hidden);
  }
  torch::nn::Linear first = register_module("first", torch::nn::Linear(8, 8));
  torch::nn::Linear second = register_module("second", torch::nn::Linear(8, 2));
};
TORCH_MODULE(Net);

[[gnu::noinline]] void step(Net& net) {
  net->forward(torch::ones({4, 8}));
  asm volatile("" ::: "memory");
}

}  // namespace program

namespace tbtrace {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

const FunctionEvent& event(const EventList& events, std::string_view key) {
  const auto found = std::find_if(events.begin(), events.end(),
                                  [&](const FunctionEvent& one) { return one.key == key; });
  if (found == events.end()) throw std::runtime_error("no event " + std::string(key));
  return *found;
}

TEST(Stacks, AreOfTheProgramInnermostFirst) {
  Profiler profiler({.activities = {Activity::cpu}, .with_stack = true});
  profiler.start();
  program::layer(torch::ones({2}));
  profiler.stop();
  const EventList events = profiler.events();
  const std::vector<std::string> stack = event(events, "aten::relu").stack;
  ASSERT_FALSE(stack.empty());
#ifdef TBTRACE_KNOWS_LINES
  EXPECT_THAT(stack[0], AllOf(HasSubstr("stacks_test.cc(" + std::to_string(program::kLineOfCall)),
                              EndsWith("program::layer")));
  EXPECT_THAT(stack.back(), EndsWith(": main"));
#endif
  for (const std::string& frame : stack) {
    EXPECT_THAT(
        frame, AllOf(Not(HasSubstr("tbtrace::")), Not(HasSubstr("at::")), Not(HasSubstr("std::"))));
  }
}

TEST(Stacks, AreOfEachThreadsOwn) {
  Profiler profiler({.activities = {Activity::cpu}, .with_stack = true, .all_threads = true});
  profiler.start();
  std::thread([] { program::layer(torch::ones({2})); }).join();
  profiler.stop();
  const EventList events = profiler.events();
  const std::vector<std::string> stack = event(events, "aten::relu").stack;
  ASSERT_FALSE(stack.empty());
  EXPECT_THAT(stack, Not(Contains(EndsWith(": main"))));
}

TEST(Stacks, OfManyThreadsAtOnce) {
  Profiler profiler({.activities = {Activity::cpu}, .with_stack = true, .all_threads = true});
  profiler.start();
  std::vector<std::thread> threads;
  for (int number = 0; number < 8; ++number) {
    threads.emplace_back([] {
      for (int times = 0; times < 200; ++times) program::layer(torch::ones({2}));
    });
  }
  for (std::thread& thread : threads) thread.join();
  profiler.stop();
  const EventList events = profiler.events();
  EXPECT_EQ(std::count_if(events.begin(), events.end(),
                          [](const FunctionEvent& one) {
                            return one.key == "aten::relu" && !one.stack.empty();
                          }),
            8 * 200);
}

TEST(Stacks, AreNotRecordedUnlessAskedFor) {
  Profiler profiler({.activities = {Activity::cpu}, .record_shapes = true});
  profiler.start();
  program::layer(torch::ones({2}));
  profiler.stop();
  for (const FunctionEvent& one : profiler.events()) EXPECT_THAT(one.stack, IsEmpty());
  const Status status = profiler.export_stacks("unused");
  EXPECT_EQ(status.code(), StatusCode::invalid_argument);
  EXPECT_EQ(status.message(), "export_stacks() requires with_stack = true");
}

TEST(Stacks, GoWithShapesMemoryAndFlops) {
  Profiler profiler({.activities = {Activity::cpu},
                     .record_shapes = true,
                     .profile_memory = true,
                     .with_stack = true,
                     .with_flops = true});
  profiler.start();
  torch::mm(torch::ones({2, 3}), torch::ones({3, 4}));
  profiler.stop();
  const EventList events = profiler.events();
  const FunctionEvent& mm = event(events, "aten::mm");
  EXPECT_THAT(mm.stack, Not(IsEmpty()));
  EXPECT_EQ(mm.flops, 2 * 2 * 3 * 4);
  EXPECT_EQ(mm.cpu_memory_usage_bytes, 2 * 4 * 4);
}

TEST(Stacks, AreExportedFolded) {
  const testing::Folder folder;
  Profiler profiler({.activities = {Activity::cpu}, .with_stack = true});
  profiler.start();
  for (int times = 0; times < 20; ++times) program::layer(torch::ones({100'000}));
  profiler.stop();
  const std::string path = folder / "stacks.txt";
  ASSERT_TRUE(profiler.export_stacks(path).ok());
  std::ifstream file(path);
  const std::string text(std::istreambuf_iterator<char>(file), {});
  EXPECT_THAT(text, HasSubstr("program::layer "));
  EXPECT_EQ(profiler.export_stacks(path, "cpu_time").code(), StatusCode::invalid_argument);
}

TEST(Report, IsThePageOfTheLastCycle) {
  const testing::Folder folder;
  const std::string path = folder / "report.html";
  Profiler profiler({.activities = {Activity::cpu}, .record_shapes = true});
  EXPECT_FALSE(profiler.export_report(path).ok()) << "nothing was recorded yet";
  profiler.start();
  torch::mm(torch::ones({2, 3}), torch::ones({3, 4}));
  profiler.stop();
  for (int times = 0; times < 2; ++times) {
    const Status written = profiler.export_report(path);
    ASSERT_TRUE(written.ok()) << written.message();
  }
  std::ifstream file(path);
  const std::string html(std::istreambuf_iterator<char>(file), {});
  EXPECT_THAT(html, HasSubstr("<title>report.html</title>"));
  EXPECT_THAT(html, HasSubstr("id=\"view-0-operators\">"));
  EXPECT_FALSE(profiler.export_report(folder / "missing/report.html").ok());
}

/// The functions, modules, ranges and operators above an operator in a flame graph, from the step
/// on, without files and lines.
std::vector<std::string> above(const std::string& folded, std::string_view last) {
  std::istringstream lines(folded);
  for (std::string line; std::getline(lines, line);) {
    line.resize(line.rfind(' '));
    if (!line.ends_with(std::string(";").append(last))) continue;
    std::vector<std::string> frames;
    std::istringstream parts(line);
    for (std::string part; std::getline(parts, part, ';');) {
      const std::size_t place = part.find("): ");
      if (part == "ProfilerStep*") frames.clear();
      frames.push_back(place == std::string::npos ? part : part.substr(place + 3));
    }
    return frames;
  }
  return {};
}

TEST(Stacks, AreAmongModulesInFlameGraphs) {
#ifdef TBTRACE_KNOWS_LINES
  for (const bool attached : {false, true}) {
    program::Net net;
    Profiler profiler({.activities = {Activity::cpu},
                       .schedule = schedule({.active = 1, .repeat = 1}),
                       .with_stack = true});
    if (attached) profiler.attach(net, "net");
    profiler.start();
    program::step(net);
    profiler.step();
    profiler.stop();
    const testing::Folder folder;
    ASSERT_TRUE(profiler.export_chrome_trace(folder / "trace.json").ok());
    const Result<Trace> trace = read_trace(folder / "trace.json");
    ASSERT_TRUE(trace.ok());
    const std::string folded = folded_stacks(*flame_graph(*trace));
    const std::vector<std::string> linear = {"torch::nn::LinearImpl::forward", "aten::addmm"};
    // The step began on another line of TestBody than the call in it.
    std::vector<std::string> expected = {"ProfilerStep*", "TestBody", "program::step",
                                         "program::NetImpl::forward"};
    if (attached) {
      expected.insert(expected.begin() + 3, "nn.Module: Net_0");
      expected.emplace_back("nn.Module: Linear_0");
    }
    expected.insert(expected.end(), linear.begin(), linear.end());
    EXPECT_EQ(above(folded, "aten::addmm"), expected) << folded;
  }
#else
  GTEST_SKIP() << "needs libbacktrace";
#endif
}

/// A module within a module, loaded from a file, since code without a file has no stack.
torch::jit::Module script() {
  torch::jit::Module inner("Inner");
  inner.define("def forward(self, x):\n  return torch.relu(x)\n");
  torch::jit::Module outer("Outer");
  outer.register_module("inner", inner);
  outer.define("def forward(self, x):\n  return self.inner.forward(x) + 1\n");
  std::stringstream file;
  outer.save(file);
  return torch::jit::load(file);
}

TEST(Stacks, OfTorchScriptAreBeforeTheCallers) {
  torch::jit::Module module = script();
  Profiler profiler({.activities = {Activity::cpu}, .with_stack = true});
  profiler.start();
  module.forward({torch::ones({2})});
  profiler.stop();
  const EventList events = profiler.events();
  const std::vector<std::string> stack = event(events, "aten::relu").stack;
  ASSERT_GE(stack.size(), 3);
  EXPECT_THAT(stack[0], AllOf(HasSubstr(".py("), EndsWith("): forward")));
  EXPECT_THAT(stack[1], AllOf(HasSubstr(".py("), EndsWith("): forward")));
  EXPECT_THAT(stack.back(), EndsWith(": main"));
}

TEST(Modules, OfTorchScriptAreAHierarchy) {
  const testing::Folder folder;
  torch::jit::Module module = script();
  Profiler profiler({.activities = {Activity::cpu}, .with_modules = true});
  profiler.start();
  module.forward({torch::ones({2})});
  profiler.stop();
  const std::string path = folder / "trace.json";
  ASSERT_TRUE(profiler.export_chrome_trace(path).ok());
  std::ifstream file(path);
  const std::string text(std::istreambuf_iterator<char>(file), {});
  EXPECT_THAT(text,
              HasSubstr(R"("Module Hierarchy":"TOP(Outer)::forward.inner(Inner)::forward.")"));
}

}  // namespace
}  // namespace tbtrace
