// Parameters, multiply-adds and lines of the ResNet-50 that torch 1.9 recorded in 2021: no modules,
// no flow events, call stacks with lines.
#include <cstdint>
#include <string>

#include <gtest/gtest.h>

#include <tbtrace/lines.h>
#include <tbtrace/modules.h>

#include "reference/recorded_traces.h"

namespace tbtrace::reference {
namespace {

constexpr std::uint64_t kImagesOfRun = 32 * 6;
constexpr std::uint64_t kMacsOfImage = 4'089'184'256;  // published as 4.09 GMAC
constexpr std::uint64_t kParameters = 25'557'032;      // published

TEST(ModulesOfResNet50, AreUnknownButTheirParametersAreNot) {
  for (const std::string& file : trace_files({"traces/tb_plugin/samples/resnet50_num_workers_0"})) {
    SCOPED_TRACE(file);
    const Result<Trace> trace = read_trace(file, {.arguments = kModuleArguments});
    ASSERT_TRUE(trace.ok()) << trace.status().message();
    const ModuleTree tree = *module_tree(*trace);
    EXPECT_TRUE(tree.modules.empty());
    EXPECT_EQ(tree.parameters, kParameters);
    EXPECT_EQ(tree.parameter_source, ParameterSource::gradients);
    EXPECT_EQ(tree.total.macs - tree.total.backward_macs, kMacsOfImage * kImagesOfRun);
  }
}

TEST(LinesOfResNet50, HaveNearlyAllKernels) {
  for (const std::string& file : trace_files({"traces/tb_plugin/samples/resnet50_num_workers_0"})) {
    SCOPED_TRACE(file);
    const Result<Trace> trace = read_trace(file, {.arguments = kLineArguments});
    ASSERT_TRUE(trace.ok()) << trace.status().message();
    const LineTable table = *line_table(*trace, {.libraries = true});
    ASSERT_FALSE(table.lines.empty());
    EXPECT_EQ(table.lines[0].function, "_conv_forward");
    EXPECT_EQ(table.lines[0].line, 440);
    EXPECT_EQ(table.lines[0].level, LineLevel::line);
    // The backward pass of convolutions is on their line, too.
    EXPECT_GT(table.lines[0].backward_device_time_ns, table.lines[0].device_time_total_ns / 2);
    // 96.8 % was published for kernels alone, without what adds gradients up.
    EXPECT_LT(table.unattributed.device_time_total_ns,
              table.total.device_time_total_ns * 32 / 1000);
  }
}

}  // namespace
}  // namespace tbtrace::reference
