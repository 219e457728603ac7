// The modules of a model and the tensors that they own, by path.
// Holds the tensors alive. Plain values; for one thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <ATen/core/Tensor.h>

#include <tbtrace/model_summary.h>

namespace tbtrace::libtorch {

struct ModelPart {
  std::string path;  ///< `layer1.0.conv1`; empty: the model
  std::string name;  ///< `conv1`; of the model, its class
  std::string type;  ///< `Conv2d`
  std::optional<std::size_t> parent;
  std::vector<std::size_t> children;
  /// It or a part inside it has parameters or buffers.
  bool has_tensors = false;
  /// The module has an earlier path as well.
  bool is_again = false;
};

struct ModelTensor {
  std::string path;  ///< `layer1.0.conv1.weight`
  std::size_t part = 0;
  bool is_parameter = false;
  at::Tensor tensor;
  std::size_t same_as = 0;  ///< the first tensor that is the same elements in memory; often itself
};

struct ModelParts {
  std::vector<ModelPart> parts;  ///< parents first, in the order of their registration
  std::vector<ModelTensor> tensors;
};

ModelParts parts_of(const torch::nn::Module& model);
ModelParts parts_of(const torch::jit::Module& model);

/// Elements and bytes of a tensor; 0 where it has neither.
std::uint64_t elements_of(const at::Tensor& tensor);
std::uint64_t bytes_of(const at::Tensor& tensor);

/// As torch prints it, without `torch.`: `float32`, `bfloat16`.
std::string number_type_of(const at::Tensor& tensor);
TensorShape shape_of(const at::Tensor& tensor);

/// The memory that the tensor is in; nullptr if it has none.
const void* storage_of(const at::Tensor& tensor);

/// Whether the tensor, or any of a model, is on a CUDA device.
bool is_on_cuda(const ModelParts& model);

}  // namespace tbtrace::libtorch
