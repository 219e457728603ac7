#include <atomic>
#include <exception>
#include <mutex>
#include <utility>

#include "cupti/collector.h"
#include "recorder/process/process.h"

namespace tbtrace::cupti {

namespace {

std::atomic<Collector*> the_collector = nullptr;

std::mutex& making() {
  return recorder::process_mutex<recorder::PartOrder::collector, nullptr,
                                 shut_down_process_collector>();
}

}  // namespace

Result<Collector*> process_collector() {
  if (Collector* const made = the_collector.load(std::memory_order_acquire)) return made;
  const std::lock_guard lock(making());
  recorder::stay_until_the_end();
  if (Collector* const made = the_collector.load(std::memory_order_acquire)) return made;
  Result<DriverLibrary> driver = DriverLibrary::open();
  if (!driver.ok()) return driver.status();
  Result<CuptiLibrary> cupti = open_cupti();
  if (!cupti.ok()) return cupti.status();
  auto* const collector = new Collector(*std::move(cupti), *std::move(driver));
  the_collector.store(collector, std::memory_order_release);
  return collector;
}

void shut_down_process_collector() noexcept {
  Collector* const made = the_collector.load(std::memory_order_acquire);
  if (made == nullptr) return;
  try {
    made->shut_down();
  } catch (const std::exception&) {
    // Joining failed: the thread ends with the process.
  }
}

void push_operator(std::uint64_t begin_ticks) {
  Collector* const made = the_collector.load(std::memory_order_acquire);
  if (made == nullptr) return;
  if (auto* const push = made->cupti().push_external_id) push(kOperatorIds, begin_ticks);
}

void pop_operator() {
  Collector* const made = the_collector.load(std::memory_order_acquire);
  if (made == nullptr) return;
  std::uint64_t last = 0;
  if (auto* const pop = made->cupti().pop_external_id) pop(kOperatorIds, &last);
}

}  // namespace tbtrace::cupti
