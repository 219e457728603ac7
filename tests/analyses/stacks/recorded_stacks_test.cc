// Stacks among ranges: by hand, and against programs that are run here step by step, so that what
// was around each operator is known.
#include "analyses/stacks/recorded_stacks.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <random>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <tbtrace/analyses.h>
#include <tbtrace/writers.h>

#include "fixtures/trace_rows.h"

namespace tbtrace::analyses {
namespace {

using fixtures::Range;

class Rows {
 public:
  void add(const Range& range, const std::string& stack = {}) {
    const EventId event = fixtures::add(builder_, range);
    if (!stack.empty()) {
      builder_.add_argument(event, Argument::call_stack, builder_.intern(stack));
    }
  }
  void op(std::string_view name, std::int64_t start, std::int64_t duration,
          const std::string& stack) {
    add({.name = name, .start = start, .duration = duration}, stack);
  }
  void module(std::string_view name, std::int64_t start, std::int64_t duration) {
    add({.category = "python_function",
         .name = name,
         .start = start,
         .duration = duration,
         .is_module = true});
  }
  void annotation(std::string_view name, std::int64_t start, std::int64_t duration,
                  const std::string& stack) {
    add({.category = "user_annotation", .name = name, .start = start, .duration = duration}, stack);
  }
  std::string folded() {
    const Result<StackTree> stacks = flame_graph(fixtures::finished(builder_));
    return stacks.ok() ? folded_stacks(*stacks) : stacks.status().message();
  }

 private:
  TraceBuilder builder_;
};

TEST(RecordedStacks, AModuleIsAroundItsForward) {
  Rows rows;
  rows.module("nn.Module: Net_0", 0, 100);
  rows.module("nn.Module: Linear_0", 0, 40);
  rows.op("aten::addmm", 0, 40,
          "torch.so(0): torch::nn::LinearImpl::forward;n.cc(5): NetImpl::forward;m.cc(9): main;");
  rows.op("aten::relu", 50, 50, "n.cc(6): NetImpl::forward;m.cc(9): main;");
  EXPECT_EQ(rows.folded(),
            "m.cc(9): main;nn.Module: Net_0 10\n"
            "m.cc(9): main;nn.Module: Net_0;n.cc(5): NetImpl::forward;nn.Module: Linear_0;"
            "torch.so(0): torch::nn::LinearImpl::forward;aten::addmm 40\n"
            "m.cc(9): main;nn.Module: Net_0;n.cc(6): NetImpl::forward;aten::relu 50\n");
}

TEST(RecordedStacks, OfModulesWithinModulesOfTheirClass) {
  Rows rows;
  rows.module("nn.Module: Sequential_0", 0, 10);
  rows.module("nn.Module: Sequential_1", 0, 10);
  rows.op("op", 0, 10, "s.h(2): SequentialImpl::forward;s.h(1): SequentialImpl::forward;main;");
  EXPECT_EQ(rows.folded(),
            "main;nn.Module: Sequential_0;s.h(1): SequentialImpl::forward;"
            "nn.Module: Sequential_1;s.h(2): SequentialImpl::forward;op 10\n");
}

TEST(RecordedStacks, AForwardThatIsDividedIsOfOneModule) {
  Rows rows;
  rows.module("nn.Module: Net_0", 0, 10);
  rows.op("op", 0, 10, "n.cc(9): Net::part;n.cc(5): Net::forward;main;");
  EXPECT_EQ(rows.folded(),
            "main;nn.Module: Net_0;n.cc(5): Net::forward;n.cc(9): Net::part;op 10\n");
}

TEST(RecordedStacks, AnotherMemberFunctionMayStandForTheForward) {
  Rows rows;
  rows.module("nn.Module: Net_0", 0, 10);
  rows.op("op", 0, 10, "n.cc(9): helper;n.cc(5): Net::encode;main;");
  EXPECT_EQ(rows.folded(), "main;nn.Module: Net_0;n.cc(5): Net::encode;n.cc(9): helper;op 10\n");
}

TEST(RecordedStacks, AModuleWhoseClassIsInNoFrameIsWithinWhatItsOperatorsShare) {
  Rows rows;
  rows.module("nn.Module: Derived_0", 0, 20);
  rows.op("a", 0, 10, "n.cc(5): Base::forward;m.cc(9): main;");
  rows.op("b", 10, 10, "n.cc(6): Base::forward;m.cc(9): main;");
  EXPECT_EQ(rows.folded(),
            "m.cc(9): main;nn.Module: Derived_0;n.cc(5): Base::forward;a 10\n"
            "m.cc(9): main;nn.Module: Derived_0;n.cc(6): Base::forward;b 10\n");
}

TEST(RecordedStacks, AModuleOfPartsThatMainCallsIsInMain) {
  Rows rows;
  rows.module("nn.Module: Net_0", 0, 20);
  rows.op("a", 0, 10, "m.cc(8): main;");
  rows.op("b", 10, 10, "m.cc(9): main;");
  EXPECT_EQ(rows.folded(),
            "m.cc(8): main;nn.Module: Net_0;a 10\nm.cc(8): main;nn.Module: Net_0;b 10\n");
}

TEST(RecordedStacks, AnAnnotationIsOfTheMomentWhenItBegan) {
  Rows rows;
  rows.annotation("step", 0, 30, "t.cc(1): Timer::Timer;m.cc(3): main;");
  rows.op("a", 0, 10, "m.cc(4): main;");
  rows.op("b", 10, 10, "w.cc(7): work;m.cc(5): main;");
  rows.op("c", 20, 10, "w.cc(7): elsewhere;x.cc(5): other_thread;");
  EXPECT_EQ(rows.folded(),
            "m.cc(3): main;t.cc(1): Timer::Timer;step;a 10\n"
            "m.cc(3): main;t.cc(1): Timer::Timer;step;c 10\n"
            "m.cc(3): main;t.cc(1): Timer::Timer;step;w.cc(7): work;b 10\n");
}

TEST(RecordedStacks, FramesOfOperatorsAreWholeOrNotThere) {
  Rows rows;
  rows.op("backward", 0, 20, "m.cc(3): main;");
  rows.op("of_forward", 0, 10, "n.cc(7): Net::forward;m.cc(2): main;");
  EXPECT_EQ(rows.folded(), "m.cc(3): main;backward 10\nm.cc(3): main;backward;of_forward 10\n");
}

TEST(RecordedStacks, ProcessesWithPythonFramesDoWithoutThem) {
  Rows rows;
  rows.add({.category = "python_function", .name = "main.py(1): f", .start = 0, .duration = 10});
  rows.op("a", 0, 10, "f;main;");
  rows.add({.name = "b", .start = 0, .duration = 10, .process = 2}, "g;main;");
  EXPECT_EQ(rows.folded(), "main.py(1): f;a 10\nmain;g;b 10\n");
}

/// A program that runs at random. Functions, annotations, modules and operators call each other;
/// each is a step deeper in what the flame graph has to show.
class Program {
 public:
  explicit Program(unsigned seed) : random_(seed) {}

