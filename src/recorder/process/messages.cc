#include "recorder/process/messages.h"

#include <cstdio>
#include <mutex>
#include <utility>

#include "recorder/process/never_destroyed.h"
#include "recorder/process/process.h"

namespace tbtrace::recorder {

namespace {

struct Handler {
  std::mutex mutex;
  std::function<void(std::string_view)> call;
};

Handler& handler();

constexpr ProcessPart kPart = {.order = PartOrder::warnings,
                               .lock = [] { handler().mutex.lock(); },
                               .unlock = [] { handler().mutex.unlock(); }};
const AddedPart kAdded(kPart);

Handler& handler() {
  static NeverDestroyed<Handler> one;
  return *one;
}

}  // namespace

void warn(std::string_view sentence) {
  std::function<void(std::string_view)> call;
  {
    const std::lock_guard lock(handler().mutex);
    call = handler().call;
  }
  if (call) {
    call(sentence);
  } else {
    (void)std::fprintf(stderr, "tbtrace: %.*s\n", static_cast<int>(sentence.size()),
                       sentence.data());
  }
}

std::function<void(std::string_view)> set_warning_handler(
    std::function<void(std::string_view)> new_handler) {
  const std::lock_guard lock(handler().mutex);
  return std::exchange(handler().call, std::move(new_handler));
}

}  // namespace tbtrace::recorder
