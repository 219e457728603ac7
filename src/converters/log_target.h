// What the inputs of a batch become: log files of torch-tb-profiler, event files, or both.
// To add a kind, implement LogKind and LogOutput and add it to log_files().
// A LogTarget outlives the LogInputs that it opens, a LogInput its outputs. open() may be called
// from any thread, write() and left_alone() of different outputs at once, finish() of different
// folders at once; of all other functions no two of a target run at once. What cannot be read or
// written is a Status.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include <tbtrace/convert.h>
#include <tbtrace/trace.h>

#include "converters/convert_trace.h"
#include "converters/run_staging.h"
#include "io/sink.h"

namespace tbtrace::converters {

/// A file's place in a log directory.
struct LogPlace {
  std::string folder;  ///< below the log directory
  std::string name;
  bool use_gzip = false;
  /// Other names in the folder for the same content: they go when the file is there.
  std::vector<std::string> twins = {};
};

/// One file that an input becomes.
class LogOutput {
 public:
  virtual ~LogOutput() = default;

  /// Gives it a place that no other output of the call has. Called in the order of the inputs with
  /// `file.run` set; sets worker and span.
  virtual LogPlace name(LogFile& file) = 0;
  /// The place is free, or will be overwritten: takes it, or finds another one. Called after
  /// name(), before the next output's.
  virtual Result<LogPlace> take_place() = 0;

  /// Instead of take_place() and write() if the file exists and stays.
  virtual void left_alone() {}

  /// Closes the sink if all went well.
  virtual Result<Changes> write(io::ByteSink& sink) = 0;
};

/// One input that was read.
class LogInput {
 public:
  virtual ~LogInput() = default;

  virtual const Trace& trace() const = 0;
  /// Problems of the input.
  virtual const std::vector<Issue>& issues() const = 0;
  /// At least one.
  virtual std::vector<LogOutput*> outputs() = 0;
};

/// What a batch needs to know of what it writes.
class LogTarget {
 public:
  virtual ~LogTarget() = default;

  virtual Result<std::unique_ptr<LogInput>> open(const std::string& path, int threads) = 0;
  /// The folders that a killed call may have left files of a run for.
  virtual std::vector<std::string> folders_left(const std::string& run) = 0;
  /// All inputs of a folder are written: adds what is due then.
  virtual Status finish(const std::string& folder) = 0;
};

/// A kind of log files.
class LogKind {
 public:
  virtual ~LogKind() = default;

  /// What the kind needs of a trace besides operators, device work and memory.
  virtual ArgumentSet arguments() const = 0;
  /// Whether it reads the rows of the input a second time: TraceConverter::write().
  virtual bool rewrites() const = 0;
  /// Of the trace at `path`, which outlives it. `converter` is null if nothing rewrites.
  virtual std::unique_ptr<LogOutput> output(const std::string& path, const Trace& trace,
                                            TraceConverter* converter) = 0;
  virtual std::vector<std::string> folders_left(const std::string& run) = 0;
  virtual Status finish(const std::string& folder) = 0;
};

/// The log files that the options ask for. `staging` is that of the log directory; both outlive
/// the target.
std::unique_ptr<LogTarget> log_files(RunStaging& staging, const ConvertOptions& options);

/// The worker of an input: as the options say, else by the input's name or its identity.
std::string wanted_worker(const std::string& input, const TraceIdentity& identity,
                          const LogDirectoryOptions& options);

/// The folder of a worker's event files: `run/worker`, or `run` if its last folder is called like
/// the worker.
std::string event_folder(const std::string& run, const std::string& worker);

/// A name as a path below a log directory.
std::string run_name(const std::string& wanted);

}  // namespace tbtrace::converters
