#include "analyses/compat/plugin/modules.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <sstream>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "io/source.h"

namespace tbtrace::analyses {
namespace {

/// Writes a file's events; times in us.
class Recording {
 public:
  explicit Recording(std::string metadata = "") : metadata_(std::move(metadata)) {}

  Recording& range(const std::string& category, const std::string& name, std::int64_t start,
                   std::int64_t duration, const std::string& arguments = "", int thread = 1) {
    return row(R"("ph": "X", "cat": ")" + category + R"(", "name": ")" + name +
               R"(", "pid": 1, "tid": )" + std::to_string(thread) + R"(, "ts": )" +
               std::to_string(start) + R"(, "dur": )" + std::to_string(duration) +
               R"(, "args": {)" + arguments + "}");
  }

  Recording& op(const std::string& name, std::int64_t start, std::int64_t duration, int thread = 1,
                const std::string& arguments = "") {
    return range("cpu_op", name, start, duration, arguments, thread);
  }

  /// `id` and `above`: as in the file, `4`; empty: missing. `module`: empty for a function.
  Recording& frame(const std::string& name, std::int64_t start, std::int64_t duration,
                   const std::string& id, const std::string& above, const std::string& module,
                   int thread = 1) {
    std::string arguments;
    for (const auto& [key, value] : {std::pair<std::string, std::string>("Python id", id),
                                     {"Python parent id", above},
                                     {"Python module id", module}}) {
      if (value.empty()) continue;
      arguments += (arguments.empty() ? "\"" : ", \"") + key + "\": " + value;
    }
    return range("python_function", name, start, duration, arguments, thread);
  }

  /// From a forward operator to a node of a backward pass.
  Recording& flow(int id, std::int64_t from, std::int64_t to) {
    for (const bool start : {true, false}) {
      row(R"("ph": ")" + std::string(start ? "s" : "f") +
          R"(", "cat": "fwdbwd", "name": "fwdbwd", "pid": 1, "tid": 1, "id": )" +
          std::to_string(id) + R"(, "ts": )" + std::to_string(start ? from : to));
    }
    return *this;
  }

  /// A pass whose second node is where flow events end: 1 us after its start.
  Recording& pass(std::int64_t start, std::int64_t duration, const std::string& name = "Mm") {
    op("autograd::engine::evaluate_function: " + name, start, duration, 2);
    return op(name, start + 1, duration - 2, 2);
  }

  std::vector<PluginModule> modules() const {
    std::istringstream text("{" + metadata_ + R"("traceEvents": [)" + rows_ + "]}");
    const Result<Trace> trace = read_trace(text, {.arguments = {ArgumentGroup::python}});
    EXPECT_TRUE(trace.ok()) << trace.status().message();
    return trace.ok() ? plugin_modules(*trace) : std::vector<PluginModule>{};
  }

 private:
  Recording& row(const std::string& members) {
    rows_ += (rows_.empty() ? "{" : ",\n{") + members + "}";
    return *this;
  }

  std::string metadata_;
  std::string rows_;
};

/// `Net_0 #0 x2`, indented by depth.
std::vector<std::string> outline(const std::vector<PluginModule>& rows) {
  std::vector<std::string> lines;
  for (const PluginModule& row : rows) {
    lines.push_back(std::string(2 * row.depth, ' ') + row.name + " #" + std::to_string(row.id) +
                    " x" + std::to_string(row.occurrences));
    if (row.parent) {
      EXPECT_LT(*row.parent, lines.size() - 1);
      EXPECT_EQ(rows[*row.parent].depth + 1, row.depth);
    }
    EXPECT_EQ(row.parent.has_value(), row.depth > 0);
  }
  return lines;
}

using testing::ElementsAre;
using testing::IsEmpty;

