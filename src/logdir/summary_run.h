// A worker's run in plain TensorBoard: one event file per profiler window, which loaders read in
// the order of their names.
// A SummaryRun describes the files of a directory. A SummaryWindow keeps a reference to its trace.
// One thread at a time. Damaged existing files count as far as they can be read.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>

#include <tbtrace/convert.h>
#include <tbtrace/trace.h>

#include "io/sink.h"
#include "logdir/profile_summaries.h"
#include "writers/events/event_file.h"

namespace tbtrace::logdir {

class SummaryRun {
 public:
  /// `files`: the files in the directory, by name; read only when their contents matter.
  explicit SummaryRun(const std::map<std::string, std::filesystem::path>& files);

  /// `events.out.tfevents.<seconds>.<worker>.<span>.0`: the name of an existing file with this
  /// span, or a new name that sorts after all others.
  std::string name(const std::string& worker, std::int64_t span) const;

  /// Whether this existing file is the last one and belongs to a window that does not keep its
  /// details: then the details belong in a second file beside it.
  bool needs_details_beside(const std::string& name) const;

 private:
  friend class SummaryWindow;
  struct File {
    std::filesystem::path path;
    std::optional<writers::StepRange> steps;  // once known
    std::optional<bool> has_layout;           // once known
  };
  using Files = std::map<std::string, File>;

  static const writers::StepRange& steps(File& file);
  static bool has_layout(File& file);
  bool has_layout();
  std::int64_t next_step_before(Files::iterator place);
  std::optional<std::int64_t> first_step_after(Files::iterator place);

  Files files_;  // of windows and of other writers
};

/// The summary of one trace.
class SummaryWindow {
 public:
  SummaryWindow(const Trace& trace, bool infer_steps) : events_(trace, infer_steps) {}

  /// Takes the next steps of the run and returns the name of the window's file. If it replaces an
  /// existing file, it keeps that name if the steps fit there; otherwise it sorts after all others.
  std::string take_place(SummaryRun& run, const std::string& worker, std::int64_t span);
  /// Takes the steps that this window has in an existing file of the run.
  void take_steps_of(SummaryRun& run, const std::string& name);

  /// Whether its tables and pictures are worth keeping in its run.
  bool keeps_details() const { return logdir::keeps_details(number_); }
  /// Whether write() writes about_run(), too.
  bool bears_layout() const { return has_layout_; }
  /// Records that occur once in a run: the layout, the hyperparameters.
  std::string about_run() const { return events_.about_run(); }
  logdir::ProfileDetails details() const { return events_.details(); }

  /// Closes the sink on success.
  Result<Changes> write(io::ByteSink& sink, bool with_details) const;

  double start() const { return events_.start(); }

 private:
  logdir::ProfileSummaries events_;
  std::int64_t number_ = 1;  // number of the window in the run
  bool has_layout_ = true;   // and the hyperparameters; once per run
};

/// The file beside a window's file that holds the details missing there.
std::string details_file_name(const std::string& window_file);
Status write_beside(const std::string& records, double wall_time, io::ByteSink& sink);

}  // namespace tbtrace::logdir
