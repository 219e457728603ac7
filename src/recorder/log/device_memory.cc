#include "recorder/log/device_memory.h"

#include <algorithm>
#include <exception>
#include <utility>

#include "recorder/log/storage_key.h"

namespace tbtrace::recorder {

namespace {

using Kind = AllocatorEvent::Kind;

/// The smallest block for so many bytes.
std::int64_t block_of(std::int64_t requested) {
  constexpr std::int64_t kSmallest = 512;  // and what sizes are multiples of
  const std::int64_t blocks = (requested + kSmallest - 1) / kSmallest;
  return std::max<std::int64_t>(blocks, 1) * kSmallest;
}

}  // namespace

DeviceMemory::DeviceMemory(std::shared_ptr<DeviceMemoryJournal> journal)
    : journal_(std::move(journal)) {
  if (journal_ != nullptr) journal_->begin();
}

void DeviceMemory::close() {
  if (journal_ != nullptr) journal_->close();
  is_closed_ = true;
}

void DeviceMemory::start(int device, const AllocatorTotals& totals) {
  if (journal_ != nullptr) journal_->start(device, totals);
  devices_.try_emplace(device, Device{.allocated = totals.allocated});
}

/// Nothing happened on the device since the newest block, so that what is active grew by it.
void DeviceMemory::settle(Device& device, const AllocatorTotals& totals) {
  const auto before = std::exchange(device.active_before, std::nullopt);
  if (!before) return;
  const std::int64_t bytes = totals.active - *before;
  *device.allocated += bytes;
  DeviceMemoryEvent* const event = std::exchange(device.newest, nullptr);
  if (event == nullptr) return;
  event->event.bytes = bytes;
  event->totals.allocated = *device.allocated;
  event->totals.active = totals.active;
}

void DeviceMemory::add(const AllocatorEvent& told, const AllocatorTotals& totals,
                       std::uint64_t ticks, const ThreadLog* log) noexcept {
  if (journal_ != nullptr) journal_->add(told, totals, ticks, log);
  try {
    const auto [place, is_first] = devices_.try_emplace(told.device);
    Device& device = place->second;
    settle(device, totals);
    const std::optional<std::int64_t> before = std::exchange(device.allocated, totals.allocated);
    const bool is_free = told.kind == Kind::free;
    if (told.kind == Kind::other || is_closed_ || (is_free && is_first)) return;
    if (told.kind == Kind::allocate) device.active_before = totals.active;
    if (log == nullptr) return;
    DeviceMemoryEvent& event = events_.emplace_back(DeviceMemoryEvent{
        .event = {.ticks = ticks}, .device = told.device, .totals = totals, .log = log});
    if (told.kind == Kind::out_of_memory) {
      event.event.bytes = told.requested;
      return;
    }
    event.event.address = storage_key(told.address, MemoryDevice::cuda(told.device));
    event.event.bytes = block_of(told.requested);
    if (is_free) {
      event.event.bytes = before ? totals.allocated - *before : -event.event.bytes;
    } else {
      event.totals.allocated += event.event.bytes;
      device.newest = &event;
    }
  } catch (const std::exception&) {
    lose(told.device);
  }
}

void DeviceMemory::lose(int device) noexcept {
  if (journal_ != nullptr) journal_->lose(device);
  ++lost_;
  skip(device);
}

void DeviceMemory::skip(int device) noexcept {
  const auto known = devices_.find(device);
  if (known != devices_.end()) known->second = {};
}

void DeviceMemory::end(int device, const AllocatorTotals& totals) {
  if (journal_ != nullptr) journal_->end(device, totals);
  const auto known = devices_.find(device);
  if (known != devices_.end()) settle(known->second, totals);
}

}  // namespace tbtrace::recorder