TEST(PluginModules, AddUpTimesOfAllCalls) {
  Recording recording;
  for (const std::int64_t at : {0, 1000}) {
    const std::string id = std::to_string(at);
    const std::string inner = std::to_string(at + 1);
    const std::string external = R"("External id": )" + std::to_string(at + 7);
    const std::string correlation = R"(, "correlation": )" + std::to_string(at + 7);
    recording.frame("nn.Module: Net_0", at, 100, id, "", "3")
        .frame("nn.Module: Linear_0", at + 10, 50, inner, id, "4")
        .op("aten::linear", at + 20, 30, 1, external)
        .range("cuda_runtime", "cudaLaunchKernel", at + 21, 5, external + correlation)
        .range("kernel", "gemm", at + 40, 12, R"("device": 0)" + correlation, 7)
        .op("aten::relu", at + 70, 10);
  }
  const std::vector<PluginModule> rows = recording.modules();
  PluginModule net{.name = "Net_0", .id = 3, .occurrences = 2, .operators = 2};
  net.host_duration_us = 200;
  net.self_host_duration_us = 80;
  net.device_duration_us = 24;
  net.avg_duration_us = 12;
  PluginModule linear{.name = "Linear_0", .id = 4, .occurrences = 2, .operators = 2};
  linear.host_duration_us = 100;
  linear.self_host_duration_us = 40;
  linear.device_duration_us = linear.self_device_duration_us = 24;
  linear.avg_duration_us = 12;
  linear.depth = 1;
  linear.parent = 0;
  EXPECT_THAT(rows, ElementsAre(net, linear));
}

TEST(PluginModules, AverageIsOnTheHostWithoutDeviceTime) {
  const std::vector<PluginModule> rows = Recording()
                                             .frame("nn.Module: A", 0, 10, "1", "", "0")
                                             .frame("nn.Module: A", 20, 15, "2", "", "0")
                                             .modules();
  ASSERT_EQ(rows.size(), 1U);
  EXPECT_EQ(rows[0].avg_duration_us, 12.5);
}

TEST(PluginModules, CallsWithTheSameContentAreOneOutermostRow) {
  Recording recording;
  recording.frame("nn.Module: A", 0, 10, "1", "", "0").frame("nn.Module: B", 1, 2, "2", "1", "1");
  recording.frame("nn.Module: A", 20, 10, "3", "", "0").frame("nn.Module: B", 21, 2, "4", "3", "1");
  EXPECT_THAT(outline(recording.modules()), ElementsAre("A #0 x2", "  B #1 x2"));
  recording.frame("nn.Module: A", 40, 10, "5", "", "0");
  EXPECT_THAT(outline(recording.modules()), ElementsAre("A #0 x3", "  B #1 x2", "A #0 x3"));
}

TEST(PluginModules, CallsInsideAModuleAreARowEach) {
  EXPECT_THAT(outline(Recording()
                          .frame("nn.Module: A", 0, 10, "1", "", "0")
                          .frame("nn.Module: B", 1, 2, "2", "1", "1")
                          .frame("nn.Module: B", 4, 2, "3", "1", "1")
                          .modules()),
              ElementsAre("A #0 x1", "  B #1 x2", "  B #1 x2"));
}

TEST(PluginModules, NamesWithOtherIdsAreOtherModules) {
  EXPECT_THAT(outline(Recording()
                          .frame("nn.Module: B", 0, 2, "1", "", "5")
                          .frame("nn.Module: A", 4, 2, "2", "", "5")
                          .frame("nn.Module: B", 8, 2, "3", "", "4")
                          .modules()),
              ElementsAre("A #5 x1", "B #5 x1", "B #4 x1"));
}

TEST(PluginModules, FunctionsBetweenModulesDoNotCount) {
  EXPECT_THAT(outline(Recording()
                          .frame("train", 0, 20, "1", "", "")
                          .frame("nn.Module: A", 1, 18, "2", "1", "0")
                          .frame("forward", 2, 16, "3", "2", "")
                          .frame("relu", 3, 2, "4", "3", "")
                          .frame("nn.Module: B", 6, 2, "5", "3", "1")
                          .modules()),
              ElementsAre("A #0 x1", "  B #1 x1"));
}

