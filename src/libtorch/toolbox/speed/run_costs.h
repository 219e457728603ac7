// What one run of a callable computes and allocates, counted from its operators and allocations.
// Plain values. For the thread that runs the callable.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <tbtrace/model_summary.h>

#include "libtorch/toolbox/layers/model_parts.h"

namespace tbtrace::libtorch {

struct RunCosts {
  std::optional<std::uint64_t> forward_macs;
  std::optional<std::uint64_t> forward_flops;
  std::optional<std::uint64_t> all_macs;  ///< with those of backward passes
  std::optional<std::uint64_t> all_flops;
  std::uint64_t uncounted_calls = 0;
  std::optional<std::uint64_t> peak_bytes;    ///< over what there was before
  std::optional<std::uint64_t> kept_bytes;    ///< when the callable returned
  std::optional<std::uint64_t> result_bytes;  ///< in what it returned
  std::vector<at::Tensor> returned;
  std::vector<std::string> warnings;
};

/// `on_cuda`: memory is that of the GPUs.
RunCosts costs_of_run(const toolbox_detail::Run& run, bool on_cuda);

/// The same of a run and the backward pass of the sum of what it returns. Gradients of the
/// parameters are afterwards what they were. nullopt if nothing that it returns has a gradient.
std::optional<RunCosts> costs_of_training(const toolbox_detail::Run& run, const ModelParts& model,
                                          bool on_cuda);

}  // namespace tbtrace::libtorch
