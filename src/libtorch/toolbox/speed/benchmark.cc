#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <utility>

#include <ATen/ATen.h>

#include <tbtrace/benchmark.h>

#include "analyses/flops/device_peaks.h"
#include "cupti/driver_library.h"
#include "libtorch/toolbox/layers/model_mode.h"
#include "libtorch/toolbox/layers/model_parts.h"
#include "libtorch/toolbox/speed/energy_meter.h"
#include "libtorch/toolbox/speed/machine_info.h"
#include "libtorch/toolbox/speed/run_costs.h"
#include "libtorch/toolbox/speed/timed_runs.h"

namespace tbtrace {
namespace {

using libtorch::ModelParts;
using libtorch::ModelTensor;
using libtorch::RunCosts;
using toolbox_detail::ReturnedTensors;
using toolbox_detail::Run;
using toolbox_detail::TimedCall;

/// What is measured: one batch size.
struct Batch {
  TimedCall call;
  Run run;
  std::uint64_t size = 0;
  std::uint64_t tokens = 0;
  bool is_part = false;  ///< of the inputs that were given
};

/// A note, once.
void add_note(std::vector<std::string>& notes, const std::string& note) {
  if (std::find(notes.begin(), notes.end(), note) == notes.end()) notes.push_back(note);
}

/// Whether products of float32 may go to tensor cores, those of convolutions or only others.
bool allows_tf32(bool has_convolutions) {
  const at::Context& context = at::globalContext();
  try {
    return context.allowTF32CuBLAS() || (has_convolutions && context.allowTF32CuDNN());
  } catch (const c10::Error&) {  // newer LibTorch, if the program has set it in more than one way
    return true;
  }
}

class Measurement {
 public:
  /// `type`: the number type, where no model says it.
  Measurement(const BenchmarkOptions& options, ModelParts model, bool on_cuda,
              std::string type = {})
      : options_(options), model_(std::move(model)), type_(std::move(type)), on_cuda_(on_cuda) {
    result_.device = on_cuda ? "cuda" : "cpu";
    result_.machine = libtorch::machine_info(on_cuda);
    result_.harness_ns = libtorch::harness_ns();
    add_parameters();
    find_peak();
  }

  BatchBenchmark measure(const Batch& batch) {
    BatchBenchmark figures;
    figures.batch_size = batch.size;
    const libtorch::RunTimes times = libtorch::timed_runs(batch.call, options_, on_cuda_);
    figures.latency = latency_statistics(times.host_ns);
    if (!times.device_ns.empty()) figures.device_latency = latency_statistics(times.device_ns);
    note_noise(figures);
    const RunCosts costs = add_costs(figures, batch);
    const double seconds = median_s(figures);
    if (seconds > 0) {
      figures.throughput_per_s = static_cast<double>(batch.size) / seconds;
      if (batch.tokens > 0) figures.tokens_per_s = static_cast<double>(batch.tokens) / seconds;
      // The time is that of all that the callable does, also of a backward pass in it.
      if (costs.all_flops) {
        figures.flops_per_s = static_cast<double>(*costs.all_flops) / seconds;
      }
      if (costs.all_macs && result_.peak_flops_per_s) {
        figures.mfu =
            2 * static_cast<double>(*costs.all_macs) / seconds / *result_.peak_flops_per_s;
      }
    }
    if (options_.energy) add_energy(figures, batch);
    return figures;
  }

  BenchmarkResult& result() { return result_; }

 private:
  static double median_s(const BatchBenchmark& figures) { return figures.latency.p50_ns * 1e-9; }

  void add_parameters() {
    if (model_.parts.empty()) {
      add_note(result_.notes, "Parameters are not recorded: no model was given (.model).");
      return;
    }
    std::uint64_t parameters = 0;
    std::uint64_t trainable = 0;
    std::uint64_t bytes = 0;
    for (std::size_t at = 0; at < model_.tensors.size(); ++at) {
      const ModelTensor& tensor = model_.tensors[at];
      if (tensor.same_as != at) continue;
      const std::uint64_t own_bytes = libtorch::bytes_of(tensor.tensor);
      bytes += own_bytes;
      result_.bytes_by_type[libtorch::number_type_of(tensor.tensor)] += own_bytes;
      if (!tensor.is_parameter) continue;
      parameters += libtorch::elements_of(tensor.tensor);
      if (tensor.tensor.requires_grad()) trainable += libtorch::elements_of(tensor.tensor);
    }
    result_.parameters = parameters;
    result_.trainable_parameters = trainable;
    result_.model_bytes = bytes;
  }

  /// The type that most of the model's parameters have, else that of the results.
  std::string main_type() const {
    std::string type = type_;
    std::uint64_t most = 0;
    for (const auto& [name, bytes] : result_.bytes_by_type) {
      if (bytes > most) {
        most = bytes;
        type = name;
      }
    }
    return type;
  }

