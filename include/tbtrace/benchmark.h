// How fast a model runs and what a run needs: latency, throughput, operations, memory, energy
// (pytorch-benchmark). Target tbtrace::torch; does not include any torch header. docs/toolbox.md
// says how each figure is obtained.
// A BenchmarkResult owns all its data. One benchmark at a time: others beside it disturb the times.
// Wrong arguments throw std::invalid_argument; what the callable throws passes through.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <iosfwd>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <tbtrace/export.h>
#include <tbtrace/model_summary.h>

namespace TBTRACE_EXPORT tbtrace {

/// A model that a benchmark only looks at: a module, its holder, a shared_ptr to it, or a
/// torch::jit::Module. It must outlive the benchmark.
class BenchmarkedModel {
 public:
  BenchmarkedModel() = default;
  template <typename Model>
  requires(!std::same_as<std::remove_cvref_t<Model>, BenchmarkedModel> &&
           !std::same_as<std::remove_cvref_t<Model>, at::Tensor>)  // a list of these is inputs
      BenchmarkedModel(Model&& model) {  // NOLINT(google-explicit-constructor): `.model = model`
    using Plain = std::remove_cvref_t<Model>;
    if constexpr (std::is_same_v<Plain, torch::jit::Module>) {
      script_ = &model;
    } else {
      static_assert(toolbox_detail::IsModule<std::remove_reference_t<Model>>,
                    ".model takes a torch::nn::Module, its holder, a shared_ptr to it, or a "
                    "torch::jit::Module");
      module_ = &toolbox_detail::module_of(model);
    }
  }

  const torch::nn::Module* module() const { return module_; }
  const torch::jit::Module* script() const { return script_; }

 private:
  const torch::nn::Module* module_ = nullptr;
  const torch::jit::Module* script_ = nullptr;
};

struct BenchmarkOptions {
  BenchmarkedModel model = {};   ///< of a callable: whose parameters to count
  std::uint64_t batch_size = 0;  ///< samples per run; 0: the first size of the first input
  /// Tokens per run, for `tokens_per_s`; 0: not known, or the elements of the first input of a
  /// model, if they are whole numbers, which a note says.
  std::uint64_t tokens = 0;
  int warmup = 10;        ///< runs before those that are measured
  int runs = 100;         ///< at least so many
  double min_time_s = 1;  ///< and at least so long
  /// Goes on until the interquartile range is at most this part of the median, or max_time_s is
  /// over; 0: stops at once.
  double max_spread = 0.1;
  double max_time_s = 10;
  bool transfers = true;     ///< of a model with inputs on a GPU: also measures the copies
  bool energy = false;       ///< runs for another second and reads the energy counters
  bool batch_of_one = true;  ///< of a model with inputs: also measures one sample
  /// A training step, to be counted. Without it the sum of what is returned is differentiated, and
  /// the gradients are put back as they were.
  std::function<void()> training_step = {};
  /// The peak for MFU; without it that of the GPU, if its name is known.
  std::optional<double> peak_flops_per_s = {};
};

/// Of the times of single runs, in nanoseconds. Percentiles are interpolated as numpy does.
struct LatencyStatistics {
  std::uint64_t runs = 0;
  double mean_ns = 0;
  double std_ns = 0;  ///< of the sample
  double min_ns = 0;
  double max_ns = 0;
  double p25_ns = 0;
  double p50_ns = 0;
  double p75_ns = 0;
  std::optional<double> p90_ns;  ///< with 100 runs or more
  std::optional<double> p99_ns;
  // Of the inverse of each time, as pytorch-benchmark has them.
  double per_s_mean = 0;
  double per_s_std = 0;
  double per_s_min = 0;
  double per_s_max = 0;

  /// The interquartile range as a part of the median.
  double spread() const { return p50_ns > 0 ? (p75_ns - p25_ns) / p50_ns : 0; }
};

/// \throws std::invalid_argument without times.
LatencyStatistics latency_statistics(std::span<const double> times_ns);

/// One batch size. What is nullopt was not recorded; `notes` of the result say why.
struct BatchBenchmark {
  std::uint64_t batch_size = 0;
  LatencyStatistics latency;  ///< of a run, without copies; of a GPU until it is done
  std::optional<LatencyStatistics> device_latency;  ///< between two events of the GPU
  std::optional<LatencyStatistics> to_device;       ///< copies of the inputs
  std::optional<LatencyStatistics> to_host;         ///< copies of the results
  std::optional<LatencyStatistics> total;           ///< all three
  double throughput_per_s = 0;                      ///< samples per second of the median
  std::optional<double> tokens_per_s;

