// Profilers that record a GPU which is not there, in a process of their own: there is one CUPTI in
// it, which is never asked for anew.
#include <atomic>
#include <chrono>
#include <fstream>
#include <latch>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <torch/csrc/autograd/profiler_legacy.h>
#include <torch/torch.h>
#include <unistd.h>

#include <tbtrace/capabilities.h>
#include <tbtrace/flame_graph.h>
#include <tbtrace/operators.h>
#include <tbtrace/profiler.h>

#include "fixtures/soon.h"
#include "fixtures/whole_file.h"
#include "libtorch/record/recorded.h"
#include "support/fake_cuda/fake_cuda.h"

namespace tbtrace {
namespace {

using fixtures::soon;
using ::testing::ContainsRegex;
using ::testing::ElementsAre;
using testing::Folder;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

constexpr std::uint32_t kKernels = 10;  // CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL

/// Mapped before anybody looks for them.
const fake_cuda::FakeCuda& gpu() {
  static const fake_cuda::FakeCuda gpu(FAKE_CUPTI_130, FAKE_CUDA_DRIVER);
  return gpu;
}

std::uint32_t launch(const char* name, std::uint64_t duration_ns = 10'000) {
  return gpu().cupti.launch({.name = name, .time = {.duration_ns = duration_ns}});
}

class CuptiProfiler : public ::testing::Test {
 protected:
  CuptiProfiler() { gpu(); }

  ProfilerOptions options(std::vector<Activity> activities = {Activity::cpu, Activity::cuda}) {
    return {.activities = std::move(activities),
            .experimental = {.on_warning = [this](std::string_view sentence) {
              if (sentence.starts_with("Warning: Profiler clears events")) return;
              warnings_.emplace_back(sentence);
            }}};
  }
  std::string text_of(Profiler& profiler) {
    const Folder folder;
    const std::string path = folder / "trace.json";
    const Status written = profiler.export_chrome_trace(path);
    EXPECT_TRUE(written.ok()) << written.message();
    return fixtures::read_whole_file(path);
  }

