#include "cupti/buffer_pool.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <limits>

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

void BufferPool::set_never_empty(bool never_empty) {
  const std::lock_guard lock(mutex_);
  limits_.never_empty = never_empty;
}

void BufferPool::reserve(std::size_t count) {
  const std::lock_guard lock(mutex_);
  while (ready_.size() < count && made_ < limits_.most_buffers) {
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

std::uint8_t* BufferPool::take() noexcept try {
  const std::lock_guard lock(mutex_);
  const bool beyond = ready_.empty() && made_ >= limits_.most_buffers;
  if (beyond && !limits_.never_empty) return nullptr;
  const auto flight = flights_.emplace(nullptr, Flight{}).first;  // its memory, before a buffer's
  std::uint8_t* buffer = nullptr;
  if (!ready_.empty()) {
    buffer = ready_.back();
    ready_.pop_back();
  } else if ((buffer = new_buffer(limits_.buffer_bytes)) != nullptr) {
    ++(beyond ? beyond_ : made_);
  }
  auto node = flights_.extract(flight);
  if (buffer == nullptr) return nullptr;
  node.key() = buffer;
  node.mapped() = {.number = ++taken_, .beyond_the_limit = beyond};
  flights_.insert(std::move(node));
  return buffer;
} catch (const std::exception&) {
  return nullptr;
}

BufferPool::Back BufferPool::came_back(const std::uint8_t* buffer) noexcept {
  const std::lock_guard lock(mutex_);
  const auto flight = flights_.find(buffer);
  if (flight == flights_.end()) return Back::foreign;
  const bool beyond = flight->second.beyond_the_limit;
  flights_.erase(flight);
  return beyond ? Back::beyond_the_limit : Back::mine;
}

void BufferPool::give(std::uint8_t* buffer, std::size_t used) noexcept {
  std::memset(buffer, 0, std::min(used, limits_.buffer_bytes));
  const std::lock_guard lock(mutex_);
  try {
    if (beyond_ > 0) {
      --beyond_;
    } else {
      ready_.push_back(buffer);
      return;
    }
  } catch (const std::exception&) {
    --made_;
  }
  std::free(buffer);
}

std::uint64_t BufferPool::taken() const {
  const std::lock_guard lock(mutex_);
  return taken_;
}

std::size_t BufferPool::in_flight(std::uint64_t taken) const {
  const std::lock_guard lock(mutex_);
  return static_cast<std::size_t>(
      std::count_if(flights_.begin(), flights_.end(),
                    [&](const auto& flight) { return flight.second.number <= taken; }));
}

void BufferPool::write_off(std::uint64_t taken) {
  const std::lock_guard lock(mutex_);
  std::erase_if(flights_, [&](const auto& flight) {
    if (flight.second.number > taken) return false;
    --(flight.second.beyond_the_limit ? beyond_ : made_);
    return true;
  });
}

std::size_t BufferPool::bytes() const {
  const std::lock_guard lock(mutex_);
  return (made_ + beyond_) * limits_.buffer_bytes;
}

}  // namespace tbtrace::cupti