  bool has_convolutions() const {
    return std::any_of(model_.parts.begin(), model_.parts.end(), [](const auto& part) {
      return part.type.find("Conv") != std::string::npos;
    });
  }

  void find_peak() {
    if (options_.peak_flops_per_s) {
      result_.peak_flops_per_s = options_.peak_flops_per_s;
      result_.peak_source = "as the options say";
      return;
    }
    if (!on_cuda_) {
      add_note(result_.notes,
               "MFU is not recorded: the peak of the processor is not known (.peak_flops_per_s).");
      return;
    }
    const Result<cupti::DriverLibrary> driver = cupti::DriverLibrary::open();
    if (!driver.ok() || driver->devices().empty()) return;
    const std::string& name = driver->devices().front().name;
    const analyses::DevicePeaks* const peaks = analyses::device_peaks(name);
    const std::string type = main_type();
    if (type.empty()) {
      add_note(result_.notes,
               "MFU is not recorded: nothing says which number type it works with (.model, "
               ".peak_flops_per_s).");
      return;
    }
    const std::string torch_type = type == "float16"    ? "c10::Half"
                                   : type == "bfloat16" ? "c10::BFloat16"
                                   : type == "float64"  ? "double"
                                                        : "float";
    const bool uses_tensor_cores = type != "float32" || allows_tf32(has_convolutions());
    const Precision precision = analyses::precision_of(torch_type, uses_tensor_cores, peaks);
    if (peaks != nullptr) result_.peak_flops_per_s = peaks->flops_per_s(precision);
    if (result_.peak_flops_per_s) {
      result_.peak_source = std::string(precision_name(precision)) + " of " + name + ", " +
                            std::string(peaks->source);
    } else {
      add_note(result_.notes,
               "MFU is not recorded: the peak of " + name + " is not known (.peak_flops_per_s).");
    }
  }

  void note_noise(const BatchBenchmark& figures) {
    constexpr double kNoisy = 0.1;
    constexpr double kVeryNoisy = 0.25;
    const double spread = figures.latency.spread();
    const std::string of = "The batch of " + std::to_string(figures.batch_size);
    if (spread > kNoisy) {
      add_note(result_.notes,
               of + ": the middle half of the times spans " +
                   std::to_string(static_cast<int>(std::lround(100 * spread))) +
                   " % of their median" +
                   (spread > kVeryNoisy ? ", too much to compare them with others" : "") +
                   "; run it alone on the machine, or longer (.max_time_s).");
    }
    if (!figures.latency.p99_ns) {
      add_note(result_.notes, of + ": p90 and p99 are not recorded, they need 100 runs or more.");
    }
    if (figures.latency.p50_ns < 20 * result_.harness_ns) {
      add_note(result_.notes, of + ": measuring itself takes more than 5 % of the time.");
    }
    if (on_cuda_ && !figures.device_latency) {
      add_note(result_.notes,
               "Times of the GPU are not recorded: they need LibTorch 2.4 or later.");
    }
  }

  RunCosts add_costs(BatchBenchmark& figures, const Batch& batch) {
    const RunCosts costs = libtorch::costs_of_run(batch.run, on_cuda_);
    figures.macs = costs.forward_macs;
    figures.flops = costs.forward_flops;
    figures.uncounted_calls = costs.uncounted_calls;
    figures.peak_memory_bytes = costs.peak_bytes;
    figures.result_bytes = costs.result_bytes;
    if (costs.kept_bytes && costs.result_bytes) {
      figures.saved_activation_bytes =
          *costs.kept_bytes - std::min(*costs.kept_bytes, *costs.result_bytes);
    }
    if (costs.uncounted_calls > 0) {
      add_note(result_.notes,
               "Operators without a rule are in no count of MACs and FLOPs; "
               "model_summary() lists them.");
    }
    if (!costs.peak_bytes) {
      add_note(result_.notes, on_cuda_ ? "Memory is not recorded: docs/gpu_recording.md says when "
                                         "allocations on GPUs are."
                                       : "Memory is not recorded: no allocation was seen.");
    }
    for (const std::string& warning : costs.warnings) add_note(result_.notes, warning);
    add_training(figures, batch, costs);
    return costs;
  }