  std::optional<std::uint64_t> macs;  ///< of a run, forward passes only
  std::optional<std::uint64_t> flops;
  std::optional<std::uint64_t> training_macs;  ///< of a training step, forward and backward
  std::optional<std::uint64_t> training_flops;
  std::uint64_t uncounted_calls = 0;  ///< operators of a run without a rule

  /// Most that a run has allocated and not freed, over what there was before.
  std::optional<std::uint64_t> peak_memory_bytes;
  /// What is still allocated when the callable returns, without its result: with gradients, what
  /// autograd saved for the backward pass.
  std::optional<std::uint64_t> saved_activation_bytes;
  std::optional<std::uint64_t> result_bytes;

  std::optional<double> flops_per_s;  ///< all FLOPs of a run, backward too, by its median
  std::optional<double> mfu;          ///< of all its multiply-adds, two FLOPs each, by the peak
  std::optional<double> energy_j;     ///< of a run
};

struct BenchmarkResult : BatchBenchmark {
  std::vector<BatchBenchmark> smaller;  ///< the batch of one sample, if it was measured
  std::string device;                   ///< `cpu`, `cuda`

  std::optional<std::uint64_t> parameters;  ///< elements; each tensor once
  std::optional<std::uint64_t> trainable_parameters;
  std::optional<std::uint64_t> model_bytes;  ///< of parameters and buffers
  std::map<std::string, std::uint64_t> bytes_by_type;

  double harness_ns = 0;      ///< what measuring adds to each time: that of an empty callable
  std::string energy_source;  ///< which counter; empty: none
  std::string peak_source;    ///< which peak; empty: none
  std::optional<double> peak_flops_per_s;
  /// Sections and entries, in the order in which they are printed.
  std::vector<std::pair<std::string, std::vector<std::pair<std::string, std::string>>>> machine;
  std::vector<std::string> notes;  ///< noise, and what is not recorded and why

  /// `tbtrace.benchmark/1`.
  std::string json() const;
  /// The same figures under pytorch-benchmark's names.
  std::string yaml() const;
};

/// For people.
std::ostream& operator<<(std::ostream& out, const BenchmarkResult& result);

namespace toolbox_detail {

/// Calls without allocating or locking.
class TimedCall {
 public:
  template <typename Callable>
  explicit TimedCall(Callable& callable)
      : object_(const_cast<void*>(static_cast<const void*>(&callable))),
        call_([](void* object) { static_cast<void>((*static_cast<Callable*>(object))()); }) {}
  void operator()() const { call_(object_); }

 private:
  void* object_;
  void (*call_)(void*);
};

BenchmarkResult measure(const TimedCall& call, const Run& run, const BenchmarkOptions& options);

/// Runs a model with inputs and keeps what it returns.
using Forward = std::function<void(std::vector<at::Tensor>& inputs, ReturnedTensors& returned)>;
BenchmarkResult measure_model(torch::nn::Module& model, const std::vector<at::Tensor>& inputs,
                              const Forward& forward, const BenchmarkOptions& options);

}  // namespace toolbox_detail

/// Measures a callable without arguments as it is: `[&] { return model->forward(batch); }`.
template <typename Callable>
BenchmarkResult benchmark(Callable&& callable, const BenchmarkOptions& options = {}) {
  static_assert(std::invocable<Callable&>,
                "benchmark(model, {tensors}) needs the model's inputs; what takes no arguments can "
                "be given alone, such as [&] { return model->forward(x); }");
  return toolbox_detail::measure(toolbox_detail::TimedCall(callable),
                                 toolbox_detail::run_of(callable), options);
}

/// Measures a model in eval mode with all inputs, and with one sample of each; if the model is on a
/// GPU, also the copies from and to the host. Gradients are as the calling thread has them.
template <typename Model>
BenchmarkResult benchmark(Model&& model, const std::vector<at::Tensor>& inputs,
                          const BenchmarkOptions& options = {}) {
  static_assert(toolbox_detail::IsModule<std::remove_reference_t<Model>>,
                "benchmark(model, {tensors}) takes a torch::nn::Module, its holder or a shared_ptr "
                "to it; of anything else give a callable: benchmark([&] { return f(x); })");
  auto& module = toolbox_detail::module_of(model);
  return toolbox_detail::measure_model(
      module, inputs,
      [&](std::vector<at::Tensor>& arguments, toolbox_detail::ReturnedTensors& returned) {
        toolbox_detail::forward(module, arguments, returned);
      },
      options);
}

}  // namespace tbtrace
