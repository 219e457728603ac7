// Recordings that outlast their process: all that threads record is in files from the moment on
// that it is recorded, and leaves memory as soon as it is full there.
// A journal is a folder of one process. Any thread. Windows keep their journal; its own thread
// keeps slots ready, notes that the process is alive and how much of each slot is whole.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>

#include <tbtrace/status.h>

#include "recorder/journal/definitions.h"
#include "recorder/journal/layout.h"
#include "recorder/journal/segment_files.h"
#include "recorder/journal/slots.h"
#include "recorder/log/window_journal.h"

namespace tbtrace::recorder::journal {

struct JournalOptions {
  SlotLimits slots = {};
  /// How often the journal's own thread calls look_after(). 0: it has no thread, and the caller of
  /// open() has to call look_after().
  std::chrono::milliseconds heartbeat{50};
  /// Has what was recorded outlast the machine's end, too, but for what is newer than this; 0: not.
  std::chrono::milliseconds sync{0};
  /// Hears, on the journal's thread, what goes wrong: each sentence once.
  std::function<void(std::string_view)> warn = {};
};

/// That a journal of this process is in the folder, or is about to be: nobody recovers it here.
class FolderHere {
 public:
  explicit FolderHere(std::filesystem::path folder);
  FolderHere(const FolderHere&) = delete;
  FolderHere& operator=(const FolderHere&) = delete;
  ~FolderHere();

  const std::filesystem::path& path() const { return path_; }

 private:
  const std::filesystem::path path_;
};

class Journal : public std::enable_shared_from_this<Journal> {
 public:
  using Clock = std::chrono::steady_clock;

  /// In a new folder in `directory`, which is made.
  static Result<std::shared_ptr<Journal>> open(const std::filesystem::path& directory,
                                               JournalOptions options);
  /// `files` may be anywhere.
  static Result<std::shared_ptr<Journal>> open_in(std::unique_ptr<SegmentFiles> files,
                                                  JournalOptions options,
                                                  std::unique_ptr<FolderHere> folder = nullptr);
  Journal(const Journal&) = delete;
  Journal& operator=(const Journal&) = delete;
  ~Journal();

  /// For one recording. Null where there is no room for it.
  std::shared_ptr<WindowJournal> new_window();
  /// For the end of all recordings in it: removes the files, unless there is a window in them that
  /// could not be written elsewhere. Not to be called by what `warn` calls.
  void end();

  /// Does what is due: makes slots ready, writes a heartbeat, marks how much of each slot is whole,
  /// and syncs the files. Returns false if there is no room for more slots. One thread at a time.
  bool look_after(Clock::time_point now);

  const std::filesystem::path& path() const { return path_; }
  /// Whether end() leaves the files, since a window in them could not be written elsewhere.
  bool has_kept() const { return has_kept_.load(); }

 private:
  friend class JournaledWindow;
  friend class JournaledLog;

  Journal(std::unique_ptr<SegmentFiles> files, JournalOptions options,
          std::unique_ptr<FolderHere> folder);

  Status begin();
  void run();
  void beat();
  void warn_once(const std::string& sentence);
  bool is_of_this_process() const;
  void want_slots();
  std::atomic<std::uint64_t>* losses_of(std::uint64_t window);
  void add_process_name(NameNumber number, const Name& name);

  std::unique_ptr<FolderHere> folder_;  // until the files are removed, or left to others
  const std::filesystem::path path_;
  std::unique_ptr<SegmentFiles> files_;
  const JournalOptions options_;
  Slots slots_;
  Head* head_ = nullptr;
  const std::uint64_t forks_;
  std::atomic<std::uint64_t> windows_ = kProcessWindow;
  std::atomic<bool> has_kept_ = false;
  std::uint64_t beats_ = 0;
  Clock::time_point synced_ = Clock::now();
  std::string warned_;

  std::mutex definitions_mutex_;
  std::unique_ptr<ThreadLog> definitions_;

  std::mutex mutex_;  // what follows
  std::condition_variable changed_;
  bool is_ending_ = false;

  std::mutex end_mutex_;  // what follows
  bool is_removed_ = false;
  std::thread thread_;
};

/// Whether a journal of this process is in the folder.
bool is_open_here(const std::filesystem::path& folder);

}  // namespace tbtrace::recorder::journal
