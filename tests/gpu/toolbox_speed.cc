// benchmark() of models and callables on a GPU, beside what CUDA's events, LibTorch's allocator and
// NVML say of the same calls.
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include <c10/cuda/CUDACachingAllocator.h>
#include <c10/cuda/CUDAException.h>
#include <c10/cuda/CUDAStream.h>
#include <cuda_runtime_api.h>
#include <dlfcn.h>
#include <torch/torch.h>

#include <tbtrace/benchmark.h>

#include "../../examples/published_models.h"
#include "models.h"
#include "parts.h"

namespace gpu_checks {

namespace {

/// Median of the times between two events around a call, in milliseconds.
double event_ms(const Body& call, int runs) {
  cudaEvent_t begin = nullptr;
  cudaEvent_t end = nullptr;
  C10_CUDA_CHECK(cudaEventCreate(&begin));
  C10_CUDA_CHECK(cudaEventCreate(&end));
  const auto stream = c10::cuda::getCurrentCUDAStream();
  for (int warm_up = 0; warm_up < 5; ++warm_up) call();
  std::vector<double> times;
  for (int run = 0; run < runs; ++run) {
    C10_CUDA_CHECK(cudaStreamSynchronize(stream));
    C10_CUDA_CHECK(cudaEventRecord(begin, stream));
    call();
    C10_CUDA_CHECK(cudaEventRecord(end, stream));
    C10_CUDA_CHECK(cudaEventSynchronize(end));
    float ms = 0;
    C10_CUDA_CHECK(cudaEventElapsedTime(&ms, begin, end));
    times.push_back(ms);
  }
  C10_CUDA_CHECK(cudaEventDestroy(begin));
  C10_CUDA_CHECK(cudaEventDestroy(end));
  return median(times);
}

/// Median of the times that a call takes on the host, which waits for nothing.
double launch_ms(const Body& call, int runs) {
  std::vector<double> times;
  for (int run = 0; run < runs; ++run) {
    wait_for_gpu();
    const double begin = now_ms();
    call();
    times.push_back(now_ms() - begin);
  }
  wait_for_gpu();
  return median(times);
}

/// What a call had allocated at most, over what there was before it.
double peak_bytes(const Body& call) {
  namespace allocator = c10::cuda::CUDACachingAllocator;
  wait_for_gpu();
  allocator::resetPeakStats(0);
  const auto before = allocator::getDeviceStats(0).allocated_bytes[0].current;
  call();
  wait_for_gpu();
  return static_cast<double>(allocator::getDeviceStats(0).allocated_bytes[0].peak - before);
}

/// Joules of a call: the power that NVML tells while it runs again and again, times its time. 0 if
/// NVML does not tell.
double joules_by_power(const Body& call) {
  void* const nvml = ::dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
  if (nvml == nullptr) return 0;
  const auto init = reinterpret_cast<int (*)()>(::dlsym(nvml, "nvmlInit_v2"));
  const auto handle_of =
      reinterpret_cast<int (*)(unsigned, void**)>(::dlsym(nvml, "nvmlDeviceGetHandleByIndex_v2"));
  const auto power_of =
      reinterpret_cast<int (*)(void*, unsigned*)>(::dlsym(nvml, "nvmlDeviceGetPowerUsage"));
  void* handle = nullptr;
  if (init == nullptr || handle_of == nullptr || power_of == nullptr || init() != 0 ||
      handle_of(0, &handle) != 0) {
    return 0;
  }
  std::atomic<bool> is_over = false;
  std::vector<double> watts;
  std::thread reader([&] {
    while (!is_over.load()) {
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
      unsigned milliwatts = 0;
      if (power_of(handle, &milliwatts) == 0) watts.push_back(milliwatts * 1e-3);
    }
  });
  const double begin = now_ms();
  int runs = 0;
  while (now_ms() - begin < 1500) {
    call();
    wait_for_gpu();
    ++runs;
  }
  const double run_s = (now_ms() - begin) * 1e-3 / runs;
  is_over.store(true);
  reader.join();
  // The power of the first third is a mean with the time before.
  if (watts.size() > 3) {
    watts.erase(watts.begin(), watts.begin() + static_cast<std::ptrdiff_t>(watts.size() / 3));
  }
  return median(watts) * run_s;
}

void write(const Arguments& arguments, const std::string& name,
           const tbtrace::BenchmarkResult& result) {
  std::ofstream(arguments.path(name + ".json")) << result.json();
  std::ofstream(arguments.path(name + ".yaml")) << result.yaml();
  std::ofstream(arguments.path(name + ".txt")) << result;
}

void benchmark_of_model(const Arguments& arguments, Figures& figures) {
  constexpr std::int64_t kImages = 128;
  auto model = published::resnet18();
  model->to(device());
  model->eval();
  torch::Tensor images = torch::rand({kImages, 3, 224, 224}).to(device());
  const tbtrace::BenchmarkResult result = tbtrace::benchmark(
      model, {images}, {.runs = 100, .min_time_s = 0.3, .max_time_s = 2, .energy = true});
  write(arguments, "resnet18", result);
  const torch::Tensor one = images.narrow(0, 0, 1).contiguous();
  figures.add("event_ms", event_ms([&] { model->forward(images); }, 60));
  figures.add("event_one_ms", event_ms([&] { model->forward(one); }, 60));
  figures.add("launch_ms", launch_ms([&] { model->forward(images); }, 20));
  figures.add("peak_bytes", peak_bytes([&] { model->forward(images); }));
  figures.add("peak_one_bytes", peak_bytes([&] { model->forward(one); }));
  figures.add("joules", joules_by_power([&] { model->forward(images); }));
  const torch::Tensor on_host = images.cpu();
  const torch::Tensor target = torch::empty_like(images);
  std::vector<double> copies;
  for (int copy = 0; copy < 20; ++copy) {
    wait_for_gpu();
    const double begin = now_ms();
    target.copy_(on_host);
    wait_for_gpu();
    copies.push_back(now_ms() - begin);
  }
  figures.add("copy_ms", median(copies));
  figures.add("images", static_cast<double>(kImages));
  // Inputs whose gradients are wanted are copied too.
  const torch::Tensor wanted = torch::rand({2, 3, 64, 64}).to(device()).requires_grad_();
  const tbtrace::BenchmarkResult of_wanted = tbtrace::benchmark(
      model, {wanted}, {.warmup = 1, .runs = 5, .min_time_s = 0, .max_time_s = 0.2});
  figures.add("wanted_copies", of_wanted.to_device ? 1 : 0);
}

void benchmark_of_callables(const Arguments& arguments, Figures& figures) {
  constexpr std::int64_t kSize = 8192;
  const auto options = torch::TensorOptions().device(device());
  const torch::NoGradGuard no_grad;
  for (const auto type : {torch::kBFloat16, torch::kFloat}) {
    const std::string name = type == torch::kFloat ? "float32" : "bfloat16";
    const torch::Tensor matrix = torch::rand({kSize, kSize}, options.dtype(type));
    torch::Tensor product = torch::empty_like(matrix);
    // Into the same memory, and it returns at once: only waiting for the GPU shows its time.
    auto multiply = [&] { return torch::mm_out(product, matrix, matrix); };
    const tbtrace::BenchmarkResult result =
        tbtrace::benchmark(multiply, {.runs = 40, .min_time_s = 0.3, .max_time_s = 2});
    write(arguments, name, result);
    figures.add(name + "_event_ms", event_ms([&] { multiply(); }, 40));
    figures.add(name + "_launch_ms", launch_ms([&] { multiply(); }, 20));
  }
  figures.add("size", static_cast<double>(kSize));
}

}  // namespace

void toolbox_speed(const Arguments& arguments, Figures& figures) {
  benchmark_of_model(arguments, figures);
  benchmark_of_callables(arguments, figures);
}

}  // namespace gpu_checks
