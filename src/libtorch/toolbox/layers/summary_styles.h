// A model summary as other tools print it. Pure functions; names are escaped for a terminal.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <tbtrace/model_summary.h>

namespace tbtrace::libtorch {

/// `[1, 3, 224, 224]`.
std::string sizes_text(const std::vector<std::int64_t>& sizes);

/// torchinfo's table with the columns input size, output size, parameters and mult-adds.
std::string torchinfo_text(const ModelSummary& summary);

/// Flops Profiler's report: the model, the `top` classes of each depth, and the tree.
std::string flops_profiler_text(const ModelSummary& summary, std::size_t top);

}  // namespace tbtrace::libtorch
