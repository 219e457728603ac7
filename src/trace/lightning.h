// What PyTorch Lightning's profiler leaves in a trace.
// Pure functions.
#pragma once

#include <string_view>

#include <tbtrace/trace.h>

namespace tbtrace {

// How the ranges that it opens itself begin.
inline constexpr std::string_view kLightningPrefix = "[pl]";
inline constexpr std::string_view kLightningProfile = "[pl][profile]";
inline constexpr std::string_view kLightningModule = "[pl][module]";

constexpr bool is_lightning_marker(std::string_view name) {
  return name.starts_with(kLightningProfile) || name.starts_with(kLightningModule);
}

/// The file says that Lightning recorded it; only then its ranges have a meaning of their own.
inline bool is_lightning(const Trace& trace) {
  const auto framework = trace.metadata().find("Framework");
  return framework != trace.metadata().end() && framework->second == "\"pytorch-lightning\"";
}

}  // namespace tbtrace