TEST(PluginModules, IdsAloneMakeTheHierarchy) {
  EXPECT_THAT(outline(Recording()
                          .frame("nn.Module: A", 0, 10, "1", "", "0", 1)
                          .frame("nn.Module: B", 50, 2, "2", "1", "1", 2)
                          .modules()),
              ElementsAre("A #0 x1", "  B #1 x1"));
}

TEST(PluginModules, OfModulesWithOnePythonIdTheLastIsInTheHierarchy) {
  EXPECT_THAT(outline(Recording()
                          .frame("nn.Module: A", 0, 10, "1", "", "0")
                          .frame("nn.Module: B", 20, 10, "1", "", "0")
                          .modules()),
              ElementsAre("B #0 x1"));
}

TEST(PluginModules, ModulesThatContainEachOtherHaveNoRow) {
  Recording recording;
  recording.frame("nn.Module: A", 0, 10, "1", "2", "0").frame("nn.Module: B", 1, 8, "2", "1", "1");
  recording.frame("relu", 2, 1, "3", "2", "");
  EXPECT_THAT(recording.modules(), IsEmpty());
  recording.frame("nn.Module: C", 20, 5, "4", "", "2");
  EXPECT_THAT(outline(recording.modules()), ElementsAre("C #2 x1"));
}

TEST(PluginModules, AModuleWithoutPythonIdMakesThePluginFail) {
  Recording recording;
  recording.frame("nn.Module: A", 0, 10, "1", "", "0");
  EXPECT_EQ(recording.modules().size(), 1U);
  EXPECT_THAT(recording.frame("nn.Module: B", 20, 10, "", "", "0").modules(), IsEmpty());
}

TEST(PluginModules, AModuleWithoutPythonIdIsHarmlessBelowACircle) {
  EXPECT_THAT(outline(Recording()
                          .frame("nn.Module: A", 0, 10, "1", "2", "0")
                          .frame("nn.Module: B", 1, 8, "2", "1", "1")
                          .frame("nn.Module: C", 2, 3, "", "2", "2")
                          .frame("nn.Module: D", 20, 5, "4", "", "3")
                          .modules()),
              ElementsAre("D #3 x1"));
}

TEST(PluginModules, AModuleThatOnlyCrossesAnotherRangeMakesThePluginFail) {
  Recording recording;
  recording.op("aten::add", 0, 10).frame("nn.Module: A", 5, 10, "1", "", "0");
  EXPECT_THAT(recording.modules(), IsEmpty());
  recording.frame("nn.Module: A", 20, 10, "2", "", "0");
  EXPECT_THAT(outline(recording.modules()), ElementsAre("A #0 x1"));
}

TEST(PluginModules, CallsOfABackwardPassCountOnlyWithoutFlowEvents) {
  Recording recording;
  recording.frame("nn.Module: A", 0, 10, "1", "", "0").op("aten::mm", 2, 4);
  recording.pass(50, 20).frame("nn.Module: A", 55, 5, "2", "", "0", 2);
  EXPECT_THAT(outline(recording.modules()), ElementsAre("A #0 x2"));
  recording.flow(1, 2, 51);
  EXPECT_THAT(outline(recording.modules()), ElementsAre("A #0 x1"));
  recording.frame("nn.Module: B", 60, 5, "3", "", "1", 2);
  EXPECT_THAT(recording.modules(), IsEmpty());
}

TEST(PluginModules, TwoFlowEventsToOnePassMakeThePluginFail) {
  Recording recording;
  recording.frame("nn.Module: A", 0, 10, "1", "", "0").op("aten::mm", 2, 2).op("aten::mm", 5, 2);
  recording.pass(50, 20).pass(80, 20).flow(1, 2, 51);
  EXPECT_EQ(recording.modules().size(), 1U);
  EXPECT_THAT(recording.flow(2, 5, 51).modules(), IsEmpty());
}

