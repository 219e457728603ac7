// A thread that runs exports one after another, so that training does not wait for them.
// Jobs own what they need. add() and wait() may be called from any thread but from a job.
// A job that fails or throws is told at once, and in the Status of wait(). So is one for which
// there is no memory; nothing that happens here ends the program or leaves wait() waiting.
// What waiting jobs keep in memory has a limit: a job beyond it is not taken.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <limits>
#include <list>
#include <mutex>
#include <string_view>
#include <thread>
#include <utility>

#include <tbtrace/status.h>

namespace tbtrace::recorder {

class ExportThread {
 public:
  using OnFailure = std::function<void(std::string_view sentence)>;
  using Clock = std::chrono::steady_clock;
  /// What a job keeps in memory until it is done. Asked whenever a job is added, since it may grow;
  /// calls no ExportThread, and does not throw.
  using BytesOf = std::function<std::size_t()>;

  /// `on_failure` is called from the thread. What it throws is dropped.
  explicit ExportThread(OnFailure on_failure,
                        std::size_t most_bytes = std::numeric_limits<std::size_t>::max())
      : on_failure_(std::move(on_failure)), most_bytes_(most_bytes) {}
  ExportThread(const ExportThread&) = delete;
  ExportThread& operator=(const ExportThread&) = delete;
  /// Finishes all jobs.
  ~ExportThread();

  /// False if the job keeps more than there may be beside the jobs that are not done; a job alone,
  /// and one without `bytes`, is always taken. The thread starts with the first job; where none can
  /// be started, or the job cannot be kept for it, the job runs here.
  bool add(std::function<Status()> job, BytesOf bytes = nullptr);

  /// Waits until no job is left. The first failure since the last wait(), or success.
  Status wait();
  /// Likewise; failures stay for wait().
  void wait_until_done();
  /// Waits until this time at most. Returns whether no job is left.
  bool wait_until(Clock::time_point time);

  /// Of the jobs that are not done.
  std::size_t bytes();

 private:
  struct Job {
    std::function<Status()> run;
    std::list<BytesOf>::iterator bytes;  // or the list's end
  };

  /// A job, or a listener that it calls, may end the program, which waits for jobs.
  bool is_this_thread() const { return thread_.get_id() == std::this_thread::get_id(); }
  std::size_t kept_bytes() const;
  void run();
  void finish(Job& job) noexcept;

  const OnFailure on_failure_;
  const std::size_t most_bytes_;

  std::mutex mutex_;  // what follows
  std::condition_variable changed_;
  std::deque<Job> jobs_;
  std::size_t unfinished_ = 0;
  std::list<BytesOf> bytes_;  // of the unfinished
  bool ending_ = false;
  bool failed_ = false;   // since the last wait()
  Status first_failure_;  // success: there was no memory for its sentence
  std::thread thread_;
};

}  // namespace tbtrace::recorder
