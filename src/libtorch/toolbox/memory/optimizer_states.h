// The tensors that LibTorch's optimizers keep for each parameter. Any thread that has the
// optimizer.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include <ATen/core/Tensor.h>

#include <tbtrace/memory_reporter.h>

namespace tbtrace::libtorch {

/// Calls `visit` with each parameter, the name of a state (`exp_avg`) and its tensor. Returns how
/// many parameters have a state of a class that is not known.
std::size_t visit_states(
    const torch::optim::Optimizer& optimizer,
    const std::function<void(const at::Tensor& parameter, std::string_view name,
                             const at::Tensor& state)>& visit);

/// `Adam`.
std::string class_of(const torch::optim::Optimizer& optimizer);

}  // namespace tbtrace::libtorch
