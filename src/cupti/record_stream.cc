#include "cupti/record_stream.h"

#include <algorithm>
#include <cstdlib>
#include <exception>
#include <new>
#include <utility>

#include "cupti/records.h"

namespace tbtrace::cupti {

namespace {

std::atomic<RecordStream*> connected = nullptr;

// Before CUDA 12.9 CUPTI does not stand a request that gets no buffer (kineto#1534).
constexpr std::uint32_t kStandsNoBuffer = 27;

BufferPool::Limits limits_for(const CuptiLibrary& cupti, BufferPool::Limits limits) {
  limits.never_empty = cupti.version < kStandsNoBuffer;
  return limits;
}

/// What a record brings along that is its reader's to free.
struct Freed {
  template <typename Record>
  explicit Freed(const Record&) {}
  explicit Freed(const OverheadRecord& record) : data(record.data) {}
  Freed(const Freed&) = delete;
  Freed& operator=(const Freed&) = delete;
  ~Freed() { std::free(data); }

  void* const data = nullptr;
};

struct Count {
  std::uint64_t records = 0;
  template <typename Record>
  void operator()(const Record&) {
    ++records;
  }
};

}  // namespace

RecordStream::RecordStream(const CuptiLibrary& cupti, BufferPool::Limits limits,
                           std::function<void()> on_completed)
    : cupti_(cupti),
      sizes_(RecordSizes::measured_with(cupti)),
      on_completed_(std::move(on_completed)),
      pool_(limits_for(cupti, limits)) {}

RecordStream::~RecordStream() {
  RecordStream* self = this;
  connected.compare_exchange_strong(self, nullptr);
  drain();
}

ResultCode RecordStream::connect() {
  connected.store(this, std::memory_order_release);
  constexpr std::size_t kReady = 8;
  pool_.reserve(kReady);
  return cupti_.register_callbacks(requested, completed);
}

void RecordStream::open(std::shared_ptr<WindowActivity> window) {
  const std::lock_guard lock(windows_mutex_);
  windows_.push_back(std::move(window));
}

void RecordStream::close(const std::shared_ptr<WindowActivity>& window) {
  const std::lock_guard lock(windows_mutex_);
  std::erase(windows_, window);
}

std::size_t RecordStream::open_windows() {
  const std::lock_guard lock(windows_mutex_);
  return windows_.size();
}

bool RecordStream::understands(const std::vector<ActivityKind>& kinds) const {
  return std::all_of(kinds.begin(), kinds.end(),
                     [&](ActivityKind kind) { return sizes_.fits(kind); });
}

void RecordStream::requested(std::uint8_t** buffer, std::size_t* size, std::size_t* most_records) {
  RecordStream* const stream = connected.load(std::memory_order_acquire);
  const BufferPool::Taken taken = stream == nullptr ? BufferPool::Taken{} : stream->take();
  *buffer = taken.buffer;
  *size = taken.bytes;
  *most_records = 0;  // as many as there is room for
}

void RecordStream::completed(void*, std::uint32_t, std::uint8_t* buffer, std::size_t size,
                             std::size_t valid) {
  RecordStream* const stream = connected.load(std::memory_order_acquire);
  if (stream != nullptr && buffer != nullptr) stream->take_back(buffer, size, valid);
}

/// A buffer, with room in both lists for the time when it comes back.
BufferPool::Taken RecordStream::take() noexcept {
  const BufferPool::Taken taken = pool_.take();
  if (taken.buffer == nullptr) return taken;
  const std::size_t buffers = pool_.count();
  try {
    const std::lock_guard lock(mutex_);
    if (completed_.capacity() < buffers) completed_.reserve(2 * buffers);
  } catch (const std::exception&) {
    pool_.give(taken.buffer, 0, pool_.came_back(taken.buffer));
    return {};
  }
  return taken;
}

void RecordStream::take_back(std::uint8_t* buffer, std::size_t size, std::size_t valid) noexcept {
  {
    // Who sees that the buffer is back, and then drains, gets it.
    const std::lock_guard lock(mutex_);
    const BufferPool::Back back = pool_.came_back(buffer);
    if (back == BufferPool::Back::foreign) return;  // of another profiler
    const std::size_t bytes =
        back == BufferPool::Back::scrap ? BufferPool::kScrapBytes : pool_.buffer_bytes();
    completed_.push_back({buffer, std::min({valid, size, bytes}), back});
  }
  on_completed_();
}

std::size_t RecordStream::drain() {
  const std::lock_guard draining(draining_);
  std::size_t buffers = 0;
  for (;;) {
    {
      const std::lock_guard lock(mutex_);
      if (completed_.empty()) return buffers;
      // The list that CUPTI fills from now on has room for as many buffers as the other one.
      if (batch_.capacity() < completed_.capacity()) {
        batch_.reserve(completed_.capacity());
      }
      batch_.swap(completed_);
    }
    for (const Completed& one : batch_) {
      decode(one);
      pool_.give(one.buffer, one.valid, one.back);
    }
    buffers += batch_.size();
    batch_.clear();
  }
}

void RecordStream::count_lost(std::uint64_t records) {
  const std::lock_guard lock(windows_mutex_);
  for (const auto& window : windows_) window->count_lost(records);
}

void RecordStream::decode(const Completed& completed) {
  const bool is_lost = completed.back == BufferPool::Back::scrap;
  const std::lock_guard lock(windows_mutex_);
  Count all;
  Count read;
  bool is_whole = false;
  try {
    is_whole =
        for_each_record(cupti_, sizes_, completed.buffer, completed.valid, [&](const auto& record) {
          const Freed freed(record);
          if (is_lost) return;
          for (const auto& window : windows_) window->add(record);
          read(record);
        });
  } catch (const std::bad_alloc&) {
  }
  if (is_whole && !is_lost) return;
  // What follows an unreadable record cannot be counted, so it counts as one.
  const bool readable = for_each_record(cupti_, sizes_, completed.buffer, completed.valid, all);
  const std::uint64_t lost = all.records - read.records + (readable ? 0 : 1);
  for (const auto& window : windows_) window->count_lost(lost);
}

}  // namespace tbtrace::cupti
