#include "writers/events/queue.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <exception>
#include <system_error>
#include <utility>

#include <pthread.h>

#include "base/forks.h"
#include "wire/tfrecord.h"

namespace tbtrace::writers {
namespace {

using Clock = std::chrono::steady_clock;

Clock::time_point later(double seconds) {
  constexpr double kShortest = 0.01;  // keeps the thread from spinning
  constexpr double kLongest = 1e8;    // three years
  return Clock::now() + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(
                            std::clamp(seconds, kShortest, kLongest)));
}

Status forked() {
  return {StatusCode::unwritable_output,
          "this process was forked from the one with the writer; make a writer of its own"};
}

}  // namespace

SummaryQueue::SummaryQueue(SummaryQueueOptions options)
    : options_(std::move(options)), forks_(fork_count()) {}

SummaryQueue::~SummaryQueue() { static_cast<void>(close()); }

bool SummaryQueue::is_forked() const { return fork_count() != forks_; }

std::size_t SummaryQueue::run(const std::string& directory) {
  if (is_forked()) return 0;
  Lock lock(mutex_);
  for_callers_.wait(lock, [&] { return !closing_; });
  const auto found = std::find_if(runs_.begin(), runs_.end(),
                                  [&](const Run& run) { return run.directory == directory; });
  if (found != runs_.end()) return static_cast<std::size_t>(found - runs_.begin());
  runs_.emplace_back().directory = directory;
  open(runs_.back());
  return runs_.size() - 1;
}

void SummaryQueue::open(Run& run) {
  const double now = wall_time_now();
  Result<std::unique_ptr<EventFile>> file =
      EventFile::create(run.directory, options_.filename_suffix, now, options_.make_file);
  if (file.ok() && !thread_.joinable()) {
    try {
      thread_ = std::thread([this] { write_until_end(); });
    } catch (const std::system_error&) {
      file = Status(StatusCode::unwritable_output,
                    "no thread can be started to write " + run.directory + "; end some");
    }
  }
  if (!file.ok()) {
    run.refused = true;
    status_ = file.status();
    return;
  }
  run.file = *std::move(file);
  run.tags.clear();
  if (options_.purge_step && !std::exchange(run.purged, true)) {
    // TensorBoard treats a run's first such event as its start, and an earlier writer may not have
    // written one: therefore twice.
    const std::string start = session_start_event({now, *options_.purge_step});
    wire::append_record(run.queued, start);
    wire::append_record(run.queued, start);
  }
  hurry_ = true;  // the first values are written at once
}

SummaryQueue::Run* SummaryQueue::ready_run(std::size_t number, std::size_t events, Lock& lock) {
  if (is_forked()) {  // a parent's thread may have held the mutex, which is then never released
    dropped_ += events;
    return nullptr;
  }
  lock = Lock(mutex_);
  for (;;) {
    for_callers_.wait(lock, [&] { return !closing_; });
    Run& run = runs_[number];
    if (run.file == nullptr && !run.refused) open(run);
    if (run.file != nullptr && has_room()) return &run;
    if (run.file == nullptr || options_.when_full == WhenFull::drop || failing_) {
      dropped_ += events;
      return nullptr;
    }
    hurry_ = true;
    for_thread_.notify_one();
    for_callers_.wait(lock);
  }
}

bool SummaryQueue::has_room() const {
  return events_ < std::max<std::size_t>(options_.max_events, 1) && bytes_ < options_.max_bytes;
}

void SummaryQueue::count(Run& run, std::size_t events, std::size_t bytes) {
  const bool was_due = hurry_ && events_ > 0;
  run.events += events;
  events_ += events;
  bytes_ += bytes;
  const bool half_full = 2 * events_ >= options_.max_events || 2 * bytes_ >= options_.max_bytes;
  hurry_ = hurry_ || half_full;
  if (hurry_ && !was_due) for_thread_.notify_one();
}