  void add_training(BatchBenchmark& figures, const Batch& batch, const RunCosts& forward) {
    if (options_.training_step && batch.is_part) {
      add_note(result_.notes, "The batch of " + std::to_string(figures.batch_size) +
                                  ": a training step is not recorded, .training_step is one of "
                                  "all inputs.");
      return;
    }
    if (options_.training_step) {
      const RunCosts step =
          libtorch::costs_of_run([&](ReturnedTensors&) { options_.training_step(); }, on_cuda_);
      figures.training_macs = step.all_macs;
      figures.training_flops = step.all_flops;
      return;
    }
    const bool has_backward =
        forward.all_flops && forward.forward_flops && *forward.all_flops > *forward.forward_flops;
    if (has_backward) {  // the callable is a training step itself
      figures.training_macs = forward.all_macs;
      figures.training_flops = forward.all_flops;
      return;
    }
    const auto step = libtorch::costs_of_training(batch.run, model_, on_cuda_);
    if (!step) {
      add_note(result_.notes,
               "A training step is not recorded: nothing that was returned has a gradient.");
      return;
    }
    figures.training_macs = step->all_macs;
    figures.training_flops = step->all_flops;
  }

  void add_energy(BatchBenchmark& figures, const Batch& batch) {
    const Result<libtorch::EnergyMeter> meter =
        on_cuda_ ? libtorch::gpu_energy_meter(0) : libtorch::cpu_energy_meter();
    if (!meter.ok()) {
      add_note(result_.notes, "Energy is not recorded: " + meter.status().message() + ".");
      return;
    }
    constexpr double kEnergyTimeNs = 1e9;  // counters change a few to a thousand times a second
    result_.energy_source = meter->source;
    std::uint64_t runs = 0;
    double elapsed_ns = 0;
    const double before = meter->joules();
    while (elapsed_ns < kEnergyTimeNs) {
      elapsed_ns += libtorch::time_of_call([&] { batch.call(); });
      ++runs;
    }
    figures.energy_j = (meter->joules() - before) / static_cast<double>(runs);
  }

  const BenchmarkOptions& options_;
  ModelParts model_;
  std::string type_;
  bool on_cuda_;
  BenchmarkResult result_;
};

bool is_on_cuda(const std::vector<at::Tensor>& tensors) {
  return std::any_of(tensors.begin(), tensors.end(),
                     [](const at::Tensor& tensor) { return tensor.is_cuda(); });
}

ModelParts parts_of_options(const BenchmarkOptions& options) {
  if (options.model.module() != nullptr) return libtorch::parts_of(*options.model.module());
  if (options.model.script() != nullptr) return libtorch::parts_of(*options.model.script());
  return {};
}

/// The elements of the first input, if it has whole numbers, as indices of tokens.
std::uint64_t tokens_in(const std::vector<at::Tensor>& inputs) {
  const bool has_tokens =
      !inputs.empty() && at::isIntegralType(inputs.front().scalar_type(), /*includeBool=*/false);
  return has_tokens ? libtorch::elements_of(inputs.front()) : 0;
}

/// Puts the gradients of inputs back as they were; those of parameters costs_of_training() does.
class GradientsOfInputs {
 public:
  explicit GradientsOfInputs(const std::vector<at::Tensor>& inputs) {
    for (const at::Tensor& input : inputs) {
      if (!input.requires_grad() || !input.is_leaf()) continue;
      const at::Tensor& gradient = input.grad();
      before_.emplace_back(input, gradient.defined() ? gradient.clone() : gradient);
    }
  }
  ~GradientsOfInputs() {
    for (auto& [input, gradient] : before_) input.mutable_grad() = gradient;
  }
  GradientsOfInputs(const GradientsOfInputs&) = delete;
  GradientsOfInputs& operator=(const GradientsOfInputs&) = delete;

