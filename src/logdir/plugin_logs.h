// Log files for torch-tb-profiler: each trace in the plugin's dialect or in Kineto's.
// docs/formats/log_directory.md describes the names.
#pragma once

#include <memory>
#include <set>
#include <string>
#include <vector>

#include <tbtrace/convert.h>

#include "logdir/log_files.h"

namespace tbtrace::logdir {

class PluginLogs final : public LogKind {
 public:
  /// `options` must outlive it.
  explicit PluginLogs(const ConvertOptions& options) : options_(options) {}

  ArgumentSet arguments() const override { return {}; }
  bool rewrites() const override { return true; }
  std::unique_ptr<LogOutput> output(const std::string& path, const Trace& trace,
                                    chrome::TraceConverter* converter) override;
  std::vector<std::string> folders_left(const std::string& run) override { return {run}; }
  Status finish(const std::string& /*folder*/) override { return {}; }

 private:
  class Output;

  const ConvertOptions& options_;
  std::set<std::string> names_;  // including the run, without `.gz`
};

}  // namespace tbtrace::logdir
