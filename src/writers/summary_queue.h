// Events on their way to the files of one or several runs, which a thread writes.
// An SummaryQueue owns files and thread. Any thread may call anything but the destructor.
// A file system that fails stops nobody: events wait for the next attempt while there is room, are
// dropped and counted when there is none, and status() says why. In a process that was forked all
// events are dropped: the thread stayed behind.
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
#include "writers/event_file.h"
#include "writers/summary_messages.h"

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
  /// close(). Not in a forked process, where the thread's end would be waited for in vain.
  ~SummaryQueue();

  bool is_forked() const;

  /// The number of a directory's run. Its file is made now, or after a close() with the next event.
  std::size_t run(const std::string& directory);

  /// Into the run of that number.
  void add_scalar(std::size_t number, SummaryMoment moment, std::string_view tag, float value);
  /// `event` is a message.
  void add(std::size_t number, std::string_view event);
  /// `records` hold `events` events, all that a run will ever have: then its file is closed.
  void add_whole(std::size_t number, std::string_view records, std::size_t events);

  Status flush();
  Status close();
  Status status() const;
  std::uint64_t dropped() const { return dropped_; }

 private:
  struct Run {
    std::string directory;
    std::unique_ptr<EventFile> file;
    bool refused = false;    // there can be no file, until close()
    bool whole = false;      // nothing will follow
    bool purged = false;     // that was said in an earlier file of this writer
    std::string queued;      // records
    std::size_t events = 0;  // of these
    std::string writing;     // the thread's
    struct Hash : std::hash<std::string_view> {
      using is_transparent = void;
    };
    std::unordered_set<std::string, Hash, std::equal_to<>> tags;  // scalars in this file
  };
  using Lock = std::unique_lock<std::mutex>;

  void open(Run& run);
  static void reset(Run& run);
  /// The run with room for events, and the lock; nothing if they are dropped.
  Run* ready_run(std::size_t number, std::size_t events, Lock& lock);
  void count(Run& run, std::size_t events, std::size_t bytes);
  bool has_room() const;
  Status wait_until_written(Lock& lock);
  void write_until_end();
  void write_round(Lock& lock);

  const SummaryQueueOptions options_;
  const unsigned process_;  // how many forks it came out of
  std::atomic<std::uint64_t> dropped_ = 0;

  mutable std::mutex mutex_;  // what follows
  std::condition_variable for_thread_;
  std::condition_variable for_callers_;
  std::deque<Run> runs_;
  ScalarEncoder scalars_;
  std::size_t events_ = 0;  // queued, of all runs
  std::size_t bytes_ = 0;
  std::uint64_t wanted_ = 0;   // flushes that were asked for
  std::uint64_t written_ = 0;  // and those that are done
  bool hurry_ = false;         // the thread should not wait for its time
  bool closing_ = false;
  bool ending_ = false;   // the thread
  bool failing_ = false;  // the last attempt to write
  Status status_;
  std::thread thread_;
};

}  // namespace tbtrace::writers
