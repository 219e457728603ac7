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
      pool_(limits_for(cupti, limits)) {
  completed_.reserve(limits.most_buffers);
}

RecordStream::~RecordStream() {
  RecordStream* self = this;
  connected.compare_exchange_strong(self, nullptr);
  drain();
}

Answer RecordStream::connect() {
  connected.store(this, std::memory_order_release);
  constexpr std::size_t kReady = 8;
  pool_.reserve(kReady);
  return cupti_.register_callbacks(requested, completed);
}

void RecordStream::open(std::shared_ptr<WindowRows> window) {
  const std::lock_guard lock(mutex_);
  windows_.push_back(std::move(window));
}

void RecordStream::close(const std::shared_ptr<WindowRows>& window) {
  const std::lock_guard lock(mutex_);
  std::erase(windows_, window);
}

bool RecordStream::understands(const std::vector<Kind>& kinds) const {
  return std::all_of(kinds.begin(), kinds.end(), [&](Kind kind) { return sizes_.fits(kind); });
}

void RecordStream::requested(std::uint8_t** buffer, std::size_t* size, std::size_t* most_records) {
  RecordStream* const stream = connected.load(std::memory_order_acquire);
  *buffer = stream == nullptr ? nullptr : stream->pool_.take();
  *size = *buffer == nullptr ? 0 : stream->pool_.buffer_bytes();
  *most_records = 0;  // as many as there is room for
}

void RecordStream::completed(void*, std::uint32_t, std::uint8_t* buffer, std::size_t,
                             std::size_t valid) {
  RecordStream* const stream = connected.load(std::memory_order_acquire);
  if (stream != nullptr && buffer != nullptr) stream->take_back(buffer, valid);
}

void RecordStream::take_back(std::uint8_t* buffer, std::size_t valid) noexcept {
  valid = std::min(valid, pool_.buffer_bytes());
  {
    // Who sees that the buffer is back, and then drains, gets it.
    const std::lock_guard lock(mutex_);
    const BufferPool::Back back = pool_.came_back(buffer);
    if (back == BufferPool::Back::foreign) return;  // of another profiler
    try {
      completed_.push_back({buffer, valid, back == BufferPool::Back::beyond_the_limit});
    } catch (const std::exception&) {
      pool_.give(buffer, valid);
      unread_.fetch_add(1);
      return;
    }
  }
  on_completed_();
}

std::size_t RecordStream::drain() {
  std::size_t buffers = 0;
  for (;;) {
    std::vector<Completed> completed;
    {
      const std::lock_guard lock(mutex_);
      if (completed_.empty()) return buffers;
      completed.swap(completed_);
      completed_.reserve(completed.capacity());
    }
    if (const std::uint64_t unread = unread_.exchange(0); unread > 0) count_lost(unread);
    for (const Completed& one : completed) {
      decode(one);
      pool_.give(one.buffer, one.valid);
    }
    buffers += completed.size();
  }
}

void RecordStream::count_lost(std::uint64_t records) {
  const std::lock_guard lock(mutex_);
  for (const auto& window : windows_) window->count_lost(records);
}

void RecordStream::decode(const Completed& completed) {
  std::vector<std::shared_ptr<WindowRows>> windows;
  {
    const std::lock_guard lock(mutex_);
    windows = windows_;
  }
  Count all;
  Count read;
  bool is_whole = false;
  try {
    is_whole =
        for_each_record(cupti_, sizes_, completed.buffer, completed.valid, [&](const auto& record) {
          const Freed freed(record);
          if (completed.is_lost) return;
          for (const auto& window : windows) window->add(record);
          read(record);
        });
  } catch (const std::bad_alloc&) {
  }
  if (is_whole && !completed.is_lost) return;
  // What is behind an unreadable record cannot be counted, so that it counts as one.
  const bool readable = for_each_record(cupti_, sizes_, completed.buffer, completed.valid, all);
  const std::uint64_t lost = all.records - read.records + (readable ? 0 : 1);
  for (const auto& window : windows) window->count_lost(lost);
}

}  // namespace tbtrace::cupti
