// Stacks among ranges: by hand, and against programs that are run here step by step, so that what
// was around each operator is known.
#include "analyses/stacks/recorded_stacks.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <random>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <tbtrace/flame_graph.h>

#include "fixtures/random_rounds.h"
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

TEST(RecordedStacks, OfOperatorsCountMoreThanThatOfTheAnnotationAroundThem) {
  Rows rows;
  rows.annotation("step", 0, 30, "t.cc(1): Timer::Timer;m.cc(3): main;");
  rows.op("a", 0, 10, "m.cc(4): main;");
  rows.op("b", 10, 10, "w.cc(7): work;m.cc(5): main;");
  rows.op("c", 20, 10, "w.cc(7): elsewhere;x.cc(5): other_thread;");
  EXPECT_EQ(rows.folded(),
            "step;m.cc(4): main;a 10\n"
            "step;m.cc(5): main;w.cc(7): work;b 10\n"
            "step;x.cc(5): other_thread;w.cc(7): elsewhere;c 10\n");
}

TEST(RecordedStacks, AnAnnotationIsWithinWhatItsOperatorsShareWithIt) {
  Rows rows;
  rows.annotation("ProfilerStep*", 0, 60, "p.py(9): __enter__;p.py(5): step;t.py(54): <module>;");
  rows.annotation("forward", 0, 30, "p.py(9): __enter__;n.py(3): run;t.py(46): <module>;");
  rows.op("aten::conv2d", 0, 20, "conv.py(440): _conv_forward;n.py(4): run;t.py(46): <module>;");
  rows.op("aten::relu", 20, 10, "n.py(5): run;t.py(46): <module>;");
  rows.annotation("nothing", 40, 10, "p.py(9): __enter__;t.py(50): <module>;");
  rows.op("aten::add", 50, 10, "t.py(51): <module>;");
  EXPECT_EQ(rows.folded(),
            "ProfilerStep* 10\n"
            "ProfilerStep*;t.py(46): <module>;forward;n.py(4): run;conv.py(440): _conv_forward;"
            "aten::conv2d 20\n"
            "ProfilerStep*;t.py(46): <module>;forward;n.py(5): run;aten::relu 10\n"
            "ProfilerStep*;t.py(50): <module>;p.py(9): __enter__;nothing 10\n"
            "ProfilerStep*;t.py(51): <module>;aten::add 10\n");
}

