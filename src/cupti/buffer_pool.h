// Buffers for CUPTI to write records into: zeroed before they are asked for, at most so many.
// Owns them all and never frees one that CUPTI has, since it may write at any time, also when
// tracing has ended. Any thread; taking and giving are short.
// No memory, or no room under the limit: no buffer, and CUPTI counts what it drops.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <vector>

namespace tbtrace::cupti {

class BufferPool {
 public:
  struct Limits {
    std::size_t buffer_bytes = std::size_t{512} << 10;
    std::size_t most_buffers = 128;
    /// Before CUDA 12.9 CUPTI crashes without a buffer, so there is one beyond the limit, whose
    /// records are lost.
    bool never_empty = false;
  };

  explicit BufferPool(Limits limits) : limits_(limits) {}
  BufferPool(const BufferPool&) = delete;
  BufferPool& operator=(const BufferPool&) = delete;
  ~BufferPool();

  std::size_t buffer_bytes() const { return limits_.buffer_bytes; }
  /// Of the next buffers.
  void set_never_empty(bool never_empty);
  /// Has so many buffers ready whose pages are there.
  void reserve(std::size_t count);

  /// Null: none is to be had.
  std::uint8_t* take() noexcept;

  enum class Back : std::uint8_t { mine, beyond_the_limit, foreign };
  /// CUPTI has done with the buffer. It is not in the pool yet.
  Back came_back(const std::uint8_t* buffer) noexcept;
  /// For the next take(): `used` bytes of it are zeroed again.
  void give(std::uint8_t* buffer, std::size_t used) noexcept;

  /// Buffers that were taken so far. Each take() has the next number, from 1 on.
  std::uint64_t taken() const;
  /// How many of those that CUPTI has were among the first `taken`.
  std::size_t in_flight(std::uint64_t taken) const;
  /// Gives those up: they may come back or not, and are not used again.
  void write_off(std::uint64_t taken);
  std::size_t bytes() const;  ///< of all buffers

 private:
  struct Flight {
    std::uint64_t number;
    bool beyond_the_limit;
  };

  Limits limits_;
  mutable std::mutex mutex_;  // what follows
  std::vector<std::uint8_t*> ready_;
  std::unordered_map<const std::uint8_t*, Flight> flights_;
  std::uint64_t taken_ = 0;
  std::size_t made_ = 0;    // within the limit
  std::size_t beyond_ = 0;  // those that are now
};

}  // namespace tbtrace::cupti
