#include "recorder/window/empty_window.h"

#include <cstddef>

#include "recorder/log/record.h"
#include "trace/step_names.h"

namespace tbtrace::recorder {

namespace {

struct FindsOthers {
  const ThreadLog& log;
  bool found = false;

  void operator()(const BeginRecord& record, const std::uint64_t*) {
    found = found || !is_step_name(log.name(record.name).text);
  }
  void operator()(const EndRecord&) {}
  void operator()(const MemoryEvent&) { found = true; }
  void operator()(const InstantRecord&) { found = true; }
  void operator()(const CounterRecord&) { found = true; }
};

}  // namespace

bool has_only_steps(const Recording& recording) {
  if (recording.has_devices() || recording.lost() > 0) return false;
  constexpr std::size_t kMostWords = 1000;  // windows of some hundred steps
  for (const auto& log : recording.logs()) {
    std::size_t words = 0;
    log->for_each_chunk([&](const std::uint64_t*, std::size_t count) { words += count; });
    if (words > kMostWords) return false;
    FindsOthers others{*log};
    const std::size_t unreadable = read_records(*log, others);
    if (others.found || unreadable > 0) return false;
  }
  return true;
}

}  // namespace tbtrace::recorder
