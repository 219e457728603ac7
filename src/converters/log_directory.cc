// Inputs into log files: names, the order in which they are given, threads.
#include <algorithm>
#include <condition_variable>
#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <new>
#include <set>
#include <system_error>
#include <thread>
#include <utility>

#include <tbtrace/convert.h>

#include "converters/convert_trace.h"
#include "converters/input_search.h"
#include "converters/model_rows.h"
#include "converters/run_staging.h"
#include "dialects/row_writer.h"
#include "io/sink.h"
#include "writers/log_file_name.h"

namespace tbtrace {
namespace {

using converters::RunStaging;
using converters::TraceConverter;

std::string run_name(const std::string& wanted) {
  std::string run;
  for (const std::filesystem::path& part : std::filesystem::path(wanted)) {
    if (part.empty() || part == "/" || part == ".") continue;
    if (!run.empty()) run += '/';
    run += writers::safe_name(part.string());
  }
  return run.empty() ? "traces" : run;
}

std::string default_worker(const std::string& input, const TraceIdentity& identity) {
  if (input == "-") return "stdin";
  const std::string base = std::filesystem::path(input).filename().string();
  if (const auto name = writers::parse_plugin_name(base)) return name->worker;
  if (!identity.host.empty() && identity.rank) {
    return identity.host + "_" + std::to_string(*identity.rank);
  }
  return writers::trace_stem(base);
}

Result<std::unique_ptr<io::ByteSink>> open_sink(const std::string& path, bool use_gzip,
                                                bool overwrite) {
  Result<std::unique_ptr<io::ByteSink>> sink = io::create_file(path, overwrite);
  if (!sink.ok() || !use_gzip) return sink;
  return io::gzip_sink(*std::move(sink));
}

std::int64_t span_of(const Trace& trace) {
  return std::max<std::int64_t>(0, dialects::unix_ns(trace, trace.window_start_ns()));
}

std::uint64_t size_of(const std::string& path) {
  std::error_code error;
  const std::uintmax_t size = std::filesystem::file_size(path, error);
  return error ? 0 : size;
}

std::string path_of(const std::string& directory, const LogFile& file, const std::string& name) {
  return (std::filesystem::path(directory) / file.run / name).string();
}

Status out_of_memory() {
  return {
      StatusCode::unreadable_input,
      "needs more memory than there is; convert fewer at a time with -j, or on a larger machine"};
}

class Batch {
 public:
  Batch(std::vector<converters::FoundInput> found, std::string directory, RunStaging& staging,
        const ConvertOptions& options)
      : found_(std::move(found)),
        directory_(std::move(directory)),
        staging_(staging),
        options_(options) {
    results_.resize(found_.size());
    for (std::size_t input = 0; input < found_.size(); ++input) {
      results_[input].input = found_[input].path;
      results_[input].file.run =
          run_name(options_.log.run.empty() ? found_[input].run : options_.log.run);
      ++left_of_run_[results_[input].file.run];
    }
  }

  Conversion run(int threads) {
    if (options_.on_progress) options_.on_progress(0, found_.size());
    const auto most = std::min<std::size_t>(static_cast<std::size_t>(threads), found_.size());
    // Several inputs take a thread each; a single one is read with all of them.
    reading_threads_ = found_.size() == 1 ? threads : 1;
    {
      std::vector<std::jthread> others;
      try {
        for (std::size_t thread = 1; thread < most; ++thread)
          others.emplace_back([this] { work(); });
      } catch (const std::system_error&) {
        // The system gives no more threads; those that there are do the work.
      }
      work();
    }
    // What was written before it was stopped shall be seen.
    for (const auto& [run, left] : left_of_run_) {
      if (left > 0) finish(run);
    }
    Conversion conversion;
    conversion.inputs = std::move(results_);
    conversion.failed_runs = std::move(failed_runs_);
    return conversion;
  }