TEST(PluginModules, OfFlowEventsWithOneStartTheLastInTheFileCounts) {
  const auto recording = [](int first, int second) {
    Recording made;
    made.frame("nn.Module: A", 0, 10, "1", "", "0").op("aten::mm", 2, 2).op("aten::mm", 5, 2);
    made.pass(50, 20).pass(80, 20).flow(first, 2, 51).flow(second, 2, 81).flow(9, 5, 81);
    return made;
  };
  EXPECT_THAT(recording(1, 2).modules(), IsEmpty());  // two to the second pass
  EXPECT_THAT(recording(2, 1).modules(), IsEmpty());
  const auto other = [](int first, int second) {
    Recording made;
    made.frame("nn.Module: A", 0, 10, "1", "", "0").op("aten::mm", 2, 2).op("aten::mm", 5, 2);
    made.pass(50, 20).pass(80, 20).flow(first, 2, 81).flow(second, 2, 51).flow(9, 5, 81);
    return made;
  };
  EXPECT_EQ(other(1, 2).modules().size(), 1U);
  EXPECT_EQ(other(2, 1).modules().size(), 1U);
}

TEST(PluginModules, AnAccumulateGradAsFirstPassMakesThePluginFail) {
  const std::string gradient = "torch::autograd::AccumulateGrad";
  Recording last;
  last.frame("nn.Module: A", 0, 10, "1", "", "0").op("aten::mm", 2, 4).flow(1, 2, 51);
  Recording first = last;
  EXPECT_EQ(last.pass(50, 20).pass(80, 5, gradient).modules().size(), 1U);
  EXPECT_THAT(first.pass(40, 5, gradient).pass(50, 20).modules(), IsEmpty());
}

TEST(PluginModules, ALaunchWithId0CountsOnceMoreOnAThreadThatIsReadLater) {
  const auto device_time = [](int launching_thread) {
    const std::vector<PluginModule> rows =
        Recording()
            .op("aten::add", 0, 2, 1)
            .frame("nn.Module: A", 10, 20, "1", "", "0", 2)
            .op("aten::mm", 12, 8, 2, R"("External id": 0)")
            .range("cuda_runtime", "cudaLaunchKernel", 13, 2,
                   R"("External id": 0, "correlation": 5)", launching_thread)
            .range("kernel", "gemm", 15, 3, R"("device": 0, "correlation": 5)", 7)
            .modules();
    return rows.empty() ? -1 : rows[0].device_duration_us;
  };
  EXPECT_EQ(device_time(2), 3);
  EXPECT_EQ(device_time(1), 6);
}

constexpr const char* kLightning = R"("Framework": "pytorch-lightning", )";

TEST(PluginModules, OfLightningComeFromDottedNames) {
  EXPECT_THAT(
      outline(Recording(kLightning)
                  .op("[pl][module]Net: net", 0, 100)
                  .op("[pl][module]torch.nn.Linear: net.1", 10, 5)
                  .op("[pl][module]torch.nn.Linear: net.0", 20, 5)
                  .op("[pl][module]torch.nn.Linear: net.0", 30, 5)
                  .op("[pl][module]torch.nn.Linear: other.0.1", 40, 5)
                  .op("[pl][module]xhead", 50, 5)
                  .op("[pl][profile]step", 0, 100)
                  .frame("nn.Module: A", 60, 5, "1", "", "0")
                  .modules()),
      ElementsAre("head #0 x1", "net #0 x1", "  net.1 #0 x1", "  net.0 #0 x2", "other.0.1 #0 x1"));
}

TEST(PluginModules, LightningNamesWithoutTypeLoseACharacterNotAByte) {
  EXPECT_THAT(outline(Recording(kLightning).op("[pl][module]\u00e9t\u00e9", 0, 10).modules()),
              ElementsAre("t\u00e9 #0 x1"));
  EXPECT_THAT(outline(Recording(kLightning).op("[pl][module]", 0, 10).modules()),
              ElementsAre(" #0 x1"));
}

TEST(PluginModules, WithoutLightningItsRangesAreOperators) {
  EXPECT_THAT(Recording().op("[pl][module]Net: net", 0, 100).modules(), IsEmpty());
}

TEST(PluginModules, NoModulesNoRows) {
  EXPECT_THAT(Recording().modules(), IsEmpty());
  EXPECT_THAT(Recording().op("aten::mm", 0, 1).frame("f", 0, 9, "1", "", "").modules(), IsEmpty());
}