 private:
  std::vector<std::pair<at::Tensor, at::Tensor>> before_;
};

/// Adds the times of copies, as a part of the model's runs.
void add_copies(BatchBenchmark& figures, std::vector<at::Tensor> inputs, const Run& run,
                const BenchmarkOptions& options) {
  std::vector<at::Tensor> on_host;
  // Into memory of its own: inputs may share memory, or want gradients.
  for (at::Tensor& input : inputs) {
    input = input.detach().contiguous().clone();
    on_host.push_back(input.cpu());
  }
  std::vector<double> to_device;
  std::vector<double> to_host;
  std::vector<double> all;
  for (int at = -options.warmup; at < options.runs; ++at) {
    ReturnedTensors returned;
    returned.kept = std::make_shared<std::vector<at::Tensor>>();
    const double before = libtorch::time_of_call([&] {
      for (std::size_t input = 0; input < inputs.size(); ++input)
        inputs[input].copy_(on_host[input]);
    });
    const double inside = libtorch::time_of_call([&] { run(returned); });
    const double after = libtorch::time_of_call([&] {
      for (at::Tensor& tensor : *returned.kept) tensor = tensor.cpu();
    });
    if (at < 0) continue;
    to_device.push_back(before);
    to_host.push_back(after);
    all.push_back(before + inside + after);
  }
  figures.to_device = latency_statistics(to_device);
  figures.to_host = latency_statistics(to_host);
  figures.total = latency_statistics(all);
}

}  // namespace

BenchmarkResult toolbox_detail::measure(const TimedCall& call, const Run& run,
                                        const BenchmarkOptions& options) {
  libtorch::check_options(options);
  ModelParts parts = parts_of_options(options);
  ReturnedTensors returned;
  returned.kept = std::make_shared<std::vector<at::Tensor>>();
  run(returned);
  const bool on_cuda = libtorch::is_on_cuda(parts) || is_on_cuda(*returned.kept);
  std::string type;
  for (const at::Tensor& tensor : *returned.kept) {
    if (type.empty() && at::isFloatingType(tensor.scalar_type())) {
      type = libtorch::number_type_of(tensor);
    }
  }
  returned.kept->clear();
  Measurement measurement(options, std::move(parts), on_cuda, std::move(type));
  const std::uint64_t batch_size = options.batch_size > 0 ? options.batch_size : 1;
  const BatchBenchmark figures =
      measurement.measure({.call = call, .run = run, .size = batch_size, .tokens = options.tokens});
  BenchmarkResult result = std::move(measurement.result());
  static_cast<BatchBenchmark&>(result) = figures;
  if (options.batch_size == 0) {
    add_note(result.notes,
             "A run counts as one sample: the batch size is not known (.batch_size).");
  }
  return result;
}

BenchmarkResult toolbox_detail::measure_model(torch::nn::Module& model,
                                              const std::vector<at::Tensor>& inputs,
                                              const Forward& forward,
                                              const BenchmarkOptions& options) {
  libtorch::check_options(options);
  if (inputs.empty()) throw std::invalid_argument("benchmark(model, {tensors}) needs an input");
  for (const at::Tensor& input : inputs) {
    if (!input.defined()) throw std::invalid_argument("an input is a tensor without a value");
  }
  const libtorch::ModeOfModel mode(model, ModelMode::eval);
  const GradientsOfInputs gradients(inputs);
  ModelParts parts = libtorch::parts_of(model);
  const bool on_cuda = libtorch::is_on_cuda(parts) || is_on_cuda(inputs);
  Measurement measurement(options, std::move(parts), on_cuda);
  const auto measured = [&](const std::vector<at::Tensor>& batch, std::uint64_t size,
                            bool is_part) {
    auto run = [&](ReturnedTensors& returned) {
      std::vector<at::Tensor> arguments = batch;
      forward(arguments, returned);
    };
    auto call = [&] {
      std::vector<at::Tensor> arguments = batch;
      ReturnedTensors returned;
      returned.ignores = true;
      forward(arguments, returned);
    };
    BatchBenchmark figures =
        measurement.measure({.call = TimedCall(call),
                             .run = run,
                             .size = size,
                             .tokens = options.tokens > 0 ? options.tokens : tokens_in(batch),
                             .is_part = is_part});
    if (on_cuda && options.transfers) add_copies(figures, batch, run, options);
    return figures;
  };
  const bool has_batch = inputs.front().dim() > 0;
  const std::uint64_t first =
      has_batch ? static_cast<std::uint64_t>(inputs.front().size(0)) : std::uint64_t{1};
  const std::uint64_t batch_size = options.batch_size > 0 ? options.batch_size : first;
  const BatchBenchmark all = measured(inputs, batch_size, false);
  std::vector<BatchBenchmark> smaller;
  const bool can_be_one =
      has_batch && first > 1 && batch_size == first &&
      std::all_of(inputs.begin(), inputs.end(), [&](const at::Tensor& input) {
        return input.dim() > 0 && static_cast<std::uint64_t>(input.size(0)) == first;
      });
  if (options.batch_of_one && can_be_one) {
    std::vector<at::Tensor> one;
    for (const at::Tensor& input : inputs) one.push_back(input.narrow(0, 0, 1).contiguous());
    smaller.push_back(measured(one, 1, true));
  }
  BenchmarkResult result = std::move(measurement.result());
  static_cast<BatchBenchmark&>(result) = all;
  result.smaller = std::move(smaller);
  if (options.batch_size == 0 && has_batch) {
    add_note(result.notes,
             "Samples are counted by the first dimension of the first input; where that is another "
             "one, such as time steps, say how many there are (.batch_size).");
  }
  if (options.tokens == 0 && all.tokens_per_s) {
    add_note(result.notes,
             "Tokens are the elements of the first input, which are whole numbers; where they are "
             "something else, say how many tokens there are (.tokens).");
  }
  if (!on_cuda) {
    add_note(result.notes, "Copies are not recorded: the model is on the host.");
  }
  return result;
}

}  // namespace tbtrace