void SummaryQueue::add_scalar(std::size_t number, SummaryMoment moment, std::string_view tag,
                              float value) {
  Lock lock;
  Run* const run = ready_run(number, 1, lock);
  if (run == nullptr) return;
  const bool is_first = run->tags.find(tag) == run->tags.end();
  if (is_first) run->tags.emplace(tag);
  const std::size_t before = run->queued.size();
  scalars_.append_record(run->queued, moment, tag, value, is_first);
  count(*run, 1, run->queued.size() - before);
}

void SummaryQueue::add(std::size_t number, std::string_view event) {
  Lock lock;
  Run* const run = ready_run(number, 1, lock);
  if (run == nullptr) return;
  wire::append_record(run->queued, event);
  count(*run, 1, event.size() + wire::kRecordOverhead);
}

void SummaryQueue::add_whole(std::size_t number, std::string_view records, std::size_t events) {
  Lock lock;
  Run* const run = ready_run(number, events, lock);
  if (run == nullptr) return;
  run->queued += records;
  run->whole = true;
  count(*run, events, records.size());
  hurry_ = true;
  for_thread_.notify_one();
}

Status SummaryQueue::wait_until_written(Lock& lock) {
  if (!thread_.joinable()) return status_;
  const std::uint64_t ticket = ++wanted_;
  for_thread_.notify_one();
  for_callers_.wait(lock, [&] { return written_ >= ticket; });
  return status_;
}

Status SummaryQueue::flush() {
  if (is_forked()) return forked();
  Lock lock(mutex_);
  for_callers_.wait(lock, [&] { return !closing_; });
  return wait_until_written(lock);
}

Status SummaryQueue::close() {
  if (is_forked()) return forked();
  Lock lock(mutex_);
  for_callers_.wait(lock, [&] { return !closing_; });
  closing_ = true;
  Status result = wait_until_written(lock);
  ending_ = true;
  for_thread_.notify_one();
  lock.unlock();
  if (thread_.joinable()) thread_.join();
  lock.lock();
  thread_ = {};
  ending_ = false;
  closing_ = false;
  failing_ = false;
  for (Run& run : runs_) {
    dropped_ += run.events;
    reset(run);
  }
  events_ = 0;
  bytes_ = 0;
  for_callers_.notify_all();
  return result;
}

void SummaryQueue::reset(Run& run) {
  Run fresh;
  fresh.directory = std::move(run.directory);
  fresh.purged = run.purged;
  run = std::move(fresh);
}

Status SummaryQueue::status() const {
  if (is_forked()) return forked();
  const Lock lock(mutex_);
  return status_;
}

void SummaryQueue::write_until_end() {
  Lock lock(mutex_);
  while (!ending_) {
    for_thread_.wait_until(lock, later(options_.flush_secs), [&] {
      return ending_ || written_ < wanted_ || (hurry_ && events_ > 0 && !failing_);
    });
    write_round(lock);
  }
}

void SummaryQueue::write_round(Lock& lock) {
  const std::uint64_t ticket = wanted_;
  std::vector<Run*> runs;
  for (Run& run : runs_) {
    if (run.file != nullptr) runs.push_back(&run);
  }
  Status failure;
  const auto write_all = [&] {
    for (Run* const run : runs) {
      if (Status written = run->file->write(run->writing); !written.ok()) failure = written;
    }
  };
  lock.unlock();
  write_all();  // retry what failed before
  lock.lock();
  hurry_ = false;
  for (Run* const run : runs) {
    if (!run->writing.empty()) continue;  // later events must wait for it
    run->writing.swap(run->queued);
    bytes_ -= std::min(bytes_, run->writing.size());
    events_ -= std::exchange(run->events, 0);
  }
  for_callers_.notify_all();
  lock.unlock();
  if (failure.ok()) write_all();
  lock.lock();
  for (Run* const run : runs) {
    if (run->whole && run->queued.empty() && run->writing.empty()) reset(*run);
  }
  failing_ = !failure.ok();
  if (failing_) {
    status_ = std::move(failure);
  } else if (std::none_of(runs_.begin(), runs_.end(), [](const Run& run) { return run.refused; })) {
    status_ = {};
  }
  written_ = ticket;
  for_callers_.notify_all();
}

}  // namespace tbtrace::writers
