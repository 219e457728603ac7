#include "analyses/path/batch_waits.h"

#include <algorithm>
#include <cstddef>
#include <string_view>

#include "analyses/attribution/operator_kind.h"
#include "trace/call_tree.h"

namespace tbtrace::analyses {
namespace {

/// torch's loader with processes of its own; with none, the thread itself loads.
bool takes_batch(const Trace& trace, EventId range) {
  const std::string_view name = trace.name(range);
  return is_data_loading(name) && name.find("MultiProcessing") != std::string_view::npos;
}

/// Taking a batch that is there passes on what was sent about it, which takes much less.
constexpr std::int64_t kLongestTaking = 5'000'000;
constexpr std::int64_t kAnyway = 100'000;

}  // namespace

std::vector<BatchWait> find_batch_waits(const Trace& trace, const BusyThreads& threads) {
  const Events& events = trace.events();
  std::vector<std::vector<EventId>> batches(trace.tracks().size());
  for (const EventId range : call_tree_of(trace).ranges()) {
    const std::size_t thread = index(events.track(range));
    if (threads.runs_steps(thread) && takes_batch(trace, range)) batches[thread].push_back(range);
  }
  std::vector<BatchWait> waits;
  for (const std::vector<EventId>& of_thread : batches) {
    if (of_thread.empty()) continue;
    const auto duration = [&](EventId range) { return events.duration_ns(range); };
    const std::int64_t least =
        std::min(duration(*std::ranges::min_element(of_thread, {}, duration)), kLongestTaking);
    EventId before = EventId::none;
    bool is_unclear = false;
    for (const EventId range : of_thread) {
      if (duration(range) <= 2 * least + kAnyway) {
        is_unclear = true;
        continue;
      }
      // A short wait after a long time without one: the processes had nothing to do meanwhile.
      const bool were_busy =
          before != EventId::none &&
          duration(range) - least >= (events.end_ns(range) - events.end_ns(before)) / 10;
      waits.push_back({range, were_busy ? before : EventId::none, were_busy && is_unclear});
      before = range;
      is_unclear = false;
    }
  }
  return waits;
}

}  // namespace tbtrace::analyses
