// The profilers of this process: who is told when it forks, and who closes its window when it ends.
// Any thread. Nothing is owned; a profiler leaves the list before it is destroyed.
#pragma once

#include <chrono>
#include <optional>

namespace tbtrace::recorder {

using Deadline = std::optional<std::chrono::steady_clock::time_point>;  ///< none: take your time

/// What the process's end and its forks tell. To have something else closed, implement this.
class ProcessListener {
 public:
  virtual ~ProcessListener() = default;

  /// The process is about to end: ends the window that is being recorded and writes what is to be
  /// written, as far as that can be done by the deadline. Any thread; a second call finds it done.
  virtual void close(Deadline deadline) noexcept = 0;
  /// In a forked child, which has one thread. Must not allocate.
  virtual void begin_anew() noexcept = 0;
};

/// \throws std::bad_alloc
void add_listener(ProcessListener& listener);
/// Waits while another thread closes the listener.
void remove_listener(ProcessListener& listener) noexcept;

/// Closes all of them, the newest first.
void close_profilers(Deadline deadline) noexcept;

/// The same on a thread of its own, since a device that is waited for may never be done. Returns
/// when that is done, or after `timeout`; does nothing on the thread that closes them.
void close_profilers_in_time(std::chrono::milliseconds timeout) noexcept;

}  // namespace tbtrace::recorder
