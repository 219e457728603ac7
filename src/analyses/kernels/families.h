// What kind of work a kernel does, and whether it runs on tensor cores, by its name.
// Any bytes are accepted as a name. The rules are tables in the source file;
// docs/formats/kernels.md explains them.
#pragma once

#include <string_view>

#include <tbtrace/kernels.h>

namespace tbtrace::analyses {

KernelFamily kernel_family(std::string_view name);

/// Tensor cores of NVIDIA GPUs or matrix cores of AMD's. False if the name does not show it.
bool uses_tensor_cores(std::string_view name);

}  // namespace tbtrace::analyses
