#include "recorder/process/export_thread.h"

#include <exception>
#include <new>
#include <string>
#include <system_error>
#include <utility>

#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace tbtrace::recorder {

namespace {

constexpr std::string_view kNoMemory =
    "there was not enough memory to export what was recorded, so that window is lost; record "
    "shorter windows, or less in them";

/// \throws std::bad_alloc
Status run_job(const std::function<Status()>& job) {
  try {
    return job();
  } catch (const std::bad_alloc&) {
    throw;
  } catch (const std::exception& error) {
    return {StatusCode::unwritable_output, std::string("the export failed: ") + error.what()};
  } catch (...) {
    return {StatusCode::unwritable_output,
            "the export failed: an exception was thrown that is not a std::exception"};
  }
}

}  // namespace

ExportThread::~ExportThread() {
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
  }
  changed_.notify_all();
  if (!thread_.joinable()) return;
  if (is_this_thread()) {
    thread_.detach();  // a job ends the program
  } else {
    thread_.join();
  }
}

/// Requires the lock.
std::size_t ExportThread::kept_bytes() const {
  std::size_t bytes = 0;
  for (const BytesOf& of_job : bytes_) bytes += of_job();
  return bytes;
}

bool ExportThread::add(std::function<Status()> job, BytesOf bytes) {
  bool is_waiting = false;
  std::list<BytesOf>::iterator listed;
  {
    const std::lock_guard lock(mutex_);
    listed = bytes_.end();
    if (bytes != nullptr && unfinished_ > 0) {
      const std::size_t kept = kept_bytes();
      if (kept > most_bytes_ || bytes() > most_bytes_ - kept) return false;
    }
    ++unfinished_;
    try {
      if (bytes != nullptr) listed = bytes_.insert(bytes_.end(), std::move(bytes));
      if (!thread_.joinable()) thread_ = std::thread([this] { run(); });
      Job& waiting = jobs_.emplace_back();
      waiting.bytes = listed;
      waiting.run.swap(job);
      is_waiting = true;
    } catch (const std::exception&) {
      // No further thread may be started, or there is no memory: better late than never.
    }
  }
  if (is_waiting) {
    changed_.notify_all();
  } else {
    Job late = {.run = std::move(job), .bytes = listed};
    finish(late);
  }
  return true;
}

Status ExportThread::wait() {
  std::unique_lock lock(mutex_);
  if (is_this_thread()) {
    return {StatusCode::check_failed,
            "exports cannot be waited for by what an export calls, such as on_warning"};
  }
  changed_.wait(lock, [this] { return unfinished_ == 0; });
  if (!std::exchange(failed_, false)) return {};
  if (first_failure_.ok()) return {StatusCode::unwritable_output, std::string(kNoMemory)};
  return std::exchange(first_failure_, Status());
}

void ExportThread::wait_until_done() {
  std::unique_lock lock(mutex_);
  if (is_this_thread()) return;
  changed_.wait(lock, [this] { return unfinished_ == 0; });
}

bool ExportThread::wait_until(Clock::time_point time) {
  std::unique_lock lock(mutex_);
  if (is_this_thread()) return false;
  return changed_.wait_until(lock, time, [this] { return unfinished_ == 0; });
}

std::size_t ExportThread::bytes() {
  const std::lock_guard lock(mutex_);
  return kept_bytes();
}

void ExportThread::run() {
  // What the program does comes first. To Linux, the id of a thread names that thread alone.
  constexpr int kLow = 10;
  static_cast<void>(::setpriority(PRIO_PROCESS, static_cast<id_t>(::syscall(SYS_gettid)), kLow));
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [this] { return ending_ || !jobs_.empty(); });
    if (jobs_.empty()) return;
    Job job = std::move(jobs_.front());
    jobs_.pop_front();
    lock.unlock();
    finish(job);
    lock.lock();
  }
}

void ExportThread::finish(Job& job) noexcept {
  Status status;
  bool failed = true;
  try {
    status = run_job(job.run);
    failed = !status.ok();
  } catch (const std::bad_alloc&) {
    // Told without a sentence of its own.
  }
  job.run = nullptr;  // what it owns may be large: nobody waits for the lock meanwhile
  try {
    if (failed) on_failure_(status.ok() ? kNoMemory : status.message());
  } catch (...) {
    // wait() tells, too.
  }
  {
    const std::lock_guard lock(mutex_);
    --unfinished_;
    if (job.bytes != bytes_.end()) bytes_.erase(job.bytes);
    if (failed && !failed_) first_failure_ = std::move(status);
    failed_ = failed_ || failed;
  }
  changed_.notify_all();
}

}  // namespace tbtrace::recorder
