#include "cupti/buffer_pool.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <exception>

namespace tbtrace::cupti {

namespace {

/// Zeroed; its pages come with their first use. Null if there is no memory.
std::uint8_t* new_buffer(std::size_t bytes) {
  return static_cast<std::uint8_t*>(std::calloc(1, bytes));
}

}  // namespace

BufferPool::~BufferPool() {
  for (std::uint8_t* buffer : ready_) std::free(buffer);
}

void BufferPool::set_most_buffers(std::size_t most_buffers) {
  const std::lock_guard lock(mutex_);
  limits_.most_buffers = most_buffers;
  free_surplus();
}

void BufferPool::free_surplus() {
  while (made_ > limits_.most_buffers && !ready_.empty()) {
    std::free(ready_.back());
    ready_.pop_back();
    --made_;
  }
}

/// So that give() needs no memory.
void BufferPool::make_room() {
  if (ready_.capacity() <= made_) ready_.reserve(2 * made_ + 8);
}

std::size_t BufferPool::most_scraps() const {
  return std::max<std::size_t>(1, limits_.most_buffers * limits_.buffer_bytes / kScrapBytes);
}

void BufferPool::reserve(std::size_t count) {
  const std::lock_guard lock(mutex_);
  while (ready_.size() < count && made_ < limits_.most_buffers) {
    make_room();
    std::uint8_t* const buffer = new_buffer(limits_.buffer_bytes);
    if (buffer == nullptr) return;
    // calloc() may hand out pages that are not there yet.
    for (std::size_t at = 0; at < limits_.buffer_bytes; at += 4096) {
      static_cast<volatile std::uint8_t*>(buffer)[at] = 0;
    }
    ready_.push_back(buffer);
    ++made_;
  }
}

BufferPool::Taken BufferPool::take() noexcept try {
  const std::lock_guard lock(mutex_);
  const bool is_scrap = ready_.empty() && made_ >= limits_.most_buffers;
  if (is_scrap && (!limits_.never_empty || scraps_ >= most_scraps())) return {};
  const std::size_t bytes = is_scrap ? kScrapBytes : limits_.buffer_bytes;
  make_room();
  const auto flight =
      in_flight_.emplace(nullptr, InFlight{}).first;  // its memory, before a buffer's
  std::uint8_t* buffer = nullptr;
  if (!ready_.empty()) {
    buffer = ready_.back();
    ready_.pop_back();
  } else if ((buffer = new_buffer(bytes)) != nullptr) {
    ++(is_scrap ? scraps_ : made_);
  }
  auto node = in_flight_.extract(flight);
  if (buffer == nullptr) return {};
  node.key() = buffer;
  node.mapped() = {.number = ++taken_, .is_scrap = is_scrap};
  in_flight_.insert(std::move(node));
  return {.buffer = buffer, .bytes = bytes};
} catch (const std::exception&) {
  return {};
}

BufferPool::Back BufferPool::came_back(const std::uint8_t* buffer) noexcept {
  const std::lock_guard lock(mutex_);
  const auto flight = in_flight_.find(buffer);
  if (flight == in_flight_.end()) return Back::foreign;
  const bool is_scrap = flight->second.is_scrap;
  in_flight_.erase(flight);
  return is_scrap ? Back::scrap : Back::mine;
}

void BufferPool::give(std::uint8_t* buffer, std::size_t used, Back back) noexcept {
  if (back == Back::scrap) {
    std::free(buffer);
    const std::lock_guard lock(mutex_);
    --scraps_;
    return;
  }
  std::memset(buffer, 0, std::min(used, limits_.buffer_bytes));
  const std::lock_guard lock(mutex_);
  ready_.push_back(buffer);  // within the capacity that take() or reserve() made
  free_surplus();
}

std::uint64_t BufferPool::taken() const {
  const std::lock_guard lock(mutex_);
  return taken_;
}

std::size_t BufferPool::in_flight(std::uint64_t first, std::uint64_t last) const {
  const std::lock_guard lock(mutex_);
  return static_cast<std::size_t>(
      std::count_if(in_flight_.begin(), in_flight_.end(), [&](const auto& flight) {
        return flight.second.number > first && flight.second.number <= last;
      }));
}

void BufferPool::write_off(std::uint64_t last) {
  const std::lock_guard lock(mutex_);
  std::erase_if(in_flight_, [&](const auto& flight) {
    if (flight.second.number > last) return false;
    --(flight.second.is_scrap ? scraps_ : made_);
    return true;
  });
}

std::size_t BufferPool::bytes() const {
  const std::lock_guard lock(mutex_);
  return made_ * limits_.buffer_bytes + scraps_ * kScrapBytes;
}

std::size_t BufferPool::count() const {
  const std::lock_guard lock(mutex_);
  return made_ + scraps_;
}

}  // namespace tbtrace::cupti
