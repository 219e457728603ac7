// Event files for plain TensorBoard, `<run>/<worker>/`: a file for each trace, a run for each
// worker. docs/formats/event_files.md says what they contain.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <tbtrace/convert.h>

#include "converters/log_target.h"
#include "converters/summary_run.h"

namespace tbtrace::converters {

class SummaryLogs final : public LogKind {
 public:
  /// Both must outlive it.
  SummaryLogs(RunStaging& staging, const ConvertOptions& options)
      : staging_(staging), options_(options) {}

  ArgumentSet arguments() const override;
  bool rewrites() const override { return false; }
  std::unique_ptr<LogOutput> output(const std::string& path, const Trace& trace,
                                    TraceConverter* converter) override;
  std::vector<std::string> folders_left(const std::string& run) override {
    return staging_.left_below(run);
  }
  /// Writes the last window's tables and pictures, if they are not in its own file.
  Status finish(const std::string& folder) override;

 private:
  class Output;
  struct LastWindow {
    std::string name;  // of its file
    std::optional<dialects::ProfileDetails> details = {};
    std::string about_run = {};
    double wall_time = 0;
  };
  /// What a file of this call was to say of the whole run, and whether it was written.
  enum class Layout : std::uint8_t { not_due, due, written };
  struct Folder {
    LastWindow last;
    Layout layout = Layout::not_due;
  };

  SummaryRun& run_in(const std::string& folder);
  void layout_is_due(const std::string& folder);
  /// Or was there already.
  void was_written(const LogPlace& place, LastWindow window, bool bears_layout);
  Folder take_folder(const std::string& folder);

  RunStaging& staging_;
  const ConvertOptions& options_;
  std::map<std::string, SummaryRun> runs_;  // by folder
  std::set<std::string> taken_;             // folders and spans
  std::mutex mutex_;                        // of what follows
  std::map<std::string, Folder> folders_;
};

}  // namespace tbtrace::converters
