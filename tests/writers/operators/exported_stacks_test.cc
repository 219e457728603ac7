// prof.export_stacks() from files.
#include <cstddef>
#include <cstdint>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <tbtrace/operators.h>

#include "fixtures/chrome_text.h"
#include "fixtures/read_text.h"
#include "fixtures/scratch_folder.h"
#include "fixtures/whole_file.h"

namespace tbtrace {
namespace {

using fixtures::ChromeEvent;
using fixtures::in_quotes;
using fixtures::op;
using fixtures::read;
using fixtures::read_whole_file;
using fixtures::ScratchFolder;
using fixtures::trace_text;
using testing::HasSubstr;

ChromeEvent of_device(std::string_view category, std::string_view name, std::string_view start,
                      std::string_view duration) {
  ChromeEvent event = op(name, start, duration).with("cat", in_quotes(category));
  return event.with("pid", "2").with("tid", "7").arg("External id", "3");
}

std::string stacks(const std::vector<const Trace*>& traces, std::string_view metric) {
  const Result<std::string> lines = exported_stacks(traces, metric);
  return lines.ok() ? *lines : lines.status().message();
}

ChromeEvent with_stack(ChromeEvent event, std::string_view stack) {
  return event.arg("Call stack", in_quotes(stack));
}

TEST(ExportedStacks, HaveTheOutermostFrameFirstAndWholeMicroseconds) {
  const Trace trace = read(trace_text(
      {with_stack(op("a", "0", "10.9"), "f;main;"), with_stack(op("b", "1", "4"), "g;f;main;")}));
  EXPECT_EQ(stacks({&trace}, "self_cpu_time_total"), "main;f 6\nmain;f;g 4\n");
}

TEST(ExportedStacks, LeaveOutWhatHasNoStackOrHardlyAnyTime) {
  const Trace trace = read(trace_text({op("a", "0", "10"), with_stack(op("b", "20", "0.9"), "f;"),
                                       with_stack(op("c", "30", "1"), "f;")}));
  EXPECT_EQ(stacks({&trace}, "self_cpu_time_total"), "f 1\n");
}

TEST(ExportedStacks, HaveNoBlanksOrSemicolonsInAFrame) {
  const Trace trace = read(trace_text({with_stack(op("a", "0", "3"), "f(1): g\\th\\ni;main;")}));
  EXPECT_EQ(stacks({&trace}, "self_cpu_time_total"), "main;f(1):_g_h_i 3\n");
}

TEST(ExportedStacks, WeighDeviceTimeOnRequest) {
  const Trace trace = read(trace_text({with_stack(op("a", "0", "10").arg("External id", "3"), "f;"),
                                       of_device("kernel", "gemm", "20", "7.5")}));
  for (const std::string_view metric : {"self_cuda_time_total", "self_xpu_time_total",
                                        "self_privateuse1_time_total", "self_device_time_total"}) {
    EXPECT_EQ(stacks({&trace}, metric), "f 7\n") << metric;
  }
}

TEST(ExportedStacks, HaveTheNewestRecordingFirst) {
  const Trace older = read(trace_text({with_stack(op("a", "0", "3"), "old;")}));
  const Trace newer = read(trace_text({with_stack(op("a", "0", "3"), "new;")}));
  EXPECT_EQ(stacks({&older, &newer}, "self_cpu_time_total"), "new 3\nold 3\n");
}

TEST(ExportedStacks, FailForAMetricThatIsNone) {
  const Trace trace = read(trace_text({op("a")}));
  EXPECT_THAT(stacks({&trace}, "cpu_time_total"), HasSubstr("'cpu_time_total'"));
  EXPECT_EQ(check_stack_metric("cpu_time_total").code(), StatusCode::invalid_argument);
  EXPECT_TRUE(check_stack_metric("self_cuda_time_total").ok());
}

TEST(ExportedStacks, AreTheSameInAFile) {
  const Trace older = read(trace_text({with_stack(op("a", "0", "3"), "old;")}));
  const Trace newer = read(trace_text({with_stack(op("a", "0", "3"), "new;")}));
  const Trace* traces[] = {&older, &newer};
  const ScratchFolder folder;
  const std::string path = folder.path("stacks.txt");
  ASSERT_TRUE(write_exported_stacks(traces, path, "self_cpu_time_total").ok());
  EXPECT_EQ(read_whole_file(path), "new 3\nold 3\n");
  EXPECT_EQ(write_exported_stacks(traces, path, "self_cpu_time_total").code(),
            StatusCode::output_exists)
      << "it exists";
  std::ostringstream stream;
  EXPECT_TRUE(write_exported_stacks(traces, stream, "self_cpu_time_total").ok());
  EXPECT_EQ(stream.str(), "new 3\nold 3\n");
  EXPECT_EQ(write_exported_stacks(traces, stream, "speed").code(), StatusCode::invalid_argument);
  EXPECT_TRUE(write_exported_stacks(traces, path, "self_cpu_time_total", true).ok());
}

TEST(ExportedStacks, OfAMetricThatIsNoneMakeNoFile) {
  const Trace trace = read(trace_text({op("a")}));
  const Trace* traces[] = {&trace};
  const ScratchFolder folder;
  EXPECT_EQ(write_exported_stacks(traces, folder.path("stacks.txt"), "speed").code(),
            StatusCode::invalid_argument);
  EXPECT_TRUE(folder.names().empty());
}

}  // namespace
}  // namespace tbtrace
