// Names of kernels as PyTorch's own templates, cuBLAS and NCCL form them.
// Immutable once made; any thread may read them.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace tbtrace::benchmarks {

struct KernelNames {
  std::vector<std::string> elementwise;  ///< contiguous inputs
  std::vector<std::string> strided;
  std::vector<std::string> reduction;
  std::vector<std::string> matmul;
  std::string all_reduce;
};

const KernelNames& kernel_names();

/// Rows of KernelNames::elementwise.
enum ElementwiseKernel : std::size_t { kAdd, kFill, kMultiply, kFirstOther };

}  // namespace tbtrace::benchmarks
