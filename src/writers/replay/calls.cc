#include "writers/replay/calls.h"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <map>
#include <numeric>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include <tbtrace/arguments.h>

#include "base/bounded_sum.h"
#include "trace/call_tree.h"
#include "trace/links.h"

namespace tbtrace::writers {
namespace {

/// All that is recorded of a call's inputs.
std::string key_of(const Trace& trace, EventId call) {
  std::string key;
  for (const Argument each : {Argument::input_dims, Argument::input_types, Argument::input_strides,
                              Argument::concrete_inputs}) {
    key.append(trace.argument_text(call, each)).push_back('\0');
  }
  return key;
}

/// Of the device work that calls of the name launched, with what they called.
std::unordered_map<EventId, std::int64_t> device_times(const Trace& trace, StringId name) {
  const Events& events = trace.events();
  const CallTree& tree = call_tree_of(trace);
  std::unordered_map<EventId, std::int64_t> times;
  for (const DeviceLink& link : links_of(trace).device_work()) {
    for (EventId range = link.op; range != EventId::none; range = tree.parent(range)) {
      if (events.name(range) != name) continue;
      add_bounded(times[range], events.duration_ns(link.activity));
    }
  }
  return times;
}

}  // namespace

std::int64_t CallsOfInputs::total_ns() const {
  return std::accumulate(times_ns.begin(), times_ns.end(), std::int64_t{0}, bounded_sum);
}

CallsOfOperator calls_of(const Trace& trace, std::string_view op) {
  CallsOfOperator found;
  std::vector<EventId> calls;
  const CallTree& tree = call_tree_of(trace);
  std::vector<bool> is_inside(trace.events().size(), false);  // of a call, or one itself
  for (const EventId range : tree.ranges()) {
    const EventId around = tree.parent(range);
    const bool is_call = trace.kind(range) == EventKind::cpu_op && trace.name(range) == op;
    const bool is_nested = around != EventId::none && is_inside[index(around)];
    is_inside[index(range)] = is_nested || is_call;
    if (is_call && !is_nested) calls.push_back(range);  // torch calls some from within themselves
  }
  if (calls.empty()) return found;
  const auto device = device_times(trace, trace.events().name(calls.front()));
  found.is_on_device = !device.empty();
  std::map<std::string, std::size_t> places;
  for (const EventId call : calls) {
    const auto on_device = device.find(call);
    if (found.is_on_device && on_device == device.end()) continue;
    const auto [place, is_new] = places.try_emplace(key_of(trace, call), found.inputs.size());
    if (is_new) found.inputs.push_back({.first = call});
    found.inputs[place->second].times_ns.push_back(
        found.is_on_device ? on_device->second : trace.events().duration_ns(call));
  }
  for (CallsOfInputs& each : found.inputs) std::ranges::sort(each.times_ns);
  std::ranges::stable_sort(found.inputs, std::greater(), &CallsOfInputs::total_ns);
  return found;
}

}  // namespace tbtrace::writers
