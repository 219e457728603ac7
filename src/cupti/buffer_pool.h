// Buffers for CUPTI to write records into: zeroed before they are asked for, limited in number.
// Owns them all and never frees one that CUPTI has, since it may write at any time, also when
// tracing has ended. Any thread; taking and giving are short.
// If there is no memory, or no room under the limit, there is no buffer, and CUPTI counts the
// records that it drops.
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
    std::size_t most_buffers = 512;
    /// CUPTI before CUDA 12.9 crashes if a request gets no buffer. It then gets a scrap buffer: a
    /// small one beyond the limit, whose records are lost. Scraps together take at most as much
    /// memory as the other buffers may.
    bool never_empty = false;
  };
  static constexpr std::size_t kScrapBytes = 8192;

  /// A buffer and its size; null if there is none.
  struct Taken {
    std::uint8_t* buffer = nullptr;
    std::size_t bytes = 0;
  };
  enum class Back : std::uint8_t { mine, scrap, foreign };

  explicit BufferPool(Limits limits) : limits_(limits) {}
  BufferPool(const BufferPool&) = delete;
  BufferPool& operator=(const BufferPool&) = delete;
  ~BufferPool();

  std::size_t buffer_bytes() const { return limits_.buffer_bytes; }
  /// Applies to the next buffers. Those beyond a smaller limit are freed when they come back.
  void set_most_buffers(std::size_t most_buffers);
  /// Makes `count` buffers ready, with their pages in memory.
  void reserve(std::size_t count);

  Taken take() noexcept;
  /// CUPTI is done with the buffer, which the caller may read until give().
  Back came_back(const std::uint8_t* buffer) noexcept;
  /// Returns a buffer that came back. `used` bytes of it are zeroed again; a scrap is freed.
  void give(std::uint8_t* buffer, std::size_t used, Back back = Back::mine) noexcept;

  /// Buffers taken so far. Each take() has the next number, from 1 on.
  std::uint64_t taken() const;
  /// How many buffers CUPTI has whose numbers are after `first` and up to `last`.
  std::size_t in_flight(std::uint64_t first, std::uint64_t last) const;
  /// Gives up the buffers with numbers up to `last`: they may come back or not, and are not used
  /// again.
  void write_off(std::uint64_t last);
  std::size_t bytes() const;  ///< of all buffers
  std::size_t count() const;  ///< buffers that exist, scraps included

 private:
  struct InFlight {
    std::uint64_t number = 0;
    bool is_scrap = false;
  };

  std::size_t most_scraps() const;
  void make_room();
  void free_surplus();

  Limits limits_;
  mutable std::mutex mutex_;  // what follows, and limits_.most_buffers
  std::vector<std::uint8_t*> ready_;
  std::unordered_map<const std::uint8_t*, InFlight> in_flight_;
  std::uint64_t taken_ = 0;
  std::size_t made_ = 0;  // without scraps
  std::size_t scraps_ = 0;
};

}  // namespace tbtrace::cupti
