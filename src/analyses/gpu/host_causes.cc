#include "analyses/gpu/host_causes.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>

#include "analyses/attribution/idle_threads.h"
#include "analyses/attribution/runtime_calls.h"
#include "analyses/attribution/source_lines.h"
#include "analyses/gpu/first_calls.h"
#include "analyses/kernels/copy_names.h"
#include "analyses/recording/sliced.h"
#include "analyses/steps/compilation.h"
#include "trace/call_tree.h"
#include "trace/links.h"
#include "trace/step_names.h"

namespace tbtrace::analyses {
namespace {

template <std::size_t kSize>
bool is_one_of(std::string_view text, const std::array<std::string_view, kSize>& texts) {
  return std::ranges::find(texts, text) != texts.end();
}

bool ends_in(std::string_view file, std::string_view path) {
  if (!file.ends_with(path)) return false;
  const std::size_t before = file.size() - path.size();
  return before == 0 || file[before - 1] == '/' || file[before - 1] == '\\';
}

/// Iterations of inference engines that are annotations.
bool is_iteration_of_engine(std::string_view name) {
  return std::ranges::any_of(iteration_names(), [&](const IterationName& iteration) {
    return !iteration.engine.empty() && iteration.place == IterationPlace::annotation &&
           is_named(iteration, name);
  });
}

bool is_profiler_frame(const SourceLine& frame) {
  return ends_in(frame.file, "torch/profiler/profiler.py") ||
         ends_in(frame.file, "torch/autograd/profiler.py");
}

bool is_communication_frame(const SourceLine& frame) {
  constexpr auto kFunctions = std::to_array<std::string_view>(
      {"barrier", "monitored_barrier", "_store_based_barrier", "init_process_group",
       "all_gather_object", "gather_object", "broadcast_object_list", "scatter_object_list",
       "send_object_list", "recv_object_list"});
  return (ends_in(frame.file, "torch/distributed/distributed_c10d.py") &&
          is_one_of(frame.function, kFunctions)) ||
         ends_in(frame.file, "torch/distributed/rendezvous.py");
}

/// Built-in functions, which have no line.
bool is_of_store(std::string_view frame) {
  constexpr std::string_view kStores = "torch._C._distributed_c10d.";
  const std::size_t at = frame.find(kStores);
  return at != std::string_view::npos &&
         frame.find("Store", at + kStores.size()) != std::string_view::npos;
}

/// Collectives that wait on the host: the device has no kernel for them.
bool is_host_collective(std::string_view name) {
  constexpr auto kBarriers = std::to_array<std::string_view>(
      {"c10d::barrier", "c10d::barrier_", "c10d::monitored_barrier_", "barrier"});
  return is_one_of(name, kBarriers) || name.starts_with("gloo:") || name.starts_with("mpi:") ||
         name.starts_with("ucc:");
}

/// Such as DeepSpeed's, which reads gradients that were copied.
bool is_optimizer_on_cpu(std::string_view name) {
  return name.starts_with("Optimizer.step#") && name.find("CPU") != std::string_view::npos;
}

/// What a row of the profiler's overhead says; nullopt if the program would do it without a
/// profiler as well, over and over.
/// Source: CUPTI's kinds of overhead, as libkineto names them.
std::optional<IdleCause> cause_of_overhead(std::string_view name) {
  if (name == "Command Buffer Full") return std::nullopt;
  const bool is_loading = name.find("oading") != std::string_view::npos ||
                          name.find("Compiler") != std::string_view::npos;
  return is_loading ? IdleCause::cold_start : IdleCause::profiler;
}

}  // namespace

HostCauses::HostCauses(const Trace& trace, const StepRules& rules)
    : trace_(trace), rules_(rules), runtime_(trace), blocking_(blocking_launches(trace)) {
  classify_names();
  find_copies();
  find_repeated();
  if (const auto part = sliced_part(trace); part && part->begins_later) {
    compiles_once_ = allocates_once_ = false;
  } else {
    first_calls_ = first_calls(trace);
  }
  find_decided();
  find_overheads();
}

/// Names repeat: each is looked at once.
void HostCauses::classify_names() {
  const Events& events = trace_.events();
  std::vector<bool> is_known_frame;
  std::vector<bool> is_known_range;
  const auto is_new = [](std::vector<bool>& known, std::size_t text) {
    if (text >= known.size()) known.resize(std::max(text + 1, known.size() * 2));
    if (known[text]) return false;
    known[text] = true;
    return true;
  };
  const auto put = [](std::vector<Name>& names, std::size_t text, Name name) {
    if (text >= names.size()) names.resize(std::max(text + 1, names.size() * 2), Name::plain);
    names[text] = name;
  };
  for (const EventId event : call_tree_of(trace_).ranges()) {
    const std::size_t text = index(events.name(event));
    const std::string_view name = trace_.name(event);
    if (trace_.kind(event) == EventKind::python_function) {
      if (!is_new(is_known_frame, text)) continue;
      const std::optional<SourceLine> frame = line_of_frame(name);
      put(frames_, text,
          is_garbage_collection(name)               ? Name::garbage_collection
          : is_compilation(name)                    ? Name::compilation
          : frame && is_profiler_frame(*frame)      ? Name::profiler
          : frame && is_communication_frame(*frame) ? Name::host_communication
          : !frame && is_of_store(name)             ? Name::host_communication
          : is_wait(name)                           ? Name::waits
                                                    : Name::plain);
      continue;
    }
    if (!is_new(is_known_range, text)) continue;
    put(ranges_, text,
        is_step_name(name) || is_iteration_of_engine(name) ? Name::step
        : is_garbage_collection(name)                      ? Name::garbage_collection
        : name == "TorchDynamo Cache Lookup"               ? Name::guards
        : is_compilation(name)                             ? Name::compilation
        : name.starts_with("profiler::")                   ? Name::profiler
        : is_host_collective(name)                         ? Name::host_communication
        : is_optimizer_on_cpu(name)                        ? Name::needs_results
                                                           : Name::plain);
  }
}

/// What is in the first of several steps only, and which setup is not.
void HostCauses::find_repeated() {
  const Events& events = trace_.events();
  const std::span<const Step> steps = trace_.steps();
  if (steps.size() < 2) return;
  std::vector<std::int64_t> starts;
  for (const Step& step : steps) starts.push_back(events.start_ns(step.event));
  std::ranges::sort(starts);
  std::unordered_map<StringId, std::vector<std::int64_t>> steps_of;  // of setup calls
  const auto of_steps = static_cast<std::int64_t>(starts.size());
  std::int64_t last_allocation = INT64_MIN;
  std::int64_t last_compilation = INT64_MIN;
  for (const EventId range : call_tree_of(trace_).ranges()) {
    const std::int64_t start = events.start_ns(range);
    if (trace_.kind(range) != EventKind::runtime) {
      if (name(range) == Name::compilation) last_compilation = std::max(last_compilation, start);
      continue;
    }
    const RuntimeCall call = runtime_.of(range);
    if (call == RuntimeCall::allocation) last_allocation = std::max(last_allocation, start);
    if (call != RuntimeCall::setup) continue;
    const std::int64_t step = std::ranges::upper_bound(starts, start) - starts.begin();
    if (step > 0) steps_of[events.name(range)].push_back(step);
  }
  const std::int64_t first_end = events.end_ns(steps.front().event);
  compiles_once_ = last_compilation < first_end;
  allocates_once_ = last_allocation < first_end;
  for (auto& [text, of] : steps_of) {
    std::ranges::sort(of);
    of.erase(std::unique(of.begin(), of.end()), of.end());
    const bool in_half = of.size() * 2 >= starts.size();
    const bool in_late_ones =
        of.size() - (of.front() == 1 ? 1 : 0) >= 2 && of.back() * 2 > of_steps;
    if (of.size() >= 2 && in_half) repeated_.push_back(text);
    if (in_late_ones) in_late_steps_.push_back(text);
  }
  first_step_end_ = first_end;
  std::ranges::sort(in_late_steps_);
  std::ranges::sort(repeated_);
}

/// The calls that return after their own memcpy, and the waits of operators that copy.
void HostCauses::find_copies() {
  const Events& events = trace_.events();
  const CallTree& tree = call_tree_of(trace_);
  std::unordered_map<EventId, EventId> copying;            // an operator, and the first copy in it
  std::vector<EventId> linked;                             // calls whose memcpy is in the file
  std::unordered_map<StringId, CopyDirection> directions;  // by the name of a memcpy
  for (const DeviceLink& link : links_of(trace_).placed_work()) {
    if (link.launch == EventId::none) continue;
    if (trace_.kind(link.activity) != EventKind::gpu_memcpy) continue;
    linked.push_back(link.launch);
    const StringId name = events.name(link.activity);
    const auto [direction, is_new] = directions.try_emplace(name, CopyDirection::unknown);
    if (is_new) direction->second = copy_direction(trace_.string(name));
    if (direction->second == CopyDirection::on_device) continue;  // no call waits for it
    const EventId around = operator_around(trace_, link.launch);
    if (around != EventId::none) copying.emplace(around, link.launch);
    if (events.end_ns(link.launch) >= events.end_ns(link.activity)) {
      waits_for_copies_.emplace(link.launch, link.launch);
    }
  }
  std::ranges::sort(linked);
  for (const EventId event : tree.ranges()) {
    if (trace_.kind(event) != EventKind::runtime) continue;
    const RuntimeCall call = runtime_.of(event);
    if (call == RuntimeCall::allocation || call == RuntimeCall::wait) {
      const EventId around = operator_around(trace_, event);
      if (call == RuntimeCall::allocation && around != EventId::none) allocating_.push_back(around);
      const auto copy = call == RuntimeCall::wait ? copying.find(around) : copying.end();
      const bool is_after =
          copy != copying.end() && events.start_ns(copy->second) <= events.start_ns(event);
      if (is_after) waits_for_copies_.emplace(event, copy->second);
    }
    // Without Async in its name the call waits, also for a memcpy that the file lacks.
    const bool waits_by_name = call == RuntimeCall::copy &&
                               trace_.name(event).find("sync") == std::string_view::npos &&
                               trace_.name(event).find("Enqueue") == std::string_view::npos;
    if (waits_by_name && !std::ranges::binary_search(linked, event)) {
      waits_for_copies_.emplace(event, event);
    }
  }
  std::ranges::sort(allocating_);
}

/// Whether a range has a cause of its own, whatever is around it.
bool HostCauses::decides(EventId range) const {
  if (trace_.kind(range) == EventKind::runtime) {
    switch (runtime_.of(range)) {
      case RuntimeCall::wait:
        return !waits_for_copies_.contains(range) &&
               std::ranges::binary_search(allocating_, operator_around(trace_, range));
      case RuntimeCall::copy:
        return false;
      case RuntimeCall::allocation:
        return true;
      case RuntimeCall::setup: {
        const StringId name = trace_.events().name(range);
        const bool is_late = trace_.events().start_ns(range) >= first_step_end_;
        const bool is_repeated = std::ranges::binary_search(repeated_, name) ||
                                 (is_late && std::ranges::binary_search(in_late_steps_, name));
        if (!is_repeated) return true;
        break;
      }
      case RuntimeCall::other:
        break;
    }
  } else if (const Name its_name = name(range); its_name != Name::plain && its_name < Name::waits) {
    return its_name != Name::step;
  } else if (rules_.role(range) == StepRole::data_loader) {
    return true;
  }
  return std::ranges::binary_search(first_calls_, range);
}

/// Of a range that decides.
IdleCause HostCauses::cause_of_name(EventId range) const {
  const bool is_first = std::ranges::binary_search(first_calls_, range);
  if (trace_.kind(range) == EventKind::runtime) {
    const RuntimeCall call = runtime_.of(range);
    const bool is_allocation = call == RuntimeCall::allocation || call == RuntimeCall::wait;
    return is_allocation && !is_first && !allocates_once_ ? IdleCause::allocation
                                                          : IdleCause::cold_start;
  }
  switch (name(range)) {
    case Name::profiler:
      return IdleCause::profiler;
    case Name::garbage_collection:
      return IdleCause::garbage_collection;
    case Name::guards:
      return IdleCause::compiler;
    case Name::compilation:
      return compiles_once_ ? IdleCause::cold_start : IdleCause::compiler;
    case Name::host_communication:
      return IdleCause::host_communication;
    case Name::plain:
    case Name::step:
    case Name::waits:
    case Name::needs_results:
      break;
  }
  return is_first ? IdleCause::cold_start : IdleCause::data;
}

void HostCauses::find_decided() {
  const CallTree& tree = call_tree_of(trace_);
  decided_by_.resize(trace_.events().size(), EventId::none);
  for (const EventId range : tree.ranges()) {
    const EventId around = tree.parent(range);
    const EventId outside = around == EventId::none ? around : decided_by_[index(around)];
    decided_by_[index(range)] = decides(range) ? range : outside;
  }
}

void HostCauses::find_overheads() {
  for (const EventId event : trace_.by_start()) {
    if (trace_.kind(event) != EventKind::overhead) continue;
    const std::optional<IdleCause> cause = cause_of_overhead(trace_.name(event));
    if (!cause) continue;
    TimeRange time = {trace_.events().start_ns(event), trace_.events().end_ns(event)};
    if (!overheads_.empty()) time.start = std::max(time.start, overheads_.back().time.end);
    if (time.start < time.end) overheads_.push_back({time, *cause});
  }
}

HostMeaning HostCauses::meaning(EventId range) const {
  if (const EventId decided_by = decided_by_[index(range)]; decided_by != EventId::none) {
    return {Doing::decided, cause_of_name(decided_by), decided_by};
  }
  if (is_step(range)) return {};
  const EventKind kind = trace_.kind(range);
  if (kind == EventKind::runtime) {
    const auto copy = waits_for_copies_.find(range);
    if (copy != waits_for_copies_.end()) {
      return {Doing::waits, IdleCause::copies, copy->second};
    }
    if (runtime_.of(range) == RuntimeCall::wait || std::ranges::binary_search(blocking_, range)) {
      return {Doing::waits, IdleCause::synchronization, range};
    }
  }
  const bool is_work = kind == EventKind::runtime || kind == EventKind::cpu_op;
  if (is_work) return {Doing::works, IdleCause::launches, range};
  return {Doing::code, IdleCause::code, range, name(range) >= Name::waits};
}

}  // namespace tbtrace::analyses
