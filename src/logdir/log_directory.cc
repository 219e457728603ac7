// Implements <tbtrace/convert.h>.
#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <system_error>
#include <utility>

#include <tbtrace/convert.h>

#include "base/threads.h"
#include "chrome/convert/write_model_rows.h"
#include "chrome/plugin/row_writer.h"
#include "chrome/rows/model_rows.h"
#include "inputs/log_file_name.h"
#include "inputs/search.h"
#include "io/folder_lock.h"
#include "io/sink.h"
#include "logdir/batch.h"
#include "logdir/log_files.h"
#include "logdir/run_staging.h"
#include "logdir/summary_run.h"
#include "writers/events/event_file.h"
#include "writers/events/messages.h"

namespace tbtrace {
namespace {

namespace fs = std::filesystem;

Result<std::unique_ptr<io::ByteSink>> open_sink(const std::string& path, bool use_gzip,
                                                const io::FileOptions& options) {
  Result<std::unique_ptr<io::ByteSink>> sink = io::create_file(path, options);
  if (!sink.ok() || !use_gzip) return sink;
  return io::gzip_sink(*std::move(sink));
}

Result<Changes> write_rows(const Trace& trace, io::ByteSink& sink, Dialect dialect,
                           bool infer_steps) {
  Result<Changes> changes = chrome::write_model_rows(trace, dialect, infer_steps, sink);
  if (!changes.ok()) return changes;
  if (Status closed = sink.close(); !closed.ok()) return closed;
  return changes;
}

Status make_folder(const fs::path& folder) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (!error) return {};
  return {StatusCode::unwritable_output, "cannot create the directory " + folder.string() + ": " +
                                             error.message() + "; name another one"};
}

LogFile named_file(const Trace& trace, const LogDirectoryOptions& options) {
  LogFile file;
  file.run = logdir::run_name(options.run);
  file.worker = logdir::wanted_worker("trace", trace.identity(), options);
  file.span = chrome::span_ns(trace);
  return file;
}

Result<LogFile> finished(LogFile file, Result<Changes> changes, const std::string& written_to) {
  if (!changes.ok()) return changes.status();
  file.changes = *std::move(changes);
  std::error_code error;
  const std::uintmax_t bytes = fs::file_size(written_to, error);
  file.bytes = error ? 0 : bytes;
  file.written = true;
  return file;
}

LogFile named_log_file(const Trace& trace, const std::string& directory,
                       const LogDirectoryOptions& options) {
  LogFile file = named_file(trace, options);
  file.path = (fs::path(directory) / file.run /
               inputs::log_file_name(file.worker, file.span, options.use_gzip))
                  .string();
  return file;
}

Result<LogFile> write_log_file(const Trace& trace, const std::string& directory,
                               const LogDirectoryOptions& options) {
  LogFile file = named_log_file(trace, directory, options);
  // A single file is complete when it appears; no staging is needed.
  if (Status made = make_folder(fs::path(file.path).parent_path()); !made.ok()) return made;
  Result<std::unique_ptr<io::ByteSink>> sink =
      open_sink(file.path, options.use_gzip, {.overwrite = options.overwrite, .durable = true});
  if (!sink.ok()) return sink.status();
  return finished(file, write_rows(trace, **sink, options.dialect, options.infer_steps), file.path);
}

Result<Changes> write_window(const logdir::SummaryWindow& window, const std::string& place) {
  Result<std::unique_ptr<io::ByteSink>> sink =
      io::create_file(place, {.overwrite = true, .durable = true});
  if (!sink.ok()) return sink.status();
  return window.write(**sink, true);
}

Result<LogFile> write_event_file(const Trace& trace, const std::string& directory,
                                 const LogDirectoryOptions& options) {
  LogFile file = named_file(trace, options);
  const fs::path folder = fs::path(directory) / logdir::event_folder(file.run, file.worker);
  if (Status made = make_folder(folder); !made.ok()) return made;
  const Result<std::unique_ptr<io::FolderLock>> lock = io::FolderLock::try_lock(folder);
  if (!lock.ok()) return lock.status();
  if (*lock == nullptr) {
    return Status(StatusCode::unwritable_output,
                  "another program is writing to " + folder.string() +
                      "; wait until it has ended, or name another worker");
  }
  logdir::SummaryRun run(writers::event_files(folder));
  std::string name = run.name(file.worker, file.span);
  std::error_code error;
  if (!options.overwrite && fs::exists(folder / name, error)) {
    return Status(StatusCode::output_exists, (folder / name).string() + " exists already");
  }
  logdir::SummaryWindow window(trace, options.infer_steps);
  const std::string replaced = std::exchange(name, window.take_place(run, file.worker, file.span));
  // TensorBoard would read the unfinished file, too, if it were named like an event file.
  const fs::path unfinished = folder / "summaries.partial";
  Result<LogFile> written =
      finished(file, write_window(window, unfinished.string()), unfinished.string());
  if (!written.ok()) return written;
  written->path = (folder / name).string();
  fs::rename(unfinished, written->path, error);
  if (error) {
    return Status(StatusCode::unwritable_output,
                  "cannot create " + written->path + ": " + error.message());
  }
  if (replaced != name) fs::remove(folder / replaced, error);
  fs::remove(folder / logdir::details_file_name(replaced), error);
  return written;
}

/// The part of a format that this build can write; a failure if there is none.
Result<LogFormat> possible_format(LogFormat wanted) {
  const Status events = writers::can_write_events();
  if (events.ok()) return wanted;
  if (wanted == LogFormat::event_files) return events;
  return LogFormat::plugin;
}

}  // namespace

