// Floating point operations of an operator, by torch's own estimates.
// Pure function. An operator that torch does not count, or whose inputs are not known, has 0.
// Source: torch/csrc/profiler/util.cpp (computeFlops): dispatcher names, 64-bit unsigned.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "trace/input_lists.h"

namespace tbtrace::analyses {

struct OperatorArguments {
  std::vector<InputDims> dims;
  std::vector<std::string> types;
  std::vector<std::string> concrete;
};

/// Whether torch counts operators of this name at all.
bool has_flops(std::string_view name);

std::uint64_t operator_flops(std::string_view name, const OperatorArguments& arguments);

}  // namespace tbtrace::analyses
