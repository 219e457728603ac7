// Traces of PyTorch Lightning's profiler.
#pragma once

#include <string_view>

#include <tbtrace/trace.h>

namespace tbtrace::analyses {

// Prefix of the ranges that Lightning opens itself.
inline constexpr std::string_view kLightningPrefix = "[pl]";
inline constexpr std::string_view kLightningProfile = "[pl][profile]";
inline constexpr std::string_view kLightningModule = "[pl][module]";

constexpr bool is_lightning_marker(std::string_view name) {
  return name.starts_with(kLightningProfile) || name.starts_with(kLightningModule);
}

/// Whether the file says that Lightning recorded it; only then do its ranges have a special
/// meaning.
inline bool is_lightning(const Trace& trace) {
  const auto framework = trace.metadata().find("Framework");
  return framework != trace.metadata().end() && framework->second == "\"pytorch-lightning\"";
}

}  // namespace tbtrace::analyses
