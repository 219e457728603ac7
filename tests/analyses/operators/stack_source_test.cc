// Grouping by the Python frames of a file, where operators have no `Call stack`.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <random>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <tbtrace/compat.h>
#include <tbtrace/operators.h>

#include "fixtures/chrome_text.h"
#include "fixtures/drained.h"
#include "fixtures/random_rounds.h"
#include "fixtures/read_text.h"
#include "io/source.h"

namespace tbtrace {
namespace {

using fixtures::ChromeEvent;
using fixtures::in_quotes;
using fixtures::op;
using fixtures::read;
using fixtures::trace_text;
using testing::ElementsAre;
using testing::IsEmpty;

using Stack = std::vector<std::string>;

constexpr Figures kAllFigures[] = {Figures::torch, Figures::exact, Figures::plugin};

ChromeEvent frame(const std::string& name, const std::string& start, const std::string& duration) {
  return op(name, start, duration).with("cat", "\"python_function\"").arg("Python id", "1");
}

/// The stack of the one row that is called so.
Stack stack_of(const OperatorSummary& summary, const std::string& name) {
  for (const OperatorRow& row : summary.rows()) {
    if (row.key == name) return row.stack;
  }
  ADD_FAILURE() << "there is no " << name;
  return {};
}

TEST(StackSource, FramesStandInForStacksThatAreMissing) {
  const Trace trace = read(
      trace_text({frame("main", "0", "50"), frame("step", "1", "40"), op("a", "10", "5"),
                  op("b", "20", "5").arg("Call stack", in_quotes("f;g;")), op("c", "60", "5")}));
  for (const Figures figures : {Figures::torch, Figures::exact}) {
    const auto summary = [&](StackSource source, int frames) {
      return *operator_summary(
          trace, figures,
          {.group_by_stack_n = frames, .stack_source = source, .include_python_functions = true});
    };
    const OperatorSummary as_torch = summary(StackSource::call_stack, 5);
    EXPECT_THAT(stack_of(as_torch, "a"), IsEmpty());
    EXPECT_THAT(stack_of(as_torch, "b"), ElementsAre("f", "g"));
    const OperatorSummary frames = summary(StackSource::frames, 5);
    EXPECT_THAT(stack_of(frames, "a"), ElementsAre("step", "main"));
    EXPECT_THAT(stack_of(frames, "b"), ElementsAre("step", "main"));
    EXPECT_THAT(stack_of(frames, "c"), IsEmpty());
    EXPECT_THAT(stack_of(frames, "step"), ElementsAre("main"));
    const OperatorSummary either = summary(StackSource::either, 1);
    EXPECT_THAT(stack_of(either, "a"), ElementsAre("step"));
    EXPECT_THAT(stack_of(either, "b"), ElementsAre("f"));
  }
}

TEST(StackSource, FramesOfTheProfilerAreLeftOutAsInTorch) {
  const Trace trace = read(trace_text({frame("main", "0", "50"),
                                       frame("torch/autograd/__init__.py(1): backward", "1", "40"),
                                       op("a", "10", "5")}));
  const OperatorSummary summary = operator_summary(trace, {.group_by_stack_n = 5,
                                                           .stack_source = StackSource::frames,
                                                           .include_python_functions = true});
  EXPECT_THAT(stack_of(summary, "a"), ElementsAre("main"));
}

TEST(StackSource, MakesNoDifferenceWithoutFrames) {
  const Trace trace = read(trace_text({op("a", "10", "5"), op("a", "20", "5")}));
  for (const Figures figures : kAllFigures) {
    const auto text = [&](StackSource source) {
      return *operator_summary(
                  trace, figures,
                  {.group_by_stack_n = 5, .stack_source = source, .include_python_functions = true})
                  ->table();
    };
    EXPECT_EQ(text(StackSource::frames), text(StackSource::call_stack));
  }
}

/// Frames and operators in each other, on two threads; no two bounds are the same.
class RandomFrames {
 public:
  struct Range {
    std::string name;
    bool is_frame;
    int thread;
    int start;
    int end = 0;
  };

  explicit RandomFrames(unsigned seed) : random_(seed) {
    for (int thread = 1; thread <= 2; ++thread) {
      while (random_() % 4 != 0) nest(thread, 5);
    }
  }

