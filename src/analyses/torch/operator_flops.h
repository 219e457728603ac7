// Floating point operations of an operator, by torch's estimates.
// Pure function. 0 for an operator that torch does not count, or whose inputs are unknown.
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

/// Whether torch counts operators with this name.
bool has_flops(std::string_view name);

std::uint64_t operator_flops(std::string_view name, const OperatorArguments& arguments);

}  // namespace tbtrace::analyses
