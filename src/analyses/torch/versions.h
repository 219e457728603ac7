// What torch's figures depend on besides the trace: one row per version of torch.
// Source: torch/autograd/profiler_util.py of each version.
#pragma once

#include <string_view>

#include <tbtrace/report.h>

namespace tbtrace::analyses {

struct TorchRules {
  TorchVersion version;
  std::string_view name;
  /// key_averages() has rows of Python functions even if they are not asked for. 2.13 alone does.
  bool averages_python_functions;
};

const TorchRules& torch_rules(TorchVersion version);

}  // namespace tbtrace::analyses