  Trace make() const {
    std::vector<ChromeEvent> events;
    for (const Range& range : ranges_) {
      const std::string start = std::to_string(range.start);
      const std::string duration = std::to_string(range.end - range.start);
      ChromeEvent event =
          range.is_frame ? frame(range.name, start, duration) : op(range.name, start, duration);
      events.push_back(event.with("tid", std::to_string(range.thread)));
    }
    return read(trace_text(events));
  }

  const std::vector<Range>& ranges() const { return ranges_; }

  /// The frames that enclose a range, innermost first.
  Stack around(const Range& inner, std::size_t most) const {
    std::vector<Range> outer;
    for (const Range& range : ranges_) {
      const bool encloses = range.thread == inner.thread && range.start < inner.start &&
                            range.end > inner.end && range.is_frame;
      if (encloses) outer.push_back(range);
    }
    std::sort(outer.begin(), outer.end(),
              [](const Range& a, const Range& b) { return a.start > b.start; });
    if (outer.size() > most) outer.resize(most);
    Stack stack;
    for (const Range& range : outer) stack.push_back(range.name);
    return stack;
  }

 private:
  void nest(int thread, int depth) {
    const bool is_frame = random_() % 2 == 0;
    const std::size_t range = ranges_.size();
    ranges_.push_back(
        {(is_frame ? "f.py(1): f" : "op") + std::to_string(range), is_frame, thread, ++now_});
    while (depth > 0 && random_() % 3 != 0) nest(thread, depth - 1);
    ranges_[range].end = ++now_;
  }

  std::mt19937 random_;
  std::vector<Range> ranges_;
  int now_ = 0;
};

TEST(StackSource, FramesAreThoseAroundAnOperatorInRandomTraces) {
  std::size_t with_frames = 0;
  for (unsigned seed = 0; seed < fixtures::random_rounds(500u); ++seed) {
    SCOPED_TRACE(seed);
    const RandomFrames random(seed);
    const Trace trace = random.make();
    const int most = 1 + static_cast<int>(seed % 4);
    for (const Figures figures : {Figures::torch, Figures::exact}) {
      const OperatorSummary summary = *operator_summary(trace, figures,
                                                        {.group_by_stack_n = most,
                                                         .stack_source = StackSource::frames,
                                                         .include_python_functions = true});
      for (const RandomFrames::Range& range : random.ranges()) {
        const Stack expected = random.around(range, static_cast<std::size_t>(most));
        ASSERT_EQ(stack_of(summary, range.name), expected) << range.name;
        with_frames += expected.size() > 1 ? 1 : 0;
      }
    }
  }
  EXPECT_GT(with_frames, fixtures::random_rounds(1000u));
}

/// The text of an example trace.
std::string example(const std::string& name) {
  auto file = io::open_file(TBTRACE_TEST_DATA "/../../examples/traces/" + name);
  if (!file.ok()) return {};
  const auto source = io::decompressed(*std::move(file));
  return source.ok() ? fixtures::drain(**source).text : std::string();
}

/// A training recorded with `verbose`, with its stacks and without: also backward passes have the
/// stacks that torch gave them.
TEST(StackSource, FramesGiveWhatTorchRecordsWithVerbose) {
  std::string text = example("perceptron_stacks.json.gz");
  const Trace with = read(text);
  constexpr std::string_view kKey = "\"Call stack\"";
  std::size_t stacks = 0;
  for (std::size_t at = text.find(kKey); at != std::string::npos; at = text.find(kKey, at)) {
    text.replace(at, kKey.size(), "\"No stack!!\"");
    ++stacks;
  }
  ASSERT_GT(stacks, 100U);
  const Trace without = read(text);
  ASSERT_TRUE(without.argument(Argument::call_stack).empty());
  for (const Figures figures : kAllFigures) {
    for (const int frames : {1, 5, 100}) {
      SummaryOptions options = {.group_by_stack_n = frames, .include_python_functions = true};
      const OperatorSummary expected = *operator_summary(with, figures, options);
      options.stack_source = StackSource::frames;
      EXPECT_EQ(*operator_summary(without, figures, options)->table(), *expected.table());
      EXPECT_EQ(*operator_summary(without, figures, options)->json(), *expected.json());
      EXPECT_EQ(*operator_summary(with, figures, options)->json(), *expected.json());
      options.stack_source = StackSource::either;
      EXPECT_EQ(*operator_summary(without, figures, options)->json(), *expected.json());
    }
  }
}

}  // namespace
}  // namespace tbtrace
