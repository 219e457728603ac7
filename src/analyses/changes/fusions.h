// Kernels that torch.compile made of several operators, told by their names: Inductor calls them
// `triton_poi_fused_gelu_view_8`, `cpp_fused_add_0`, after the operators in them and a number that
// shifts with every change of the model. Pure functions.
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <tbtrace/diff.h>

namespace tbtrace::analyses {

/// What comes after `fused_` in the name of such a kernel, without its number:
/// `gelu_view`; empty for other names.
std::string_view fused_part(std::string_view name);

/// The name without its number, `triton_poi_fused_gelu_view`; empty for other names.
std::string_view fused_stem(std::string_view name);

/// Whether the run has regions or kernels of torch.compile.
bool is_compiled(const RunFigures& run);

/// Those of `operators` (`aten::gelu`) that the name of a fused kernel has, in its order, each
/// once. Where the name can be divided in several ways, the one with the fewest letters left over
/// and then the longest names counts.
std::vector<std::string> fused_operators(std::string_view name,
                                         const std::set<std::string_view>& operators);

}  // namespace tbtrace::analyses
