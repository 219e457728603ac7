#include "trace_model.h"

#include <algorithm>

#include "kernel_names.h"

namespace tbtrace::benchmarks {
namespace {

constexpr std::int64_t kFirstAddress = 139'916'679'497'728;
constexpr std::size_t kKeptAllocations = 600;
constexpr std::size_t kAddresses = 1400;
constexpr int kParameters = 8;  // of a block

}  // namespace

TrainingRun::TrainingRun(std::uint64_t seed, int blocks) : random_(seed), blocks_(blocks) {}

template <typename Body>
void TrainingRun::run(std::string_view name, Inputs inputs, Body body) {
  const std::size_t row = rows_->operators.size();
  const std::int64_t outer = operator_id_;
  operator_id_ = ++external_id_;
  rows_->operators.push_back({.name = name,
                              .start_ns = now_ns_,
                              .external_id = operator_id_,
                              .rows = height_,
                              .columns = width_,
                              .inputs = inputs,
                              .thread = thread_});
  spend(1000, 8000);
  body();
  spend(800, 4600);
  rows_->operators[row].end_ns = now_ns_;
  operator_id_ = outer;
  spend(300, 4000);
}

void TrainingRun::run(std::string_view name, Inputs inputs) {
  run(name, inputs, [] {});
}

template <typename Body>
void TrainingRun::annotate(std::string_view name, Body body) {
  const std::size_t row = rows_->operators.size();
  run(name, Inputs::none, body);
  rows_->operators[row].annotation = true;
}

Launch& TrainingRun::call(std::string_view name, int callback_id) {
  const std::int64_t start = now_ns_;
  spend(300, 8000);
  correlation_ += 1 + random_.below(7);
  rows_->launches.push_back({.name = name,
                             .callback_id = callback_id,
                             .thread = thread_,
                             .start_ns = start,
                             .end_ns = now_ns_,
                             .external_id = operator_id_,
                             .correlation = correlation_});
  return rows_->launches.back();
}

void TrainingRun::launch(std::string_view kernel, Stream stream) {
  constexpr std::array<std::array<int, 3>, 5> kBlocks = {
      {{128, 1, 1}, {256, 1, 1}, {32, 16, 1}, {32, 4, 1}, {64, 1, 1}}};
  constexpr std::array<std::array<std::int64_t, 2>, 4> kDurations = {
      {{1200, 1800}, {3000, 7000}, {10'000, 40'000}, {50'000, 250'000}}};
  Launch& launch = call("cudaLaunchKernel", 211);
  launch.work = Launch::Work::kernel;
  launch.kernel = kernel;
  launch.stream = stream;
  const auto [least, more] = kDurations[random_.chance(60) ? random_.below(2) : random_.below(4)];
  std::int64_t& free_ns = stream_free_ns_[static_cast<std::size_t>(stream)];
  launch.work_start_ns = std::max(launch.end_ns + 1500, free_ns + 800);
  launch.work_end_ns = launch.work_start_ns + least + random_.below(more);
  free_ns = launch.work_end_ns;
  launch.grid = {1 << random_.below(12), random_.chance(80) ? 1 : 1 << random_.below(6), 1};
  if (random_.chance(10)) launch.grid[0] = 24 * (1 + static_cast<int>(random_.below(24)));
  launch.block = kBlocks[random_.chance(50) ? 0 : random_.below(kBlocks.size())];
}

void TrainingRun::copy() {
  launch({});
  Launch& made = rows_->launches.back();
  made.name = "cudaMemcpyAsync";
  made.callback_id = 41;
  made.work = Launch::Work::copy;
  made.bytes = std::int64_t{512} << random_.below(12);
}

void TrainingRun::synchronize() {
  Launch& wait = call("cudaDeviceSynchronize", 165);
  wait.end_ns = std::max({wait.end_ns, stream_free_ns_[0], stream_free_ns_[1]}) + 2000;
  now_ns_ = wait.end_ns + 500;
}

void TrainingRun::free_oldest(std::size_t kept) {
  while (live_.size() - oldest_ > kept) {
    const Allocation freed = live_[oldest_++];
    total_bytes_ -= freed.bytes;
    rows_->memory.push_back({now_ns_, freed.address, -freed.bytes, total_bytes_, thread_});
    spend(100, 700);
  }
  if (oldest_ > kAddresses) {
    live_.erase(live_.begin(), live_.begin() + static_cast<std::ptrdiff_t>(oldest_));
    oldest_ = 0;
  }
}

void TrainingRun::allocate() {
  free_oldest(kKeptAllocations - 1);
  const std::int64_t bytes = std::int64_t{512} * (1 + random_.below(16) * width_);
  const std::int64_t slot = next_address_++ % static_cast<std::int64_t>(kAddresses);
  const std::int64_t address = kFirstAddress + (slot << 21);
  total_bytes_ += bytes;
  live_.push_back({address, bytes});
  rows_->memory.push_back({now_ns_, address, bytes, total_bytes_, thread_});
  spend(100, 900);
}

void TrainingRun::transpose() {
  run("aten::t", Inputs::unary, [&] {
    run("aten::transpose", Inputs::strided, [&] { run("aten::as_strided", Inputs::strided); });
  });
}

void TrainingRun::clone() {
  run("aten::clone", Inputs::unary, [&] {
    run("aten::empty_like", Inputs::unary,
        [&] { run("aten::empty", Inputs::empty, [&] { allocate(); }); });
    run("aten::copy_", Inputs::binary, [&] {
      if (random_.chance(80)) {
        copy();
      } else {
        launch(kernel_names().strided[3]);
      }
    });
  });
}

void TrainingRun::zero() {
  run("aten::zero_", Inputs::unary, [&] {
    run("aten::fill_", Inputs::fill, [&] { launch(kernel_names().elementwise[kFill]); });
  });
}

void TrainingRun::multiply(std::string_view name) {
  run(name, name == "aten::addmm" ? Inputs::addmm : Inputs::matmul, [&] {
    allocate();
    if (random_.chance(40)) {
      allocate();
      launch({});
      Launch& fill = rows_->launches.back();
      fill.name = "cudaMemsetAsync";
      fill.callback_id = 51;
      fill.work = Launch::Work::fill;
      fill.bytes = 8;
    }
    for (int query = 0; query < 2; ++query) {
      call("cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags", 251);
    }
    const auto& kernels = kernel_names().matmul;
    launch(kernels[static_cast<std::size_t>(
        random_.below(static_cast<std::int64_t>(kernels.size())))]);
  });
}

void TrainingRun::elementwise(std::string_view name, std::size_t kernel) {
  const KernelNames& names = kernel_names();
  run(name, Inputs::binary, [&] {
    allocate();
    const auto other = static_cast<std::size_t>(random_.below(100)) % names.strided.size();
    launch(random_.chance(45) ? names.strided[other] : names.elementwise[kernel]);
  });
}

void TrainingRun::activation(bool backward) {
  struct Pair {
    std::string_view forward;
    std::string_view inner;
    std::string_view backward;
  };
  constexpr std::array<Pair, 6> kActivations = {{
      {"aten::relu", "aten::clamp_min", "aten::threshold_backward"},
      {"aten::sigmoid", {}, "aten::sigmoid_backward"},
      {"aten::tanh", {}, "aten::tanh_backward"},
      {"aten::gelu", {}, "aten::gelu_backward"},
      {"aten::silu", {}, "aten::silu_backward"},
      {"aten::softmax", "aten::_softmax", "aten::_softmax_backward_data"},
  }};
  const Pair& pair = kActivations[static_cast<std::size_t>(random_.below(kActivations.size()))];
  const std::size_t kernel = kFirstOther + static_cast<std::size_t>(random_.below(12));
  if (backward) {
    elementwise(pair.backward, kernel);
  } else if (pair.inner.empty()) {
    elementwise(pair.forward, kernel);
  } else {
    run(pair.forward, Inputs::unary, [&] { elementwise(pair.inner, kernel); });
  }
}

void TrainingRun::shape(int block) {
  height_ = 16 << (block % 7);
  width_ = 32 << (block % 5);
}

void TrainingRun::forward(int block) {
  shape(block);
  for (int layer = 0; layer < 3; ++layer) {
    run("aten::linear", Inputs::addmm, [&] {
      transpose();
      const std::size_t row = rows_->operators.size();
      multiply("aten::addmm");
      if (layer == 0) {
        rows_->operators[row].sequence_number = sequence_number_++;
        rows_->operators[row].linked = true;
      }
    });
    run("aten::view", Inputs::view);
  }
  clone();
  clone();
  for (int factor = 0; factor < 3; ++factor) elementwise("aten::mul", kMultiply);
  elementwise("aten::add", kAdd);
  elementwise(random_.chance(70) ? "aten::sub" : "aten::div", kAdd);
  run("aten::expand", Inputs::view, [&] { run("aten::as_strided", Inputs::strided); });
  run("aten::slice", Inputs::strided, [&] { run("aten::as_strided", Inputs::strided); });
  run("aten::unsqueeze", Inputs::fill, [&] { run("aten::as_strided", Inputs::strided); });
  if (random_.chance(60)) multiply("aten::bmm");
  activation(false);
  if (random_.chance(10))
    run("aten::permute", Inputs::view, [&] { run("aten::as_strided", Inputs::strided); });
}

void TrainingRun::reduce_gradient() {
  run("autograd::engine::evaluate_function: torch::autograd::AccumulateGrad", Inputs::none, [&] {
    run("torch::autograd::AccumulateGrad", Inputs::none, [&] {
      run("aten::add_", Inputs::binary, [&] { launch(kernel_names().elementwise[kAdd]); });
    });
    run("record_param_comms", Inputs::none);
    run("c10d::allreduce_", Inputs::none, [&] {
      call("cudaStreamIsCapturing", 317);
      call("cudaEventRecord", 135);
      annotate("nccl:all_reduce", [&] {
        run("record_param_comms", Inputs::none, [&] {
          for (int wait = 0; wait < 3; ++wait) call("cudaStreamWaitEvent", 147);
          launch(kernel_names().all_reduce, Stream::all_reduce);
          for (int query = 0; query < 2; ++query) call("cudaEventQuery", 136);
        });
      });
    });
  });
}

void TrainingRun::backward(int block) {
  shape(block);
  const std::int64_t sequence = step_sequence_ + block;
  const auto link = [&](std::size_t row) { rows_->operators[row].sequence_number = sequence; };
  const KernelNames& names = kernel_names();
  const std::size_t row = rows_->operators.size();
  run("autograd::engine::evaluate_function: TBackward0", Inputs::none, [&] {
    const std::size_t inner = rows_->operators.size();
    run("TBackward0", Inputs::none, [&] {
      for (int product = 0; product < 6; ++product) {
        transpose();
        transpose();
        multiply("aten::mm");
        run("aten::sum", Inputs::strided, [&] {
          allocate();
          allocate();
          const auto kernel = static_cast<std::size_t>(random_.below(900)) % names.reduction.size();
          launch(names.reduction[kernel]);
        });
        elementwise("aten::mul", kMultiply);
        clone();
        run("aten::view", Inputs::view);
      }
      for (int sum = 0; sum < 4; ++sum) elementwise("aten::add", kAdd);
      activation(true);
      if (random_.chance(40)) elementwise("aten::div", kMultiply + 1);
    });
    link(inner);
    rows_->operators[inner].linked = true;
  });
  link(row);
  for (int parameter = 0; parameter < kParameters; ++parameter) reduce_gradient();
}

void TrainingRun::step(StepRows& rows) {
  rows.operators.clear();
  rows.launches.clear();
  rows.memory.clear();
  rows_ = &rows;
  step_sequence_ = sequence_number_;
  thread_ = Thread::main;
  annotate({}, [&] {
    rows_->operators.back().step = step_++;
    annotate("Optimizer.zero_grad#SGD.zero_grad", [&] {
      for (int parameter = 0; parameter < kParameters * blocks_; ++parameter) zero();
    });
    for (int block = 0; block < blocks_; ++block) forward(block);
    thread_ = Thread::backward;
    for (int block = blocks_ - 1; block >= 0; --block) backward(block);
    thread_ = Thread::main;
    annotate("Optimizer.step#SGD.step", [&] {
      for (int parameter = 0; parameter < kParameters * blocks_; ++parameter) {
        run("aten::add_", Inputs::binary, [&] { launch(kernel_names().elementwise[kAdd]); });
      }
    });
    synchronize();
  });
}

}  // namespace tbtrace::benchmarks
