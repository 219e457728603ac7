// Brings records from CUPTI to the open windows: CUPTI asks for buffers and returns them on its own
// threads or on the program's, and the thread that calls drain() decodes them.
// Owns the buffers, for the life of the process once CUPTI has some. CUPTI's callbacks name no
// receiver, so one stream of the process is connected at a time.
// connect() and the destructor are for one thread at a time; everything else is for any.
// Taking a buffer back needs no memory, so no buffer is lost when memory runs out.
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
#include "cupti/window_activity.h"

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
  ResultCode connect();

  void open(std::shared_ptr<WindowActivity> window);
  void close(const std::shared_ptr<WindowActivity>& window);
  std::size_t open_windows();

  /// Decodes the buffers that CUPTI gave back, and returns how many there were.
  std::size_t drain();
  /// Adds records that CUPTI dropped to all open windows.
  void count_lost(std::uint64_t records);

  BufferPool& pool() { return pool_; }
  /// Whether the records of all these kinds have what is read of them.
  bool understands(const std::vector<ActivityKind>& kinds) const;

 private:
  struct Completed {
    std::uint8_t* buffer;
    std::size_t valid;
    BufferPool::Back back;
  };

  static void requested(std::uint8_t** buffer, std::size_t* size, std::size_t* most_records);
  static void completed(void* context, std::uint32_t stream, std::uint8_t* buffer, std::size_t size,
                        std::size_t valid);
  BufferPool::Taken take() noexcept;
  void take_back(std::uint8_t* buffer, std::size_t size, std::size_t valid) noexcept;
  void decode(const Completed& completed);

  const CuptiLibrary& cupti_;
  const RecordSizes sizes_;
  const std::function<void()> on_completed_;
  BufferPool pool_;

  std::mutex draining_;           // what follows
  std::vector<Completed> batch_;  // swapped with completed_, so that neither loses its memory

  std::mutex windows_mutex_;  // what follows; held while one buffer is decoded
  std::vector<std::shared_ptr<WindowActivity>> windows_;

  std::mutex mutex_;  // what follows; the only one that CUPTI's threads lock
  std::vector<Completed> completed_;
};

}  // namespace tbtrace::cupti