 private:
  void work() {
    for (;;) {
      std::size_t input = 0;
      {
        const std::lock_guard lock(mutex_);
        if (stopped_ || next_ == found_.size()) return;
        input = next_++;
      }
      ConvertedInput& result = results_[input];
      result.status = convert(input, result);
      if (!result.status.ok()) result.state = ConvertedInput::State::failed;
      done(input);
    }
  }

  Result<std::unique_ptr<TraceConverter>> open(std::size_t input) const {
    if (!found_[input].problem.ok()) return found_[input].problem;
    try {
      return TraceConverter::open(found_[input].path, {.dialect = options_.log.dialect,
                                                       .infer_steps = options_.log.infer_steps,
                                                       .strict = options_.strict,
                                                       .threads = reading_threads_});
    } catch (const std::bad_alloc&) {
      return out_of_memory();
    }
  }

  Status convert(std::size_t input, ConvertedInput& result) {
    Result<std::unique_ptr<TraceConverter>> converter = open(input);
    std::string name;
    {
      // Names are given in the order of the inputs, so that they do not depend on threads.
      std::unique_lock lock(mutex_);
      turn_.wait(lock, [&] { return next_to_name_ == input; });
      if (converter.ok()) name = give_name(**converter, result);
      ++next_to_name_;
      turn_.notify_all();
    }
    if (!converter.ok()) return converter.status();
    result.ranges = (*converter)->trace().events().size();
    result.issues = (*converter)->issues();
    result.file.path = path_of(directory_, result.file, name);
    // The plugin takes a file and its compressed twin for one.
    const std::string twin =
        writers::log_file_name(result.file.worker, result.file.span, !options_.log.use_gzip);
    const bool has_twin = staging_.exists(result.file.run, twin);
    if (options_.skip_existing && (has_twin || staging_.exists(result.file.run, name))) {
      result.state = ConvertedInput::State::skipped;
      return {};
    }
    if (has_twin && !options_.log.overwrite) {
      return {StatusCode::unwritable_output,
              result.file.run + "/" + twin +
                  " exists already; --overwrite replaces it, --skip-existing leaves it"};
    }
    const Result<std::string> place = staging_.place(result.file.run, name);
    if (!place.ok()) return place.status();
    Result<std::unique_ptr<io::ByteSink>> sink =
        open_sink(*place, options_.log.use_gzip, options_.log.overwrite);
    if (!sink.ok()) return sink.status();
    Result<Changes> changes = write(**converter, **sink);
    if (!changes.ok()) return changes.status();
    result.file.changes = *std::move(changes);
    result.file.bytes = size_of(*place);
    std::error_code error;
    if (has_twin) std::filesystem::remove(path_of(directory_, result.file, twin), error);
    result.state = ConvertedInput::State::written;
    return {};
  }

  static Result<Changes> write(TraceConverter& converter, io::ByteSink& sink) {
    try {
      return converter.write(sink);
    } catch (const std::bad_alloc&) {
      return out_of_memory();
    }
  }

  std::string give_name(const TraceConverter& converter, ConvertedInput& result) {
    LogFile& file = result.file;
    file.span = span_of(converter.trace());
    const std::string wanted = writers::worker_name(
        options_.log.worker.empty() ? default_worker(result.input, converter.trace().identity())
                                    : options_.log.worker);
    for (int number = 1;; ++number) {
      file.worker = number == 1 ? wanted : writers::numbered_worker(wanted, number);
      std::string name = writers::log_file_name(file.worker, file.span, options_.log.use_gzip);
      const std::string key =
          file.run + "/" + writers::log_file_name(file.worker, file.span, false);
      if (names_.insert(key).second) return name;
    }
  }

  void done(std::size_t input) {
    const std::lock_guard lock(mutex_);
    ConvertedInput& result = results_[input];
    ++done_;
    if (options_.fail_fast && !result.status.ok()) stopped_ = true;
    if (options_.on_input) options_.on_input(result);
    if (--left_of_run_[result.file.run] == 0) finish(result.file.run);
    if (options_.on_progress) options_.on_progress(done_, found_.size());
  }

