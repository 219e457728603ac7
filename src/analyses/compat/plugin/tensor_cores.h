// What torch-tb-profiler knows of tensor cores, which ends with the Ampere generation.
// Pure functions of names.
#pragma once

#include <string_view>

namespace tbtrace::analyses {

/// By the plugin's list of parts of names.
bool uses_tensor_cores_in_plugin(std::string_view kernel);

/// Whether the plugin calls an operator eligible for tensor cores.
bool is_eligible_in_plugin(std::string_view op);

}  // namespace tbtrace::analyses
