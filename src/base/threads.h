// Threads that share one piece of work.
#pragma once

#include <cstddef>
#include <functional>
#include <initializer_list>

namespace tbtrace {

/// `wanted`, or one per core if that is 0.
int thread_count(int wanted);

/// Runs `work` on this thread and on up to `threads - 1` others at once, and returns when all have
/// ended. If the system has no more threads, those that it gave do the work. `work` must not throw.
void run_on_threads(std::size_t threads, const std::function<void()>& work);

/// Calls `work` with each number from 0 to `count` - 1 once, on this thread and on up to `threads`
/// - 1 others, and returns when all have ended. They start in order. Afterwards throws what the
/// first of them threw, if any did.
void run_numbered(std::size_t threads, std::size_t count,
                  const std::function<void(std::size_t number)>& work);

/// Runs each of `works` once, on this thread and on up to `threads - 1` others, and returns when
/// all have ended. They start in the given order. Afterwards throws what the first of them threw,
/// if any did.
void run_side_by_side(std::size_t threads, std::initializer_list<std::function<void()>> works);

}  // namespace tbtrace
