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

/// torch-tb-profiler's list of parts of names, which ends with the Ampere generation.
bool uses_tensor_cores_in_plugin(std::string_view name);

/// Whether the plugin calls an operator eligible for tensor cores.
bool is_eligible_in_plugin(std::string_view op);

}  // namespace tbtrace::analyses
