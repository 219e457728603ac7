#include "libtorch/toolbox/memory/optimizer_states.h"

#include <sstream>
#include <type_traits>
#include <typeinfo>

#include <torch/optim.h>

#include "recorder/log/module_map.h"

namespace tbtrace::libtorch {
namespace {

namespace optim = torch::optim;

using Visit = std::function<void(std::string_view name, const at::Tensor& state)>;

/// False if the class of the state is not known.
bool visit_tensors_of(const optim::OptimizerParamState& state, const Visit& visit) {
  if (const auto* adam = dynamic_cast<const optim::AdamParamState*>(&state)) {
    visit("exp_avg", adam->exp_avg());
    visit("exp_avg_sq", adam->exp_avg_sq());
    visit("max_exp_avg_sq", adam->max_exp_avg_sq());
  } else if (const auto* adamw = dynamic_cast<const optim::AdamWParamState*>(&state)) {
    visit("exp_avg", adamw->exp_avg());
    visit("exp_avg_sq", adamw->exp_avg_sq());
    visit("max_exp_avg_sq", adamw->max_exp_avg_sq());
  } else if (const auto* sgd = dynamic_cast<const optim::SGDParamState*>(&state)) {
    visit("momentum_buffer", sgd->momentum_buffer());
  } else if (const auto* rmsprop = dynamic_cast<const optim::RMSpropParamState*>(&state)) {
    visit("square_avg", rmsprop->square_avg());
    visit("momentum_buffer", rmsprop->momentum_buffer());
    visit("grad_avg", rmsprop->grad_avg());
  } else if (const auto* adagrad = dynamic_cast<const optim::AdagradParamState*>(&state)) {
    visit("sum", adagrad->sum());
  } else if (const auto* lbfgs = dynamic_cast<const optim::LBFGSParamState*>(&state)) {
    visit("d", lbfgs->d());
    visit("H_diag", lbfgs->H_diag());
    visit("prev_flat_grad", lbfgs->prev_flat_grad());
    for (const at::Tensor& tensor : lbfgs->old_dirs()) visit("old_dirs", tensor);
    for (const at::Tensor& tensor : lbfgs->old_stps()) visit("old_stps", tensor);
    for (const at::Tensor& tensor : lbfgs->ro()) visit("ro", tensor);
  } else {
    return false;
  }
  return true;
}

/// The key of a parameter's state: its address, in LibTorch 1.13 as text.
template <typename Key>
Key key_of_state(const at::Tensor& parameter) {
  c10::TensorImpl* const impl = parameter.unsafeGetTensorImpl();
  if constexpr (std::is_same_v<Key, std::string>) {
    std::ostringstream text;
    text << impl;
    return text.str();
  } else {
    return impl;
  }
}

}  // namespace

std::size_t visit_states(
    const torch::optim::Optimizer& optimizer,
    const std::function<void(const at::Tensor& parameter, std::string_view name,
                             const at::Tensor& state)>& visit) {
  using States = std::remove_cvref_t<decltype(optimizer.state())>;
  std::size_t unknown = 0;
  for (const optim::OptimizerParamGroup& group : optimizer.param_groups()) {
    for (const at::Tensor& parameter : group.params()) {
      const auto state = optimizer.state().find(key_of_state<typename States::key_type>(parameter));
      if (state == optimizer.state().end()) continue;
      const bool is_known =
          visit_tensors_of(*state->second, [&](std::string_view name, const at::Tensor& tensor) {
            if (tensor.defined()) visit(parameter, name, tensor);
          });
      if (!is_known) ++unknown;
    }
  }
  return unknown;
}

std::string class_of(const torch::optim::Optimizer& optimizer) {
  return recorder::module_class(typeid(optimizer).name());
}

}  // namespace tbtrace::libtorch
