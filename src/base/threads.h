// Threads that share one piece of work.
#pragma once

#include <cstddef>
#include <functional>

namespace tbtrace {

/// `wanted`, or one per core if that is 0.
int thread_count(int wanted);

/// Runs `work` on this thread and on up to `threads - 1` others at once, and returns when all have
/// ended. If the system has no more threads, those that it gave do the work. `work` must not throw.
void run_on_threads(std::size_t threads, const std::function<void()>& work);

}  // namespace tbtrace
