#include "analyses/compat/hta/rows.h"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <tbtrace/gpu.h>
#include <tbtrace/kernels.h>

#include "analyses/compat/hta/gpu_use.h"
#include "analyses/compat/hta/kernels.h"
#include "fixtures/random_rounds.h"
#include "fixtures/trace_rows.h"

namespace tbtrace::analyses {
namespace {

using fixtures::add;
using fixtures::finished;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::SizeIs;
using testing::StartsWith;

TEST(HtaClass, ComesFromTheNameAlone) {
  EXPECT_EQ(hta_class("ncclDevKernel_AllReduce"), HtaClass::communication);
  EXPECT_EQ(hta_class("ncclKernel"), HtaClass::communication);
  EXPECT_EQ(hta_class("nccl:all_reduce"), HtaClass::computation);
  EXPECT_EQ(hta_class("Memcpy HtoD"), HtaClass::memory);
  EXPECT_EQ(hta_class("Memset (Device)"), HtaClass::memory);
  EXPECT_EQ(hta_class("dma_request"), HtaClass::memory);
  EXPECT_EQ(hta_class("hipMemcpy"), HtaClass::other);
  EXPECT_EQ(hta_class("hipMemset"), HtaClass::computation);
  EXPECT_EQ(hta_class("Stream Sync"), HtaClass::other);
  EXPECT_EQ(hta_class("gemm"), HtaClass::computation);
}

EventId on_stream(TraceBuilder& builder, std::int64_t start, std::int64_t correlation) {
  const EventId event = add(builder, {.category = "kernel",
                                      .name = "k",
                                      .start = start,
                                      .duration = 2,
                                      .correlation = correlation});
  builder.add_argument(event, Argument::stream, std::int64_t{7});
  return event;
}

TEST(HtaRows, OfATraceWithoutStepsAreAllRows) {
  TraceBuilder builder;
  add(builder, {.start = 1});
  const EventId kernel = on_stream(builder, 5, 3);
  const HtaRows rows = *hta_rows(finished(builder));
  EXPECT_THAT(rows.device, ElementsAre(kernel));
  EXPECT_THAT(rows.host, SizeIs(1));
}

TEST(HtaRows, OfSeveralStepsNeedALaunchUntilTheLastOneEnds) {
  TraceBuilder builder;
  add(builder, {.name = "ProfilerStep#1", .start = 0, .duration = 10});
  add(builder, {.name = "ProfilerStep#2", .start = 10, .duration = 10});
  add(builder, {.category = "cuda_runtime", .start = 15, .duration = 1, .correlation = 3});
  add(builder, {.category = "cuda_runtime", .start = 16, .duration = 1, .correlation = 4});
  add(builder, {.category = "cuda_runtime", .start = 17, .duration = 1, .correlation = 4});
  add(builder, {.category = "cuda_runtime", .start = 30, .duration = 1, .correlation = 5});
  const EventId once = on_stream(builder, 40, 3);
  const EventId twice = on_stream(builder, 50, 4);
  on_stream(builder, 60, 5);
  on_stream(builder, 70, 6);
  EXPECT_THAT(hta_rows(finished(builder))->device, ElementsAre(once, twice, twice));
}

/// As many launches as activities, all with the same correlation.
void share_a_correlation(TraceBuilder& builder, int each) {
  for (int row = 0; row < each; ++row) {
    add(builder, {.category = "cuda_runtime",
                  .name = "cudaLaunchKernel",
                  .start = 20 + row,
                  .duration = 1,
                  .correlation = 3});
    on_stream(builder, 20 + row, 3);
  }
}

TEST(HtaRows, OfRowsThatAllShareACorrelationThereAreTooMany) {
  TraceBuilder builder;
  add(builder, {.name = "ProfilerStep#1", .start = 0, .duration = 10});
  add(builder, {.name = "ProfilerStep#2", .start = 10, .duration = 10'000'000});
  share_a_correlation(builder, 11'000);
  const Trace trace = finished(builder);
  const std::string failure =
      "so many rows share a correlation id that HolisticTraceAnalysis would count more than ";
  EXPECT_THAT(hta_rows(trace).status().message(), StartsWith(failure + "100000000"));
  EXPECT_THAT(analyses::hta_gpu_use(trace).status().message(), StartsWith(failure));
  EXPECT_THAT(analyses::hta_kernel_summary(trace).status().message(), StartsWith(failure));
  EXPECT_THAT(analyses::hta_kernel_launches(trace).status().message(), StartsWith(failure));
}

#ifndef TBTRACE_SANITIZED  // it makes ten million rows, all in one way
TEST(HtaRows, OfLaunchesThatAllShareACorrelationThereAreTooMany) {
  TraceBuilder builder;
  share_a_correlation(builder, 3200);
  const Trace trace = finished(builder);
  EXPECT_THAT(analyses::hta_kernel_launches(trace).status().message(),
              HasSubstr("more than 10000000 rows"));
}
#endif

TEST(HtaRows, OfLaunchesThatAllShareACorrelationGpuUseTakesAsMany) {
  TraceBuilder builder;
  share_a_correlation(builder, fixtures::many_rows(3200));
  EXPECT_TRUE(analyses::hta_gpu_use(finished(builder)).ok());
}

}  // namespace
}  // namespace tbtrace::analyses
