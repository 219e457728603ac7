// A worker's run in plain TensorBoard: event files, a window of the profiler each, that loaders
// read in the order of their names.
// An SummaryRun owns what it knows of a directory. An SummaryWindow keeps a reference to its trace.
// One thread at a time. Existing files that are damaged count as far as they can be read.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>

#include <tbtrace/convert.h>
#include <tbtrace/trace.h>

#include "dialects/profile_summaries.h"
#include "io/sink.h"
#include "writers/event_file.h"

namespace tbtrace::converters {

class SummaryRun {
 public:
  /// `files` stand in the directory, by name; they are read when it matters what is in them.
  explicit SummaryRun(const std::map<std::string, std::filesystem::path>& files);

  /// `events.out.tfevents.<seconds>.<worker>.<span>.0`: that of an existing file of this span, or
  /// one that sorts behind all.
  std::string name(const std::string& worker, std::int64_t span) const;

  /// Whether this existing file is the last one, of a window whose details are not worth keeping in
  /// it: then they belong in a file beside it.
  bool needs_details_beside(const std::string& name) const;

 private:
  friend class SummaryWindow;
  struct File {
    std::filesystem::path path;
    std::optional<writers::StepRange> steps;  // once they are known
    std::optional<bool> has_layout;           // likewise
  };
  using Files = std::map<std::string, File>;

  static const writers::StepRange& steps(File& file);
  static bool has_layout(File& file);
  bool has_layout();
  std::int64_t next_step_before(Files::iterator place);
  std::optional<std::int64_t> first_step_behind(Files::iterator place);

  Files files_;  // of windows, and those of other writers
};

/// What a trace says.
class SummaryWindow {
 public:
  SummaryWindow(const Trace& trace, bool infer_steps) : events_(trace, infer_steps) {}

  /// Takes the next steps of the run, and gives the name of the window's file. One that replaces an
  /// existing file stands in its place where its steps fit there, else behind all.
  std::string take_place(SummaryRun& run, const std::string& worker, std::int64_t span);
  /// Takes the steps that an existing file of the run has for this window.
  void take_steps_of(SummaryRun& run, const std::string& name);

  /// Whether its tables and pictures are worth keeping in its run.
  bool keeps_details() const { return dialects::keeps_details(number_); }
  /// Whether write() writes about_run(), too.
  bool bears_layout() const { return has_layout_; }
  /// Records that stand once in a run: the layout, the hyperparameters.
  std::string about_run() const { return events_.about_run(); }
  dialects::ProfileDetails details() const { return events_.details(); }

  /// Closes the sink if all went well.
  Result<Changes> write(io::ByteSink& sink, bool with_details) const;

  double start() const { return events_.start(); }

 private:
  dialects::ProfileSummaries events_;
  std::int64_t number_ = 1;  // in the run
  bool has_layout_ = true;   // with the hyperparameters, once in a run
};

/// The file beside the one of a window that has the details which that one lacks.
std::string details_file_name(const std::string& window_file);
Status write_beside(const std::string& records, double wall_time, io::ByteSink& sink);

}  // namespace tbtrace::converters
