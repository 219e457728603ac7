#include "recorder/process/terminate.h"

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <exception>
#include <mutex>

#include <unistd.h>

#include "recorder/process/process.h"
#include "recorder/process/running_profilers.h"

namespace tbtrace::recorder {

namespace {

std::atomic<pid_t> process = 0;  // that asked
std::atomic<std::int64_t> timeout_ms = 0;
std::atomic<std::terminate_handler> before = nullptr;

[[noreturn]] void on_terminate() {
  if (process.load() == ::getpid()) {
    close_profilers_in_time(std::chrono::milliseconds(timeout_ms.load()));
  }
  if (const std::terminate_handler handler = before.load(); handler != nullptr) handler();
  std::abort();
}

}  // namespace

void close_on_terminate(std::chrono::milliseconds timeout) {
  const std::lock_guard lock(process_mutex<PartOrder::signals>());
  stay_until_the_end();
  const bool is_new = process.exchange(::getpid()) != ::getpid();
  timeout_ms = std::max<std::int64_t>(is_new ? 0 : timeout_ms.load(), timeout.count());
  if (std::get_terminate() == on_terminate) return;
  before = std::get_terminate();
  std::set_terminate(on_terminate);
}

}  // namespace tbtrace::recorder
