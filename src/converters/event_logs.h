// Event files for plain TensorBoard, `<run>/<worker>/`: a file for each trace, a run for each
// worker. docs/formats/event_files.md says what stands in them.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <tbtrace/convert.h>

#include "converters/event_run.h"
#include "converters/log_target.h"

namespace tbtrace::converters {

class EventLogs final : public LogTarget {
 public:
  /// Both must outlive it.
  EventLogs(RunStaging& staging, const ConvertOptions& options)
      : staging_(staging), options_(options) {}

  Result<std::unique_ptr<LogInput>> open(const std::string& path, int threads) override;
  bool use_gzip() const override { return false; }
  std::vector<std::string> folders_left(const std::string& run) override {
    return staging_.left_below(run);
  }
  /// Writes the last window's tables and pictures, if they are not in its own file.
  Status finish(const std::string& folder) override;

 private:
  class Input;
  struct LastWindow {
    std::string name;  // of its file
    std::optional<dialects::ProfileDetails> details = {};
    double wall_time = 0;
  };

  EventRun& run_in(const std::string& folder);
  void was_written(const LogPlace& place, LastWindow window);

  RunStaging& staging_;
  const ConvertOptions& options_;
  std::map<std::string, EventRun> runs_;            // by folder
  std::set<std::string> taken_;                     // folders and spans
  std::mutex mutex_;                                // of what follows
  std::map<std::string, LastWindow> last_windows_;  // by folder
};

}  // namespace tbtrace::converters
