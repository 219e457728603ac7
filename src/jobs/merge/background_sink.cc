#include "jobs/merge/background_sink.h"

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <exception>
#include <mutex>
#include <string>
#include <string_view>
#include <system_error>
#include <thread>
#include <utility>

namespace tbtrace::jobs {
namespace {

constexpr std::size_t kMostWaiting = std::size_t{16} << 20;  // bytes

class BackgroundSink final : public io::ByteSink {
 public:
  explicit BackgroundSink(std::unique_ptr<io::ByteSink> sink) : sink_(std::move(sink)) {
    try {
      thread_ = std::jthread([this] { run(); });
    } catch (const std::system_error&) {
      // The system has no more threads: write() does the work.
    }
  }
  BackgroundSink(const BackgroundSink&) = delete;
  BackgroundSink& operator=(const BackgroundSink&) = delete;
  ~BackgroundSink() override { stop(); }

  Status write(std::string_view bytes) override {
    if (!thread_.joinable()) return sink_->write(bytes);
    std::string copy(bytes);
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return waiting_bytes_ < kMostWaiting || !status_.ok(); });
    if (!status_.ok()) return status_;
    waiting_bytes_ += copy.size();
    waiting_.push_back(std::move(copy));
    changed_.notify_all();
    return {};
  }

  Status close() override {
    stop();
    if (failure_) std::rethrow_exception(failure_);
    return status_.ok() ? sink_->close() : status_;
  }

 private:
  void stop() {
    {
      const std::lock_guard lock(mutex_);
      is_ending_ = true;
      changed_.notify_all();
    }
    if (thread_.joinable()) thread_.join();
  }

  void run() noexcept {
    try {
      std::unique_lock lock(mutex_);
      for (;;) {
        changed_.wait(lock, [this] { return !waiting_.empty() || is_ending_; });
        if (waiting_.empty()) return;
        const std::string bytes = std::move(waiting_.front());
        waiting_.pop_front();
        lock.unlock();
        Status written = sink_->write(bytes);
        lock.lock();
        if (written.ok()) {
          waiting_bytes_ -= bytes.size();
        } else {
          fail(std::move(written));
        }
        changed_.notify_all();
      }
    } catch (...) {
      const std::lock_guard lock(mutex_);
      failure_ = std::current_exception();
      fail({StatusCode::out_of_memory, "not enough memory to write the output"});
      changed_.notify_all();
    }
  }

  /// With the mutex held. What waits is not written any more.
  void fail(Status why) {
    status_ = std::move(why);
    waiting_.clear();
    waiting_bytes_ = 0;
  }

  std::unique_ptr<io::ByteSink> sink_;
  std::mutex mutex_;  // guards what follows, until the thread has ended
  std::condition_variable changed_;
  std::deque<std::string> waiting_;
  std::size_t waiting_bytes_ = 0;
  bool is_ending_ = false;
  Status status_;
  std::exception_ptr failure_;
  std::jthread thread_;  // last, so that it uses only what is there
};

}  // namespace

std::unique_ptr<io::ByteSink> background_sink(std::unique_ptr<io::ByteSink> sink) {
  return std::make_unique<BackgroundSink>(std::move(sink));
}

}  // namespace tbtrace::jobs