  std::string run() {
    call("main", "", 5, 8);
    return rows_.folded();
  }
  std::string expected() const {
    std::string text;
    for (const auto& [path, self] : self_) {
      if (self > 0) text += path + " " + std::to_string(self) + "\n";
    }
    return text;
  }

 private:
  struct Call {
    std::string function;
    int line = 0;
    std::string frame() const { return "a.cc(" + std::to_string(line) + "): " + function; }
  };

  int below(int limit) { return static_cast<int>(random_() % static_cast<unsigned>(limit)); }

  std::string stack() const {
    std::string text;
    for (auto call = calls_.rbegin(); call != calls_.rend(); ++call) text += call->frame() + ";";
    return text;
  }
  /// Under what a range that begins now is shown: the range around it, and the functions called
  /// since.
  std::string path(const std::string& around, std::size_t shown) const {
    std::string path = around;
    for (std::size_t call = shown; call < calls_.size(); ++call) path += calls_[call].frame() + ";";
    return path;
  }

  /// `around` is shown already, with as many of the calls.
  void call(const std::string& function, const std::string& around, int depth, int length) {
    const std::size_t shown = shown_;
    calls_.push_back({function});
    for (int step = 0; step < length; ++step) {
      calls_.back().line = 1 + below(4);
      act(around, depth - 1);
    }
    calls_.pop_back();
    shown_ = shown;
  }

  void act(const std::string& around, int depth) {
    const int kind = depth > 0 ? below(5) : 0;
    if (kind == 1 || kind == 2) {
      call(below(2) == 0 ? "f" : "net::Block::helper", around, depth, 1 + below(3));
    } else if (kind == 3) {
      range(Kind::annotation, "step", around, depth);
    } else if (kind == 4) {
      range(Kind::module, below(2) == 0 ? "Block" : "Linear", around, depth);
    } else {
      range(Kind::op, below(2) == 0 ? "aten::a" : "aten::b", around, depth);
    }
  }

  enum class Kind { op, annotation, module };

  void range(Kind kind, const std::string& name, const std::string& around, int depth) {
    const std::string shown_name = kind == Kind::module ? "nn.Module: " + name + "_0" : name;
    const std::string own = path(around, shown_) + shown_name;
    const std::string began_with = stack();
    const std::int64_t start = ++now_;
    const std::int64_t in_others = others_;
    const std::size_t shown = std::exchange(shown_, calls_.size());
    if (kind == Kind::module) {
      const std::string inside = own + ";";
      calls_.push_back({"net::" + name + "Impl::forward"});
      range(Kind::op, "aten::first", inside, 0);  // a module without an operator is not found
      calls_.pop_back();
      call("net::" + name + "Impl::forward", inside, depth, 1 + below(3));
    } else if (kind == Kind::annotation && depth > 0) {
      for (int step = below(3); step > 0; --step) {
        calls_.back().line = 1 + below(4);
        act(own + ";", depth - 1);
      }
    } else if (kind == Kind::op && depth > 0 && below(3) == 0) {
      call("custom", own + ";", depth, 1);
    }
    shown_ = shown;
    const std::int64_t duration = ++now_ - start;
    const std::int64_t inner = others_ - in_others;
    self_[own] += duration - inner;
    others_ = in_others + duration;
    const Range row = {.category = kind == Kind::op           ? "cpu_op"
                                   : kind == Kind::annotation ? "user_annotation"
                                                              : "python_function",
                       .name = shown_name,
                       .start = start,
                       .duration = duration,
                       .is_module = kind == Kind::module};
    rows_.add(row, kind == Kind::module ? "" : began_with);
  }

  std::mt19937 random_;
  Rows rows_;
  std::vector<Call> calls_;
  std::size_t shown_ = 0;  // of calls_, in the path of the range around
  std::int64_t now_ = 0;
  std::int64_t others_ = 0;  // time of ranges that have ended
  std::map<std::string, std::int64_t> self_;
};

TEST(RecordedStacks, ShowWhatWasAroundEachOperator) {
  for (unsigned seed = 0; seed < 400; ++seed) {
    Program program(seed);
    const std::string shown = program.run();
    ASSERT_EQ(shown, program.expected()) << "seed " << seed;
  }
}

}  // namespace
}  // namespace tbtrace::analyses
