#include "analyses/attribution/owners.h"

#include <span>
#include <vector>

namespace tbtrace::analyses {

EventId owner_of_work(const CallTree& tree, const DeviceLink& link) {
  if (link.op != EventId::none || link.launch == EventId::none) return link.op;
  const EventId holder = tree.parent(link.launch);
  return holder != EventId::none ? holder : link.launch;
}

void for_each_memory_owner(const Trace& trace, const CallTree& tree,
                           const std::function<void(const MemoryRecord&, EventId)>& visit) {
  const Events& events = trace.events();
  // The range that started last on each thread. All open ranges are its ancestors in the tree, and
  // ranges that have ended do not matter to later records.
  std::vector<EventId> latest(trace.tracks().size(), EventId::none);
  const std::span<const EventId> ranges = tree.ranges();
  std::size_t next = 0;
  for (const MemoryRecord& record : trace.memory()) {
    for (; next < ranges.size() && events.start_ns(ranges[next]) <= record.time_ns; ++next) {
      latest[index(events.track(ranges[next]))] = ranges[next];
    }
    EventId& owner = latest[index(record.track)];
    while (owner != EventId::none && events.end_ns(owner) < record.time_ns) {
      owner = tree.parent(owner);
    }
    visit(record, owner);
  }
}

bool is_cpu_memory(DeviceType device) {
  constexpr DeviceType kMkldnn{2};
  constexpr DeviceType kIdeep{5};
  return device == DeviceType::cpu || device == kMkldnn || device == kIdeep;
}

bool is_device_memory(DeviceType device) {
  return device == DeviceType::cuda || device == DeviceType::hip || device == DeviceType::xpu ||
         device == DeviceType::privateuse1;
}

}  // namespace tbtrace::analyses
