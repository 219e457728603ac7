#include "base/forks.h"

#include <atomic>

#include <pthread.h>

namespace tbtrace {
namespace {

constinit std::atomic<std::uint64_t> count = 0;

}  // namespace

std::uint64_t fork_count() {
  // A library that is unloaded takes its handlers with it.
  static const bool is_counted = ::pthread_atfork(nullptr, nullptr, [] {
                                   count.fetch_add(1, std::memory_order_relaxed);
                                 }) == 0;
  static_cast<void>(is_counted);
  return count.load(std::memory_order_relaxed);
}

}  // namespace tbtrace
