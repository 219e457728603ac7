// One of two ranks that train on GPUs which are not there, with the collectives of NCCL as c10d
// tells profilers of them; records itself.
//   train_rank_on_fake_gpu LOGDIR RANK    prints what the rank did in the recorded steps, as JSON
#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <string>
#include <vector>

#include <torch/torch.h>

#include <tbtrace/profiler.h>

#include "libtorch/record/collective_call.h"
#include "libtorch/record/fake_gpu_run.h"
#include "support/fake_cuda/fake_cuda.h"

namespace {

using tbtrace::fake_cuda::FakeCuda;
using tbtrace::testing::Truths;

constexpr int kRanks = 2;
constexpr std::uint32_t kComputeStream = 7;
constexpr std::uint32_t kNcclStream = 20;
constexpr const char* kAllReduce =
    "_Z39ncclDevKernel_AllReduce_Sum_f32_RING_LL24ncclDevKernelArgsStorageILm4096EE";
constexpr const char* kAllGather =
    "_Z31ncclDevKernel_AllGather_RING_LL24ncclDevKernelArgsStorageILm4096EE";

class Rank {
 public:
  Rank(FakeCuda& cuda, int rank) : cuda_(cuda), rank_(rank) {}

  void step(bool is_recorded) {
    is_recorded_ = is_recorded;
    {
      const tbtrace::record_function range("DistributedDataParallel.forward");
      compute("aten::addmm", 2'000'000);
    }
    // The first rank waits for the second one in its kernel, as NCCL's do.
    reduce({25, 40}, rank_ == 0 ? 4'000'000 : 2'500'000);
    compute("aten::mm", 3'000'000);
    reduce({24}, 1'000'000);
    gather({7, 3}, rank_ == 0 ? 800'000 : 900'000);
    {
      const tbtrace::record_function range("Optimizer.step#SGD.step");
      compute("aten::add_", 400'000);
    }
    cuda_.cupti.sync({.type = tbtrace::fake_cuda::kContextSynchronize});
  }

  const Truths& kernels() const { return kernels_; }          ///< nanoseconds
  const Truths& collectives() const { return collectives_; }  ///< bytes

 private:
  void launch(const char* kernel, std::uint64_t duration_ns, std::uint32_t stream) {
    cuda_.cupti.launch(
        {.name = kernel, .on = {.stream = stream}, .time = {.duration_ns = duration_ns}});
    if (is_recorded_) count(kernels_, kernel, duration_ns);
  }

  void compute(const char* name, std::uint64_t duration_ns) {
    RECORD_FUNCTION(name, std::vector<c10::IValue>());
    launch("ampere_sgemm_128x64", duration_ns, kComputeStream);
  }

  void reduce(const std::vector<std::int64_t>& shape, std::uint64_t duration_ns) {
    const torch::Tensor tensor = torch::ones(shape);
    run("allreduce", "nccl:all_reduce", kAllReduce, tensor, tensor.numel(), duration_ns);
  }
  void gather(const std::vector<std::int64_t>& shape, std::uint64_t duration_ns) {
    const torch::Tensor tensor = torch::ones(shape);
    run("_allgather_base", "nccl:_all_gather_base", kAllGather, tensor, kRanks * tensor.numel(),
        duration_ns);
  }

  /// As ProcessGroupNCCL does it: a range that c10d describes, in it one of the user that may end
  /// at any later time, in that the launch.
  void run(const char* described, const char* title, const char* kernel,
           const torch::Tensor& tensor, std::int64_t out_elements, std::uint64_t duration_ns) {
    const std::vector<c10::IValue> inputs = {tensor};
    tbtrace::testing::run_collective({.name = described,
                                      .in_elements = tensor.numel(),
                                      .out_elements = out_elements,
                                      .rank = rank_,
                                      .group_size = kRanks,
                                      .sequence = sequence_++,
                                      .tensors = {tensor}},
                                     [&] {
                                       at::RecordFunction range(at::RecordScope::USER_SCOPE);
                                       range._setAsync();
                                       range.before(title, &inputs);
                                       launch(kernel, duration_ns, kNcclStream);
                                       range.end();
                                     });
    if (is_recorded_) count(collectives_, title, 4 * static_cast<std::uint64_t>(tensor.numel()));
  }

  FakeCuda& cuda_;
  int rank_;
  bool is_recorded_ = false;
  std::int64_t sequence_ = 1;
  Truths kernels_;
  Truths collectives_;
};

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  FakeCuda cuda(FAKE_CUPTI_130, FAKE_CUDA_DRIVER);
  const int number = std::atoi(argv[2]);
  Rank rank(cuda, number);
  torch::set_num_threads(1);
  const bool is_fine = tbtrace::testing::record_steps(
      {.on_trace_ready = tbtrace::tensorboard_trace_handler(
           argv[1], {.worker_name = "node0_" + std::to_string(number)}),
       .record_shapes = true},
      [&](tbtrace::Profiler& profiler) {
        profiler.set_distributed_info({.backend = "nccl", .rank = number, .world_size = kRanks});
      },
      [&](bool is_recorded) { rank.step(is_recorded); });
  std::cout << '{';
  print("kernels", rank.kernels());
  print("collectives", rank.collectives());
  std::cout << "\"steps\": " << tbtrace::testing::kActive << "}\n";
  return is_fine ? 0 : 1;
}
