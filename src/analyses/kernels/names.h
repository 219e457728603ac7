// Kernel names that people recognise.
// Any bytes are accepted as a name; results own their texts.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tbtrace::analyses {

/// The name with its C++ encoding resolved, if it is one (`_ZN7cutlass...`).
std::string readable_kernel_name(std::string_view name);

/// The function, and the operation among its template arguments, without namespaces and plumbing:
/// `vectorized_elementwise_kernel<AddFunctor>`, `reduce_kernel<sum_functor>`,
/// `cutlass_80_tensorop_s1688gemm_128x64_16x6_tn_align4`. Names of other forms stay, without what
/// follows the tile size. At most 100 characters; never empty unless the name is.
std::string short_kernel_name(std::string_view name);

/// One short name per name, in the same order; different names get different short names. Names
/// that would share one keep the operation's types (`CUDAFunctor_add<float>`), or all template
/// arguments, or else get a number that depends only on the whole name.
std::vector<std::string> distinct_kernel_names(std::span<const std::string_view> names);

}  // namespace tbtrace::analyses