TEST(RecordedStacks, OfFilesOf2021HaveAnnotationsAmongTheOperators) {
  Rows rows;
  rows.op("ProfilerStep#7", 0, 30, "p.py(9): __enter__;p.py(5): step;t.py(54): <module>;");
  rows.op("aten::conv2d", 0, 20, "conv.py(440): _conv_forward;t.py(46): <module>;");
  EXPECT_EQ(rows.folded(),
            "ProfilerStep* 10\n"
            "ProfilerStep*;t.py(46): <module>;conv.py(440): _conv_forward;aten::conv2d 20\n");
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

/// A program that runs at random. Functions, annotations, modules and operators call each other.
class Program {
 public:
  explicit Program(unsigned seed) : random_(seed) {}

  std::string run() {
    call("main", 5, 8);
    return rows_.folded();
  }
  std::string expected() const {
    std::map<std::string, std::int64_t> self;
    for (std::size_t range = 0; range < ranges_.size(); ++range) {
      self[path(range)] += ranges_[range].self;
    }
    std::string text;
    for (const auto& [path, time] : self) {
      if (time > 0) text += path + " " + std::to_string(time) + "\n";
    }
    return text;
  }

 private:
  using Stack = std::vector<std::string>;  // outermost first
  enum class Kind { op, annotation, module };
  static constexpr std::size_t kNone = SIZE_MAX;

  struct Call {
    std::string function;
    int line = 0;
    std::string frame() const { return "a.cc(" + std::to_string(line) + "): " + function; }
  };
  struct Ran {
    Kind kind;
    std::string name;
    Stack stack;  // when it began
    std::size_t parent;
    std::vector<std::size_t> inside = {};
    std::int64_t self = 0;
  };

  int below(int limit) { return static_cast<int>(random_() % static_cast<unsigned>(limit)); }

  Stack stack() const {
    Stack frames;
    for (const Call& call : calls_) frames.push_back(call.frame());
    return frames;
  }

  /// The functions around a range: those that were active when it began; around an annotation,
  /// those that were active all the time.
  Stack around(std::size_t range) const {
    Stack frames = ranges_[range].stack;
    if (ranges_[range].kind != Kind::annotation) return frames;
    for (const std::size_t inner : ranges_[range].inside) {
      const Stack other = around(inner);
      const auto end = std::mismatch(frames.begin(), frames.end(), other.begin(), other.end());
      frames.erase(end.first, frames.end());
    }
    return frames;
  }

  /// The range around it, the functions called since, and its name.
  std::string path(std::size_t range) const {
    const std::size_t parent = ranges_[range].parent;
    std::string text = parent == kNone ? "" : path(parent) + ";";
    const Stack frames = around(range);
    const std::size_t shown = parent == kNone ? 0 : around(parent).size();
    for (std::size_t frame = shown; frame < frames.size(); ++frame) text += frames[frame] + ";";
    return text + ranges_[range].name;
  }

  void call(const std::string& function, int depth, int length) {
    calls_.push_back({function});
    for (int step = 0; step < length; ++step) {
      calls_.back().line = 1 + below(4);
      act(depth - 1);
    }
    calls_.pop_back();
  }

  void act(int depth) {
    const int kind = depth > 0 ? below(5) : 0;
    if (kind == 1 || kind == 2) {
      call(below(2) == 0 ? "f" : "net::Block::helper", depth, 1 + below(3));
    } else if (kind == 3) {
      range(Kind::annotation, "step", depth);
    } else if (kind == 4) {
      range(Kind::module, below(2) == 0 ? "Block" : "Linear", depth);
    } else {
      range(Kind::op, below(2) == 0 ? "aten::a" : "aten::b", depth);
    }
  }

  void range(Kind kind, const std::string& name, int depth) {
    const std::string shown_name = kind == Kind::module ? "nn.Module: " + name + "_0" : name;
    const std::size_t number = ranges_.size();
    ranges_.push_back({kind, shown_name, stack(), open_});
    if (open_ != kNone) ranges_[open_].inside.push_back(number);
    const std::size_t outer = std::exchange(open_, number);
    const std::int64_t start = ++now_;
    const std::int64_t in_others = others_;
    if (kind == Kind::module) {
      calls_.push_back({"net::" + name + "Impl::forward"});
      range(Kind::op, "aten::first", 0);  // a module without an operator is not found
      calls_.pop_back();
      call("net::" + name + "Impl::forward", depth, 1 + below(3));
    } else if (kind == Kind::annotation && depth > 0) {
      for (int step = below(3); step > 0; --step) {
        calls_.back().line = 1 + below(4);
        act(depth - 1);
      }
    } else if (kind == Kind::op && depth > 0 && below(3) == 0) {
      call("custom", depth, 1);
    }
    open_ = outer;
    const std::int64_t duration = ++now_ - start;
    ranges_[number].self = duration - (others_ - in_others);
    others_ = in_others + duration;
    const Range row = {.category = kind == Kind::op           ? "cpu_op"
                                   : kind == Kind::annotation ? "user_annotation"
                                                              : "python_function",
                       .name = shown_name,
                       .start = start,
                       .duration = duration,
                       .is_module = kind == Kind::module};
    std::string text;  // innermost first
    for (const std::string& frame : ranges_[number].stack) text.insert(0, frame + ";");
    rows_.add(row, kind == Kind::module ? "" : text);
  }

  std::mt19937 random_;
  Rows rows_;
  std::vector<Call> calls_;
  std::vector<Ran> ranges_;
  std::size_t open_ = kNone;
  std::int64_t now_ = 0;
  std::int64_t others_ = 0;  // time of ranges that have ended
};

TEST(RecordedStacks, ShowWhatWasAroundEachOperator) {
  for (unsigned seed = 0; seed < fixtures::random_rounds(400u); ++seed) {
    Program program(seed);
    const std::string shown = program.run();
    ASSERT_EQ(shown, program.expected()) << "seed " << seed;
  }
}

}  // namespace
}  // namespace tbtrace::analyses
