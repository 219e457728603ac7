#include "recorder/journal/device_log.h"

#include <algorithm>
#include <exception>

#include "recorder/journal/framed_records.h"

namespace tbtrace::recorder::journal {

bool RecordLog::write(std::uint32_t kind, std::span<const std::uint64_t> words,
                      std::string_view text) noexcept {
  try {
    if (write_framed(log_, kind, words, text)) return true;
  } catch (const std::exception&) {  // a lock that cannot be had
  }
  count_lost();
  return false;
}

// Rows.

void DeviceLog::write_head(const DeviceTrace& trace, bool is_whole) noexcept {
  try {
    log_.write(DeviceRecordKind::head, {}, bytes_of(trace, is_whole));
  } catch (const std::exception&) {  // no memory
    log_.count_lost();
  }
}

void DeviceLog::count(std::uint64_t lost, std::uint64_t untimed) noexcept {
  log_.write(DeviceRecordKind::counts, Words<2>{lost, untimed});
}

void DeviceLog::add_name(std::uint32_t number, std::string_view name) noexcept {
  log_.write(DeviceRecordKind::name, Words<1>{number}, name);
}
void DeviceLog::add_launch(std::uint32_t number, const KernelLaunch& launch) noexcept {
  log_.write(DeviceRecordKind::launch, words_of(number, launch));
}
void DeviceLog::add_peers(std::uint32_t number, const DevicePeers& peers) noexcept {
  log_.write(DeviceRecordKind::peers, words_of(number, peers));
}
void DeviceLog::add_function(std::uint32_t number, const ApiFunction& function) noexcept {
  log_.write(DeviceRecordKind::function, words_of(number, function));
}

void DeviceLog::add(const DeviceActivity& activity) noexcept {
  write_activity(DeviceRecordKind::activity, activity);
}
void DeviceLog::add_outside(const DeviceActivity& activity) noexcept {
  write_activity(DeviceRecordKind::outside_activity, activity);
}
void DeviceLog::add(const ApiCall& call) noexcept {
  log_.write(DeviceRecordKind::call, words_of(call));
}
void DeviceLog::add(const DeviceSynchronization& wait) noexcept {
  log_.write(DeviceRecordKind::synchronization, words_of(wait));
}
void DeviceLog::add(const DeviceEvent& event) noexcept {
  log_.write(DeviceRecordKind::event, words_of(event));
}
void DeviceLog::add(const DeviceOverhead& overhead) noexcept {
  log_.write(DeviceRecordKind::overhead, words_of(overhead));
}
void DeviceLog::add(const DeviceMarker& marker) noexcept {
  log_.write(DeviceRecordKind::marker, words_of(marker));
}
void DeviceLog::add(const DeviceCheck& check) noexcept {
  log_.write(DeviceRecordKind::check, words_of(check));
}

void DeviceLog::write_activity(DeviceRecordKind kind, const DeviceActivity& activity) noexcept {
  const std::optional<std::uint32_t> place = number_of(activity.place);
  if (!place) return;  // which is lost, and the activity with it
  const Words<6> words = words_of(activity, *place);
  const bool is_kernel = activity.kind == DeviceActivityKind::kernel;
  log_.write(kind, std::span(words).first(is_kernel ? kKernelWords : words.size()));
}

/// Nothing if there is no room for it.
std::optional<std::uint32_t> DeviceLog::number_of(const DevicePlace& place) noexcept {
  std::optional<KnownPlace>& known = places_[hash_of(place) % kKnownPlaces];
  if (known && known->place == place) return known->number;
  if (!log_.write(DeviceRecordKind::place, words_of(next_place_, place))) return std::nullopt;
  known = {.place = place, .number = next_place_++};
  return known->number;
}

// Memory.

void DeviceMemoryLog::write(MemoryRecordKind kind, const MemoryRecord& record,
                            std::size_t words) noexcept {
  constexpr int kLast = 63;
  const bool has_bit = record.device >= 0 && record.device < kLast;
  const std::uint64_t bit = std::uint64_t{1} << (has_bit ? record.device : kLast);
  const Words<kMemoryWords> all = words_of(record);
  if (!is_begun_ && !(is_begun_ = log_.write(MemoryRecordKind::begin, {}))) return;
  if ((gaps_ & bit) != 0) {
    if (!log_.write(MemoryRecordKind::gap, std::span(all).first(1))) return;
    // The others of the last bit may have one, too, and get theirs with the next event.
    if (has_bit) gaps_ &= ~bit;
  }
  if (!log_.write(kind, std::span(all).first(words))) gaps_ |= bit;
}

void DeviceMemoryLog::begin() noexcept {
  gaps_ = 0;
  is_begun_ = false;  // it is written with what follows
}
void DeviceMemoryLog::start(int device, const AllocatorTotals& totals) noexcept {
  write(MemoryRecordKind::start, {.device = device, .totals = totals}, kTotalsWords);
}
void DeviceMemoryLog::add(const AllocatorEvent& told, const AllocatorTotals& totals,
                          std::uint64_t ticks, const ThreadLog* log) noexcept {
  write(MemoryRecordKind::event,
        {.device = told.device,
         .totals = totals,
         .event = told,
         .log = log == nullptr ? MemoryRecord::kNoLog : log->number(),
         .ticks = ticks},
        kMemoryWords);
}
void DeviceMemoryLog::lose(int device) noexcept {
  write(MemoryRecordKind::lose, {.device = device}, 1);
}
void DeviceMemoryLog::close() noexcept { write(MemoryRecordKind::close, {}, 1); }
void DeviceMemoryLog::end(int device, const AllocatorTotals& totals) noexcept {
  write(MemoryRecordKind::end, {.device = device, .totals = totals}, kTotalsWords);
}

}  // namespace tbtrace::recorder::journal
