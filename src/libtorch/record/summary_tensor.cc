#include <span>
#include <stdexcept>
#include <string>

#include <ATen/ATen.h>

#include <tbtrace/summary_tensor.h>

namespace tbtrace {
namespace {

/// In this memory, element after element.
at::Tensor values_of(const at::Tensor& tensor, at::ScalarType type) {
  return tensor.detach().to(at::TensorOptions(at::kCPU).dtype(type)).contiguous();
}

void require_real(const at::Tensor& tensor) {
  if (!tensor.defined() || tensor.is_complex())
    throw std::invalid_argument("a tensor of real numbers is needed");
}

template <typename Number>
std::span<const Number> span_of(const at::Tensor& values) {
  return {values.data_ptr<Number>(), static_cast<std::size_t>(values.numel())};
}

}  // namespace

void add_scalar(SummaryWriter& writer, std::string_view tag, const at::Tensor& value,
                std::int64_t global_step, WallTime walltime) {
  writer.add_scalar(tag, value, global_step, walltime);
}

void add_histogram(SummaryWriter& writer, std::string_view tag, const at::Tensor& values,
                   std::int64_t global_step, const HistogramOptions& options, WallTime walltime) {
  require_real(values);
  const bool is_short = values.is_floating_point() && values.scalar_type() != at::kDouble;
  const at::Tensor numbers = values_of(values, is_short ? at::kFloat : at::kDouble);
  if (is_short) {
    writer.add_histogram(tag, span_of<float>(numbers), global_step, options, walltime);
  } else {
    writer.add_histogram(tag, span_of<double>(numbers), global_step, options, walltime);
  }
}

void add_image(SummaryWriter& writer, std::string_view tag, const at::Tensor& image,
               std::int64_t global_step, std::string_view dataformats, WallTime walltime) {
  require_real(image);
  const bool is_known = dataformats == "CHW" || dataformats == "HWC" || dataformats == "HW";
  if (!is_known || image.dim() != static_cast<std::int64_t>(dataformats.size())) {
    throw std::invalid_argument("a picture of format " + std::string(dataformats) +
                                " cannot have " + std::to_string(image.dim()) +
                                " dimensions; formats are CHW, HWC and HW");
  }
  at::Tensor rows = dataformats == "CHW"  ? image.permute({1, 2, 0})
                    : dataformats == "HW" ? image.unsqueeze(2)
                                          : image;
  if (image.scalar_type() != at::kByte) {
    rows = (rows.detach().to(at::kFloat) * 255).clamp(0, 255);  // then cut to whole numbers
  }
  const at::Tensor samples = values_of(rows, at::kByte);
  writer.add_image(tag,
                   {.width = static_cast<int>(samples.size(1)),
                    .height = static_cast<int>(samples.size(0)),
                    .channels = static_cast<int>(samples.size(2)),
                    .samples = span_of<std::uint8_t>(samples)},
                   global_step, walltime);
}

}  // namespace tbtrace
