#include "support/fake_cuda/cupti_state.h"

#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace tbtrace::fake_cuda {

void State::set_defaults() {
  constexpr std::array<std::uint64_t, kAttributes> kDefaults = {
      8388608, 8388608, 250, 25000, 250, 0, 3, 3, 0, FAKE_CUPTI_VERSION >= 130, 16777216};
  for (std::size_t i = 0; i < kAttributes; ++i) attributes[i] = kDefaults[i];
  buffers.set_zeroed(kDefaults[kZeroedOut] != 0);
  buffers.set_per_thread(kDefaults[kPerThread] != 0);
  system_thread_ids = false;
  has_context = true;
  single_calls_work[kRuntimeApi] = false;
  single_calls_work[kDriverApi] = true;
}

void State::disable_all() {
  for (std::atomic<bool>& kind : kinds) kind = false;
  for (auto& domain : enabled_calls) {
    for (std::atomic<bool>& call : domain) call = false;
  }
}

bool State::records_call(std::uint32_t domain, std::uint32_t cbid) const {
  if (domain >= enabled_calls.size() || cbid >= kCallbacks) return false;
  const std::uint32_t kind = domain == kDriverApi ? kind::kDriver : kind::kRuntime;
  return enabled_calls[domain][cbid] && (kinds[kind] || single_calls_work[domain]);
}

int State::subscribe(Callback callback, void* user) {
  constexpr int kOtherSubscriber = 39;
  const std::lock_guard lock(mutex_);
  if (callback_ != nullptr) return kOtherSubscriber;
  callback_ = callback;
  callback_user_ = user;
  subscribed_domains_ = {};
  return 0;
}

void State::unsubscribe() {
  const std::lock_guard lock(mutex_);
  callback_ = nullptr;
}

void State::enable_domain(std::uint32_t domain, bool on) {
  const std::lock_guard lock(mutex_);
  if (domain < subscribed_domains_.size()) subscribed_domains_[domain] = on;
}

void State::call_ends(std::uint32_t domain, std::uint32_t cbid) {
  Callback callback = nullptr;
  void* user = nullptr;
  {
    const std::lock_guard lock(mutex_);
    if (domain >= subscribed_domains_.size() || !subscribed_domains_[domain]) return;
    callback = callback_;
    user = callback_user_;
  }
  const int site = 1;  // CUPTI_API_EXIT, first in CUpti_CallbackData
  if (callback != nullptr) callback(user, domain, cbid, &site);
}

void State::reset() {
  disable_all();
  unsubscribe();
  buffers.reset();
  timeline.reset();
  clock.reset();
  calls.reset();
  for (std::atomic<int>& answer : enable_answers) answer = 0;
  set_defaults();
  no_driver = false;
  next_correlation = 1;
  next_event_sync_id = 1;
  next_marker = 1;
  ++generation;
  const std::lock_guard lock(mutex_);
  event_sync_ids_.clear();
}

const char* State::keep(const char* text) {
  if (text == nullptr) return nullptr;
  const std::lock_guard lock(mutex_);
  auto found = texts_.find(std::string_view(text));
  if (found == texts_.end()) found = texts_.emplace(text).first;
  return found->c_str();
}

std::uint64_t State::event_sync_id(std::uint32_t event) {
  const std::lock_guard lock(mutex_);
  const auto found = event_sync_ids_.find(event);
  return found == event_sync_ids_.end() ? kNone : found->second;
}

void State::set_event_sync_id(std::uint32_t event, std::uint64_t id) {
  const std::lock_guard lock(mutex_);
  event_sync_ids_[event] = id;
}

State& state() {
  static State* const the_state = new State;
  return *the_state;
}

Thread& this_thread() {
  thread_local Thread thread;
  const std::uint64_t generation = state().generation;
  if (thread.generation != generation) {
    thread = {};
    thread.generation = generation;
  }
  return thread;
}

std::uint32_t thread_id() {
  if (!state().system_thread_ids) return static_cast<std::uint32_t>(::pthread_self());
  thread_local pid_t process = 0;
  thread_local std::uint32_t id = 0;
  // One that was forked has the number of the new process.
  if (const pid_t now = ::getpid(); process != now) {
    process = now;
    id = static_cast<std::uint32_t>(::syscall(SYS_gettid));
  }
  return id;
}

}  // namespace tbtrace::fake_cuda
