// SummaryWriter's calls for LibTorch's tensors, on any device and of any type of real numbers.
// Nothing is kept of a tensor; calls wait for its values. Any thread.
// What the caller gets wrong throws std::invalid_argument.
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

/// `dataformats` names the dimensions: CHW, HWC or HW. 1 (or HW), 3 or 4 channels. Of type uint8
/// from 0 to 255, of other types from 0 to 1; what is outside is cut off, as in Python.
void add_image(SummaryWriter& writer, std::string_view tag, const at::Tensor& image,
               std::int64_t global_step = 0, std::string_view dataformats = "CHW",
               WallTime walltime = {});

}  // namespace tbtrace
