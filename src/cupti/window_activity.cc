#include "cupti/window_activity.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <utility>

#include "base/hash.h"
#include "cupti/clock.h"
#include "recorder/log/ticks.h"

namespace tbtrace::cupti {

namespace {

using recorder::ApiLibrary;
using recorder::DeviceActivity;
using recorder::DeviceActivityKind;

constexpr std::uint64_t kNotEnded = std::numeric_limits<std::uint64_t>::max();

std::uint64_t hash_launch(const recorder::KernelLaunch& launch, std::uint64_t seed) {
  const auto word = [](auto high, auto low) {
    return static_cast<std::uint64_t>(static_cast<std::uint32_t>(high)) << 32 |
           static_cast<std::uint32_t>(low);
  };
  std::uint64_t hash = hash_integer(word(launch.grid[0], launch.block[0]), seed);
  hash = hash_integer(word(launch.grid[1], launch.block[1]), hash);
  hash = hash_integer(word(launch.grid[2], launch.block[2]), hash);
  return hash_integer(word(launch.dynamic_shared_bytes, launch.registers_per_thread), hash);
}

}  // namespace

std::size_t WindowActivity::HashLaunch::operator()(const recorder::KernelLaunch& launch) const {
  return hash_launch(launch, launch.name);
}

WindowActivity::WindowActivity(const Calls& calls, std::uint64_t start_ticks, bool all_calls,
                               std::shared_ptr<recorder::DeviceJournal> journal)
    : calls_(calls),
      all_calls_(all_calls),
      start_ticks_(start_ticks),
      journal_(std::move(journal)),
      end_ticks_(kNotEnded),
      cached_launches_(kCachedLaunches) {
  for (const ApiLibrary library : {ApiLibrary::runtime, ApiLibrary::driver}) {
    functions_[static_cast<std::size_t>(library)].resize(calls.functions(library).size());
  }
}

/// First in the list: without memory for it, the row is not in the journal either.
template <typename List, typename Row>
void WindowActivity::keep(List& list, const Row& row) {
  list.push_back(row);
  if (journal_ != nullptr) journal_->add(row);
}

void WindowActivity::count_lost(std::uint64_t records) {
  rows_.lost += records;
  if (journal_ != nullptr) journal_->count(rows_.lost, rows_.untimed);
}

void WindowActivity::count_untimed() {
  ++rows_.untimed;
  if (journal_ != nullptr) journal_->count(rows_.lost, rows_.untimed);
}

WindowActivity::Times WindowActivity::times(std::uint64_t start_ns, std::uint64_t end_ns) {
  if (start_ns == 0 || end_ns == 0) {
    count_untimed();
    return {};
  }
  const std::uint64_t start = ticks_of(start_ns);
  return {.start = start, .end = std::max(ticks_of(end_ns), start), .are_known = true};
}

bool WindowActivity::is_within(std::uint64_t ticks) const {
  if (ticks < start_ticks_ || ticks > end_ticks_.load(std::memory_order_acquire)) return false;
  if (!was_paused_.load()) return true;
  const std::lock_guard lock(pauses_mutex_);
  return std::none_of(pauses_.begin(), pauses_.end(), [&](const Pause& pause) {
    return ticks >= pause.start && ticks < pause.end;
  });
}

void WindowActivity::pause() {
  // Before the time is taken: what begins after it is then added with the pause known.
  was_paused_.store(true);
  const std::lock_guard lock(pauses_mutex_);
  pauses_.push_back({.start = recorder::ticks(), .end = kNotEnded});
}

void WindowActivity::resume() {
  const std::lock_guard lock(pauses_mutex_);
  pauses_.back().end = recorder::ticks();
}

bool WindowActivity::is_of_another_clock(std::uint64_t start_ns) {
  constexpr std::uint64_t kSoon = 10'000'000'000;  // clocks of devices may be ahead a little
  if (start_ns <= clock_ns() + kSoon) return false;
  count_untimed();
  return true;
}

template <typename Record, typename AddRest>
void WindowActivity::add_activity(const Record& record, DeviceActivityKind kind,
                                  AddRest&& add_rest) {
  const Times at = times(record.start, record.end);
  if (!at.are_known) return;
  const bool is_inside = is_within(at.start);
  if (!is_inside && is_of_another_clock(record.start)) return;
  DeviceActivity activity{
      .start_ticks = at.start,
      .end_ticks = at.end,
      .correlation = record.correlation,
      .kind = kind,
      .place = {.graph_node = record.graph_node,
                .graph = record.graph,
                .device = record.device,
                .context = record.context,
                .stream = record.stream,
                .channel = record.channel,
                .channel_type = static_cast<std::uint8_t>(record.channel_type)}};
  add_rest(activity);
  if (is_inside) {
    keep(rows_.activities, activity);
    return;
  }
  // Whether the window began it is known when all calls are.
  outside_.push_back(activity);
  if (journal_ != nullptr) journal_->add_outside(activity);
}

void WindowActivity::add(const KernelRecord& record) {
  add_activity(record, DeviceActivityKind::kernel, [&](DeviceActivity& activity) {
    activity.launch = launch_row(record.name == nullptr ? "" : record.name,
                                 {.grid = {record.grid[0], record.grid[1], record.grid[2]},
                                  .block = {record.block[0], record.block[1], record.block[2]},
                                  .registers_per_thread = record.registers_per_thread,
                                  .static_shared_bytes = record.static_shared_bytes,
                                  .dynamic_shared_bytes = record.dynamic_shared_bytes});
  });
}

void WindowActivity::add(const MemcpyRecord& record) {
  add_activity(record, DeviceActivityKind::memcpy, [&](DeviceActivity& activity) {
    activity.transfer = {.bytes = record.bytes,
                         .copy_kind = record.copy_kind,
                         .from_memory = record.from_memory,
                         .to_memory = record.to_memory};
  });
}

void WindowActivity::add(const MemcpyPeerRecord& record) {
  add_activity(record, DeviceActivityKind::memcpy, [&](DeviceActivity& activity) {
    rows_.peers.push_back({.from_device = record.from_device,
                           .from_context = record.from_context,
                           .to_device = record.to_device,
                           .to_context = record.to_context});
    if (journal_ != nullptr) {
      journal_->add_peers(static_cast<std::uint32_t>(rows_.peers.size() - 1), rows_.peers.back());
    }
    activity.transfer = {.bytes = record.bytes,
                         .peers = static_cast<std::uint32_t>(rows_.peers.size()),
                         .copy_kind = record.copy_kind,
                         .from_memory = record.from_memory,
                         .to_memory = record.to_memory};
  });
}

void WindowActivity::add(const MemsetRecord& record) {
  add_activity(record, DeviceActivityKind::memset, [&](DeviceActivity& activity) {
    activity.transfer = {.bytes = record.bytes,
                         .to_memory = static_cast<std::uint8_t>(record.memory)};
  });
}

void WindowActivity::add(const ApiRecord& record) {
  const ApiLibrary library =
      record.kind == ActivityKind::runtime ? ApiLibrary::runtime : ApiLibrary::driver;
  const std::uint32_t known = function(library, record.number);
  if (known == 0) return;
  const Times at = times(record.start, record.end);
  if (!at.are_known) return;
  if (!is_within(at.start)) {
    static_cast<void>(is_of_another_clock(record.start));
    return;
  }
  keep(rows_.calls, recorder::ApiCall{.start_ticks = at.start,
                                      .end_ticks = at.end,
                                      .thread = record.thread,
                                      .correlation = record.correlation,
                                      .function = known - 1});
}

void WindowActivity::add(const ExternalCorrelationRecord& record) {
  if (record.external_kind != kOperatorIds) return;
  keep(rows_.checks,
       recorder::DeviceCheck{.correlation = record.correlation, .begin_ticks = record.external_id});
}

void WindowActivity::add(const OverheadRecord& record) {
  const Times at = times(record.start, record.end);
  if (!at.are_known || !is_within(at.start)) return;
  keep(rows_.overheads,
       recorder::DeviceOverhead{
           .start_ticks = at.start, .end_ticks = at.end, .kind = record.overhead_kind});
}

void WindowActivity::add(const SynchronizationRecord& record) {
  const Times at = times(record.start, record.end);
  if (!at.are_known || !is_within(at.start)) return;
  keep(rows_.synchronizations,
       recorder::DeviceSynchronization{.start_ticks = at.start,
                                       .end_ticks = at.end,
                                       .context = record.context,
                                       .stream = record.stream,
                                       .correlation = record.correlation,
                                       .event = record.event,
                                       .kind = static_cast<std::uint8_t>(record.wait_kind)});
}

void WindowActivity::add(const CudaEventRecord& record) {
  keep(rows_.events, recorder::DeviceEvent{.correlation = record.correlation,
                                           .context = record.context,
                                           .stream = record.stream,
                                           .event = record.event});
}

void WindowActivity::add(const MarkerRecord& record) {
  if ((record.flags & kMarkerStart) != 0) {
    open_markers_[record.id] = {.start_ticks = ticks_of(record.timestamp),
                                .end_ticks = 0,
                                .thread = record.object[1],
                                .name = text(record.name),
                                .domain = text(record.domain)};
  } else if ((record.flags & kMarkerEnd) != 0) {
    auto open = open_markers_.extract(record.id);
    if (open.empty() || !is_within(open.mapped().start_ticks)) return;
    open.mapped().end_ticks = std::max(ticks_of(record.timestamp), open.mapped().start_ticks);
    keep(rows_.markers, open.mapped());
  }
}

recorder::DeviceTrace WindowActivity::take() {
  recorder::add_begun(rows_, outside_);
  outside_ = {};
  return std::move(rows_);
}

/// Addresses are looked up first, and what they point to is compared: a library that was unloaded
/// may have left its place to another.
std::uint32_t WindowActivity::text(const char* text) {
  if (text == nullptr || *text == '\0') return 0;
  const auto known = by_address_.find(text);
  if (known != by_address_.end() && rows_.names[known->second] == text) return known->second;
  auto place = by_text_.find(text);
  if (place == by_text_.end()) {
    rows_.names.emplace_back(text);  // first: without memory for the rest it is only not found
    const auto row = static_cast<std::uint32_t>(rows_.names.size() - 1);
    if (journal_ != nullptr) journal_->add_name(row, text);
    place = by_text_.emplace(text, row).first;
  }
  by_address_[text] = place->second;
  return place->second;
}

std::uint32_t WindowActivity::launch_row(const char* name, recorder::KernelLaunch launch) {
  const std::uint64_t hash = hash_launch(launch, reinterpret_cast<std::uintptr_t>(name));
  CachedLaunch& cached = cached_launches_[hash % kCachedLaunches];
  launch.name = cached.launch.name;
  if (cached.name == name && cached.launch == launch && rows_.names[launch.name] == name) {
    return cached.row;
  }
  launch.name = text(name);
  auto place = launch_rows_.find(launch);
  if (place == launch_rows_.end()) {
    rows_.launches.push_back(launch);
    const auto row = static_cast<std::uint32_t>(rows_.launches.size() - 1);
    if (journal_ != nullptr) journal_->add_launch(row, launch);
    place = launch_rows_.emplace(launch, row).first;
  }
  cached = {.name = name, .row = place->second, .launch = launch};
  return place->second;
}

/// Its row + 1; 0: it is not one of those that are recorded.
std::uint32_t WindowActivity::function(ApiLibrary library, std::uint32_t number) {
  std::vector<std::uint32_t>& known = functions_[static_cast<std::size_t>(library)];
  if (number >= known.size()) return 0;
  if (known[number] == 0) {
    const Calls::Function& called = calls_.functions(library)[number];
    if (called.name.empty() || !(called.is_chosen || all_calls_)) return 0;
    rows_.functions.push_back(
        {.number = number, .name = text(called.name.c_str()), .library = library});
    known[number] = static_cast<std::uint32_t>(rows_.functions.size());
    if (journal_ != nullptr) journal_->add_function(known[number] - 1, rows_.functions.back());
  }
  return known[number];
}

}  // namespace tbtrace::cupti
