// Copies and communication that nothing hides: what is said of them depends on what they are.
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <tbtrace/findings.h>

#include "fixtures/trace_rows.h"

namespace tbtrace {
namespace {

using fixtures::add;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

constexpr std::int64_t kMicrosecond = 1'000;
constexpr int kExposedSteps = 4;

/// Steps in which the device runs one activity after the other.
class DeviceSteps {
 public:
  void begin_step() { step_ = now_; }

  void end_step() {
    add(builder_, {.category = "user_annotation",
                   .name = "ProfilerStep#" + std::to_string(number_++),
                   .start = step_,
                   .duration = now_ - step_});
  }

  void run(std::string_view category, std::string_view name, std::int64_t us,
           std::string_view around = "aten::mm", std::int64_t bytes = 0) {
    const std::int64_t correlation = ++correlation_;
    if (!around.empty()) {
      const bool is_operator = around.find("::") != std::string_view::npos;
      add(builder_, {.category = is_operator ? "cpu_op" : "user_annotation",
                     .name = around,
                     .start = now_,
                     .duration = us * kMicrosecond});
    }
    add(builder_, {.category = "cuda_runtime",
                   .name = "cudaLaunchKernel",
                   .start = now_ + 1,
                   .duration = 100,
                   .correlation = correlation});
    const EventId work = add(builder_, {.category = category,
                                        .name = name,
                                        .start = now_ + 200,
                                        .duration = us * kMicrosecond - 200,
                                        .thread = 7,
                                        .process = 0,
                                        .correlation = correlation});
    if (bytes > 0) builder_.add_argument(work, Argument::copied_bytes, bytes);
    now_ += us * kMicrosecond;
  }

  void compute(std::int64_t us, std::string_view around = "aten::mm") {
    run("kernel", "ampere_sgemm_16816_tensorop_nn", us, around);
  }

  std::optional<Finding> finding(std::string_view id) {
    const Trace trace = fixtures::finished(builder_);
    for (Finding& found : findings(trace)) {
      if (found.id == id) return std::move(found);
    }
    return std::nullopt;
  }