/// Walking up again from every module takes 3.6 billion steps here; recursion overflows the stack.
TEST(PluginModules, DeepAndWideHierarchiesTakeLinearTime) {
  constexpr std::int64_t kMany = 60'000;
  Recording recording;
  std::string above;
  for (std::int64_t level = 0; level < kMany; ++level) {
    const std::string id = std::to_string(level);
    recording.frame("f", level, 4 * kMany - 2 * level, id, above, level % 2 == 1 ? "0" : "");
    above = id;
  }
  std::string inner = above;
  for (std::int64_t level = kMany; level < 2 * kMany; ++level) {
    const std::string id = std::to_string(level);
    recording.frame("g", level, 4 * kMany - 2 * level, id, inner, "");
    inner = id;
  }
  for (std::int64_t number = 2 * kMany; number < 3 * kMany; ++number) {
    recording.frame("m", number, 1, std::to_string(number), inner, "1");
  }
  EXPECT_EQ(recording.modules().size(), kMany / 2 + kMany);
}

std::string text_of(const std::string& path) {
  auto file = io::decompressed(*io::open_file(path));
  std::string text;
  std::vector<char> buffer(1 << 16);
  while (true) {
    const Result<std::size_t> size = (*file)->read(buffer);
    EXPECT_TRUE(size.ok());
    if (!size.ok() || *size == 0) return text;
    text.append(buffer.data(), *size);
  }
}

using Row = std::tuple<std::size_t, std::string, std::int64_t, std::uint64_t, std::uint64_t, double,
                       double, double, double, double>;

Row row_of(const PluginModule& module) {
  return {module.depth,
          module.name,
          module.id,
          module.occurrences,
          module.operators,
          module.host_duration_us,
          module.self_host_duration_us,
          module.device_duration_us,
          module.self_device_duration_us,
          module.avg_duration_us};
}

Row recorded_row(const std::string& line) {
  std::istringstream fields(line);
  PluginModule row;
  fields >> row.depth >> row.id >> row.occurrences >> row.operators >> row.host_duration_us >>
      row.self_host_duration_us >> row.device_duration_us >> row.self_device_duration_us >>
      row.avg_duration_us;
  EXPECT_TRUE(fields.good()) << line;
  fields.ignore();
  std::getline(fields, row.name);
  return row_of(row);
}

/// The plugin shows outermost modules with equal names in random order.
std::vector<std::vector<Row>> in_one_order(const std::vector<Row>& rows) {
  std::vector<std::vector<Row>> trees;
  for (const Row& row : rows) {
    if (std::get<0>(row) == 0) trees.emplace_back();
    trees.back().push_back(row);
  }
  std::sort(trees.begin(), trees.end());
  return trees;
}

TEST(PluginModules, AreThoseThatThePluginFoundInRandomTraces) {
  std::istringstream recorded(text_of(TBTRACE_TEST_DATA "/plugin_modules.txt.gz"));
  std::size_t traces = 0;
  std::size_t rows = 0;
  for (std::string json; std::getline(recorded, json); ++traces) {
    SCOPED_TRACE(traces);
    std::string line;
    std::getline(recorded, line);
    std::vector<Row> expected;
    for (std::size_t left = std::stoul(line); left > 0; --left) {
      std::getline(recorded, line);
      expected.push_back(recorded_row(line));
    }
    std::istringstream text(json);
    const Result<Trace> trace = read_trace(text, {.arguments = {ArgumentGroup::python}});
    ASSERT_TRUE(trace.ok()) << trace.status().message();
    std::vector<Row> found;
    for (const PluginModule& module : plugin_modules(*trace)) found.push_back(row_of(module));
    EXPECT_EQ(in_one_order(found), in_one_order(expected));
    rows += expected.size();
  }
  EXPECT_EQ(traces, 100U);
  EXPECT_EQ(rows, 765U);
}

}  // namespace
}  // namespace tbtrace::analyses
