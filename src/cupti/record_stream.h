// The way of records from CUPTI to the windows that are open: buffers that CUPTI asks for and gives
// back on threads of its own or of the program, and their decoding on one that asks for it.
// Owns the buffers, for the life of the process once CUPTI has some. CUPTI's callbacks name no
// receiver, so that one stream of the process is connected at a time.
// connect(), drain() and the destructor are for one thread; everything else for any.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include "cupti/buffer_pool.h"
#include "cupti/cupti_library.h"
#include "cupti/record_sizes.h"
#include "cupti/window_rows.h"

namespace tbtrace::cupti {

class RecordStream {
 public:
  /// `on_completed` is called from wherever CUPTI gives a buffer back, and must be short. CUPTI
  /// outlives the stream.
  RecordStream(const CuptiLibrary& cupti, BufferPool::Limits limits,
               std::function<void()> on_completed);
  RecordStream(const RecordStream&) = delete;
  RecordStream& operator=(const RecordStream&) = delete;
  ~RecordStream();

  /// Registers CUPTI's callbacks, also if somebody else has registered theirs since.
  Answer connect();

  void open(std::shared_ptr<WindowRows> window);
  void close(const std::shared_ptr<WindowRows>& window);

  /// Decodes what CUPTI gave back. Returns how many buffers that were.
  std::size_t drain();
  /// For the thread that drains: what CUPTI dropped.
  void count_lost(std::uint64_t records);

  BufferPool& pool() { return pool_; }
  /// Whether the records of all these kinds have what is read of them.
  bool understands(const std::vector<Kind>& kinds) const;

 private:
  struct Completed {
    std::uint8_t* buffer;
    std::size_t valid;
    bool is_lost;  // there was no room for it
  };

  static void requested(std::uint8_t** buffer, std::size_t* size, std::size_t* most_records);
  static void completed(void* context, std::uint32_t stream, std::uint8_t* buffer, std::size_t size,
                        std::size_t valid);
  void take_back(std::uint8_t* buffer, std::size_t valid) noexcept;
  void decode(const Completed& completed);

  const CuptiLibrary& cupti_;
  const RecordSizes sizes_;
  const std::function<void()> on_completed_;
  BufferPool pool_;
  std::atomic<std::uint64_t> unread_ = 0;  // buffers for which there was no memory

  std::mutex mutex_;  // what follows
  std::vector<Completed> completed_;
  std::vector<std::shared_ptr<WindowRows>> windows_;
};

}  // namespace tbtrace::cupti
