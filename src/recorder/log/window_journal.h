// Where a recording is kept beside its process, so that it outlasts it.
// Any thread; a recording calls with its lock held, but for start(), forget() and keep(). Nothing
// throws or waits for anything slow: what there is no room for is counted as lost.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "recorder/log/device_journal.h"
#include "recorder/log/known_tensors.h"
#include "recorder/log/log_home.h"
#include "recorder/log/recording_options.h"
#include "recorder/log/ticks.h"

namespace tbtrace::recorder {

struct ThreadIdentity;

/// What is known when a recording starts.
struct WindowStart {
  const RecordingOptions& options;
  const std::string& trace_id;
  ClockSample started = {};
  std::int64_t bytes_at_start = 0;
};

/// To keep recordings elsewhere, implement this and hand it to the recording.
class WindowJournal {
 public:
  virtual ~WindowJournal() = default;

  virtual void start(const WindowStart& start) = 0;
  /// Null: there is no room, and the log is kept in memory only.
  virtual std::shared_ptr<LogHome> add_log(std::uint32_t log, const ThreadIdentity& identity,
                                           std::uint64_t began) = 0;
  virtual void add_metadata(const std::string& key, const std::string& json) = 0;
  virtual void add_known_tensors(std::span<const KnownTensor> tensors) = 0;
  /// Where the window's device rows are kept, also after close(). Keeps the window's journal, not
  /// the recording. Null: there is no room, and they are kept in memory only.
  virtual std::shared_ptr<DeviceJournal> devices() = 0;
  virtual std::shared_ptr<DeviceMemoryJournal> device_memory() = 0;
  /// `lost`: records of threads that had no log.
  virtual void close(const ClockSample& ended, std::uint64_t lost) = 0;
  /// Nobody will ask for the recording: it is in a file, or nobody wants it. Not after keep().
  virtual void forget() = 0;
  /// The recording stays after its end.
  virtual void keep() = 0;
};

}  // namespace tbtrace::recorder
