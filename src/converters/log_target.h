// What inputs of a batch become: log files of torch-tb-profiler, or event files.
// To add a kind, implement LogTarget and LogInput and add it to log_target().
// A LogTarget outlives the LogInputs that it opens. open() may be called from any thread, write()
// of different inputs at once; of all other functions no two of a target run at once. What cannot
// be read or written is a Status.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include <tbtrace/convert.h>
#include <tbtrace/trace.h>

#include "converters/run_staging.h"
#include "io/sink.h"

namespace tbtrace::converters {

/// A file's place in a log directory.
struct LogPlace {
  std::string folder;  ///< below the log directory
  std::string name;
  /// Other names in the folder for the same content: they go when the file is written.
  std::vector<std::string> twins = {};
};

/// One input that was read.
class LogInput {
 public:
  virtual ~LogInput() = default;

  virtual const Trace& trace() const = 0;
  /// Problems of the input.
  virtual const std::vector<Issue>& issues() const = 0;

  /// Gives it a place that no other input of the call has. Called in the order of the inputs with
  /// `file.run` set; sets worker and span.
  virtual LogPlace name(LogFile& file) = 0;
  /// The place is not taken, or will be overwritten: takes it, or finds another one. Called behind
  /// name(), before the next input's.
  virtual LogPlace take_place() = 0;

  /// Closes the sink if all went well.
  virtual Result<Changes> write(io::ByteSink& sink) = 0;
};

class LogTarget {
 public:
  virtual ~LogTarget() = default;

  virtual Result<std::unique_ptr<LogInput>> open(const std::string& path, int threads) = 0;
  virtual bool use_gzip() const = 0;

  /// The folders that a killed call may have left files of a run for.
  virtual std::vector<std::string> folders_left(const std::string& run) = 0;
  /// All inputs of a folder are written: adds what is due then. No other of these functions runs.
  virtual Status finish(const std::string& folder) = 0;
};

/// `staging` is that of the log directory; both outlive the target.
std::unique_ptr<LogTarget> log_target(RunStaging& staging, const ConvertOptions& options);

/// The worker of an input: as the options say, else by the input's name or its identity.
std::string wanted_worker(const std::string& input, const TraceIdentity& identity,
                          const LogDirectoryOptions& options);

/// A name as a path below a log directory.
std::string run_name(const std::string& wanted);

}  // namespace tbtrace::converters
