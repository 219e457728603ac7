// What each layer of a model costs: parameters, shapes, multiply-adds, FLOPs, activations and time,
// as a tree in the order of execution (torchinfo, Flops Profiler, fvcore, torch.fx).
// Target tbtrace::torch; does not include any torch header. docs/toolbox.md says how each figure
// is obtained.
// A ModelSummary owns all its data. One model_summary() per thread at a time; others may go on
// beside it. Wrong arguments throw std::invalid_argument; what the model throws passes through.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <iosfwd>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include <tbtrace/export.h>
#include <tbtrace/report.h>

// Of <torch/torch.h>.
namespace at {
class Tensor;
}
namespace c10 {
struct IValue;
}
namespace torch::nn {
class Module;
}
namespace torch::jit {
struct Module;
}

namespace TBTRACE_EXPORT tbtrace {

/// The sizes and the number type of a tensor.
struct TensorShape {
  std::vector<std::int64_t> sizes;
  std::string type;  ///< `float32`

  bool operator==(const TensorShape&) const = default;
};

/// What a row of a ModelSummary is.
enum class LayerKind : std::uint8_t {
  module,    ///< a module of the model; the first row is the model itself
  function,  ///< an operator that is called between modules, such as `relu`
};

/// `module`, `function`.
std::string_view layer_kind_name(LayerKind kind);

/// A layer with all that is inside it; `self_`: without the modules and functions that have rows of
/// their own. What is nullopt was not recorded, or nothing can count it.
struct LayerCost {
  std::string path;  ///< `layer1.0.conv1`; empty: the model itself
  std::string name;  ///< `conv1`, `relu_1`; of the model, its class
  std::string type;  ///< `Conv2d`; of a function, its operator: `aten::relu`
  LayerKind kind = LayerKind::module;
  std::size_t depth = 0;              ///< 0 for the model
  std::optional<std::size_t> parent;  ///< its row
  std::optional<std::uint64_t> calls;
  /// Of the first call: what the first operator in it takes that is not a parameter, and what the
  /// last one gives. Of the model: what it was given, and what it returned.
  std::vector<TensorShape> inputs;
  std::vector<TensorShape> outputs;

  // Elements and bytes of the module's tensors, and of those inside it; each tensor once.
  std::uint64_t parameters = 0;
  std::uint64_t trainable_parameters = 0;
  std::uint64_t tied_parameters = 0;  ///< the part that an earlier layer outside has as well
  std::uint64_t parameter_bytes = 0;
  std::uint64_t buffers = 0;
  std::uint64_t buffer_bytes = 0;

  /// Multiply-adds, and operations: two per multiply-add, one or a few per element of other
  /// operators. nullopt: no operator in it could be counted, or told from those of a layer that has
  /// the same weight.
  std::optional<std::uint64_t> macs;
  std::optional<std::uint64_t> flops;
  std::uint64_t backward_macs = 0;  ///< the part of `macs` in backward passes
  std::uint64_t backward_flops = 0;
  /// Calls of operators in it without a rule; what they compute is in none of the counts.
  std::uint64_t uncounted_calls = 0;
  /// Elements and bytes that its operators wrote into new tensors in the forward pass.
  std::optional<std::uint64_t> activations;
  std::optional<std::uint64_t> activation_bytes;

  // Of the recorded run, forward and backward.
  std::int64_t cpu_time_total_ns = 0;
  std::int64_t self_cpu_time_ns = 0;
  std::int64_t device_time_total_ns = 0;
  std::int64_t self_device_time_ns = 0;
  std::int64_t backward_cpu_time_ns = 0;
  std::int64_t backward_device_time_ns = 0;

