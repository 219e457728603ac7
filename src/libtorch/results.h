// What came of a profiler's cycles: recordings, the traces that are made of them when somebody
// asks, and log files that another thread writes. Keeps recordings and traces. For one thread; the
// end waits for exports. What goes wrong is told to the listener, from either thread.
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <tbtrace/profiler.h>
#include <tbtrace/status.h>
#include <tbtrace/trace.h>

#include "api/recorded_summaries.h"
#include "recorder/export_thread.h"
#include "recorder/recording.h"

namespace tbtrace::libtorch {

class Results {
 public:
  using Recording = std::shared_ptr<const recorder::Recording>;

  explicit Results(std::function<void(std::string_view)> warn)
      : warn_(std::move(warn)), exports_(warn_) {}
  Results(const Results&) = delete;
  Results& operator=(const Results&) = delete;
  ~Results();

  void clear();
  /// A closed one.
  void add(Recording recording) { recordings_.push_back(std::move(recording)); }

  /// Of all recordings; none if one cannot be read, with a warning.
  std::vector<const Trace*> traces();
  Result<Recording> last() const;

  /// The last one, into a file that nobody else writes.
  void export_in_background(const std::string& directory, const TensorboardOptions& options);
  Status wait_for_exports() { return exports_.wait(); }

 private:
  /// None in a build that cannot write them, with one warning.
  std::shared_ptr<api::RecordedSummaries> summaries(const std::string& directory,
                                                    const std::string& worker);
  void finish_oldest_summaries();

  std::function<void(std::string_view)> warn_;
  std::vector<Recording> recordings_;
  std::vector<Trace> traces_;  // of recordings_, as far as they were asked for
  int windows_exported_ = 0;
  bool told_of_no_summaries_ = false;
  struct OpenSummaries {
    std::string directory;
    std::string worker;
    std::shared_ptr<api::RecordedSummaries> summaries;
  };
  std::deque<OpenSummaries> summaries_;  // the last few; exports use them one after another
  recorder::ExportThread exports_;
};

}  // namespace tbtrace::libtorch