 private:
  TraceBuilder builder_;
  std::int64_t now_ = 0;
  std::int64_t step_ = 0;
  std::int64_t number_ = 0;
  std::int64_t correlation_ = 0;
};

std::optional<Finding> with_copies(std::string_view name, std::int64_t us) {
  DeviceSteps steps;
  for (int step = 0; step < kExposedSteps; ++step) {
    steps.begin_step();
    steps.run("gpu_memcpy", name, us, "aten::copy_", us * 10'000);
    steps.compute(1000);
    steps.end_step();
  }
  return steps.finding("exposed_copies");
}

TEST(ExposedCopies, AreFoundAtEachStrength) {
  for (const std::int64_t us : {200, 1000, 9000}) {
    EXPECT_TRUE(with_copies("Memcpy HtoD (Pageable -> Device)", us)) << us;
  }
  EXPECT_FALSE(with_copies("Memcpy HtoD (Pageable -> Device)", 50)) << "below a tenth";
}

TEST(ExposedCopies, HaveTheRemedyOfTheirMemoryAndDirection) {
  const std::optional<Finding> pageable = with_copies("Memcpy HtoD (Pageable -> Device)", 3000);
  ASSERT_TRUE(pageable);
  EXPECT_NEAR(pageable->share, 0.75, 0.01);
  EXPECT_EQ(pageable->evidence[0].what, "copies to the GPU from pageable memory");
  EXPECT_EQ(pageable->evidence[1].value, Cell(std::uint64_t{4}));
  EXPECT_NEAR(std::get<double>(pageable->evidence[3].value), 1e10, 1e7) << "bytes per second";
  EXPECT_THAT(pageable->remedy,
              AllOf(HasSubstr("from pinned memory"), HasSubstr("stream of its own"),
                    HasSubstr("keep on the GPU")));
  EXPECT_THAT(with_copies("Memcpy HtoD (Pinned -> Device)", 3000)->remedy,
              AllOf(Not(HasSubstr("pin")), HasSubstr("stream of its own")));
  EXPECT_THAT(with_copies("Memcpy DtoH (Device -> Pageable)", 3000)->remedy,
              AllOf(HasSubstr("to pinned memory"), Not(HasSubstr("layer"))));
  EXPECT_THAT(with_copies("CopyHostToDevice", 3000)->remedy,
              HasSubstr("pinned memory on the host"));
  EXPECT_THAT(with_copies("Memcpy DtoD (Device -> Device)", 3000)->remedy,
              AllOf(HasSubstr("clone()"), Not(HasSubstr("pinned"))));
  EXPECT_THAT(with_copies("Memcpy PtoP (Device -> Device)", 3000)->remedy, HasSubstr("both GPUs"));
}

TEST(ExposedCopies, MemsetsAreNoCopies) {
  DeviceSteps steps;
  steps.run("gpu_memset", "Memset (Device)", 500, "aten::zero_");
  steps.compute(1000);
  const std::optional<Finding> found = steps.finding("exposed_copies");
  ASSERT_TRUE(found);
  EXPECT_EQ(found->title, "Memsets run while nothing computes");
  EXPECT_THAT(found->remedy, HasSubstr("torch.empty()"));
}

TEST(ExposedCopies, OfOneStepAreNoPattern) {
  DeviceSteps steps;
  for (int step = 0; step < kExposedSteps; ++step) {
    steps.begin_step();
    if (step == 1) steps.run("gpu_memcpy", "Memcpy HtoD (Pinned -> Device)", 9000, "aten::copy_");
    steps.compute(1000);
    steps.end_step();
  }
  EXPECT_THAT(steps.finding("exposed_copies")->remedy,
              AllOf(HasSubstr("in one step"), Not(HasSubstr("every step"))));
}

constexpr std::string_view kAllReduce = "ncclDevKernel_AllReduce_Sum_bf16_RING_LL";
constexpr std::string_view kSendReceive =
    "ncclDevKernel_SendRecv(ncclDevKernelArgsStorage<4096ul>)";
constexpr std::string_view kBackward = "autograd::engine::evaluate_function: MmBackward0";

/// `when`: the range around the launch of the communication; `around_compute`: of what follows it.
std::optional<Finding> communication(std::string_view kernel, std::string_view range,
                                     std::string_view around_compute = "aten::mm") {
  DeviceSteps steps;
  for (int step = 0; step < kExposedSteps; ++step) {
    steps.begin_step();
    steps.compute(1000);
    steps.run("kernel", kernel, 500, range);
    steps.compute(1000, around_compute);
    steps.end_step();
  }
  return steps.finding("exposed_communication");
}

TEST(ExposedCommunication, WithoutABackwardPassHasNoRemedyOfTraining) {
  const auto no_training = AllOf(Not(HasSubstr("DDP")), Not(HasSubstr("FSDP")),
                                 Not(HasSubstr("gradient")), Not(HasSubstr("bucket")));
  EXPECT_THAT(communication(kAllReduce, "nccl:all_reduce")->remedy,
              AllOf(no_training, HasSubstr("tensor parallelism")));
  EXPECT_THAT(communication("ncclDevKernel_AllGather_RING_LL", "nccl:_all_gather_base")->remedy,
              AllOf(no_training, HasSubstr("keep parameters whole")));
}

TEST(ExposedCommunication, OfGradientsIsOverlappedWithTheBackwardPass) {
  DeviceSteps steps;
  for (int step = 0; step < kExposedSteps; ++step) {
    steps.begin_step();
    steps.compute(1000);
    steps.compute(1000, kBackward);
    steps.run("kernel", kAllReduce, 500, "nccl:all_reduce");
    steps.end_step();
  }
  EXPECT_THAT(steps.finding("exposed_communication")->remedy,
              AllOf(HasSubstr("during the backward pass"), Not(HasSubstr("FSDP")),
                    Not(HasSubstr("tensor"))));
}

TEST(ExposedCommunication, OfOneStepIsNoGainOfTheOthers) {
  const auto found = [](std::int64_t first_us) {
    DeviceSteps steps;
    for (int step = 0; step < kExposedSteps; ++step) {
      steps.begin_step();
      steps.run("kernel", kAllReduce, step == 0 ? first_us : 400, "nccl:all_reduce");
      steps.compute(1000);
      steps.end_step();
    }
    return *steps.finding("exposed_communication");
  };
  EXPECT_THAT(found(400).remedy, Not(HasSubstr("in one step")));
  const Finding once = found(90'000);
  EXPECT_THAT(once.remedy, HasSubstr("most of it is in one step"));
  EXPECT_NEAR(static_cast<double>(*once.gain_ns), 3 * 400'000 / 4.0, 1000);
}

TEST(ExposedCommunication, ShardedParametersOnlyWithReduceScatters) {
  const auto gathering = [](bool scatters) {
    DeviceSteps steps;
    for (int step = 0; step < kExposedSteps; ++step) {
      steps.begin_step();
      steps.run("kernel", "ncclDevKernel_AllGather_RING_LL", 500, "nccl:_all_gather_base");
      steps.compute(1000);
      steps.compute(1000, kBackward);
      if (scatters) {
        steps.run("kernel", "ncclDevKernel_ReduceScatter_Sum_bf16_RING_LL", 500,
                  "nccl:_reduce_scatter_base");
      }
      steps.end_step();
    }
    return steps.finding("exposed_communication")->remedy;
  };
  EXPECT_THAT(gathering(true), HasSubstr("FSDP"));
  EXPECT_THAT(gathering(false), Not(HasSubstr("FSDP")));
}

TEST(ExposedCommunication, OfTheForwardPassIsTensorParallelism) {
  EXPECT_THAT(communication(kAllReduce, "nccl:all_reduce", kBackward)->remedy,
              AllOf(HasSubstr("tensor parallelism"), Not(HasSubstr("DDP"))));
}

TEST(ExposedCommunication, HasTheRemedyOfItsOperation) {
  EXPECT_THAT(communication("ncclDevKernel_ReduceScatter_Sum_bf16_RING_LL",
                            "nccl:_reduce_scatter_base", kBackward)
                  ->remedy,
              AllOf(HasSubstr("FSDP"), Not(HasSubstr("DDP: "))));
  EXPECT_THAT(communication(kSendReceive, "nccl:recv 0<-1")->remedy,
              AllOf(HasSubstr("micro batches"), HasSubstr("zero-bubble"), Not(HasSubstr("FSDP"))));
  EXPECT_THAT(communication(kSendReceive, "nccl:all_to_all")->remedy,
              AllOf(HasSubstr("tokens"), Not(HasSubstr("zero-bubble"))))
      << "all-to-alls run by the kernel that sends and receives";
  EXPECT_THAT(communication("deep_ep::intranode::dispatch<int>", "")->remedy, HasSubstr("experts"));
  EXPECT_THAT(communication(kSendReceive, "")->remedy, HasSubstr("these kernels send and receive"));
}

TEST(ExposedCommunication, OfTwoKindsHasBothRemedies) {
  DeviceSteps steps;
  for (int step = 0; step < kExposedSteps; ++step) {
    steps.begin_step();
    steps.compute(1000);
    steps.run("kernel", kAllReduce, 500, "nccl:all_reduce");
    steps.run("kernel", kSendReceive, 400, "nccl:all_to_all");
    steps.run("kernel", "ncclDevKernel_Broadcast_RING_LL", 50, "nccl:broadcast");
    steps.end_step();
  }
  const std::optional<Finding> found = steps.finding("exposed_communication");
  EXPECT_EQ(found->evidence[2].what, "all-reduces without computation");
  EXPECT_EQ(found->evidence[3].what, "all-to-alls without computation");
  EXPECT_THAT(found->remedy, AllOf(HasSubstr("tensor parallelism"), HasSubstr("tokens"),
                                   Not(HasSubstr("broadcast less"))));
}

}  // namespace
}  // namespace tbtrace
