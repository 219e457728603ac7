// What came of a profiler's cycles: recordings, the traces that are made of them when somebody
// asks, and log files that another thread writes. Keeps recordings and traces. For one thread; the
// end waits for exports. What goes wrong is told to the listener, from either thread.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <tbtrace/profiler.h>
#include <tbtrace/recover.h>
#include <tbtrace/status.h>
#include <tbtrace/trace.h>

#include "live/recorded_summaries.h"
#include "recorder/log/recording.h"
#include "recorder/process/export_thread.h"
#include "recorder/process/running_profilers.h"

namespace tbtrace::libtorch {

/// What tensorboard_trace_handler() makes.
struct TensorboardHandler {
  std::string directory;
  TensorboardOptions options;

  void operator()(Profiler& profiler) const { profiler.export_in_background(directory, options); }
};

class Results {
 public:
  using Recording = std::shared_ptr<const recorder::Recording>;

  /// Windows that wait for being written take at most so many bytes.
  Results(std::function<void(std::string_view)> warn, std::size_t most_waiting_bytes);
  Results(const Results&) = delete;
  Results& operator=(const Results&) = delete;
  ~Results();

  void clear();
  /// A closed one. Whoever asks for one that lacks rows, although there was time for some, is
  /// warned.
  void add(Recording recording, bool lacks_rows);

  /// Of all recordings; none if one cannot be read, with a warning.
  std::vector<const Trace*> traces();
  /// The last one with all arguments of its events; null, with a warning, if there is none or it
  /// cannot be read.
  std::shared_ptr<const Trace> last_trace();
  Result<Recording> last();
  /// And none is left. Requires that there is one.
  Recording take_last();

  /// The last one, into a file that nobody else writes. Not if too much waits for being written
  /// already: the window is dropped, then, with a warning.
  void export_in_background(const std::string& directory, const TensorboardOptions& options);
  /// Windows so far that were dropped or could not be written: what the file of the window says
  /// that is added next.
  std::uint64_t lost_windows() { return stated_losses_ = losses_->windows.load(); }
  /// May be called beside everything else.
  Status wait_for_exports() { return exports_.wait(); }
  /// Has the last windows' summaries written, for the end of the program.
  void finish_summaries();
  /// Has all written that there is, and waits for it.
  void finish();
  /// Writes what dead processes left in a folder of journals, in the background, where the handler
  /// is that of tensorboard_trace_handler(); otherwise says that it is there.
  void recover(const std::string& journals, const std::function<void(Profiler&)>& handler);
  /// Waits for exports; warns if some are not done by then, or how many windows were lost in all.
  /// May be called beside everything else.
  /// False: some are not done.
  bool wait_until(recorder::Deadline deadline);

 private:
  /// None in a build that cannot write them, with one warning.
  std::shared_ptr<live::RecordedSummaries> summaries(const std::string& directory,
                                                     const std::string& worker);
  void finish_oldest_summaries();
  void tell_of(const RecoveredJournal& journal);
  void warn_of_losses();
  void warn_of_missing_rows();

  std::function<void(std::string_view)> warn_;
  std::vector<Recording> recordings_;
  std::vector<Trace> traces_;                // of recordings_, as far as they were asked for
  std::shared_ptr<const Trace> last_trace_;  // of the last one, if it was asked for
  int windows_exported_ = 0;
  struct Losses {
    std::atomic<std::uint64_t> windows = 0;
    std::atomic<std::uint64_t> stated = 0;  // by the last file, or at the end
  };
  std::shared_ptr<Losses> losses_ = std::make_shared<Losses>();  // exports count there, too
  std::uint64_t stated_losses_ = 0;                              // of the last recording
  bool lacks_rows_ = false;                                      // all recordings
  bool warned_of_missing_rows_ = false;
  bool told_of_no_summaries_ = false;
  struct OpenSummaries {
    std::string directory;
    std::string worker;
    std::shared_ptr<live::RecordedSummaries> summaries;
  };
  std::deque<OpenSummaries> summaries_;  // the last few; exports use them one after another
  recorder::ExportThread exports_;
};

}  // namespace tbtrace::libtorch
