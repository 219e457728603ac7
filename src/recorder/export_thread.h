// A thread that runs exports one after another, so that training does not wait for them.
// Jobs own what they need. add() and wait() may be called from any thread but from a job.
// A job that fails or throws is told at once, and in the Status of wait(). So is one for which
// there is no memory; nothing that happens here ends the program or leaves wait() waiting.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <mutex>
#include <string_view>
#include <thread>
#include <utility>

#include <tbtrace/status.h>

namespace tbtrace::recorder {

class ExportThread {
 public:
  using OnFailure = std::function<void(std::string_view sentence)>;

  /// `on_failure` is called from the thread. What it throws is dropped.
  explicit ExportThread(OnFailure on_failure) : on_failure_(std::move(on_failure)) {}
  ExportThread(const ExportThread&) = delete;
  ExportThread& operator=(const ExportThread&) = delete;
  /// Finishes all jobs.
  ~ExportThread();

  /// The thread starts with the first job; where none can be started, or the job cannot be kept
  /// for it, the job runs here.
  void add(std::function<Status()> job);

  /// Waits until no job is left. The first failure since the last wait(), or success.
  Status wait();

 private:
  void run();
  void finish(std::function<Status()>& job) noexcept;

  const OnFailure on_failure_;

  std::mutex mutex_;  // what follows
  std::condition_variable changed_;
  std::deque<std::function<Status()>> jobs_;
  std::size_t unfinished_ = 0;
  bool ending_ = false;
  bool failed_ = false;   // since the last wait()
  Status first_failure_;  // success: there was no memory for its sentence
  std::thread thread_;
};

}  // namespace tbtrace::recorder
