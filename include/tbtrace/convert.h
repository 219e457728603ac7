// Traces as files that other tools read: Chrome traces, and log directories for TensorBoard.
// Functions may run on any number of threads at once, on different outputs.
// Files appear by rename, whole or not at all; a run directory is complete before it appears.
// Failures are Statuses; what had to be changed or left out so that a consumer reads it is counted.
#pragma once

#include <cstdint>
#include <functional>
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

/// For whom a Chrome trace is written. Both are strict JSON with exact nanoseconds.
enum class Dialect : std::uint8_t {
  plugin,  ///< what torch-tb-profiler 0.4.3 understands, the last release of TensorBoard's plugin
  kineto,  ///< today's categories, as torch.profiler writes them: Perfetto, HTA
};

/// What writing changed or left out, by id (`ranges_moved_to_lanes`), and how often; the sentence
/// of an id is change_sentence(). Empty for a trace that was fine as it is.
using Changes = std::map<std::string, std::uint64_t, std::less<>>;

/// What a change is and why it was made.
std::string_view change_sentence(std::string_view id);

struct ChromeTraceOptions {
  Dialect dialect = Dialect::kineto;
  /// Where a trace has no `ProfilerStep#N`, annotations such as `Iteration 7` become the steps.
  bool infer_steps = false;
  bool overwrite = false;
};

/// Writes a trace as Chrome JSON, gzip if the path ends in `.gz`. It holds what the model holds;
/// convert_to_log_directory() keeps all that stands in a file.
Result<Changes> write_chrome_trace(const Trace& trace, const std::string& path,
                                   const ChromeTraceOptions& options = {});

/// What a log directory contains.
enum class LogFormat : std::uint8_t {
  both,    ///< traces for the plugin and event files; without protobuf in the build only traces
  plugin,  ///< traces for torch-tb-profiler
  /// Summaries for TensorBoard without any plugin, which shows each worker as a run: times of steps
  /// and what they went to, tables, durations, flame graphs. docs/formats/event_files.md has all.
  event_files,
};

struct LogDirectoryOptions {
  LogFormat format = LogFormat::both;
  Dialect dialect = Dialect::plugin;  ///< of traces
  /// The run, a directory in the log directory; empty: the folder of the input, or `traces`.
  std::string run = {};
  /// Empty: from an input's name of the plugin's form, else `<host>_<rank>`, else the input's stem.
  std::string worker = {};
  bool use_gzip = true;  ///< for traces
  bool infer_steps = false;
  bool overwrite = false;
};

/// A log file in its log directory: `<run>/<worker>.<span>.pt.trace.json[.gz]`, or
/// `<run>/<worker>/events.out.tfevents.<seconds>.<worker>.<span>.0`, without `<worker>/` if the
/// run's last folder is called so.
struct LogFile {
  std::string run;
  std::string worker;
  std::int64_t span = 0;  ///< the trace's start in ns since 1970, as far as it says
  std::string path;       ///< with the log directory
  std::uint64_t bytes = 0;
  Changes changes;
  bool written = false;  ///< otherwise it existed already, or could not be written
};

/// Writes the log files of a trace, for `tensorboard --logdir DIRECTORY`. They contain what the
/// model contains.
Result<std::vector<LogFile>> write_log_directory(const Trace& trace, const std::string& directory,
                                                 const LogDirectoryOptions& options = {});

/// What became of one input of convert_to_log_directory().
struct ConvertedInput {
  enum class State : std::uint8_t { written, skipped, failed, not_tried };

  std::string input;
  State state = State::not_tried;
  Status status;               ///< why it failed
  std::string run;             ///< the run, a directory in the log directory
  std::vector<LogFile> files;  ///< once their names are known
  std::uint64_t ranges = 0;
  std::vector<Issue> issues;  ///< of the input
};

struct ConvertOptions {
  LogDirectoryOptions log;
  /// Log files that are there already are left alone.
  bool skip_existing = false;
  /// The first failure ends it; inputs that were not begun are `not_tried`.
  bool fail_fast = false;
  /// Any issue of an input is its failure.
  bool strict = false;
  /// Inputs that are converted at a time; 0: as many as the machine has cores. Memory is that of so
  /// many traces.
  int threads = 0;
  /// Called from one thread at a time, in the order of the inputs, once the input's files are
  /// visible.
  std::function<void(const ConvertedInput&)> on_input = {};
  /// Called now and then from one thread at a time: inputs done, and their number.
  std::function<void(std::size_t done, std::size_t inputs)> on_progress = {};
};

/// Finished files that wait to be moved into a log directory.
struct Leftovers {
  std::string directory;  ///< where they wait
  std::uint64_t files = 0;
  std::uint64_t bytes = 0;
};

struct Conversion {
  std::vector<ConvertedInput> inputs;    ///< in the order in which they were found
  std::vector<std::string> passed_over;  ///< files in searched directories that are not traces
  /// Folders of the log directory in which something could not be written or moved, and why. The
  /// inputs whose own files are concerned have failed, too.
  std::vector<std::pair<std::string, Status>> failed_runs;
  /// Of earlier calls that were killed: `skip_existing` uses them if their inputs are named again.
  Leftovers leftovers;
};

/// Converts files (`-`: standard input), all traces in directories, and the matches of globs into
/// log files. Traces keep unknown members of events. Steps of event files grow within a worker's
/// run, in the order of inputs and behind what stands there. A failure of one input is told in its
/// entry; the Status tells what concerns all of them.
Result<Conversion> convert_to_log_directory(const std::vector<std::string>& inputs,
                                            const std::string& directory,
                                            const ConvertOptions& options = {});

/// One JSON object (`tbtrace.convert/1`): what became of every input.
std::string conversion_json(const Conversion& conversion, const std::string& directory);

}  // namespace tbtrace
