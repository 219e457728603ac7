#include "libtorch/profile/results.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <new>
#include <system_error>
#include <utility>

#include <unistd.h>

#include "base/host_name.h"
#include "inputs/log_file_name.h"
#include "io/remedies.h"
#include "live/recorded_window.h"
#include "wire/json_index.h"
#include "writers/events/messages.h"

namespace tbtrace::libtorch {

namespace {

std::string default_worker() { return host_name() + "_" + std::to_string(::getpid()); }

/// The time of day in ns, another one at each call.
std::int64_t unused_time_ns() {
  static std::atomic<std::int64_t> last = 0;
  const std::int64_t now = std::chrono::duration_cast<std::chrono::nanoseconds>(
                               std::chrono::system_clock::now().time_since_epoch())
                               .count();
  std::int64_t before = last.load();
  while (!last.compare_exchange_weak(before, std::max(now, before + 1))) {
  }
  return std::max(now, before + 1);
}

/// Also where memory runs out.
struct CountsUnlessWritten {
  std::atomic<std::uint64_t>& count;
  const recorder::Recording& recording;
  bool is_written = false;

  ~CountsUnlessWritten() {
    if (is_written) {
      recording.forget_journal();
    } else {
      ++count;
      recording.keep_journal();
    }
  }
};

}  // namespace

Results::Results(std::function<void(std::string_view)> warn, std::size_t most_waiting_bytes)
    : warn_(std::move(warn)), exports_(warn_, most_waiting_bytes) {
  // simdjson makes objects when it is first used, which the end of the program destroys. Made now,
  // they outlast the exports that the end of the program waits for.
  static_cast<void>(wire::JsonIndex().build("[]"));
}

Results::~Results() { finish(); }

void Results::finish() {
  try {
    finish_summaries();
    exports_.wait_until_done();
    warn_of_losses();
  } catch (...) {
    // The listener threw.
  }
}

void Results::finish_summaries() {
  try {
    while (!summaries_.empty()) finish_oldest_summaries();
  } catch (const std::bad_alloc&) {
    warn_("there is not enough memory for the last window's summaries, so they were left out");
  }
}

bool Results::wait_until(recorder::Deadline deadline) {
  bool are_done = true;
  if (!deadline) {
    exports_.wait_until_done();
  } else if (!exports_.wait_until(*deadline)) {
    are_done = false;
    warn_("the program ends before all windows are written; set process.exit_timeout higher");
  }
  warn_of_losses();
  return are_done;
}

/// Each loss was told when it happened; the files before the last losses say less.
void Results::warn_of_losses() {
  const std::uint64_t lost = losses_->windows.load();
  const std::uint64_t stated = losses_->stated.exchange(lost);
  if (lost == stated || lost == 1) return;
  std::string sentence =
      std::to_string(lost) +
      " windows have no log file, since they were dropped or could not be written";
  if (stated > 0) sentence += "; the last log file says " + std::to_string(stated);
  warn_(sentence);
}

void Results::add(Recording recording, bool lacks_rows) {
  lacks_rows_ = lacks_rows && (lacks_rows_ || recordings_.empty());
  recordings_.push_back(std::move(recording));
  last_trace_.reset();
}

void Results::warn_of_missing_rows() {
  if (!lacks_rows_ || std::exchange(warned_of_missing_rows_, true)) return;
  warn_(
      "nothing ran on the thread that was recorded; what other threads run is recorded with "
      "all_threads = true, or where at::ThreadLocalState carries the profiler to them");
}

void Results::clear() {
  recordings_.clear();
  traces_.clear();
  last_trace_.reset();
}

std::vector<const Trace*> Results::traces() {
  if (recordings_.empty()) warn_("nothing was recorded yet");
  warn_of_missing_rows();
  while (traces_.size() < recordings_.size()) {
    Result<Trace> trace = live::read_recording(recordings_[traces_.size()]);
    if (!trace.ok()) {
      warn_(trace.status().message());
      return {};
    }
    if (trace->metadata().contains("tbtrace_unreadable_chunks")) {
      warn_(
          "records are missing, since the program wrote over the memory that they were in; look "
          "for writes out of bounds, for instance with AddressSanitizer");
    }
    traces_.push_back(*std::move(trace));
  }
  std::vector<const Trace*> all;
  for (const Trace& trace : traces_) all.push_back(&trace);
  return all;
}

std::shared_ptr<const Trace> Results::last_trace() {
  if (last_trace_ != nullptr) return last_trace_;
  const Result<Recording> recording = last();
  Result<Trace> trace =
      recording.ok()
          ? live::read_recording(*recording, {.arguments = ArgumentSet::all(), .overloads = false})
          : Result<Trace>(recording.status());
  if (!trace.ok()) {
    warn_(trace.status().message());
    return nullptr;
  }
  last_trace_ = std::make_shared<const Trace>(*std::move(trace));
  return last_trace_;
}

Result<Results::Recording> Results::last() {
  if (recordings_.empty()) return Status(StatusCode::invalid_argument, "nothing was recorded yet");
  warn_of_missing_rows();
  return recordings_.back();
}

Results::Recording Results::take_last() {
  Recording last = std::move(recordings_.back());
  clear();
  return last;
}

void Results::export_in_background(const std::string& directory,
                                   const TensorboardOptions& options) {
  const auto recording = last();
  if (!recording.ok()) {
    warn_(recording.status().message() + ", so no log file is written");
    return;
  }
  const std::string worker =
      inputs::worker_name(options.worker_name.empty() ? default_worker() : options.worker_name);
  live::LogFileName name{.directory = directory,
                         .worker = worker,
                         .time_ns = unused_time_ns(),
                         .use_gzip = options.use_gzip};
  if (options.run_per_window) {
    name.directory =
        (std::filesystem::path(directory) / (worker + "_" + std::to_string(++windows_exported_)))
            .string();
  }
  const auto bytes = [window = std::weak_ptr(*recording)]() -> std::size_t {
    const Recording kept = window.lock();
    return kept == nullptr ? 0 : kept->bytes();
  };
  auto job = [recording = *recording, name = std::move(name), dialect = options.dialect,
              summaries = options.summaries ? summaries(directory, worker) : nullptr,
              losses = losses_, stated = stated_losses_] {
    CountsUnlessWritten written_or_lost{losses->windows, *recording};
    std::error_code error;
    std::filesystem::create_directories(name.directory, error);
    if (error && !std::filesystem::is_directory(name.directory)) {
      return Status(StatusCode::unwritable_output, "Can't create directory: " + name.directory +
                                                       " (" + error.message() + "); " +
                                                       std::string(io::kChooseWritablePlace));
    }
    const auto written = live::write_log_file(recording, name, dialect, summaries.get());
    if (!written.ok()) return written.status();
    written_or_lost.is_written = true;
    losses->stated = stated;
    return written->summaries;
  };
  if (exports_.add(std::move(job), bytes)) return;
  ++losses_->windows;
  (*recording)->keep_journal();
  warn_("a window was dropped, since the ones before it still wait for being written and take " +
        std::to_string(exports_.bytes() >> 20) +
        " MiB; record shorter windows or fewer of them, write to a faster disk, or set "
        "process.export_queue_bytes higher");
}

void Results::recover(const std::string& journals, const std::function<void(Profiler&)>& handler) {
  std::error_code error;
  if (!std::filesystem::is_directory(journals, error))
    return;  // the first journal in it is to come
  const auto* const tensorboard = handler.target<TensorboardHandler>();
  if (tensorboard == nullptr) return;
  RecoverOptions options{.output = tensorboard->directory,
                         .worker_name = {},
                         .use_gzip = tensorboard->options.use_gzip,
                         .dialect = tensorboard->options.dialect,
                         .remove = true};
  exports_.add([this, journals, options = std::move(options)] {
    const Result<Recovery> recovery = tbtrace::recover(journals, options);
    if (!recovery.ok()) return Status();  // there is none
    for (const RecoveredJournal& journal : recovery->journals) tell_of(journal);
    return Status();
  });
}

void Results::tell_of(const RecoveredJournal& journal) {
  if (journal.is_in_use) return;
  const std::string process =
      "process " + std::to_string(journal.process_id) + " on " + journal.host;
  if (!journal.status.ok()) {
    warn_("a journal cannot be recovered: " + journal.status.message());
  }
  for (const RecoveredWindow& window : journal.windows) {
    if (!window.status.ok()) {
      warn_("a window that " + process + " left cannot be written: " + window.status.message() +
            "; it stays in " + journal.folder);
      continue;
    }
    warn_("recovered what " + process + " left when it ended" +
          (window.was_open ? " in the middle of a window" : " before a window was written") + ": " +
          window.path);
  }
  if (journal.unreadable_chunks > 0) {
    const bool is_one = journal.unreadable_chunks == 1;
    warn_(std::to_string(journal.unreadable_chunks) +
          (is_one ? " part of the recording of " : " parts of the recording of ") + process +
          (is_one ? " is damaged, and its records are missing"
                  : " are damaged, and their records are missing") +
          "; its journal stays in " + journal.folder);
  }
}

std::shared_ptr<live::RecordedSummaries> Results::summaries(const std::string& directory,
                                                            const std::string& worker) {
  if (const Status can = writers::can_write_events(); !can.ok()) {
    if (!std::exchange(told_of_no_summaries_, true)) {
      warn_("windows have no summaries: " + can.message());
    }
    return nullptr;
  }
  constexpr std::size_t kMostOpen = 4;  // two files each
  for (const OpenSummaries& open : summaries_) {
    const bool is_it = open.directory == directory && open.worker == worker;
    if (is_it && !open.summaries->is_forked()) return open.summaries;
  }
  if (summaries_.size() == kMostOpen) finish_oldest_summaries();
  summaries_.push_back(
      {directory, worker, std::make_shared<live::RecordedSummaries>(directory, worker)});
  return summaries_.back().summaries;
}

void Results::finish_oldest_summaries() {
  const std::shared_ptr<live::RecordedSummaries> oldest = std::move(summaries_.front().summaries);
  summaries_.pop_front();
  if (!oldest->is_forked()) exports_.add([oldest] { return oldest->finish(); });
}

}  // namespace tbtrace::libtorch
