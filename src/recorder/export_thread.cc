#include "recorder/export_thread.h"

#include <exception>
#include <new>
#include <string>
#include <system_error>
#include <utility>

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
  if (thread_.joinable()) thread_.join();
}

void ExportThread::add(std::function<Status()> job) {
  {
    const std::lock_guard lock(mutex_);
    ++unfinished_;
    try {
      if (!thread_.joinable()) thread_ = std::thread([this] { run(); });
      jobs_.push_back(std::move(job));
      job = nullptr;
    } catch (const std::exception&) {
      // No further thread may be started, or there is no memory: better late than never.
    }
  }
  if (job) {
    finish(job);
  } else {
    changed_.notify_all();
  }
}

Status ExportThread::wait() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return unfinished_ == 0; });
  if (!std::exchange(failed_, false)) return {};
  if (first_failure_.ok()) return {StatusCode::unwritable_output, std::string(kNoMemory)};
  return std::exchange(first_failure_, Status());
}

void ExportThread::run() {
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [this] { return ending_ || !jobs_.empty(); });
    if (jobs_.empty()) return;
    std::function<Status()> job = std::move(jobs_.front());
    jobs_.pop_front();
    lock.unlock();
    finish(job);
    lock.lock();
  }
}

void ExportThread::finish(std::function<Status()>& job) noexcept {
  Status status;
  bool failed = true;
  try {
    status = run_job(job);
    failed = !status.ok();
  } catch (const std::bad_alloc&) {
    // Told without a sentence of its own.
  }
  job = nullptr;  // what it owns may be large: nobody waits for the lock meanwhile
  try {
    if (failed) on_failure_(status.ok() ? kNoMemory : status.message());
  } catch (...) {
    // wait() tells, too.
  }
  {
    const std::lock_guard lock(mutex_);
    --unfinished_;
    if (failed && !failed_) first_failure_ = std::move(status);
    failed_ = failed_ || failed;
  }
  changed_.notify_all();
}

}  // namespace tbtrace::recorder