Result<Conversion> convert_to_log_directory(const std::vector<std::string>& inputs,
                                            const std::string& directory,
                                            const ConvertOptions& options) {
  const Result<LogFormat> format = possible_format(options.log.format);
  if (!format.ok()) return format.status();
  ConvertOptions possible = options;
  possible.log.format = *format;
  inputs::Inputs found = inputs::find_inputs(inputs, directory);
  Result<std::unique_ptr<logdir::RunStaging>> staging = logdir::RunStaging::open(
      directory, {.overwrite = options.log.overwrite, .resume = options.skip_existing});
  if (!staging.ok()) return staging.status();
  const logdir::LogFiles files(logdir::log_kinds(**staging, possible), possible);
  Conversion conversion = logdir::Batch(found.files, directory, **staging, files, possible)
                              .run(thread_count(options.threads));
  conversion.directory = directory;
  conversion.passed_over = std::move(found.passed_over);
  conversion.leftovers = (*staging)->leftovers();
  return conversion;
}

Result<Changes> write_chrome_trace(const Trace& trace, const std::string& path,
                                   const ChromeTraceOptions& options) {
  Result<std::unique_ptr<io::ByteSink>> sink =
      open_sink(path, path.ends_with(".gz"), {.overwrite = options.overwrite});
  if (!sink.ok()) return sink.status();
  return write_rows(trace, **sink, options.dialect, options.infer_steps);
}

Result<Changes> write_chrome_trace(const Trace& trace, std::ostream& stream,
                                   const ChromeTraceOptions& options) {
  return write_rows(trace, *io::stream_sink(stream), options.dialect, options.infer_steps);
}

Result<std::vector<LogFile>> write_log_directory(const Trace& trace, const std::string& directory,
                                                 const LogDirectoryOptions& options) {
  const Result<LogFormat> format = possible_format(options.format);
  if (!format.ok()) return format.status();
  std::vector<LogFile> files;
  if (*format != LogFormat::plugin) {
    // Write neither if the other one cannot be written.
    if (*format == LogFormat::both) {
      const std::string path = named_log_file(trace, directory, options).path;
      if (Status made = make_folder(fs::path(path).parent_path()); !made.ok()) return made;
      if (Status place = io::check_place(path, options.overwrite); !place.ok()) return place;
    }
    Result<LogFile> file = write_event_file(trace, directory, options);
    if (!file.ok()) return file.status();
    files.push_back(*std::move(file));
  }
  if (*format != LogFormat::event_files) {
    Result<LogFile> file = write_log_file(trace, directory, options);
    if (!file.ok()) return file.status();
    files.push_back(*std::move(file));
  }
  return files;
}

}  // namespace tbtrace
