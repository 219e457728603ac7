// Writes traces as files that other tools read: Chrome traces, and log directories for TensorBoard.
// Functions may run on any number of threads at once, with different outputs.
// Files appear by rename, complete or not at all; a run directory is complete before it appears.
// Failures are Statuses. Whatever is changed or left out so that a consumer can read the file is
// counted.
#pragma once

#include <cstdint>
#include <functional>
#include <iosfwd>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <tbtrace/export.h>
#include <tbtrace/status.h>
#include <tbtrace/trace.h>

namespace TBTRACE_EXPORT tbtrace {

/// The reader that a Chrome trace is written for. Both dialects are strict JSON with exact
/// nanoseconds.
enum class Dialect : std::uint8_t {
  plugin,  ///< for torch-tb-profiler 0.4.3, the last release of TensorBoard's plugin
  /// As torch.profiler writes traces today, for Perfetto, HTA and TraceLens. A converted file keeps
  /// its times, ids and streams: see docs/formats/log_directory.md.
  kineto,
};

/// What was changed or left out in writing: an id (`ranges_moved_to_lanes`) and how often;
/// change_sentence() explains an id. Empty if nothing had to change.
using Changes = std::map<std::string, std::uint64_t, std::less<>>;

/// Says what the change is and why it was made.
std::string_view change_sentence(std::string_view id);

struct ChromeTraceOptions {
  Dialect dialect = Dialect::kineto;
  /// If a trace has no `ProfilerStep#N`, annotations such as `Iteration 7` become the steps.
  bool infer_steps = false;
  bool overwrite = false;
};

/// Writes a trace as Chrome JSON, gzip if the path ends in `.gz`. The file contains only what the
/// Trace holds; convert_to_log_directory() keeps everything in the input file.
Result<Changes> write_chrome_trace(const Trace& trace, const std::string& path,
                                   const ChromeTraceOptions& options = {});
/// The same to a stream, not compressed. After a failure the stream holds part of the text.
Result<Changes> write_chrome_trace(const Trace& trace, std::ostream& stream,
                                   const ChromeTraceOptions& options = {});

/// What a log directory contains.
enum class LogFormat : std::uint8_t {
  both,    ///< plugin traces and event files; only the traces if built without protobuf
  plugin,  ///< traces for torch-tb-profiler
  /// Summaries for TensorBoard without any plugin, which shows each worker as a run: step times and
  /// their breakdown, tables, durations, flame graphs. See docs/formats/event_files.md.
  event_files,
};

struct LogDirectoryOptions {
  LogFormat format = LogFormat::both;
  Dialect dialect = Dialect::plugin;  ///< of the traces
  /// The run, a directory in the log directory. Empty: the folder of the input, or `traces`.
  std::string run = {};
  /// Empty: the worker in the input's name if it follows the plugin's pattern, else
  /// `<host>_<rank>`, else the input's stem.
  std::string worker = {};
  bool use_gzip = true;  ///< for traces
  bool infer_steps = false;
  bool overwrite = false;
};

/// A log file in its log directory: `<run>/<worker>.<span>.pt.trace.json[.gz]`, or
/// `<run>/<worker>/events.out.tfevents.<seconds>.<worker>.<span>.0`, without `<worker>/` if that is
/// already the name of the run's last folder.
struct LogFile {
  std::string run;
  std::string worker;
  std::int64_t span = 0;  ///< start of the trace in ns since 1970, if the trace has it
  std::string path;       ///< including the log directory
  std::uint64_t bytes = 0;
  Changes changes;
  bool written = false;  ///< false: it already existed, or could not be written
};

/// Writes the log files of a trace, for `tensorboard --logdir DIRECTORY`. They contain what the
/// Trace holds.
Result<std::vector<LogFile>> write_log_directory(const Trace& trace, const std::string& directory,
                                                 const LogDirectoryOptions& options = {});

/// What became of one input of convert_to_log_directory().
struct ConvertedInput {
  enum class State : std::uint8_t { written, skipped, failed, not_tried };

  std::string input;
  State state = State::not_tried;
  Status status;               ///< why it failed
  std::string run;             ///< the run, a directory in the log directory
  std::vector<LogFile> files;  ///< empty until their names are known
  std::uint64_t ranges = 0;
  std::vector<Issue> issues;  ///< of the input
};

struct ConvertOptions {
  LogDirectoryOptions log;
  /// Leaves existing log files alone.
  bool skip_existing = false;
  /// Stops after the first failure; inputs that were not started are `not_tried`.
  bool fail_fast = false;
  /// Treats any issue of an input as a failure.
  bool strict = false;
  /// Number of inputs converted at a time; 0: one per core. Memory is that of this many traces.
  int threads = 0;
  /// Called from one thread at a time, in input order, once the input's files are visible.
  std::function<void(const ConvertedInput&)> on_input = {};
  /// Called now and then, from one of the converting threads at a time, with the number of finished
  /// and of all inputs. If it returns false, the inputs that were not started stay `not_tried`.
  std::function<bool(std::size_t done, std::size_t inputs)> on_progress = {};
};

/// Finished files that are waiting to be moved into a log directory.
struct Leftovers {
  std::string directory;  ///< where they wait
  std::uint64_t files = 0;
  std::uint64_t bytes = 0;
};

struct Conversion {
  std::string directory;                 ///< the log directory
  std::vector<ConvertedInput> inputs;    ///< in the order in which they were found
  std::vector<std::string> passed_over;  ///< files in searched directories that are not traces
  /// Folders of the log directory in which something could not be written or moved, and why. Inputs
  /// whose own files are affected are marked as failed, too.
  std::vector<std::pair<std::string, Status>> failed_runs;
  /// From earlier calls that were killed. `skip_existing` uses them if their inputs are named
  /// again.
  Leftovers leftovers;
};

/// Converts files (`-`: standard input), all traces in directories, and the matches of glob
/// patterns into log files. Traces keep unknown members of events. Event file steps increase within
/// a worker's run, in input order, and continue after the steps already there. If an input fails,
/// its entry has the reason; the returned Status is for failures that affect all inputs.
Result<Conversion> convert_to_log_directory(const std::vector<std::string>& inputs,
                                            const std::string& directory,
                                            const ConvertOptions& options = {});

/// One JSON object (`tbtrace.convert/1`) with the outcome of every input.
std::string conversion_json(const Conversion& conversion);

}  // namespace tbtrace
