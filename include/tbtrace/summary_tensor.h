// SummaryWriter functions for LibTorch tensors, on any device and of any real number type.
// Calls wait for the tensor's values and keep no reference to it. Safe from any thread.
// Wrong arguments throw std::invalid_argument.
#pragma once

#include <cstdint>
#include <string_view>

#include <tbtrace/export.h>
#include <tbtrace/summary_writer.h>

namespace at {
class Tensor;  // of <torch/torch.h>
}

namespace TBTRACE_EXPORT tbtrace {

/// The value of a tensor with one element.
void add_scalar(SummaryWriter& writer, std::string_view tag, const at::Tensor& value,
                std::int64_t global_step = 0, WallTime walltime = {});

/// All elements. Throws if there are none.
void add_histogram(SummaryWriter& writer, std::string_view tag, const at::Tensor& values,
                   std::int64_t global_step = 0, const HistogramOptions& options = {},
                   WallTime walltime = {});

/// `dataformats` names the dimensions: CHW, HWC or HW. 1 (or HW), 3 or 4 channels. Values are 0 to
/// 255 for type uint8 and 0 to 1 for other types; values outside are clamped, as in Python.
void add_image(SummaryWriter& writer, std::string_view tag, const at::Tensor& image,
               std::int64_t global_step = 0, std::string_view dataformats = "CHW",
               WallTime walltime = {});

}  // namespace tbtrace
