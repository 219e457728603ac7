#include "recorder/process/messages.h"

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <utility>

#include <unistd.h>

#include "recorder/process/never_destroyed.h"
#include "recorder/process/process.h"

namespace tbtrace::recorder {

namespace {

struct Handler {
  std::mutex mutex;
  std::function<void(std::string_view)> call;
  /// What this process wrote to stderr, and how often it was to be written again.
  std::map<std::string, std::uint64_t, std::less<>> repeats;
  ::pid_t process = 0;
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

/// When the process exits: how often each sentence was left out.
void write_repeats() {
  const std::lock_guard lock(handler().mutex);
  if (handler().process != ::getpid()) return;  // the parent's
  for (const auto& [sentence, count] : handler().repeats) {
    if (count == 0) continue;
    (void)std::fprintf(stderr, "tbtrace: %llu more %s: %s\n",
                       static_cast<unsigned long long>(count), count == 1 ? "time" : "times",
                       sentence.c_str());
  }
}

/// Whether this process has not written the sentence yet.
bool is_new(std::string_view sentence) {
  Handler& here = handler();
  if (here.process != ::getpid()) {
    here.repeats.clear();
    here.process = ::getpid();
  }
  const auto found = here.repeats.find(sentence);
  if (found == here.repeats.end()) {
    here.repeats.emplace(sentence, 0);
    return true;
  }
  static const bool kAsked = std::atexit(write_repeats) == 0;
  (void)kAsked;
  ++found->second;
  return false;
}

}  // namespace

void warn(std::string_view sentence) {
  std::function<void(std::string_view)> call;
  bool is_written = false;
  {
    const std::lock_guard lock(handler().mutex);
    call = handler().call;
    is_written = !call && is_new(sentence);
  }
  if (call) {
    call(sentence);
  } else if (is_written) {
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
