// Queues events for the files of one or several runs; a thread writes them.
// A SummaryQueue owns the files and the thread. Any thread may call everything except the
// destructor.
// A failing file system does not block callers: events wait for the next attempt while there is
// room, after that they are dropped and counted, and status() says why. In a forked process all
// events are dropped, because it does not have the writing thread.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <unordered_set>
#include <vector>

#include <tbtrace/status.h>
#include <tbtrace/summary_writer.h>

#include "io/append_file.h"
#include "writers/events/event_file.h"
#include "writers/events/messages.h"

namespace tbtrace::writers {

struct SummaryQueueOptions {
  std::size_t max_events = 10'000;
  std::size_t max_bytes = std::size_t{64} << 20;
  double flush_secs = 120;
  WhenFull when_full = WhenFull::block;
  std::string filename_suffix = {};
  std::optional<std::int64_t> purge_step = std::nullopt;
  io::AppendFileMaker make_file = io::create_append_file;
};

class SummaryQueue {
 public:
  explicit SummaryQueue(SummaryQueueOptions options);
  SummaryQueue(const SummaryQueue&) = delete;
  SummaryQueue& operator=(const SummaryQueue&) = delete;
  /// close(), except in a forked process, where waiting for the thread would never end.
  ~SummaryQueue();

  bool is_forked() const;

  /// The index of a directory's run. Creates its file now, or after close() with the next event.
  std::size_t run(const std::string& directory);

  /// Adds a value to the run with that index.
  void add_scalar(std::size_t number, SummaryMoment moment, std::string_view tag, float value);
  /// `event` is an encoded message.
  void add(std::size_t number, std::string_view event);
  /// `records` hold `events` events, all that the run will ever have; then its file is closed.
  void add_whole(std::size_t number, std::string_view records, std::size_t events);

  Status flush();
  Status close();
  Status status() const;
  std::uint64_t dropped() const { return dropped_; }

 private:
  struct Run {
    std::string directory;
    std::unique_ptr<EventFile> file;
    bool refused = false;    // the file cannot be created, until close()
    bool whole = false;      // no more events will follow
    bool purged = false;     // done in an earlier file of this writer
    std::string queued;      // records to write
    std::size_t events = 0;  // number of events in them
    std::string writing;     // records that the thread is writing
    struct Hash : std::hash<std::string_view> {
      using is_transparent = void;
    };
    std::unordered_set<std::string, Hash, std::equal_to<>> tags;  // scalar tags in this file
  };
  using Lock = std::unique_lock<std::mutex>;

  void open(Run& run);
  static void reset(Run& run);
  /// The run once it has room for events, with the lock held; nullptr if they are dropped.
  Run* ready_run(std::size_t number, std::size_t events, Lock& lock);
  void count(Run& run, std::size_t events, std::size_t bytes);
  bool has_room() const;
  Status wait_until_written(Lock& lock);
  void write_until_end();
  void write_round(Lock& lock);

  const SummaryQueueOptions options_;
  const std::uint64_t forks_;  // fork_count() in the process that created it
  std::atomic<std::uint64_t> dropped_ = 0;

  mutable std::mutex mutex_;  // guards the following members
  std::condition_variable for_thread_;
  std::condition_variable for_callers_;
  std::deque<Run> runs_;
  ScalarEncoder scalars_;
  std::size_t events_ = 0;  // queued, over all runs
  std::size_t bytes_ = 0;
  std::uint64_t wanted_ = 0;   // number of requested flushes
  std::uint64_t written_ = 0;  // number of completed flushes
  bool hurry_ = false;         // the thread should not wait for flush_secs
  bool closing_ = false;
  bool ending_ = false;   // the thread should end
  bool failing_ = false;  // the last attempt to write failed
  Status status_;
  std::thread thread_;
};

}  // namespace tbtrace::writers
