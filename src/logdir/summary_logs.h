// Event files for plain TensorBoard, `<run>/<worker>/`: one file per trace, one run per worker.
// docs/formats/event_files.md describes their contents.
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

#include "logdir/log_files.h"
#include "logdir/summary_run.h"

namespace tbtrace::logdir {

class SummaryLogs final : public LogKind {
 public:
  /// Both must outlive it.
  SummaryLogs(RunStaging& staging, const ConvertOptions& options)
      : staging_(staging), options_(options) {}

  ArgumentSet arguments() const override;
  bool rewrites() const override { return false; }
  std::unique_ptr<LogOutput> output(const std::string& path, const Trace& trace,
                                    chrome::TraceConverter* converter) override;
  std::vector<std::string> folders_left(const std::string& run) override {
    return staging_.left_below(run);
  }
  /// Writes the last window's tables and pictures, if its own file does not have them.
  Status finish(const std::string& folder) override;

 private:
  class Output;
  struct LastWindow {
    std::string name;  // name of its file
    std::optional<logdir::ProfileDetails> details = {};
    std::string about_run = {};
    double wall_time = 0;
  };
  /// Whether a file of this call had to contain the run's layout, and whether it was written.
  enum class Layout : std::uint8_t { not_due, due, written };
  struct Folder {
    LastWindow last;
    Layout layout = Layout::not_due;
  };

  SummaryRun& run_in(const std::string& folder);
  void layout_is_due(const std::string& folder);
  /// Also called if it already existed.
  void was_written(const LogPlace& place, LastWindow window, bool bears_layout);
  Folder take_folder(const std::string& folder);

  RunStaging& staging_;
  const ConvertOptions& options_;
  std::map<std::string, SummaryRun> runs_;  // by folder
  std::set<std::string> taken_;             // `<folder>/<span>`
  std::mutex mutex_;                        // guards the following members
  std::map<std::string, Folder> folders_;
};

}  // namespace tbtrace::logdir
