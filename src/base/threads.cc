#include "base/threads.h"

#include <algorithm>
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

}  // namespace tbtrace