  std::uint64_t frozen_parameters() const { return parameters - trainable_parameters; }
  /// FLOPs per second of device time, on the host of CPU time; nullopt without either.
  std::optional<double> flops_per_s() const;
};

/// An operator that no rule counts.
struct UncountedOperator {
  std::string name;
  bool has_rule = false;  ///< there is a rule, but the sizes that it needs are not known
  std::uint64_t calls = 0;
  std::int64_t cpu_time_ns = 0;
  std::int64_t device_time_ns = 0;
  std::string path;  ///< the layer of its first call
};

struct ModelTableOptions {
  /// `layers`: a line per layer with all costs; `torchinfo` and `flops_profiler`: as these print
  /// it; `types`: a line per class; `operators`: those that no rule counts.
  std::string style = "layers";
  /// `layers` and `types`: a column of the JSON, such as `macs`; largest first.
  std::string sort_by = {};
  std::int64_t row_limit = -1;  ///< `layers` and `types`: lines to print; -1: all
  std::size_t top = 3;          ///< `flops_profiler`: classes to print per depth
  std::size_t width = 0;        ///< `layers` and `types`: characters of a line; 0: no limit
};

struct ModelSummary {
  std::vector<LayerCost> layers;  ///< parents first, in the order of execution; [0]: the model
  std::vector<UncountedOperator> uncounted;  ///< longest time first
  std::size_t depth = 0;                     ///< of the deepest layers that have rows
  bool has_model = false;          ///< otherwise a callable, whose parameters are not known
  bool on_device = false;          ///< device time was recorded
  std::uint64_t layer_bytes = 0;   ///< torchinfo's `Forward/backward pass size`: an estimate
  std::vector<std::string> notes;  ///< what is missing and why

  const LayerCost& total() const& { return layers.front(); }
  LayerCost total() && { return std::move(layers.front()); }
  /// nullptr if there is none.
  const LayerCost* layer(std::string_view path) const&;
  const LayerCost* layer(std::string_view) const&& = delete;

  /// The layers as rows of `tbtrace.model_summary/1`, and by class.
  AnalysisReport report() const;
  AnalysisReport types_report() const;
  /// \throws std::invalid_argument for a style or column that does not exist.
  std::string table(const ModelTableOptions& options = {}) const;
  /// `tbtrace.model_summary/1`, with the uncounted operators and how figures were obtained.
  std::string json() const;
};

/// The table of layers.
std::ostream& operator<<(std::ostream& out, const ModelSummary& summary);

/// How a model is run that was given with its inputs.
enum class ModelMode : std::uint8_t {
  eval,   ///< in eval mode; afterwards each module is in the mode that it was in
  train,  ///< likewise; batch norms update their statistics
  same,   ///< as it is
};

struct ModelSummaryOptions {
  std::size_t depth = 3;  ///< layers further inside count for the one around them
  ModelMode mode = ModelMode::eval;
  int warmup = 1;  ///< runs before the one that is recorded
  /// Of the row of the model; empty: its class.
  std::string name = {};
};

namespace toolbox_detail {

/// What a model returned, as far as it is tensors.
class ReturnedTensors {
 public:
  void add(const at::Tensor& tensor);
  void add(const c10::IValue& value);

  template <typename Value>
  void take(const Value& value) {
    if (ignores) return;
    if constexpr (std::is_convertible_v<const Value&, const at::Tensor&> ||
                  std::is_same_v<Value, c10::IValue>) {
      add(value);
    } else if constexpr (requires { std::tuple_size<Value>::value; }) {
      std::apply([this](const auto&... part) { (take(part), ...); }, value);
    } else if constexpr (requires { value.begin() == value.end(); }) {
      for (const auto& part : value) take(part);
    } else if constexpr (requires { value.has_value(); }) {
      if (value.has_value()) take(*value);
    }
  }

