// What needs CUDA's own functions: graphs, streams, copies, the GPU's memory.
#include <chrono>
#include <cstdint>
#include <latch>
#include <memory>
#include <thread>
#include <utility>

#include <ATen/cuda/CUDAGraph.h>
#include <c10/cuda/CUDAException.h>
#include <c10/cuda/CUDAGuard.h>
#include <c10/cuda/CUDAStream.h>
#include <cuda_runtime_api.h>
#include <torch/torch.h>

#include "models.h"
#include "parts.h"

namespace gpu_checks {

namespace {

using Graph = std::unique_ptr<at::cuda::CUDAGraph>;

/// Captures on a stream of its own, as it has to be.
Graph capture(const Body& forward) {
  const c10::cuda::CUDAStreamGuard guard(c10::cuda::getStreamFromPool());
  for (int warm_up = 0; warm_up < 3; ++warm_up) forward();
  wait_for_gpu();
  auto graph = std::make_unique<at::cuda::CUDAGraph>(/*keep_graph=*/true);
  graph->capture_begin();
  forward();
  graph->capture_end();
  graph->instantiate();
  return graph;
}

double kernel_nodes(at::cuda::CUDAGraph& graph) {
  auto* const raw = graph.raw_cuda_graph();
  std::size_t count = 0;
  C10_CUDA_CHECK(cudaGraphGetNodes(raw, nullptr, &count));
  std::vector<cudaGraphNode_t> nodes(count);
  C10_CUDA_CHECK(cudaGraphGetNodes(raw, nodes.data(), &count));
  double kernels = 0;
  for (auto* const node : nodes) {
    cudaGraphNodeType type{};
    C10_CUDA_CHECK(cudaGraphNodeGetType(node, &type));
    if (type == cudaGraphNodeTypeKernel) ++kernels;
  }
  return kernels;
}

torch::Tensor bytes_of(std::int64_t size, torch::TensorOptions options) {
  return torch::zeros({size}, options.dtype(torch::kByte));
}

}  // namespace

double gpu_bytes_used() {
  std::size_t free = 0;
  std::size_t total = 0;
  C10_CUDA_CHECK(cudaMemGetInfo(&free, &total));
  return static_cast<double>(total - free);
}

void graphs(const Arguments& arguments, Figures& figures) {
  const int replays = arguments.number(0, 50);
  const torch::NoGradGuard no_grad;
  torch::nn::Sequential layers(torch::nn::Linear(256, 256), torch::nn::ReLU(),
                               torch::nn::Linear(256, 256), torch::nn::ReLU());
  layers->to(device());
  const torch::Tensor input = torch::rand({64, 256}).to(device());
  torch::Tensor output;
  const auto forward = [&] { output = layers->forward(input); };
  const auto forward_slowly = [&] {
    forward();
    // Long enough for what a recording does each second to fall into the capture.
    std::this_thread::sleep_for(std::chrono::milliseconds(1300));
    forward();
  };
  const Graph before = capture(forward);
  Graph during;
  std::vector<std::string> warnings;
  const auto record = [&](const std::string& name, const Body& body) {
    const Recorded recorded = record_ours(both_activities(), body, arguments.path(name));
    warnings.insert(warnings.end(), recorded.warnings.begin(), recorded.warnings.end());
  };
  record("graph_capture.json", [&] { during = capture(forward_slowly); });
  const auto replay = [&](const std::string& name, at::cuda::CUDAGraph& graph) {
    for (int window = 0; window < 2; ++window) {
      record("graph_" + name + "_" + std::to_string(window) + ".json", [&] {
        for (int times = 0; times < replays; ++times) graph.replay();
      });
    }
    figures.add(name + "_kernels", kernel_nodes(graph));
  };
  replay("before", *before);
  replay("during", *during);
  figures.add("replays", replays);
  figures.add("warnings", warnings);
}

void streams(const Arguments& arguments, Figures& figures) {
  constexpr int kThreads = 2;
  const int iterations = arguments.number(0, 200);
  std::latch warmed_up(kThreads);
  std::latch recording(1);
  std::latch done(kThreads);
  const auto work = [&] {
    const torch::NoGradGuard no_grad;
    const c10::cuda::CUDAStream stream = c10::cuda::getStreamFromPool();
    const c10::cuda::CUDAStreamGuard guard(stream);
    const torch::Tensor a = torch::rand({1024, 1024}, torch::TensorOptions().device(device()));
    torch::Tensor sum = torch::zeros_like(a);
    const auto iterate = [&](int times) {
      for (int time = 0; time < times; ++time) sum.add_(torch::relu(torch::mm(a, a)));
      stream.synchronize();
    };
    iterate(20);
    warmed_up.count_down();
    recording.wait();
    iterate(iterations);
    done.count_down();
  };
  std::vector<std::thread> threads;
  threads.reserve(kThreads);
  for (int thread = 0; thread < kThreads; ++thread) threads.emplace_back(work);
  warmed_up.wait();
  tbtrace::ProfilerOptions options = both_activities();
  options.all_threads = true;
  const Recorded recorded = record_ours(
      std::move(options),
      [&] {
        recording.count_down();
        done.wait();
      },
      arguments.path("streams.json"));
  for (std::thread& thread : threads) thread.join();
  figures.add("iterations", iterations);
  figures.add("threads", kThreads);
  figures.add("warnings", recorded.warnings);
}

void copies(const Arguments& arguments, Figures& figures) {
  constexpr std::int64_t kUnit = std::int64_t{1} << 20;
  constexpr std::int64_t kTimes = 10;
  const auto on_gpu = torch::TensorOptions().device(device());
  const auto pinned = torch::TensorOptions().pinned_memory(true);
  // A size of its own for each direction, so that none is taken for another.
  const torch::Tensor to_gpu = bytes_of(3 * kUnit, pinned);
  const torch::Tensor gpu_target = bytes_of(3 * kUnit, on_gpu);
  const torch::Tensor gpu_source = bytes_of(5 * kUnit, on_gpu);
  const torch::Tensor from_gpu = bytes_of(5 * kUnit, pinned);
  const torch::Tensor left = bytes_of(7 * kUnit, on_gpu);
  const torch::Tensor right = bytes_of(7 * kUnit, on_gpu);
  const torch::Tensor set = bytes_of(9 * kUnit, on_gpu);
  const Body body = [&] {
    const torch::NoGradGuard no_grad;
    const c10::cuda::CUDAStream stream = c10::cuda::getCurrentCUDAStream();
    for (std::int64_t time = 0; time < kTimes; ++time) {
      gpu_target.copy_(to_gpu, /*non_blocking=*/true);
      from_gpu.copy_(gpu_source, /*non_blocking=*/true);
      right.copy_(left);
      C10_CUDA_CHECK(cudaMemsetAsync(set.data_ptr(), 1, 9 * kUnit, stream));
    }
  };
  body();
  const Recorded recorded = record_ours(both_activities(), body, arguments.path("copies.json"));
  figures.add("HtoD_bytes", static_cast<double>(kTimes * 3 * kUnit));
  figures.add("DtoH_bytes", static_cast<double>(kTimes * 5 * kUnit));
  figures.add("DtoD_bytes", static_cast<double>(kTimes * 7 * kUnit));
  figures.add("set_bytes", static_cast<double>(kTimes * 9 * kUnit));
  figures.add("times", static_cast<double>(kTimes));
  figures.add("warnings", recorded.warnings);
}

}  // namespace gpu_checks
