// What the inputs of a batch become: log files of torch-tb-profiler, event files, or both.
// To add a kind, implement LogKind and LogOutput and add it to log_kinds().
// LogFiles outlive the LogInputs that they open. open() may be called from any thread; write() and
// left_alone() concurrently for different outputs; finish() concurrently for different folders. Of
// the other functions, only one call runs at a time. Read and write failures are Statuses.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <tbtrace/convert.h>
#include <tbtrace/status.h>
#include <tbtrace/trace.h>

#include "chrome/convert/convert_trace.h"
#include "io/sink.h"
#include "logdir/run_staging.h"

namespace tbtrace::logdir {

/// A file's place in a log directory.
struct LogPlace {
  std::string folder;  ///< below the log directory
  std::string name;
  bool use_gzip = false;
  /// Other names for the same content in the folder; they are removed once the file is there.
  std::vector<std::string> twins = {};
};

/// One file that an input becomes.
class LogOutput {
 public:
  virtual ~LogOutput() = default;

  /// Gives it a place that no other output of the call has. Called in input order with `file.run`
  /// set; sets worker and span.
  virtual LogPlace name(LogFile& file) = 0;
  /// Called if the place is free or will be overwritten: takes it, or finds another one. Called
  /// after name(), before the next output's name().
  virtual Result<LogPlace> take_place() = 0;

  /// Called instead of take_place() and write() if the file exists and stays.
  virtual void left_alone() {}

  /// Closes the sink on success.
  virtual Result<Changes> write(io::ByteSink& sink) = 0;
};

/// A kind of log files.
class LogKind {
 public:
  virtual ~LogKind() = default;

  /// The arguments the kind needs of a trace, besides operators, device work and memory.
  virtual ArgumentSet arguments() const = 0;
  /// Whether it reads the rows of the input a second time, with chrome::TraceConverter::write().
  virtual bool rewrites() const = 0;
  /// The output for the trace at `path`, which outlives it. `converter` is null if no kind
  /// rewrites.
  virtual std::unique_ptr<LogOutput> output(const std::string& path, const Trace& trace,
                                            chrome::TraceConverter* converter) = 0;
  virtual std::vector<std::string> folders_left(const std::string& run) = 0;
  virtual Status finish(const std::string& folder) = 0;
};

/// One input that was read: its trace, the converter that reads its file a second time if a kind
/// rewrites it, and its files.
class LogInput {
 public:
  explicit LogInput(std::unique_ptr<chrome::TraceConverter> converter)
      : converter_(std::move(converter)) {}
  explicit LogInput(Trace trace) : read_(std::move(trace)) {}

  const Trace& trace() const { return read_ ? *read_ : converter_->trace(); }
  /// Problems of the input.
  const std::vector<Issue>& issues() const {
    return read_ ? read_->issues() : converter_->issues();
  }
  chrome::TraceConverter* converter() const { return converter_.get(); }
  void add(std::unique_ptr<LogOutput> output) { outputs_.push_back(std::move(output)); }
  /// One per kind.
  const std::vector<std::unique_ptr<LogOutput>>& outputs() const { return outputs_; }

 private:
  std::unique_ptr<chrome::TraceConverter> converter_;
  std::optional<Trace> read_;
  std::vector<std::unique_ptr<LogOutput>> outputs_;
};

/// The files of some kinds.
class LogFiles {
 public:
  /// `options` must outlive it.
  LogFiles(std::vector<std::unique_ptr<LogKind>> kinds, const ConvertOptions& options)
      : kinds_(std::move(kinds)), options_(options) {}

  Result<std::unique_ptr<LogInput>> open(const std::string& path, int threads) const;
  /// The folders of a run for which a killed call may have left files.
  std::vector<std::string> folders_left(const std::string& run) const;
  /// Called after all inputs of a folder are written: adds what is due then.
  Status finish(const std::string& folder) const;

 private:
  Result<std::unique_ptr<LogInput>> read(const std::string& path, int threads) const;

  std::vector<std::unique_ptr<LogKind>> kinds_;
  const ConvertOptions& options_;
};

/// The kinds that the options ask for. `staging` is the log directory's; both must outlive them.
std::vector<std::unique_ptr<LogKind>> log_kinds(RunStaging& staging, const ConvertOptions& options);

/// The worker of an input: from the options, else from the input's name or its identity.
std::string wanted_worker(const std::string& input, const TraceIdentity& identity,
                          const LogDirectoryOptions& options);

/// The folder of a worker's event files: `run/worker`, or `run` if its last folder has the worker's
/// name.
std::string event_folder(const std::string& run, const std::string& worker);

/// Makes a name safe as a path below a log directory.
std::string run_name(const std::string& wanted);

}  // namespace tbtrace::logdir