  std::vector<TensorShape> shapes;
  /// The tensors themselves, if there is a list for them.
  std::shared_ptr<std::vector<at::Tensor>> kept = nullptr;
  bool ignores = false;  ///< nothing is looked at, while times are measured
};

using Run = std::function<void(ReturnedTensors& returned)>;

template <typename Callable>
Run run_of(Callable& callable) {
  static_assert(std::invocable<Callable&>,
                "the callable must take no arguments, such as [&] { return model->forward(x); }");
  return [&callable](ReturnedTensors& returned) {
    if constexpr (std::is_void_v<std::invoke_result_t<Callable&>>) {
      callable();
    } else {
      returned.take(callable());
    }
  };
}

/// The module itself, or that of a holder or a pointer.
template <typename Model>
auto& module_of(Model& model) {
  if constexpr (std::is_base_of_v<torch::nn::Module, Model>) {
    return model;
  } else if constexpr (requires { *model.ptr(); }) {
    return *model.ptr();
  } else if constexpr (requires { *model.get(); }) {
    return *model;
  } else {
    return model;
  }
}

template <typename Model>
using ModuleOf = std::remove_reference_t<decltype(module_of(std::declval<Model&>()))>;

template <typename Model>
concept IsModule = std::is_base_of_v<torch::nn::Module, ModuleOf<Model>>;

template <typename Model, std::size_t... kAt>
concept TakesTensors = requires(Model& model, std::vector<at::Tensor>& inputs) {
  model.forward(inputs[kAt]...);
};

[[noreturn]] void throw_wrong_inputs(std::size_t count);

template <typename Model>
void forward(Model& model, std::vector<at::Tensor>& inputs, ReturnedTensors& returned) {
  static_assert(
      TakesTensors<Model, 0> || TakesTensors<Model, 0, 1> || TakesTensors<Model, 0, 1, 2> ||
          TakesTensors<Model, 0, 1, 2, 3>,
      "the model's forward() cannot be called with one to four tensors; give a callable "
      "instead of the inputs: model_summary(*model, [&] { return model->forward(...); })");
  const auto call = [&]<std::size_t... kAt>(std::index_sequence<kAt...>) {
    if constexpr (TakesTensors<Model, kAt...>) {
      if (inputs.size() != sizeof...(kAt)) return false;
      returned.take(model.forward(inputs[kAt]...));
      return true;
    } else {
      return false;
    }
  };
  const bool is_done = call(std::make_index_sequence<1>()) || call(std::make_index_sequence<2>()) ||
                       call(std::make_index_sequence<3>()) || call(std::make_index_sequence<4>());
  if (!is_done) throw_wrong_inputs(inputs.size());
}

ModelSummary summarize(torch::nn::Module* model, const std::vector<at::Tensor>* inputs,
                       const Run& run, const ModelSummaryOptions& options);

}  // namespace toolbox_detail

/// Runs the model with the inputs and says what each layer cost. `model`: a module, its holder or a
/// shared_ptr to it. Gradients are as the calling thread has them.
template <typename Model>
requires(!std::is_same_v<std::remove_cvref_t<Model>, torch::jit::Module>) ModelSummary
    model_summary(Model&& model, const std::vector<at::Tensor>& inputs,
                  const ModelSummaryOptions& options = {}) {
  static_assert(toolbox_detail::IsModule<std::remove_reference_t<Model>>,
                "model_summary(model, {tensors}) takes a torch::nn::Module, its holder, a "
                "shared_ptr to it, or a torch::jit::Module");
  auto& module = toolbox_detail::module_of(model);
  return toolbox_detail::summarize(
      &module, &inputs,
      [&](toolbox_detail::ReturnedTensors& returned) {
        std::vector<at::Tensor> arguments = inputs;
        toolbox_detail::forward(module, arguments, returned);
      },
      options);
}

/// The same of a model that a callable runs: its forward with other arguments, or a training step,
/// whose backward pass then counts for the layers whose gradients it computes.
template <typename Model, typename Callable>
requires std::invocable<Callable&> ModelSummary
model_summary(Model&& model, Callable&& callable, const ModelSummaryOptions& options = {}) {
  static_assert(toolbox_detail::IsModule<std::remove_reference_t<Model>>,
                "model_summary(model, callable) takes a torch::nn::Module, its holder, or a "
                "shared_ptr to it");
  return toolbox_detail::summarize(&toolbox_detail::module_of(model), nullptr,
                                   toolbox_detail::run_of(callable), options);
}

/// The operators that a callable runs, in their order, by TBTRACE_MODULE_SCOPE if it has any.
template <typename Callable>
ModelSummary model_summary(Callable&& callable, const ModelSummaryOptions& options = {}) {
  static_assert(std::invocable<Callable&>,
                "model_summary(model, {tensors}) needs the model's inputs; what takes no arguments "
                "can be given alone, such as [&] { return model->forward(x); }");
  return toolbox_detail::summarize(nullptr, nullptr, toolbox_detail::run_of(callable), options);
}

/// Of a TorchScript model. Numbers of calls are not known.
ModelSummary model_summary(const torch::jit::Module& model, const std::vector<c10::IValue>& inputs,
                           const ModelSummaryOptions& options = {});

}  // namespace tbtrace
