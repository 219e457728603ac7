#include <sstream>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <tbtrace/arguments.h>
#include <tbtrace/replay_program.h>
#include <tbtrace/trace.h>

namespace tbtrace {
namespace {

using testing::HasSubstr;
using testing::Not;

// tests/cli/replay_test.py runs the programs.
class ReplayProgram : public testing::Test {
 protected:
  static Trace trace_of(const std::string& arguments) {
    std::istringstream text(
        R"({"traceEvents": [{"ph": "X", "cat": "cpu_op", "name": "aten::mm", "ts": 1, "dur": 2.5,
            "pid": 1, "tid": 1, "args": {)" +
        arguments + "}}]}");
    return *read_trace(text, {.arguments = {ArgumentGroup::inputs, ArgumentGroup::strides}});
  }
};

TEST_F(ReplayProgram, HasTheInputsAsPythonReadsThem) {
  const Trace trace = trace_of(R"("Input Dims": [[2, 3], [3, 4], []],
      "Input type": ["float", "a\"\u00e4\n", null], "Input Strides": [[3, 1], [4, 1], []],
      "Concrete Inputs": ["", "", "True"])");
  const Result<std::string> program = replay_program(trace, {.op = "aten::mm"});
  ASSERT_TRUE(program.ok()) << program.status().message();
  EXPECT_THAT(*program, HasSubstr(R"({"calls": 1, "least_us": 2.500, "median_us": 2.500,
     "dims": [[2, 3], [3, 4], []],
     "types": ["float", "a\"ä\n", None],
     "strides": [[3, 1], [4, 1], []],
     "values": ["", "", "True"]},)"));
  EXPECT_THAT(*program, HasSubstr("OPERATOR = \"aten::mm\"\nDEVICE = \"cpu\"\n"));
}

TEST_F(ReplayProgram, RunsNothingThatTheTraceHolds) {
  const Trace trace = trace_of(R"("Input Dims": [[2]], "Input type": ["float"],
      "Input Strides": {"a": [1]}, "Concrete Inputs": "[print(1)]")");
  const Result<std::string> program = replay_program(trace, {.op = "aten::mm"});
  ASSERT_TRUE(program.ok()) << program.status().message();
  EXPECT_THAT(*program, Not(HasSubstr("print(1)")));
  EXPECT_THAT(*program, HasSubstr("\"strides\": [],\n     \"values\": []}"));
}

TEST_F(ReplayProgram, SaysWhatIsMissing) {
  EXPECT_THAT(replay_program(trace_of(""), {.op = "aten::mm"}).status().message(),
              HasSubstr("record_shapes=True"));
  EXPECT_THAT(replay_program(trace_of(""), {.op = "aten::add"}).status().message(),
              HasSubstr("no operator 'aten::add'"));
  EXPECT_THAT(replay_program(trace_of(""), {.op = "MmBackward0"}).status().message(),
              HasSubstr("a node of autograd's graph or a range"));
}

}  // namespace
}  // namespace tbtrace
