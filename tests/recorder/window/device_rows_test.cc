#include "recorder/window/device_rows.h"

#include <algorithm>
#include <climits>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "recorder/window/hand_written.h"
#include "recorder/window/read_window.h"

namespace tbtrace::recorder {
namespace {

using testing::HasSubstr;
using testing::Not;

std::vector<std::string> lines_with(const std::string& text, std::string_view part) {
  std::vector<std::string> lines;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    const std::string line = text.substr(at, end - at);
    if (line.find(part) != std::string::npos) lines.push_back(line);
    at = end + 1;
  }
  return lines;
}

DeviceProperties h200() {
  return {.id = 0,
          .name = "NVIDIA \"H200\"",
          .total_memory_bytes = 150121545728,
          .compute_major = 9,
          .compute_minor = 0,
          .max_threads_per_block = 1024,
          .max_threads_per_multiprocessor = 2048,
          .max_blocks_per_multiprocessor = 32,
          .registers_per_block = 65536,
          .registers_per_multiprocessor = 65536,
          .warp_size = 32,
          .shared_bytes_per_block = 49152,
          .shared_bytes_per_block_optin = 232448,
          .shared_bytes_per_multiprocessor = 233472,
          .reserved_shared_bytes_per_block = 1024,
          .multiprocessors = 132};
}

class DeviceRowsOf : public testing::Test {
 protected:
  DeviceRowsOf() {
    trace_.devices = {h200()};
    trace_.interface_version = 130001;
    trace_.driver_version = 13000;
  }

  std::uint32_t name(std::string text) {
    trace_.names.push_back(std::move(text));
    return static_cast<std::uint32_t>(trace_.names.size() - 1);
  }
  void call(std::uint64_t at, std::uint32_t correlation, const std::string& text,
            std::uint32_t number = 211) {
    trace_.functions.push_back({.number = number, .name = name(text)});
    trace_.calls.push_back({.start_ticks = written_.start() + at,
                            .end_ticks = written_.start() + at + 5,
                            .thread = 42,
                            .correlation = correlation,
                            .function = static_cast<std::uint32_t>(trace_.functions.size() - 1)});
  }
  DeviceActivity activity(DeviceActivityKind kind, std::uint64_t from, std::uint64_t to,
                          std::uint32_t correlation) const {
    return {.start_ticks = written_.start() + from,
            .end_ticks = written_.start() + to,
            .correlation = correlation,
            .kind = kind,
            .place = {.context = 1, .stream = 7}};
  }
  void kernel(std::uint64_t from, std::uint64_t to, std::uint32_t correlation, KernelLaunch launch,
              std::uint32_t device = 0, std::uint32_t stream = 7) {
    DeviceActivity row = activity(DeviceActivityKind::kernel, from, to, correlation);
    row.place.device = device;
    row.place.stream = stream;
    row.launch = static_cast<std::uint32_t>(trace_.launches.size());
    trace_.launches.push_back(launch);
    trace_.activities.push_back(row);
  }
  std::string text() {
    written_.device(trace_);
    window_ = written_.window();
    return text_of(window_);
  }
  std::string times(std::uint64_t from, std::uint64_t to) const {
    constexpr std::int64_t kPeriod = std::int64_t{7'889'238} * 1'000'000'000;
    const std::int64_t base = window_->start_ns() / kPeriod * kPeriod;
    const std::int64_t start = window_->unix_ns(written_.start() + from);
    const std::int64_t length = window_->unix_ns(written_.start() + to) - start;
    return fmt::format(R"("ts":{}.{:03},"dur":{}.{:03})", (start - base) / 1000,
                       (start - base) % 1000, length / 1000, length % 1000);
  }

