#include "base/threads.h"

#include <algorithm>
#include <atomic>
#include <exception>
#include <thread>
#include <vector>

namespace tbtrace {

int thread_count(int wanted) {
  if (wanted > 0) return wanted;
  return std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
}

void run_on_threads(std::size_t threads, const std::function<void()>& work) {
  std::vector<std::jthread> others;
  try {
    for (std::size_t thread = 1; thread < threads; ++thread) others.emplace_back(work);
  } catch (const std::exception&) {
    // No memory, or no more threads.
  }
  work();
}

void run_numbered(std::size_t threads, std::size_t count,
                  const std::function<void(std::size_t number)>& work) {
  std::vector<std::exception_ptr> thrown(count);
  std::atomic<std::size_t> next = 0;
  run_on_threads(std::min(threads, count), [&] {
    for (std::size_t number; (number = next++) < count;) {
      try {
        work(number);
      } catch (...) {
        thrown[number] = std::current_exception();
      }
    }
  });
  for (const std::exception_ptr& exception : thrown) {
    if (exception != nullptr) std::rethrow_exception(exception);
  }
}

void run_side_by_side(std::size_t threads, std::initializer_list<std::function<void()>> works) {
  run_numbered(threads, works.size(), [&](std::size_t number) { works.begin()[number](); });
}

}  // namespace tbtrace
