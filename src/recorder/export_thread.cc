#include "recorder/export_thread.h"

#include <exception>
#include <string>
#include <system_error>
#include <utility>

namespace tbtrace::recorder {

namespace {

Status run_job(const std::function<Status()>& job) {
  try {
    return job();
  } catch (const std::bad_alloc&) {
    return {StatusCode::unwritable_output, "not enough memory to export what was recorded"};
  } catch (const std::exception& error) {
    return {StatusCode::unwritable_output, std::string("the export failed: ") + error.what()};
  } catch (...) {
    return {StatusCode::unwritable_output,
            "the export failed: what was thrown is no std::exception"};
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
    } catch (const std::system_error&) {
      // No further thread may be started: better late than never.
    }
  }
  if (job) {
    finish(run_job(job));
  } else {
    changed_.notify_all();
  }
}

Status ExportThread::wait() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return unfinished_ == 0; });
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
    const Status status = run_job(job);
    job = nullptr;  // what it owns may be large: nobody waits for the lock meanwhile
    finish(status);
    lock.lock();
  }
}

void ExportThread::finish(const Status& status) {
  if (!status.ok()) on_failure_(status.message());
  {
    const std::lock_guard lock(mutex_);
    --unfinished_;
    if (!status.ok() && first_failure_.ok()) first_failure_ = status;
  }
  changed_.notify_all();
}

}  // namespace tbtrace::recorder
