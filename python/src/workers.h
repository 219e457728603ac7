// Work on several threads.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

namespace tbtrace::python {

/// Calls `work(number)` for 0 to `count` - 1, each once, on `workers` threads (0: one per core).
/// The first exception ends it and is thrown again.
template <typename Work>
void for_each_number(std::size_t count, int workers, const Work& work) {
  std::atomic<std::size_t> next = 0;
  std::exception_ptr failure;
  std::mutex guards_failure;
  const auto run = [&] {
    try {
      for (std::size_t number = next++; number < count; number = next++) work(number);
    } catch (...) {
      next = count;
      const std::lock_guard lock(guards_failure);
      if (!failure) failure = std::current_exception();
    }
  };
  const std::size_t cores = std::max(1U, std::thread::hardware_concurrency());
  const std::size_t wanted = workers > 0 ? static_cast<std::size_t>(workers) : cores;
  {
    std::vector<std::jthread> threads;
    for (std::size_t thread = 1; thread < std::min(wanted, count); ++thread) {
      threads.emplace_back(run);
    }
    run();
  }
  if (failure) std::rethrow_exception(failure);
}

}  // namespace tbtrace::python
