// What kind of work a kernel does, and whether it runs on tensor cores, by its name.
// Any bytes are accepted as a name. The rules are tables in the source file;
// docs/formats/kernels.md explains them.
#pragma once

#include <optional>
#include <string_view>

#include <tbtrace/kernels.h>

namespace tbtrace::analyses {

KernelFamily kernel_family(std::string_view name);

/// Of what an operator launches for its own work; `other` if its name does not say it.
KernelFamily operator_family(std::string_view op);

/// Tensor cores of NVIDIA GPUs or matrix cores of AMD's. nullopt if the name shows neither that the
/// kernel uses them nor that it does not: names of generated kernels, and of many libraries, only
/// say what is computed.
std::optional<bool> uses_tensor_cores(std::string_view name);

/// Products, convolutions and attention, but not in double precision or with vectors.
bool gains_from_tensor_cores(std::string_view name);

}  // namespace tbtrace::analyses