  /// Makes a run visible. If that fails, so have its inputs.
  void finish(const std::string& run) {
    const Status finished = staging_.finish(run);
    if (finished.ok()) return;
    for (ConvertedInput& result : results_) {
      if (result.file.run != run || result.state != ConvertedInput::State::written) continue;
      result.state = ConvertedInput::State::failed;
      result.status = finished;
    }
    failed_runs_.push_back({run, finished});
  }

  std::vector<converters::FoundInput> found_;
  std::string directory_;
  RunStaging& staging_;
  const ConvertOptions& options_;
  int reading_threads_ = 1;
  std::vector<ConvertedInput> results_;

  std::mutex mutex_;  // guards what follows
  std::condition_variable turn_;
  std::size_t next_ = 0;
  std::size_t next_to_name_ = 0;
  std::size_t done_ = 0;
  bool stopped_ = false;
  std::map<std::string, std::size_t> left_of_run_;
  std::set<std::string> names_;
  std::vector<std::pair<std::string, Status>> failed_runs_;
};

}  // namespace

Result<Conversion> convert_to_log_directory(const std::vector<std::string>& inputs,
                                            const std::string& directory,
                                            const ConvertOptions& options) {
  converters::Inputs found = converters::find_inputs(inputs, directory);
  Result<std::unique_ptr<RunStaging>> staging = RunStaging::open(
      directory, {.overwrite = options.log.overwrite, .resume = options.skip_existing});
  if (!staging.ok()) return staging.status();
  const int threads = options.threads > 0
                          ? options.threads
                          : std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
  Conversion conversion = Batch(std::move(found.files), directory, **staging, options).run(threads);
  conversion.passed_over = std::move(found.passed_over);
  return conversion;
}

Result<Changes> write_chrome_trace(const Trace& trace, const std::string& path,
                                   const ChromeTraceOptions& options) {
  Result<std::unique_ptr<io::ByteSink>> sink =
      open_sink(path, path.ends_with(".gz"), options.overwrite);
  if (!sink.ok()) return sink.status();
  dialects::RowWriter writer(trace, options.dialect, options.infer_steps);
  if (Status written = converters::write_model_rows(trace, writer, **sink); !written.ok()) {
    return written;
  }
  if (Status closed = (*sink)->close(); !closed.ok()) return closed;
  return writer.changes();
}

Result<LogFile> write_log_directory(const Trace& trace, const std::string& directory,
                                    const LogDirectoryOptions& options) {
  LogFile file;
  file.run = run_name(options.run);
  const TraceIdentity identity = trace.identity();
  file.worker = writers::worker_name(options.worker.empty() ? default_worker("trace", identity)
                                                            : options.worker);
  file.span = span_of(trace);
  const std::string name = writers::log_file_name(file.worker, file.span, options.use_gzip);
  file.path = path_of(directory, file, name);
  // A single file is complete when it appears; no staging is needed.
  std::error_code error;
  std::filesystem::create_directories(std::filesystem::path(file.path).parent_path(), error);
  if (error) {
    return Status(StatusCode::unwritable_output, "cannot make the directory of " + file.path +
                                                     ": " + error.message() + "; name another one");
  }
  Result<std::unique_ptr<io::ByteSink>> sink =
      open_sink(file.path, options.use_gzip, options.overwrite);
  if (!sink.ok()) return sink.status();
  dialects::RowWriter writer(trace, options.dialect, options.infer_steps);
  if (Status written = converters::write_model_rows(trace, writer, **sink); !written.ok()) {
    return written;
  }
  if (Status closed = (*sink)->close(); !closed.ok()) return closed;
  file.bytes = size_of(file.path);
  file.changes = writer.changes();
  return file;
}

}  // namespace tbtrace
