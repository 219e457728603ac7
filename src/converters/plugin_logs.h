// Log files of torch-tb-profiler: each trace as it is, in the plugin's dialect or in Kineto's.
// docs/formats/log_directory.md has the names.
#pragma once

#include <memory>
#include <set>
#include <string>
#include <vector>

#include <tbtrace/convert.h>

#include "converters/log_target.h"

namespace tbtrace::converters {

class PluginLogs final : public LogTarget {
 public:
  /// `options` must outlive it.
  explicit PluginLogs(const ConvertOptions& options) : options_(options) {}

  Result<std::unique_ptr<LogInput>> open(const std::string& path, int threads) override;
  bool use_gzip() const override { return options_.log.use_gzip; }
  std::vector<std::string> folders_left(const std::string& run) override { return {run}; }
  Status finish(const std::string&) override { return {}; }

 private:
  class Input;

  const ConvertOptions& options_;
  std::set<std::string> names_;  // with their runs, without `.gz`
};

}  // namespace tbtrace::converters
