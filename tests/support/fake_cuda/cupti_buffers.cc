#include "support/fake_cuda/cupti_buffers.h"

#include <algorithm>
#include <csignal>
#include <thread>
#include <utility>

#include <unistd.h>

namespace tbtrace::fake_cuda {

namespace {

constexpr std::size_t kOwnBytes = 65536;
constexpr std::uint8_t kFutureByte = 0x5a;  // what versions to come write behind what is known
constexpr auto kPatience = std::chrono::milliseconds(1);

thread_local bool this_is_the_worker = false;

bool all_zero(const std::uint8_t* data, std::size_t begin, std::size_t end) {
  return std::all_of(data + begin, data + end, [](std::uint8_t byte) { return byte == 0; });
}

/// Looks at both ends and at a few bytes of each page.
bool looks_zeroed(const std::uint8_t* data, std::size_t size) {
  constexpr std::size_t kEnds = 64;
  constexpr std::size_t kPage = 4096;
  const std::size_t ends = std::min(kEnds, size);
  bool zeroed = all_zero(data, 0, ends) && all_zero(data, size - ends, size);
  for (std::size_t page = kPage; zeroed && page + ends <= size; page += kPage) {
    zeroed = all_zero(data, page, page + ends);
  }
  return zeroed;
}

}  // namespace

void Buffers::register_callbacks(Request request, Complete complete) {
  const std::lock_guard lock(mutex_);
  request_ = request;
  complete_ = complete;
  taken_over_ = false;
  registered_ = true;
}

void Buffers::take_over() {
  const std::lock_guard lock(mutex_);
  taken_over_ = true;
  registered_ = true;
}

void Buffers::set_per_thread(bool per_thread) {
  if (per_thread_.exchange(per_thread) != per_thread) ++generation_;
}

void Buffers::set_faults(const Faults& faults) {
  const std::lock_guard lock(mutex_);
  faults_ = faults;
  completions_ = 0;
  to_drop_ = faults.drop_records;
  zero_times_every_ = faults.zero_times_every;
  works_ = 0;
  calls_last_ = faults.calls_last;
}

std::uint64_t Buffers::take_dropped() { return dropped_.exchange(0); }

Counters Buffers::counters() {
  const std::lock_guard lock(mutex_);
  Counters counters = counters_;
  counters.buffers_in_flight = in_flight_.size();
  counters.records_written = written_;
  counters.records_dropped = dropped_ever_;
  return counters;
}

std::shared_ptr<Buffers::Slot> Buffers::slot_of_thread() {
  thread_local std::shared_ptr<Slot> slot;
  thread_local std::uint64_t generation = 0;
  const std::uint64_t wanted = generation_;
  if (generation == wanted) return slot;
  const std::lock_guard lock(mutex_);
  slot = slots_.front();
  if (per_thread_) {
    slot = std::make_shared<Slot>();
    slots_.push_back(slot);
  }
  generation = wanted;
  return slot;
}

std::vector<std::shared_ptr<Buffers::Slot>> Buffers::slots() {
  const std::lock_guard lock(mutex_);
  return slots_;
}

bool Buffers::next_buffer(Slot& slot) {
  if (slot.current) {
    retire(*std::exchange(slot.current, std::nullopt));
  }
  std::uint8_t* data = nullptr;
  std::size_t size = 0;
  std::size_t most_records = 0;
  Request request = nullptr;
  {
    const std::lock_guard lock(mutex_);
    if (taken_over_) {
      request_own(&data, &size);
    } else {
      request = request_;
    }
  }
  if (data != nullptr) {
    slot.current = Buffer{.data = data, .size = size};
  } else if (request != nullptr) {
    request(&data, &size, &most_records);
    slot.current = accept(data, size, most_records);
  }
  return slot.current.has_value();
}

void Buffers::request_own(std::uint8_t** buffer, std::size_t* size) {
  auto bytes = std::make_unique<std::uint8_t[]>(kOwnBytes);
  *buffer = bytes.get();
  *size = kOwnBytes;
  own_.emplace(*buffer, std::move(bytes));
}

std::optional<Buffers::Buffer> Buffers::accept(std::uint8_t* data, std::size_t size,
                                               std::size_t most_records) {
  constexpr std::uintptr_t kAlignment = 8;
  const bool given = data != nullptr && size != 0;
  const bool aligned = reinterpret_cast<std::uintptr_t>(data) % kAlignment == 0;
  const bool zeroed = !given || !zeroed_ || looks_zeroed(data, size);
  if (given && !zeroed_) std::memset(data, 0, size);

  const std::lock_guard lock(mutex_);
  ++counters_.buffers_requested;
  if (!given) {
    ++counters_.buffers_refused;
    return std::nullopt;
  }
  if (!zeroed) ++counters_.buffers_unzeroed;
  if (!aligned) ++counters_.buffers_unaligned;
  if (!in_flight_.insert(data).second) ++counters_.buffers_twice;
  return Buffer{.data = data, .size = size, .most_records = most_records};
}

void Buffers::retire(Buffer buffer) {
  const std::lock_guard lock(mutex_);
  buffer.not_before = not_before();
  full_.push_back(std::move(buffer));
  start_worker();
  changed_.notify_all();
}

Buffers::SteadyTime Buffers::not_before() const {
  return std::chrono::steady_clock::now() + std::chrono::milliseconds(faults_.late_ms);
}

bool Buffers::flush(bool forced) {
  if (!registered_) return false;
  if (forced) {
    const std::lock_guard lock(mutex_);
    ++counters_.forced_flushes;
  }
  for (const bool again : {false, true}) {
    std::vector<Buffer> batch = collect(forced);
    std::unique_lock lock(mutex_);
    if (faults_.newest_first) std::reverse(batch.begin(), batch.end());
    if (faults_.late_ms != 0) {
      for (Buffer& buffer : batch) full_.push_back(std::move(buffer));
      start_worker();
      changed_.notify_all();
    } else {
      deliver(lock, batch);
      if (!this_is_the_worker) changed_.wait(lock, [this] { return delivering_ == 0; });
    }
    lock.unlock();
    if (!again) write_delayed();
    if (!forced) break;
  }
  return true;
}

template <typename Predicate>
std::vector<Buffers::Buffer> Buffers::take_full(Predicate is_taken) {
  std::vector<Buffer> taken;
  std::vector<Buffer> left;
  for (Buffer& buffer : full_) (is_taken(buffer) ? taken : left).push_back(std::move(buffer));
  full_ = std::move(left);
  return taken;
}

std::vector<Buffers::Buffer> Buffers::collect(bool forced) {
  const std::uint64_t done_until = clock_.done_until();
  std::vector<Buffer> batch;
  SteadyTime not_before_these;
  {
    const std::lock_guard lock(mutex_);
    not_before_these = not_before();
    if (faults_.late_ms == 0 || forced) {
      batch = take_full(
          [&](const Buffer& buffer) { return forced || buffer.latest_end <= done_until; });
    }
  }
  for (const std::shared_ptr<Slot>& slot : slots()) {
    const std::lock_guard lock(slot->mutex);
    if (!slot->current) continue;
    Buffer& buffer = *slot->current;
    if (!forced && (buffer.used == 0 || buffer.latest_end > done_until)) continue;
    buffer.not_before = not_before_these;
    batch.push_back(*std::exchange(slot->current, std::nullopt));
  }
  for (Buffer& buffer : batch) {
    for (const Unfinished& work : buffer.unfinished) {
      if (work.end <= done_until) continue;
      std::memset(buffer.data + work.offset + kWorkStart, 0, 2 * sizeof(std::uint64_t));
    }
    buffer.latest_end = 0;
  }
  return batch;
}

void Buffers::write_delayed() {
  for (const std::shared_ptr<Slot>& slot : slots()) {
    Writer writer(*this, slot);
    for (const Delayed& record : std::exchange(slot->delayed, {})) {
      writer.put(record.kind, record.bytes.data(), record.bytes.size());
    }
  }
}

void Buffers::deliver(std::unique_lock<std::mutex>& lock, const std::vector<Buffer>& batch) {
  ++delivering_;
  for (const Buffer& buffer : batch) {
    if (faults_.crash_at_buffer != 0 && ++completions_ == faults_.crash_at_buffer) {
      const int signal = faults_.crash_signal;
      lock.unlock();
      static_cast<void>(std::raise(signal));
      lock.lock();
    }
    std::size_t valid = buffer.used;
    if (faults_.truncate_buffers != 0) {
      --faults_.truncate_buffers;
      valid -= std::min(valid, faults_.truncate_bytes);
    }
    const bool users = in_flight_.contains(buffer.data);
    if (taken_over_ || complete_ == nullptr) {
      if (users) {
        ++counters_.buffers_swallowed;
        swallowed_.push_back(buffer.data);
      }
      own_.erase(buffer.data);
      continue;
    }
    in_flight_.erase(buffer.data);  // the user may give it again from within the call
    const Complete complete = complete_;
    lock.unlock();
    complete(nullptr, 0, buffer.data, buffer.size, valid);
    lock.lock();
    if (users) ++counters_.buffers_completed;
  }
  --delivering_;
  changed_.notify_all();
}

void Buffers::start_worker() {
  // A process that was forked has no thread but its own.
  if (working_ && worker_process_ == ::getpid()) return;
  static_cast<void>(worker_.release());  // of the process that forked this one, if any
  working_ = true;
  worker_process_ = ::getpid();
  worker_ = std::make_unique<std::thread>([this] { work(); });
}

void Buffers::stop_worker(std::unique_lock<std::mutex>& lock) {
  stopping_ = true;
  changed_.notify_all();
  if (worker_process_ == ::getpid()) {
    changed_.wait(lock, [this] { return !working_; });
    // It has ended when this returns: the address sanitizer fails on threads that end at the exit.
    if (const std::unique_ptr<std::thread> worker = std::move(worker_)) {
      lock.unlock();
      worker->join();
      lock.lock();
    }
  }
  working_ = false;
  stopping_ = false;
}

void Buffers::work() {
  this_is_the_worker = true;
  std::unique_lock lock(mutex_);
  while (!stopping_) {
    lock.unlock();
    const std::uint64_t done_until = clock_.done_until();
    lock.lock();
    if (stopping_) break;
    const std::vector<Buffer> ready = take_ready(done_until);
    if (!ready.empty()) {
      deliver(lock, ready);
    } else if (full_.empty()) {
      changed_.wait(lock);
    } else {
      changed_.wait_for(lock, kPatience);
    }
  }
  working_ = false;
  changed_.notify_all();
}

std::vector<Buffers::Buffer> Buffers::take_ready(std::uint64_t done_until) {
  const SteadyTime now = std::chrono::steady_clock::now();
  const auto is_ready = [&](const Buffer& buffer) {
    return buffer.latest_end <= done_until && buffer.not_before <= now;
  };
  if (!faults_.newest_first) return take_full(is_ready);
  if (std::count_if(full_.begin(), full_.end(), is_ready) < 2) return {};
  std::vector<Buffer> batch = take_full(is_ready);
  std::reverse(batch.begin(), batch.end());
  return batch;
}

void Buffers::forget() {
  {
    std::unique_lock lock(mutex_);
    request_ = nullptr;
    complete_ = nullptr;
    registered_ = false;
    taken_over_ = false;
    stop_worker(lock);
  }
  for (const std::shared_ptr<Slot>& slot : slots()) {
    const std::lock_guard lock(slot->mutex);
    slot->current.reset();
    slot->delayed.clear();
  }
  const std::lock_guard lock(mutex_);
  slots_.resize(1);
  full_.clear();
  in_flight_.clear();
  own_.clear();
  ++generation_;
}

void Buffers::reset() {
  forget();
  set_faults({});
  written_ = 0;
  dropped_ever_ = 0;
  dropped_ = 0;
  const std::lock_guard lock(mutex_);
  counters_ = {};
}

std::uint8_t* Writer::room(std::size_t size) {
  const auto fits = [&] {
    const std::optional<Buffers::Buffer>& buffer = slot_->current;
    return buffer && buffer->size - buffer->used >= size &&
           (buffer->most_records == 0 || buffer->records < buffer->most_records);
  };
  if (!fits() && (!buffers_.next_buffer(*slot_) || !fits())) return nullptr;
  Buffers::Buffer& buffer = *slot_->current;
  std::uint8_t* const place = buffer.data + buffer.used;
  buffer.used += size;
  ++buffer.records;
  return place;
}

std::uint8_t* Writer::put(std::uint32_t kind, const void* record, std::size_t known) {
  bool drop = false;
  if (buffers_.to_drop_ != 0) {
    std::uint64_t left = buffers_.to_drop_;
    while (left != 0 && !buffers_.to_drop_.compare_exchange_weak(left, left - 1)) {
    }
    drop = left != 0;
  }
  const std::size_t size = record_size(kind);
  std::uint8_t* const place = drop ? nullptr : room(size);
  if (place == nullptr) {
    if (!drop && !buffers_.registered_) return nullptr;
    ++buffers_.dropped_;
    ++buffers_.dropped_ever_;
    return nullptr;
  }
  std::memcpy(place, record, std::min(known, size - kExtraBytes));
  std::fill_n(place + (size - kExtraBytes), kExtraBytes, kFutureByte);
  ++buffers_.written_;
  return place;
}

void Writer::finish_at(std::uint32_t kind, std::uint64_t end) {
  Buffers::Buffer& buffer = *slot_->current;
  buffer.latest_end = std::max(buffer.latest_end, end);
  buffer.unfinished.push_back({buffer.used - record_size(kind), end});
}

void Writer::delay(std::uint32_t kind, const void* record, std::size_t known) {
  const auto* const bytes = static_cast<const std::uint8_t*>(record);
  slot_->delayed.push_back({kind, {bytes, bytes + known}});
}

void Writer::write_bytes(const void* bytes, std::size_t size) {
  if (std::uint8_t* const place = room(size)) std::memcpy(place, bytes, size);
}

}  // namespace tbtrace::fake_cuda
