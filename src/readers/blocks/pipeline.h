// Blocks of an input on several threads: read by the calling thread, worked on by whoever is free,
// and finished in their order, one at a time.
// Owns the threads while run() runs, and none afterwards, however it ends. What a function throws
// on any thread is thrown by run().
#pragma once

#include <algorithm>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

namespace tbtrace::readers {

template <typename Block>
class BlockPipeline {
 public:
  struct Steps {
    /// Fills a block; false if there are no more. Only on the thread that called run().
    std::function<bool(Block&)> read;
    /// Needs no other block. On any thread.
    std::function<void(Block&)> work;
    /// In the order of reading, one block at a time, on any thread. False to stop.
    std::function<bool(Block&)> finish;
  };

  /// `blocks`: as many as may be under way at once; one is enough for one thread.
  BlockPipeline(std::vector<Block>& blocks, Steps steps)
      : steps_(std::move(steps)), slots_(blocks.size()) {
    for (std::size_t number = 0; number < blocks.size(); ++number) {
      slots_[number].block = &blocks[number];
      free_.push_back(&slots_[number]);
    }
  }

  void run(int threads) {
    {
      const Crew crew(*this, threads);
      run_here();
    }
    if (failure_) std::rethrow_exception(failure_);
  }

 private:
  struct Slot {
    Block* block = nullptr;
    bool is_done = false;
  };

  /// The other threads. They end with it.
  class Crew {
   public:
    Crew(BlockPipeline& pipeline, int threads) : pipeline_(pipeline) {
      try {
        for (int thread = 1; thread < threads; ++thread) {
          threads_.emplace_back([&pipeline] { pipeline.run_elsewhere(); });
        }
      } catch (const std::exception&) {
        // The system has no room for more threads: those that it gave do the work.
      }
    }
    Crew(const Crew&) = delete;
    Crew& operator=(const Crew&) = delete;
    ~Crew() { pipeline_.stop(); }

   private:
    BlockPipeline& pipeline_;
    std::vector<std::jthread> threads_;
  };

  void stop() {
    const std::lock_guard lock(mutex_);
    is_stopped_ = true;
    changed_.notify_all();
  }

  void run_here() {
    std::unique_lock lock(mutex_);
    while (!is_stopped_) {
      if (!all_read_ && !free_.empty()) {
        read(lock);
      } else if (!queued_.empty()) {
        work(lock);
      } else if (all_read_ && under_way_.empty()) {
        return;
      } else {
        changed_.wait(lock);
      }
    }
  }

  void run_elsewhere() {
    std::unique_lock lock(mutex_);
    try {
      for (;;) {
        changed_.wait(lock, [this] { return is_stopped_ || !queued_.empty(); });
        if (is_stopped_) return;
        work(lock);
      }
    } catch (...) {
      if (!lock.owns_lock()) lock.lock();
      if (!failure_) failure_ = std::current_exception();
      is_stopped_ = true;
      changed_.notify_all();
    }
  }

  void read(std::unique_lock<std::mutex>& lock) {
    Slot* const slot = free_.back();
    free_.pop_back();
    lock.unlock();
    const bool is_there = steps_.read(*slot->block);
    lock.lock();
    if (!is_there) {
      all_read_ = true;
      return;
    }
    slot->is_done = false;
    queued_.push_back(slot);
    under_way_.push_back(slot);
    changed_.notify_all();
  }

  void work(std::unique_lock<std::mutex>& lock) {
    Slot* const slot = queued_.front();
    queued_.pop_front();
    lock.unlock();
    steps_.work(*slot->block);
    lock.lock();
    slot->is_done = true;
    finish(lock);
  }

  /// Finishes what is next in order, unless somebody does.
  void finish(std::unique_lock<std::mutex>& lock) {
    if (is_finishing_) return;
    is_finishing_ = true;
    while (!is_stopped_ && !under_way_.empty() && under_way_.front()->is_done) {
      Slot* const slot = under_way_.front();
      lock.unlock();
      const bool go_on = steps_.finish(*slot->block);
      lock.lock();
      under_way_.pop_front();
      free_.push_back(slot);
      if (!go_on) is_stopped_ = true;
      changed_.notify_all();
    }
    is_finishing_ = false;
  }

  Steps steps_;
  std::vector<Slot> slots_;

  std::mutex mutex_;  // guards what follows
  std::condition_variable changed_;
  std::vector<Slot*> free_;
  std::deque<Slot*> queued_;     // to be worked on
  std::deque<Slot*> under_way_;  // read and not finished, in order
  bool all_read_ = false;
  bool is_finishing_ = false;
  bool is_stopped_ = false;
  std::exception_ptr failure_;
};

}  // namespace tbtrace::readers