  HandWritten written_;
  HandWritten::Thread thread_ = written_.thread(42);
  DeviceTrace trace_;
  WindowPointer window_;
};

TEST_F(DeviceRowsOf, AKernelHasWhatKinetoSays) {
  thread_.range(10, 90, "aten::mm");
  call(20, 1000, "cudaLaunchKernel");
  kernel(30'000, 40'000, 1000,
         {.name = name("_Z4gemmPfS_"),
          .grid = {264, 2, 1},
          .block = {128, 2, 1},
          .registers_per_thread = 128,
          .static_shared_bytes = 1024,
          .dynamic_shared_bytes = 65536});
  const std::string json = text();
  const std::vector<std::string> calls = lines_with(json, "cudaLaunchKernel");
  ASSERT_EQ(calls.size(), 1U);
  EXPECT_EQ(calls[0], fmt::format(R"({{"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel",)"
                                  R"("pid":{},"tid":42,{},"args":{{"External id":1001,)"
                                  R"("cbid":211,"correlation":1000}}}},)",
                                  ::getpid(), times(20, 25)));
  const std::vector<std::string> kernels = lines_with(json, R"("cat":"kernel")");
  ASSERT_EQ(kernels.size(), 1U);
  // 528 blocks on 132 multiprocessors; 128 registers let 2 blocks of 8 warps run at a time, and
  // 67,584 bytes with 1,024 reserved would let 3; without the opt-in none.
  EXPECT_EQ(
      kernels[0],
      fmt::format(
          R"json({{"ph":"X","cat":"kernel","name":"gemm(float*, float*)","pid":0,"tid":7,{},)json"
          R"("args":{{"External id":1001,"queued":0,"device":0,"context":1,"stream":7,)"
          R"("correlation":1000,"registers per thread":128,"shared memory":66560,)"
          R"("blocks per SM":4,"warps per SM":32,"grid":[264, 2, 1],"block":[128, 2, 1],)"
          R"("est. achieved occupancy %":0,"occupancy":{{"activeBlocksPerMultiprocessor": 0, )"
          R"("limitingFactors": "SMEM", "blockLimitRegs": 2, "blockLimitSharedMem": 0, )"
          R"("blockLimitWarps": 8, "blockLimitBlocks": 32, "blockLimitBarriers": {}, )"
          R"("allocatedRegistersPerBlock": 32768, "allocatedSharedMemPerBlock": 67584}},)"
          R"("corrected occupancy %":25,"channel":0,"channel_type":0}}}},)",
          times(30'000, 40'000), INT_MAX));
  EXPECT_THAT(json, HasSubstr(R"("name": "NVIDIA \"H200\"", "totalGlobalMem": 150121545728, )"));
  EXPECT_THAT(json, HasSubstr(R"("cupti_version": 130001,)"));
  EXPECT_THAT(json, HasSubstr(R"("cuda_driver_version": 13000,)"));
  EXPECT_THAT(json, Not(HasSubstr("cuda_runtime_version")));
}

TEST_F(DeviceRowsOf, KernelsOfCollectivesSayWhatIsSaidOfThose) {
  thread_.collective(10, 90, {.name = "allreduce", .element_type = "Float", .in_elements = 5});
  thread_.range(100, 190, "aten::mm");
  call(20, 1000, "cudaLaunchKernelExC");
  kernel(30'000, 40'000, 1000, {.name = name("ncclDevKernel_AllReduce_Sum_f32_RING_LL")});
  call(30, 1001, "cudaMemcpyAsync");
  activity(DeviceActivityKind::memcpy, 40'000, 50'000, 1001);
  call(120, 1002, "cudaLaunchKernel");
  kernel(50'000, 60'000, 1002, {.name = name("gemm")});
  const std::string json = text();
  const std::vector<std::string> rows = lines_with(json, R"("Collective name":"allreduce")");
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_THAT(rows[0], HasSubstr(R"("cat":"cpu_op","name":"record_param_comms")"));
  EXPECT_THAT(rows[1], HasSubstr(R"("name":"ncclDevKernel_AllReduce_Sum_f32_RING_LL")"));
  EXPECT_THAT(rows[1], HasSubstr(R"("channel_type":0,"Collective name":"allreduce",)"
                                 R"("In msg nelems":5,)"));
}

TEST_F(DeviceRowsOf, CopiesAndSettingsAreNamedAsKinetoNamesThem) {
  DeviceActivity copy = activity(DeviceActivityKind::memcpy, 0, 10'000, 1);
  copy.transfer = {.bytes = 4096, .copy_kind = 1, .from_memory = 1, .to_memory = 3};
  trace_.activities.push_back(copy);
  DeviceActivity peers = activity(DeviceActivityKind::memcpy, 20'000, 20'000, 2);
  peers.transfer = {.peers = 1, .copy_kind = 10, .from_memory = 3, .to_memory = 3};
  trace_.activities.push_back(peers);
  trace_.peers.push_back({.from_device = 1, .from_context = 2, .to_device = 3, .to_context = 4});
  DeviceActivity set = activity(DeviceActivityKind::memset, 30'000, 40'000, 3);
  set.transfer.to_memory = 99;  // of a release to come
  set.place.graph = 6;
  set.place.graph_node = 12;
  trace_.activities.push_back(set);
  const std::string json = text();
  const auto line = [&](std::string_view part) {
    const auto lines = lines_with(json, part);
    return lines.size() == 1 ? lines[0] : fmt::format("{} lines", lines.size());
  };
  EXPECT_THAT(line("Memcpy HtoD (Pageable -> Device)"),
              HasSubstr(R"json("correlation":1,"bytes":4096,"memory bandwidth (GB/s)":)json"));
  const std::string between = line("Memcpy PtoP (Device -> Device)");
  EXPECT_THAT(between, Not(HasSubstr("bandwidth")));
  EXPECT_THAT(between, HasSubstr(R"("fromDevice":1,"inDevice":0,"toDevice":3,)"
                                 R"("fromContext":2,"inContext":1,"toContext":4)"));
  EXPECT_THAT(line("Memset (Unknown)"), HasSubstr(R"("graph id":6,"graph node id":12)"));
  EXPECT_THAT(json, Not(HasSubstr("ac2g")));  // nobody knows who began them
}

TEST_F(DeviceRowsOf, ArrowsLeadFromACallToAllItsWorkAndOnlyWhereThereIsSome) {
  call(10, 5, "cudaGraphLaunch", 311);
  call(20, 6, "cudaStreamSynchronize", 131);
  kernel(100, 200, 5, {});
  kernel(200, 300, 5, {});
  const std::string json = text();
  EXPECT_EQ(lines_with(json, R"("ph":"s","id":5)").size(), 1U);
  EXPECT_EQ(lines_with(json, R"("ph":"f","id":5)").size(), 2U);
  EXPECT_EQ(lines_with(json, R"("id":6)").size(), 0U);
}

TEST_F(DeviceRowsOf, WaitsOverheadMarkersAndAnnotationsHaveTheirRows) {
  thread_.range(0, 500, "step \"1\"", {.scope = Scope::user});
  call(10, 1, "cudaLaunchKernel");
  kernel(1000, 2000, 1, {});
  const std::uint64_t start = written_.start();
  trace_.synchronizations = {{.start_ticks = start + 1,
                              .end_ticks = start + 9,
                              .context = 1,
                              .stream = 7,
                              .correlation = 2,
                              .event = DeviceSynchronization::kNoEvent,
                              .kind = 3},
                             {.start_ticks = start + 1,
                              .end_ticks = start + 9,
                              .context = 1,
                              .stream = 8,
                              .correlation = 3,
                              .event = 55,
                              .kind = 2},
                             {.start_ticks = start + 1,
                              .end_ticks = start + 9,
                              .context = 1,
                              .stream = DeviceSynchronization::kNoStream,
                              .correlation = 4,
                              .event = DeviceSynchronization::kNoEvent,
                              .kind = 4}};
  trace_.events = {{.correlation = 77, .context = 1, .stream = 7, .event = 55}};
  trace_.overheads = {{.start_ticks = start, .end_ticks = start + 4, .kind = 1U << 16}};
  trace_.markers = {{.start_ticks = start,
                     .end_ticks = start + 4,
                     .thread = 42,
                     .name = name("load\nbatch"),
                     .domain = name("data")}};
  const std::string json = text();
  EXPECT_THAT(json, HasSubstr(R"("cat":"cuda_sync","name":"Stream Sync","pid":0,"tid":1000007)"));
  EXPECT_THAT(json, HasSubstr(R"("cuda_sync_kind":"Stream Wait Event","wait_on_stream":7,)"
                              R"("wait_on_cuda_event_record_corr_id":77,)"
                              R"("wait_on_cuda_event_id":55,"stream":8,"correlation":3)"));
  EXPECT_THAT(json, HasSubstr(R"("name":"Context Sync","pid":0,"tid":-1)"));
  EXPECT_THAT(json, HasSubstr(R"json("name":"stream 7 (sync)")json"));
  EXPECT_THAT(json, HasSubstr(R"("cat":"overhead","name":"Buffer Flush","pid":-1)"));
  EXPECT_THAT(json, HasSubstr(R"("cat":"user_annotation","name":"load\nbatch")"));
  EXPECT_THAT(json, HasSubstr(R"("args":{"NVTX domain":"data"})"));
  const auto annotations = lines_with(json, "gpu_user_annotation");
  ASSERT_EQ(annotations.size(), 1U);
  EXPECT_THAT(annotations[0], HasSubstr(R"("name":"step \"1\"","pid":0,"tid":7)"));
  EXPECT_THAT(json, HasSubstr(R"("labels":"GPU 0")"));
  EXPECT_THAT(json, HasSubstr(R"("name":"stream 7 ")"));
}

TEST_F(DeviceRowsOf, ReadersLinkEachKernelToItsOperator) {
  // Ids as they are in a program's first steps: operators and correlations both count from 1.
  for (std::uint32_t i = 1; i <= 20; ++i) {
    thread_.range(10 * i, 10 * i + 8, "op" + std::to_string(i));
    call(10 * i + 2, i, "cudaLaunchKernel");
    kernel(1000 + 10 * i, 1005 + 10 * i, i, {.name = name("k" + std::to_string(i))});
  }
  text();
  const Trace trace = read(window_);
  EXPECT_TRUE(trace.links().external_ids_valid);
  EXPECT_EQ(trace.links().launch_by_correlation, 20U);
  EXPECT_EQ(trace.links().operator_by_external_id, 20U);
  EXPECT_EQ(trace.links().unlinked_ns, 0);
}

TEST_F(DeviceRowsOf, WhatIsMissingIsSaid) {
  trace_.lost = 3;
  trace_.untimed = 4;
  trace_.problem = "another \"profiler\"";
  thread_.range(1, 3, "op");
  trace_.checks = {{.correlation = 1, .begin_ticks = written_.start() + 1}};
  call(2, 1, "cudaLaunchKernel");
  const std::string json = text();
  EXPECT_THAT(json, HasSubstr(R"("tbtrace_lost_device_records": 3,)"));
  EXPECT_THAT(json, HasSubstr(R"("tbtrace_untimed_device_records": 4,)"));
  EXPECT_THAT(json, HasSubstr(R"("tbtrace_device_tracing": "another \"profiler\"",)"));
  EXPECT_THAT(json, HasSubstr(R"("tbtrace_launch_check": {"calls": 1, "different": 0},)"));
}

TEST_F(DeviceRowsOf, HostileNamesAndNumbersAreHarmless) {
  trace_.devices[0].name = "</script>\n\"";
  call(10, 0xffffffff, "cuda\"\\\n");
  KernelLaunch launch;
  launch.name = name("_Z" + std::string(300, 'S'));
  launch.grid = {INT_MAX, INT_MAX, INT_MAX};
  launch.block = {-1, 0, INT_MIN};
  launch.registers_per_thread = 0xffffffff;
  launch.static_shared_bytes = INT_MAX;
  launch.dynamic_shared_bytes = INT_MAX;
  kernel(1, 2, 0xffffffff, launch, 0xffffffff, 0xffffffff);
  text();
  const Trace trace = read(window_);
  EXPECT_EQ(trace.links().launch_by_correlation, 1U);
}

}  // namespace
}  // namespace tbtrace::recorder
