#include "analyses/modules/work_places.h"

#include <algorithm>
#include <cstddef>
#include <vector>

#include "analyses/attribution/communication.h"
#include "analyses/attribution/owners.h"
#include "trace/call_tree.h"
#include "trace/links.h"
#include "trace/self_times.h"

namespace tbtrace::analyses {

PlaceWork& PlaceWork::operator+=(const PlaceWork& other) {
  calls += other.calls;
  cpu_ns += other.cpu_ns;
  device_ns += other.device_ns;
  backward_cpu_ns += other.backward_cpu_ns;
  backward_device_ns += other.backward_device_ns;
  cpu_memory_bytes += other.cpu_memory_bytes;
  device_memory_bytes += other.device_memory_bytes;
  macs += other.macs;
  flops += other.flops;
  backward_macs += other.backward_macs;
  backward_flops += other.backward_flops;
  return *this;
}

WorkByPlace work_by_place(const Trace& trace, const WorkPlaces& where, std::size_t places,
                          const CountsRange& counts, const PlaceOfActivity& place_of_activity) {
  const CallTree& tree = call_tree_of(trace);
  const SelfTimes& self_times = self_times_of(trace);
  const IdleThreads idle(trace);
  const bool has_hooks =
      std::find(where.accumulates.begin(), where.accumulates.end(), 1) != where.accumulates.end();
  const std::vector<bool> communicates =
      has_hooks ? communication_work(trace) : std::vector<bool>();
  WorkByPlace found;
  std::vector<PlaceWork>& work = found.work;
  work.resize(places);
  const auto counts_at = [&](EventId range) {
    return !counts || (range != EventId::none && counts(range));
  };
  const auto place_of = [&](EventId range) {
    return range == EventId::none ? StackTree::kRoot : where.place[index(range)];
  };
  for (const EventId range : tree.ranges()) {
    if (!counts_at(range)) continue;
    const std::int64_t ns = self_times.ns(range);
    if (idle.is_idle(range)) {
      found.waiting_ns += ns;
      continue;
    }
    PlaceWork& here = work[place_of(range)];
    here.cpu_ns += ns;
    if (where.is_backward[index(range)] != 0) here.backward_cpu_ns += ns;
  }
  for (const DeviceLink& link : links_of(trace).device_work()) {
    const EventId owner = owner_of_work(tree, link);
    if (!counts_at(link.launch != EventId::none ? link.launch : owner)) continue;
    const std::int64_t ns = trace.events().duration_ns(link.activity);
    if (has_hooks && owner != EventId::none && where.accumulates[index(owner)] != 0 &&
        communicates[index(link.activity)]) {
      found.communication.device_ns += ns;
      found.communication.backward_device_ns += ns;
      continue;
    }
    Place place = place_of(owner);
    if (place == StackTree::kRoot && place_of_activity) place = place_of_activity(link.activity);
    if (place >= work.size()) work.resize(place + 1);
    PlaceWork& here = work[place];
    here.device_ns += ns;
    if (owner != EventId::none && where.is_backward[index(owner)] != 0) {
      here.backward_device_ns += ns;
    }
  }
  for_each_memory_owner(trace, tree, [&](const MemoryRecord& record, EventId owner) {
    if (record.out_of_memory || !counts_at(owner)) return;
    PlaceWork& here = work[place_of(owner)];
    if (is_cpu_memory(record.device_type)) here.cpu_memory_bytes += record.bytes;
    if (is_device_memory(record.device_type)) here.device_memory_bytes += record.bytes;
  });
  return found;
}

}  // namespace tbtrace::analyses
