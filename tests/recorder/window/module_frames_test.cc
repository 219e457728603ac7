#include "recorder/window/module_frames.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <tbtrace/operators.h>

#include "fixtures/random_rounds.h"
#include "recorder/window/hand_written.h"
#include "recorder/window/read_window.h"

namespace tbtrace::recorder {
namespace {

using testing::ElementsAre;
using testing::ElementsAreArray;
using testing::HasSubstr;
using testing::IsEmpty;

/// A model whose modules each own a tensor.
class Model {
 public:
  struct Part {
    const void* instance;
    const ModuleTensor* tensor;
  };

  Part add(const std::string& path, const std::string& type = "3Net") {
    const char* const instance = &bytes_[used_++];
    const std::size_t dot = path.rfind('.');
    const auto parent = dot == path.npos ? rows_.end() : rows_.find(path.substr(0, dot));
    const std::uint32_t row =
        map_->add(instance, type, path, parent == rows_.end() ? ModuleMap::kNone : parent->second);
    rows_[path] = row;
    map_->own(instance, {.module = row, .begin = instance, .end = instance + 1});
    return {instance, map_->tensor(instance, instance)};
  }

  RecordingOptions options() const { return {.modules = map_}; }

 private:
  std::vector<char> bytes_ = std::vector<char>(1000);
  std::size_t used_ = 0;
  std::map<std::string, std::uint32_t> rows_;
  std::shared_ptr<ModuleMap> map_ = std::make_shared<ModuleMap>();
};

/// The frames as `path start-end`, those of unknown models as `Class_number`, indented in others.
std::vector<std::string> frames_of(const Window& window) {
  std::vector<std::string> texts;
  std::vector<std::size_t> depths;
  const std::uint64_t start = window.recording().started().ticks;
  const ModuleFrames& modules = window.modules();
  for (const ModuleFrame& frame : modules.frames) {
    const Module& module = modules.modules[frame.module];
    depths.push_back(frame.parent < 0 ? 0 : depths[static_cast<std::size_t>(frame.parent)] + 1);
    texts.push_back(std::string(depths.back(), ' ') +
                    (module.path.empty() ? module.class_name + "_" + std::to_string(module.number)
                                         : module.path) +
                    " " + std::to_string(frame.start_ticks - start) + "-" +
                    std::to_string(frame.end_ticks - start));
  }
  return texts;
}

BeginRecord takes(const Model::Part& part) { return {.module = part.tensor->number}; }
BeginRecord forward_of(const Model::Part& part) {
  return {.scope = Scope::module, .module = reinterpret_cast<std::uintptr_t>(part.instance)};
}
BeginRecord forward_of(const void* module) {
  return {.scope = Scope::module, .module = reinterpret_cast<std::uintptr_t>(module)};
}

TEST(ModuleFrames, OfARecordingWithoutModelsAreNone) {
  HandWritten recording;
  recording.thread().range(10, 20, "aten::mm");
  EXPECT_THAT(recording.window()->modules().frames, IsEmpty());
}

TEST(ModuleFrames, LastFromTheFirstToTheLastOperatorOfTheirParts) {
  Model model;
  model.add("net");
  const Model::Part first = model.add("net.first");
  const Model::Part second = model.add("net.second");
  HandWritten recording(model.options());
  auto thread = recording.thread();
  thread.range(5, 9, "aten::ones");
  thread.range(10, 20, "aten::linear", takes(first));
  thread.range(21, 29, "aten::relu");
  thread.range(30, 40, "aten::linear", takes(second));
  thread.range(41, 49, "aten::sum");
  EXPECT_THAT(frames_of(*recording.window()),
              ElementsAre("net 10-40", " net.first 10-20", " net.second 30-40"));
}

/// A call of a TorchScript module of the map, and an operator in it.
BeginRecord call_of(std::uint32_t row) {
  return {.scope = Scope::torchscript_function, .module = std::uint64_t{row} + 1};
}
BeginRecord in(const HandWritten::Thread& thread, const std::string& hierarchy,
               std::uint64_t tensor = 0) {
  return {.module = tensor, .script_modules = thread.log()->names().find(hierarchy)};
}

TEST(ModuleFrames, OfTorchScriptAreThoseThatTheInterpreterNames) {
  const char objects[3] = {};
  auto map = std::make_shared<ModuleMap>();
  const std::uint32_t net = map->add_script(&objects[0], "Net", "net");
  const std::uint32_t part = map->add_script(&objects[1], "Block", "net.part", net);
  EXPECT_EQ(map->part(net, "part", "Other"), part);
  EXPECT_EQ(map->script(&objects[1]), part);
  EXPECT_EQ(map->script(&objects[2]), ModuleMap::kNone);
  HandWritten recording({.with_modules = true, .modules = map});
  auto thread = recording.thread();
  thread.begin(10, 1, "forward", call_of(net));
  thread.begin(11, 2, "forward", call_of(net));  // calls are ranges within each other
  thread.range(12, 13, "aten::tanh", in(thread, "TOP(Net)::forward."));
  thread.range(14, 16, "aten::relu", in(thread, "TOP(Net)::forward.part(Block)::forward.::relu."));
  thread.range(17, 18, "aten::mm",
               in(thread, "TOP(Net)::forward.part(Block)::forward.SELF(Block)::a."));
  // What is in the operator's operator is its own.
  thread.begin(19, 3, "aten::mm",
               in(thread, "TOP()::<forward op>.part(Block)::forward.new(a.B)::c."));
  thread.range(20, 21, "aten::relu", in(thread, "TOP(Net)::forward."));
  thread.end(22, 3);
  thread.range(23, 24, "aten::relu", in(thread, "TOP(Net)::forward.part(Block)::forward.::relu."));
  thread.range(25, 26, "aten::add", in(thread, "odd(("));
  thread.end(27, 2);
  thread.end(28, 1);
  thread.range(29, 30, "aten::mm", in(thread, "TOP(Net)::forward.part(Block)::forward."));
  const auto window = recording.window();
  EXPECT_THAT(frames_of(*window),
              ElementsAre("net 10-28", " net.part 14-24", "  net.part.new 19-22"));
  std::vector<bool> expected(10, true);
  expected[9] = false;
  EXPECT_EQ(window->modules().has_script_frame, expected);
}

TEST(ModuleFrames, OfTorchScriptBeginAgainWithTheSameWeight) {
  const char objects[2] = {};
  auto map = std::make_shared<ModuleMap>();
  const std::uint32_t net = map->add_script(&objects[0], "Net", "net");
  const std::uint32_t part = map->add_script(&objects[1], "Block", "net.part", net);
  map->own(&objects[1], {.module = part, .begin = &objects[1], .end = &objects[1] + 1});
  HandWritten recording({.modules = map});
  auto thread = recording.thread();
  const std::string hierarchy = "TOP(Net)::forward.part(Block)::forward.";
  thread.begin(10, 1, "forward", call_of(net));
  thread.range(12, 13, "aten::mm", in(thread, hierarchy, 1));
  thread.range(14, 15, "aten::relu", in(thread, hierarchy));
  thread.range(16, 17, "aten::mm", in(thread, hierarchy, 1));
  thread.end(20, 1);
  EXPECT_THAT(frames_of(*recording.window()),
              ElementsAre("net 10-20", " net.part 12-15", " net.part 16-17"));
}

TEST(ModuleFrames, OperatorsInOperatorsAreOneWork) {
  Model model;
  const Model::Part net = model.add("net");
  HandWritten recording(model.options());
  auto thread = recording.thread();
  thread.begin(10, 1, "aten::linear", takes(net));
  thread.range(12, 18, "aten::addmm", takes(net));
  thread.end(20, 1);
  EXPECT_THAT(frames_of(*recording.window()), ElementsAre("net 10-20"));
}

TEST(ModuleFrames, TheFirstOperatorBeginsTheNextCall) {
  Model model;
  model.add("net");
  const Model::Part first = model.add("net.first");
  const Model::Part second = model.add("net.second");
  HandWritten recording(model.options());
  auto thread = recording.thread();
  for (const std::uint64_t at : {10, 30}) {
    thread.range(at, at + 5, "aten::linear", takes(first));
    thread.range(at + 6, at + 9, "aten::linear", takes(second));
    thread.range(at + 9, at + 10, "aten::mul", takes(second));
    // Not the first of anybody but its own module.
    thread.range(at + 11, at + 15, "aten::linear", takes(second));
  }
  EXPECT_THAT(
      frames_of(*recording.window()),
      ElementsAre("net 10-25", " net.first 10-15", " net.second 16-20", " net.second 21-25",
                  "net 30-45", " net.first 30-35", " net.second 36-40", " net.second 41-45"));
}

TEST(ModuleFrames, TheBackwardEndsThemAndHasNone) {
  Model model;
  const Model::Part net = model.add("net");
  HandWritten recording(model.options());
  auto thread = recording.thread();
  thread.range(10, 20, "aten::linear", takes(net));
  thread.begin(30, 1, "autograd::engine::evaluate_function: AddmmBackward0");
  thread.begin(31, 2, "AddmmBackward0", {.scope = Scope::backward_function});
  thread.range(32, 38, "aten::mm", takes(net));
  thread.end(39, 2);
  thread.end(40, 1);
  thread.range(50, 60, "aten::mul", takes(net));
  EXPECT_THAT(frames_of(*recording.window()), ElementsAre("net 10-20", "net 50-60"));
}

TEST(ModuleFrames, EndWithTheRangeThatTheyBeganIn) {
  Model model;
  model.add("net");
  const Model::Part first = model.add("net.first");
  const Model::Part second = model.add("net.second");
  HandWritten recording(model.options());
  auto thread = recording.thread();
  thread.begin(5, 1, "step", {.scope = Scope::user});
  thread.range(10, 20, "aten::linear", takes(first));
  thread.end(25, 1);
  thread.range(30, 40, "aten::linear", takes(second));
  EXPECT_THAT(frames_of(*recording.window()),
              ElementsAre("net 10-20", " net.first 10-20", "net 30-40", " net.second 30-40"));
}

TEST(ModuleFrames, HoldRangesThatBeganInThemWhole) {
  Model model;
  model.add("net");
  const Model::Part first = model.add("net.first");
  const Model::Part second = model.add("net.second");
  HandWritten recording(model.options());
  auto thread = recording.thread();
  thread.range(10, 20, "aten::linear", takes(first));
  thread.begin(25, 1, "block", {.scope = Scope::user});
  thread.range(30, 40, "aten::linear", takes(second));
  thread.end(50, 1);
  EXPECT_THAT(frames_of(*recording.window()),
              ElementsAre("net 10-50", " net.first 10-20", " net.second 30-40"));
}

TEST(ModuleFrames, OfAThreadAreItsOwn) {
  Model model;
  const Model::Part net = model.add("net");
  HandWritten recording(model.options());
  auto one = recording.thread(1);
  auto two = recording.thread(2);
  one.range(10, 20, "aten::linear", takes(net));
  two.range(15, 25, "aten::linear", takes(net));
  one.range(30, 40, "aten::mul", takes(net));
  EXPECT_THAT(frames_of(*recording.window()), ElementsAre("net 10-40", "net 15-25"));
}

TEST(ModuleFrames, AForwardsOwnRangeIsExact) {
  HandWritten recording({.with_modules = true});
  auto thread = recording.thread();
  const std::vector<char> modules(3);
  thread.begin(10, 1, "3Net", forward_of(modules.data()));
  thread.range(20, 30, "10LinearImpl", forward_of(&modules[1]));
  thread.range(40, 50, "10LinearImpl", forward_of(&modules[2]));
  thread.range(60, 70, "10LinearImpl", forward_of(&modules[1]));
  thread.end(90, 1);
  const auto window = recording.window();
  EXPECT_THAT(frames_of(*window),
              ElementsAre("Net_0 10-90", " Linear_0 20-30", " Linear_1 40-50", " Linear_0 60-70"));
  // They are frames, not ranges.
  EXPECT_THAT(text_of(window), testing::Not(HasSubstr("user_annotation")));
}

TEST(ModuleFrames, OfClassesThatHadTheSamePlaceAreTold) {
  HandWritten recording({.with_modules = true});
  auto thread = recording.thread();
  const char place = 0;
  thread.range(10, 20, "3Net", forward_of(&place));
  thread.range(30, 40, "5Block", forward_of(&place));
  EXPECT_THAT(frames_of(*recording.window()), ElementsAre("Net_0 10-20", "Block_0 30-40"));
}

TEST(ModuleFrames, NestWhateverTheProgramDoes) {
  HandWritten recording({.with_modules = true});
  auto thread = recording.thread();
  const std::vector<char> modules(2);
  thread.begin(10, 1, "3Net", forward_of(modules.data()));
  thread.begin(20, 2, "3Net", forward_of(&modules[1]));
  thread.end(30, 1);
  thread.end(40, 2);
  EXPECT_THAT(frames_of(*recording.window()), ElementsAre("Net_0 10-30", " Net_1 20-30"));
}

TEST(ModuleFrames, AreNoneWhereNobodyAskedForThem) {
  HandWritten recording;
  const char place = 0;
  recording.thread().range(10, 20, "3Net", forward_of(&place));
  const auto window = recording.window();
  EXPECT_THAT(window->modules().frames, IsEmpty());
  EXPECT_THAT(text_of(window), testing::Not(HasSubstr("Net")));
}

TEST(ModuleFrames, OfBothKindsGoTogether) {
  Model model;
  model.add("net");
  const Model::Part stem = model.add("net.stem");
  const Model::Part block = model.add("net.block", "5Block");
  const Model::Part layer = model.add("net.block.layer");
  HandWritten recording(model.options());
  auto thread = recording.thread();
  thread.range(10, 20, "aten::conv2d", takes(stem));
  thread.begin(25, 1, "5Block", forward_of(block));
  thread.range(30, 40, "aten::linear", takes(layer));
  thread.end(50, 1);
  thread.range(55, 60, "aten::conv2d", takes(stem));
  EXPECT_THAT(frames_of(*recording.window()),
              ElementsAre("net 10-50", " net.stem 10-20", " net.block 25-50",
                          "  net.block.layer 30-40", "net 55-60", " net.stem 55-60"));
}

TEST(ModuleFrames, AreThoseOfPythonInTheFile) {
  Model model;
  model.add("net");
  const Model::Part layer = model.add("net.\"0\"", "10LinearImpl");
  HandWritten recording(model.options());
  auto thread = recording.thread();
  thread.range(10, 20, "aten::linear", takes(layer));
  const auto window = recording.window();
  const std::string text = text_of(window);
  EXPECT_THAT(text, HasSubstr(R"("cat":"python_function","name":"nn.Module: Net_0")"));
  EXPECT_THAT(text, HasSubstr(R"("Python id":1,"Python parent id":null,"Python module id":0)"
                              R"(,"Module path":"net")"));
  EXPECT_THAT(text, HasSubstr(R"("name":"nn.Module: Linear_0")"));
  EXPECT_THAT(text, HasSubstr(R"("Python id":2,"Python parent id":1,"Python module id":0)"
                              R"(,"Module path":"net.\"0\"")"));
  // The operator comes behind the frames that begin with it, and is in them.
  EXPECT_LT(text.find("nn.Module: Linear_0"), text.find("aten::linear"));
  const Trace trace = read(window, {Argument::module_path});
  ASSERT_EQ(events(trace).size(), 3);
  EXPECT_EQ(trace.argument(Argument::module_path).size(), 2);
  EXPECT_EQ(trace.argument_text(EventId{0}, Argument::module_path), "net");
  EXPECT_EQ(trace.argument_text(EventId{1}, Argument::module_path), "net.\"0\"");
}

/// A tree of modules that is run by the rules, and what its frames are.
class Simulation {
 public:
  explicit Simulation(unsigned seed) : random_(seed) { root_ = make("net", 3); }

  std::vector<std::string> expected;

  void run(HandWritten::Thread& thread, int steps) {
    for (int step = 0; step < steps; ++step) {
      thread.begin(++now_, 1000, "ProfilerStep", {.scope = Scope::user});
      thread.range(now_ + 1, now_ + 2, "aten::ones");
      now_ += 3;
      call(thread, root_, 0);
      backward(thread);
      thread.end(++now_, 1000);
    }
  }

  RecordingOptions options() const { return model_.options(); }

 private:
  struct Part {
    std::string path;
    Model::Part own;
    std::vector<Part> parts;
  };

  bool flip() { return random_() % 2 == 0; }

  Part make(const std::string& path, int depth) {
    Part part{.path = path, .own = model_.add(path), .parts = {}};
    for (std::size_t child = 0; depth > 0 && child < 1 + random_() % 3; ++child) {
      part.parts.push_back(make(path + "." + std::to_string(child), depth - 1));
    }
    return part;
  }

  /// Leaves take their tensor, others only run their parts.
  void call(HandWritten::Thread& thread, const Part& part, std::size_t depth) {
    const std::size_t row = expected.size();
    expected.emplace_back();
    const std::uint64_t start = now_;
    std::uint64_t end = start;
    if (part.parts.empty()) {
      thread.begin(now_, 7, "aten::linear", takes(part.own));
      if (flip()) thread.range(now_ + 1, now_ + 2, "aten::addmm", takes(part.own));
      now_ += 3;
      thread.end(now_, 7);
      end = now_;
    }
    for (const Part& child : part.parts) {
      call(thread, child, depth + 1);
      end = last_;
      if (flip()) {
        thread.range(now_ + 1, now_ + 2, "aten::relu");
        now_ += 3;
      }
    }
    last_ = end;
    expected[row] = std::string(depth, ' ') + part.path + " " + std::to_string(start) + "-" +
                    std::to_string(end);
    now_ += 1;
  }

  void backward(HandWritten::Thread& thread) {
    thread.begin(++now_, 8, "autograd::engine::evaluate_function: X");
    thread.range(now_ + 1, now_ + 2, "aten::mm", takes(root_.own));
    now_ += 3;
    thread.end(now_, 8);
  }

  std::mt19937 random_;
  Model model_;
  Part root_;
  std::uint64_t now_ = 1;
  std::uint64_t last_ = 0;
};

TEST(ModuleFrames, AreThoseOfAnyTreeThatCallsEachPartOnce) {
  for (unsigned seed = 0; seed < fixtures::random_rounds(50u); ++seed) {
    Simulation simulation(seed);
    HandWritten recording(simulation.options());
    auto thread = recording.thread();
    simulation.run(thread, 3);
    EXPECT_THAT(frames_of(*recording.window()), ElementsAreArray(simulation.expected)) << seed;
  }
}

}  // namespace
}  // namespace tbtrace::recorder
