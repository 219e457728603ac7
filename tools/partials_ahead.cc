#include "partials_ahead.h"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <system_error>
#include <utility>

#include "inputs.h"
#include "out_of_memory.h"

namespace tbtrace::tools {
namespace {

/// Bytes of files that are read at a time, if it is more than one: a trace takes several times as
/// much memory.
constexpr std::uint64_t kMostAtATime = std::uint64_t{256} << 20;

std::uint64_t size_of(const std::string& path) {
  std::error_code error;
  const std::uintmax_t size = std::filesystem::file_size(path, error);
  return error ? 0 : size;
}

}  // namespace

PartialsAhead::PartialsAhead(std::vector<std::string> paths, const ReadOptions& reading,
                             const PartialOptions& options)
    : paths_(std::move(paths)), reading_(reading), options_(options) {
  const std::size_t cores = std::max(1U, std::thread::hardware_concurrency());
  const std::size_t all = reading.threads > 0 ? static_cast<std::size_t>(reading.threads) : cores;
  workers_ = std::max<std::size_t>(1, std::min(all, paths_.size()));
  reading_.threads = static_cast<int>(std::max<std::size_t>(1, all / workers_));
  reading_.on_progress = [this](std::uint64_t, std::uint64_t) {
    const std::lock_guard lock(mutex_);
    return !is_stopped_;
  };
  for (const std::string& path : paths_) sizes_.push_back(size_of(path));
  threads_.reserve(workers_);
  for (std::size_t worker = 0; worker < workers_; ++worker) {
    try {
      threads_.emplace_back([this] { work(); });
    } catch (const std::system_error&) {
      if (threads_.empty()) throw;
      break;  // the system has no more threads
    }
  }
}

PartialsAhead::~PartialsAhead() {
  {
    const std::lock_guard lock(mutex_);
    is_stopped_ = true;
  }
  changed_.notify_all();
}

MadePartial PartialsAhead::next() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return made_.contains(taken_); });
  MadePartial made = std::move(made_.extract(taken_++).mapped());
  lock.unlock();
  changed_.notify_all();
  return made;
}

bool PartialsAhead::may_start() const {
  if (started_ >= taken_ + 2 * workers_) return false;
  return bytes_being_read_ == 0 || bytes_being_read_ + sizes_[started_] <= kMostAtATime;
}

void PartialsAhead::work() {
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [this] { return is_stopped_ || started_ == paths_.size() || may_start(); });
    if (is_stopped_ || started_ == paths_.size()) return;
    const std::size_t number = started_++;
    bytes_being_read_ += sizes_[number];
    lock.unlock();
    MadePartial made = make(paths_[number]);
    lock.lock();
    bytes_being_read_ -= sizes_[number];
    made_.emplace(number, std::move(made));
    changed_.notify_all();
  }
}

MadePartial PartialsAhead::make(const std::string& path) {
  MadePartial made;
  if (is_partial(path)) return made;
  made.is_trace = true;
  const auto start = std::chrono::steady_clock::now();
  const Result<Trace> trace =
      within_memory([&] { return read_trace(path, reading_); }, reading_.threads);
  const auto elapsed = std::chrono::steady_clock::now() - start;
  made.milliseconds = std::chrono::duration_cast<std::chrono::milliseconds>(elapsed).count();
  made.read = trace.ok() ? trace->check_not_merged() : trace.status();
  if (!made.read.ok()) return made;
  made.issues = trace->issues();
  made.events = trace->events().size();
  made.partial = within_memory([&] { return Partial::of(*trace, path, options_); });
  return made;
}

}  // namespace tbtrace::tools
