#include "recorder/log/thread_log.h"

#include <algorithm>

#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace tbtrace::recorder {

ThreadIdentity this_thread_identity() {
  ThreadIdentity identity;
  identity.system_id = ::syscall(SYS_gettid);
  char name[64] = {};
  if (::pthread_getname_np(::pthread_self(), name, sizeof name) == 0) identity.name = name;
  return identity;
}

ThreadLog::ThreadLog(ThreadIdentity identity, std::shared_ptr<const RecordingOptions> options,
                     std::uint64_t began, std::shared_ptr<LogHome> home, std::uint32_t number)
    : identity_(std::move(identity)),
      options_(std::move(options)),
      began_(began),
      home_(std::move(home)),
      number_(number) {
  if (home_ == nullptr) return;
  names_.set_listener(
      [this](NameNumber number, const Name& name) { home_->add_name(number, name); });
}

ThreadLog::~ThreadLog() {
  for (Chunk* chunk = first_; chunk != nullptr;) {
    Chunk* const next = chunk->next;
    give(chunk);
    chunk = next;
  }
}

void ThreadLog::give(Chunk* chunk) {
  if (home_ != nullptr) {
    home_->give(chunk);
  } else {
    give_chunk(chunk);
  }
}

const NameTable& ThreadLog::home_process_names() const {
  const NameTable* const names = home_ == nullptr ? nullptr : home_->process_names();
  return names == nullptr ? process_names() : *names;
}

std::uint64_t* ThreadLog::more_room(std::size_t words) {
  const std::lock_guard lock(mutex_);
  // A short-lived thread takes little; one that goes on soon has chunks of the usual size.
  const std::size_t bytes =
      newest_ == nullptr
          ? kSmallestChunkBytes
          : kChunkGrowth * (sizeof(Chunk) + newest_->capacity * sizeof(std::uint64_t));
  Chunk* chunk = nullptr;
  if (!closed_) {
    chunk = home_ != nullptr ? home_->take(words, std::min(bytes, kChunkBytes))
                             : take_chunk(words, std::min(bytes, kChunkBytes));
  }
  if (chunk == nullptr) {
    if (!closed_) count_lost();
    return nullptr;
  }
  if (newest_ == nullptr) {
    first_ = chunk;
  } else {
    newest_->committed = static_cast<std::size_t>(at_.load() - newest_->words());
    newest_->next = chunk;
    if (home_ != nullptr) home_->fill(newest_);
  }
  newest_ = chunk;
  end_for_others_ = chunk->end != nullptr ? chunk->end : &no_end_;
  end_ = chunk->words() + chunk->capacity;
  at_.store(chunk->words());
  bytes_.fetch_add(chunk->capacity * sizeof(std::uint64_t), std::memory_order_relaxed);
  return chunk->words();
}

void ThreadLog::adopt(const std::vector<Chunk*>& chunks) {
  const std::lock_guard lock(mutex_);
  closed_ = true;
  for (Chunk* const chunk : chunks) {
    if (newest_ == nullptr) {
      first_ = chunk;
    } else {
      newest_->next = chunk;
    }
    newest_ = chunk;
    committed_ = chunk->committed;
    bytes_.fetch_add(chunk->committed * sizeof(std::uint64_t), std::memory_order_relaxed);
  }
}

void ThreadLog::close() const {
  const std::lock_guard lock(mutex_);
  if (closed_) return;
  closed_ = true;
  if (newest_ != nullptr) {
    committed_ = static_cast<std::size_t>(at_.load(std::memory_order_acquire) - newest_->words());
  }
}

void ThreadLog::drop_chunks() {
  const std::lock_guard lock(mutex_);
  while (first_ != newest_) {
    Chunk* const next = first_->next;
    give(first_);
    first_ = next;
  }
}

}  // namespace tbtrace::recorder
