#include <algorithm>
#include <filesystem>
#include <memory>
#include <system_error>
#include <utility>

#include <tbtrace/recover.h>

#include "inputs/log_file_name.h"
#include "io/remedies.h"
#include "live/log_file.h"
#include "live/recorded_window.h"
#include "recorder/journal/claim.h"
#include "recorder/journal/journal.h"
#include "recorder/journal/restore.h"
#include "recorder/window/window.h"

namespace tbtrace {

namespace {

namespace journal = recorder::journal;
namespace fs = std::filesystem;

std::string worker_of(const journal::RestoredJournal& restored, const RecoverOptions& options) {
  return inputs::worker_name(options.worker_name.empty()
                                 ? restored.host + "_" + std::to_string(restored.process)
                                 : options.worker_name);
}

RecoveredWindow recover_window(const journal::RestoredWindow& restored, const std::string& worker,
                               const RecoverOptions& options) {
  RecoveredWindow recovered;
  recovered.was_open = restored.was_open;
  recovered.lost_records = restored.recording->lost();
  double last_seconds = options.last_seconds;
  if (last_seconds > 0) {
    const recorder::OtherProcess& process = *restored.recording->other_process();
    last_seconds -=
        static_cast<double>(process.last_sign_ns - restored.recording->ended().unix_ns) * 1e-9;
    if (last_seconds <= 0) return recovered;
  }
  auto written = live::write_recovered(
      restored.recording,
      {.directory = options.output, .worker = worker, .time_ns = 0, .use_gzip = options.use_gzip},
      options.dialect, {.last_seconds = last_seconds, .steps = options.steps}, options.overwrite);
  if (!written.ok()) {
    recovered.status = written.status();
    return recovered;
  }
  recovered.path = std::move(written->path);
  recovered.was_there = written->was_there;
  recovered.start_ns = written->start_ns;
  recovered.end_ns = written->end_ns;
  recovered.unfinished_ranges = written->unfinished_ranges;
  return recovered;
}

RecoveredJournal recover_journal(const fs::path& folder, const RecoverOptions& options) {
  RecoveredJournal recovered;
  recovered.folder = folder.string();
  // A lock that this process has would be released by closing the file it looks into.
  if (journal::is_open_here(folder)) {
    recovered.is_in_use = true;
    return recovered;
  }
  const journal::Claim claim(folder);
  if (!claim.is_ours()) {
    recovered.is_in_use = true;
    return recovered;
  }
  Result<journal::RestoredJournal> restored = journal::restore_journal(folder);
  if (!restored.ok()) {
    recovered.status = restored.status();
    return recovered;
  }
  recovered.process_id = restored->process;
  recovered.host = restored->host;
  recovered.unreadable_chunks = restored->unreadable_chunks;
  recovered.unwritten_bytes = restored->unchecked_words * sizeof(std::uint64_t);
  const std::string worker = worker_of(*restored, options);
  for (const journal::RestoredWindow& window : restored->windows) {
    recovered.windows.push_back(recover_window(window, worker, options));
  }
  const bool are_written =
      std::all_of(recovered.windows.begin(), recovered.windows.end(),
                  [](const RecoveredWindow& window) { return window.status.ok(); });
  if (options.remove && are_written && recovered.unreadable_chunks == 0) {
    journal::remove_journal(folder);
    recovered.was_removed = true;
  }
  return recovered;
}

}  // namespace

Result<Recovery> recover(const std::string& directory, const RecoverOptions& options) {
  std::error_code error;
  if (!fs::is_directory(directory, error)) {
    return Status(StatusCode::unreadable_input,
                  directory + ": " + (error ? error.message() : "this is not a directory") +
                      "; give the directory that a recording had as its journal");
  }
  const std::vector<fs::path> folders = journal::journals_in(directory);
  if (folders.empty()) {
    return Status(
        StatusCode::unreadable_input,
        directory + ": there is no journal; a recording that ended as it should leaves none");
  }
  fs::create_directories(options.output, error);
  if (error && !fs::is_directory(options.output)) {
    return Status(StatusCode::unwritable_output, options.output + ": " + error.message() + "; " +
                                                     std::string(io::kChooseWritablePlace));
  }
  Recovery recovery;
  for (const fs::path& folder : folders) {
    recovery.journals.push_back(recover_journal(folder, options));
  }
  return recovery;
}

}  // namespace tbtrace