  std::vector<std::string> warnings_;
};

TEST_F(CuptiProfiler, FillsTheDeviceColumnsOfTheTable) {
  Profiler profiler(options());
  profiler.start();
  {
    const record_function outer("outer");
    torch::ones({2});
    launch("_Z4gemmPf", 20'000);
  }
  profiler.stop();
  EXPECT_THAT(warnings_, IsEmpty());
  const OperatorSummary summary = profiler.key_averages();
  EXPECT_THAT(*summary.table({.sort_by = "self_cuda_time_total"}),
              ::testing::AllOf(HasSubstr("Self CUDA"), HasSubstr("gemm(float*)"),
                               ContainsRegex("Self CUDA time total: (19[.]99|20[.]00).us")));
  const Folder folder;
  ASSERT_TRUE(profiler.export_chrome_trace(folder / "trace.json").ok());
  const Result<Trace> trace = read_trace(folder / "trace.json", {.strict = true});
  ASSERT_TRUE(trace.ok()) << trace.status().message();
  const Result<StackTree> stacks = flame_graph(*trace, {.weight = "self_device_time_total"});
  ASSERT_TRUE(stacks.ok());
  EXPECT_NEAR(static_cast<double>(stacks->total()), 20'000, 4);
}

TEST_F(CuptiProfiler, AllThatThereIsHasTheGpuWithoutAWord) {
  Profiler profiler(options({}));
  profiler.start();
  launch("kernel");
  profiler.stop();
  EXPECT_THAT(warnings_, IsEmpty());
  EXPECT_THAT(text_of(profiler), HasSubstr(R"("name":"kernel")"));
}

TEST_F(CuptiProfiler, WithoutCudaNothingOfTheGpuIsRecorded) {
  Profiler profiler(options({Activity::cpu}));
  profiler.start();
  launch("kernel");
  profiler.stop();
  EXPECT_THAT(text_of(profiler), Not(HasSubstr(R"("name":"kernel")")));
  EXPECT_EQ(gpu().cupti.enabled_kinds(), 0U);
}

TEST_F(CuptiProfiler, CollectionOfTheGpuIsToggled) {
  Profiler profiler(options());
  profiler.start();
  launch("first");
  profiler.toggle_collection_dynamic(false, {Activity::cuda});
  profiler.toggle_collection_dynamic(false, {Activity::cuda});
  torch::ones({2});
  launch("paused");
  profiler.toggle_collection_dynamic(true, {Activity::cuda});
  launch("second");
  profiler.toggle_collection_dynamic(false, {Activity::cpu});
  torch::zeros({2});
  launch("without_operators");
  profiler.stop();
  const std::string text = text_of(profiler);
  for (const char* const name : {"first", "second", "without_operators", "aten::ones"}) {
    EXPECT_THAT(text, HasSubstr("\"name\":\"" + std::string(name) + "\""));
  }
  EXPECT_THAT(text, Not(HasSubstr("paused")));
  EXPECT_THAT(text, Not(HasSubstr("aten::zeros")));
  EXPECT_THAT(warnings_, IsEmpty());

  profiler.start();  // not paused
  launch("third");
  profiler.stop();
  EXPECT_THAT(text_of(profiler), HasSubstr(R"("name":"third")"));
}

TEST_F(CuptiProfiler, WhatIsNotRecordedIsNotToggled) {
  Profiler profiler(options({Activity::cpu}));
  profiler.toggle_collection_dynamic(false, {Activity::cpu});
  EXPECT_THAT(warnings_, ElementsAre(HasSubstr("while a cycle is recorded")));
  profiler.toggle_collection_dynamic(false, {Activity::cuda});
  EXPECT_THAT(warnings_.back(), HasSubstr("CUDA activity cannot be toggled"));
}

TEST_F(CuptiProfiler, CudaAloneHasNoOperators) {
  Profiler profiler(options({Activity::cuda}));
  profiler.start();
  torch::ones({2});
  launch("kernel");
  profiler.stop();
  const std::string text = text_of(profiler);
  EXPECT_THAT(text, HasSubstr(R"("name":"kernel")"));
  EXPECT_THAT(text, Not(HasSubstr("aten::ones")));
}

/// The schedule's warm-up traces already, so that the start costs nothing; its kernels are not in
/// the window, and waiting steps are not traced at all.
TEST_F(CuptiProfiler, WindowsHaveWhatWasLaunchedInThem) {
  // CUPTI hands on where a name is, and names of kernels stay where they are.
  constexpr const char* kSteps[] = {"step0", "step1", "step2", "step3", "step4", "step5"};
  std::vector<std::string> files;
  const Folder folder;
  ProfilerOptions with_schedule = options();
  with_schedule.schedule = schedule({.wait = 1, .warmup = 1, .active = 1, .repeat = 2});
  with_schedule.on_trace_ready = [&](Profiler& profiler) {
    files.push_back(folder / ("window" + std::to_string(files.size()) + ".json"));
    EXPECT_TRUE(profiler.export_chrome_trace(files.back()).ok());
  };
  {
    Profiler profiler(with_schedule);
    const auto recording = profiler.record();
    for (int step = 0; step < 6; ++step) {
      launch(kSteps[step], 2'000'000);
      profiler.step();
    }
  }
  ASSERT_THAT(files, SizeIs(2));
  for (int window = 0; window < 2; ++window) {
    const std::string text = fixtures::read_whole_file(files[static_cast<std::size_t>(window)]);
    for (int step = 0; step < 6; ++step) {
      // A kernel that was launched in the warm-up is there if it had still to be done.
      if (step == 3 * window + 1) continue;
      const std::string name = std::string("\"name\":\"") + kSteps[step] + "\"";
      EXPECT_EQ(text.find(name) != std::string::npos, step == 3 * window + 2)
          << window << " " << step;
    }
  }
  EXPECT_THAT(warnings_, IsEmpty());
}

/// The number after `"External id":` in the event that `event` begins in.
int external_id(const std::string& text, const std::string& event) {
  const std::size_t begin = text.find(event);
  if (begin == std::string::npos) return -1;
  const std::string line = text.substr(begin, text.find('\n', begin) - begin);
  const std::string key = "\"External id\":";
  const std::size_t at = line.find(key);
  return at == std::string::npos ? -1 : std::stoi(line.substr(at + key.size()));
}

thread_local const char* kernel_of_ones = nullptr;

/// Both threads have the same operator open when they launch.
TEST_F(CuptiProfiler, KernelsBelongToTheOperatorOfTheirOwnThread) {
  ProfilerOptions everywhere = options();
  everywhere.all_threads = true;
  Profiler profiler(everywhere);
  const auto handle = at::addGlobalCallback(at::RecordFunctionCallback(
      [](const at::RecordFunction&) -> std::unique_ptr<at::ObserverContext> { return nullptr; },
      [](const at::RecordFunction& function, at::ObserverContext*) {
        if (std::string_view(function.name()) == "aten::ones") launch(kernel_of_ones);
      }));
  profiler.start();
  int other_thread = 0;
  std::thread other([&other_thread] {
    const record_function range("other thread");
    kernel_of_ones = "of other";
    other_thread = static_cast<int>(::gettid());
    torch::ones({3});
  });
  other.join();
  kernel_of_ones = "of this";
  torch::ones({3});
  profiler.stop();
  at::removeCallback(handle);
  const std::string text = text_of(profiler);
  const auto operator_of = [&](int thread) {
    return external_id(text, "\"name\":\"aten::ones\",\"pid\":" + std::to_string(::getpid()) +
                                 ",\"tid\":" + std::to_string(thread) + ",");
  };
  const int of_this = operator_of(static_cast<int>(::gettid()));
  const int of_other = operator_of(other_thread);
  EXPECT_GT(of_this, 0);
  EXPECT_GT(of_other, 0);
  EXPECT_NE(of_this, of_other);
  EXPECT_EQ(external_id(text, R"("name":"of this")"), of_this);
  EXPECT_EQ(external_id(text, R"("name":"of other")"), of_other);
  EXPECT_THAT(text, HasSubstr(R"("cat":"gpu_user_annotation","name":"other thread")"));
}

TEST_F(CuptiProfiler, RefusalsLeaveTheCpuAndSayWhyOnce) {
  for (const int code : {15, 35, 39, 43, 999}) {
    warnings_.clear();
    gpu().cupti.fail_enable(kKernels, code);
    const DeviceTracing found = capabilities().device_tracing();
    ProfilerOptions cycles = options();
    cycles.schedule = schedule({.warmup = 1, .active = 1, .repeat = 2});
    Profiler profiler(cycles);
    profiler.start();
    for (int step = 0; step < 4; ++step) {
      torch::ones({2});
      launch("kernel");
      profiler.step();
    }
    profiler.stop();
    gpu().cupti.fail_enable(kKernels, 0);
    EXPECT_FALSE(found.available);
    EXPECT_EQ(found.driver, "13.0");
    EXPECT_EQ(found.devices, std::vector<std::string>{"NVIDIA H200"});
    EXPECT_THAT(warnings_,
                ElementsAre("CUDA is not available, disabling CUDA profiling: " + found.problem));
    EXPECT_EQ(testing::count(profiler, "aten::ones"), 1);
    const std::string text = text_of(profiler);
    EXPECT_THAT(text, HasSubstr("\"tbtrace_device_tracing\": \"" + found.problem.substr(0, 30)));
    EXPECT_THAT(text, Not(HasSubstr(R"("cat":"kernel")")));
  }
  EXPECT_TRUE(capabilities().device_tracing().available);
  EXPECT_EQ(capabilities().device_tracing().problem, "");
}

TEST_F(CuptiProfiler, ExtrasThatAreRefusedAreSaidAndTheRestIsRecorded) {
  gpu().cupti.fail_enable(38, 27);  // CUPTI_ACTIVITY_KIND_SYNCHRONIZATION: not supported
  ProfilerOptions with_waits = options();
  with_waits.experimental.enable_cuda_sync_events = true;
  Profiler profiler(with_waits);
  profiler.start();
  launch("kernel");
  profiler.stop();
  gpu().cupti.fail_enable(38, 0);
  EXPECT_THAT(warnings_, ElementsAre(HasSubstr("synchronization events are not recorded")));
  const std::string text = text_of(profiler);
  EXPECT_THAT(text, HasSubstr("\"tbtrace_device_tracing\": \"synchronization events"));
  EXPECT_THAT(text, HasSubstr(R"("name":"kernel")"));
}

TEST_F(CuptiProfiler, TorchsOwnProfilerKeepsWhatItHas) {
  namespace torch_profiler = torch::autograd::profiler;
  torch_profiler::enableProfilerLegacy(
      torch::profiler::impl::ProfilerConfig(torch::profiler::impl::ProfilerState::CPU));
  Profiler profiler(options());
  profiler.start();
  launch("kernel");
  profiler.stop();
  torch_profiler::disableProfilerLegacy();
  EXPECT_THAT(warnings_, ElementsAre(HasSubstr("torch's own profiler is active")));
  EXPECT_THAT(text_of(profiler), HasSubstr("torch's own profiler is active"));
}

TEST_F(CuptiProfiler, TakeoverIsReportedInTheFileAndToTheUser) {
  {
    Profiler profiler(options());
    profiler.start();
    launch("ours");
    gpu().cupti.take_over();
    for (int i = 0; i < 5000; ++i) launch("theirs");
    profiler.stop();
    EXPECT_THAT(text_of(profiler), HasSubstr("another profiler in this process"));
  }
  EXPECT_THAT(warnings_, ElementsAre(HasSubstr("another profiler in this process")));
}

TEST_F(CuptiProfiler, KernelsWithoutCallsAreReportedInTheFileAndToTheUser) {
  gpu().cupti.fail_enable(5, 27);  // CUPTI_ACTIVITY_KIND_RUNTIME: not supported
  {
    Profiler profiler(options());
    profiler.start();
    launch("kernel");
    profiler.stop();
    gpu().cupti.fail_enable(5, 0);
    EXPECT_THAT(text_of(profiler), HasSubstr("has its CUDA call"));
  }
  EXPECT_THAT(warnings_, ElementsAre(HasSubstr("calls of the CUDA runtime are not recorded"),
                                     HasSubstr("has its CUDA call")));
}

TEST_F(CuptiProfiler, ACheckLeavesNothingBehind) {
  EXPECT_TRUE(soon([] { return gpu().cupti.enabled_kinds() == 0; }));
  const std::uint64_t registered = gpu().cupti.calls("cuptiActivityRegisterCallbacks");
  EXPECT_TRUE(capabilities().device_tracing().available);
  EXPECT_EQ(gpu().cupti.enabled_kinds(), 0U);
  EXPECT_EQ(gpu().cupti.calls("cuptiActivityRegisterCallbacks"), registered);
}

TEST_F(CuptiProfiler, AllCallsAreInTheTraceOnRequest) {
  constexpr std::uint32_t kGetDevice = 17;
  for (const bool all : {false, true}) {
    ProfilerOptions with_calls = options();
    with_calls.cupti.all_calls = all;
    Profiler profiler(with_calls);
    profiler.start();
    gpu().cupti.call({.cbid = kGetDevice});
    profiler.stop();
    EXPECT_EQ(text_of(profiler).find("cudaGetDevice") != std::string::npos, all);
  }
}

TEST_F(CuptiProfiler, RecordsBeyondTheBufferLimitAreCounted) {
  ProfilerOptions small = options();
  small.cupti.max_buffer_bytes = std::size_t{1} << 20;
  Profiler profiler(small);
  profiler.start();
  gpu().cupti.generate(50'000, {.name = "kernel", .time = {.latency_ns = 1, .duration_ns = 1000}});
  profiler.stop();
  EXPECT_THAT(text_of(profiler), HasSubstr("tbtrace_lost_device_records"));
}

/// The export thread is held up by the warning of a first window that cannot be written.
TEST_F(CuptiProfiler, WindowsOfTheGpuAloneAreDroppedBeyondTheQueueLimit) {
  const Folder folder;
  std::ofstream(folder / "in the way") << "mine";
  std::latch may_go_on(1);
  std::atomic<int> dropped = 0;
  int windows = 0;
  Profiler profiler({.activities = {Activity::cuda},
                     .on_trace_ready =
                         [&](Profiler& ready) {
                           const bool is_first = windows++ == 0;
                           ready.export_in_background(folder / (is_first ? "in the way" : "logs"),
                                                      {.summaries = false});
                         },
                     .experimental = {.on_warning =
                                          [&](std::string_view sentence) {
                                            if (sentence.starts_with("Can't create"))
                                              may_go_on.wait();
                                            if (sentence.starts_with("a window was dropped"))
                                              ++dropped;
                                          }},
                     .process = {.export_queue_bytes = 1}});
  for (int window = 0; window < 3; ++window) {
    profiler.start();
    launch("kernel");
    profiler.stop();
    EXPECT_THAT(text_of(profiler), HasSubstr(R"("name":"kernel")"));  // all of it is known then
  }
  EXPECT_GT(dropped, 0);
  may_go_on.count_down();
  EXPECT_FALSE(profiler.wait_for_exports().ok());
}

TEST_F(CuptiProfiler, EarlyAttachmentTracesFromTheConstructorOn) {
  EXPECT_TRUE(soon([] { return gpu().cupti.enabled_kinds() == 0; }));
  {
    ProfilerOptions early = options();
    early.cupti.attach_early = true;
    Profiler profiler(early);
    EXPECT_TRUE(gpu().cupti.enabled(kKernels));
    launch("before");
    profiler.start();
    launch("kernel");
    profiler.stop();
    EXPECT_THAT(text_of(profiler), HasSubstr(R"("name":"kernel")"));
    EXPECT_TRUE(gpu().cupti.enabled(kKernels));
  }
  EXPECT_TRUE(soon([] { return gpu().cupti.enabled_kinds() == 0; }));
  EXPECT_THAT(warnings_, IsEmpty());
}

TEST_F(CuptiProfiler, DetachesAtItsEndOnRequest) {
  const std::uint64_t finalized = gpu().cupti.calls("cuptiFinalize");
  {
    ProfilerOptions detached = options();
    detached.cupti.detach_at_end = true;
    Profiler profiler(detached);
    profiler.start();
    launch("kernel");
    profiler.stop();
    EXPECT_THAT(text_of(profiler), HasSubstr(R"("name":"kernel")"));
  }
  EXPECT_TRUE(soon([&] {
    launch("later");
    return gpu().cupti.calls("cuptiFinalize") > finalized;
  }));
  Profiler again(options());
  again.start();
  launch("kernel");
  again.stop();
  EXPECT_THAT(text_of(again), HasSubstr(R"("name":"kernel")"));
  EXPECT_THAT(warnings_, IsEmpty());
}

/// What the driver says of each call's operator, when it is told of all, is what times say.
TEST_F(CuptiProfiler, LinksEqualThoseThatTheDriverIsToldOf) {
  ProfilerOptions checked = options();
  checked.experimental.check_launches = true;
  checked.record_shapes = true;
  Profiler profiler(checked);
  // Operators inside operators, each with launches at its end.
  const auto handle = at::addGlobalCallback(at::RecordFunctionCallback(
      [](const at::RecordFunction&) -> std::unique_ptr<at::ObserverContext> { return nullptr; },
      [](const at::RecordFunction&, at::ObserverContext*) { launch("kernel"); }));
  profiler.start();
  {
    const record_function range("forward");
    torch::nn::Linear model(8, 8);
    model->forward(torch::ones({4, 8})).relu().sum().backward();
  }
  profiler.stop();
  at::removeCallback(handle);
  const std::string text = text_of(profiler);
  const std::size_t at = text.find("\"tbtrace_launch_check\": {\"calls\": ");
  ASSERT_NE(at, std::string::npos);
  const std::string check = text.substr(at, text.find('\n', at) - at);
  EXPECT_THAT(check, HasSubstr("\"different\": 0}"));
  EXPECT_GT(std::stoi(check.substr(check.find("calls") + 8)), 20) << check;
}

TEST_F(CuptiProfiler, CyclesAddUp) {
  ProfilerOptions added = options();
  added.acc_events = true;
  added.schedule = schedule({.warmup = 0, .active = 1, .repeat = 3});
  Profiler profiler(added);
  profiler.start();
  for (int step = 0; step < 3; ++step) {
    launch("kernel");
    profiler.step();
  }
  profiler.stop();
  const Result<std::string> table = profiler.key_averages().table();
  EXPECT_THAT(*table, ContainsRegex("Self CUDA time total: (29[.]99|30[.]00).us"));
}

}  // namespace
}  // namespace tbtrace
