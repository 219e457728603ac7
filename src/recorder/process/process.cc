#include "recorder/process/process.h"

#include <array>
#include <atomic>
#include <cstdlib>

#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <unistd.h>

#include "base/forks.h"
#include "recorder/process/process_copies.h"

namespace tbtrace::recorder {

namespace {

constinit std::array<const ProcessPart*, kPartOrders> parts = {};  // changes before main() only
constinit std::atomic<bool> ending = false;
constinit std::atomic<pid_t> process_id = 0;

void before_fork() {
  for (const ProcessPart* part : parts) {
    if (part != nullptr && part->lock != nullptr) part->lock();
  }
}

void after_fork() {
  for (std::size_t order = kPartOrders; order-- > 0;) {
    const ProcessPart* const part = parts[order];
    if (part != nullptr && part->unlock != nullptr) part->unlock();
  }
}

void after_fork_in_child() {
  process_id.store(::getpid());
  for (const ProcessPart* part : parts) {
    if (part != nullptr && part->begin_anew != nullptr) part->begin_anew();
  }
  after_fork();
}

/// Whatever has this code, unless it is the program itself: LibTorch, c10 and CUPTI keep pointers
/// to it, also when nothing is recorded any more.
void keep_loaded() {
  Dl_info info;
  void* found = nullptr;
  if (::dladdr1(reinterpret_cast<const void*>(&keep_loaded), &info, &found, RTLD_DL_LINKMAP) == 0) {
    return;
  }
  const auto* const library = static_cast<const link_map*>(found);
  if (library == nullptr || library->l_name == nullptr || library->l_name[0] == '\0') return;
  // The handle is not kept: RTLD_NODELETE outlasts it.
  void* const handle = ::dlopen(library->l_name, RTLD_NOW | RTLD_NOLOAD | RTLD_NODELETE);
  if (handle != nullptr) ::dlclose(handle);
}

/// Once, when the first part is added. A library that is unloaded takes its handlers with it.
void follow_forks() {
  if (process_id.load() != 0) return;
  process_id.store(::getpid());
  static_cast<void>(fork_count());  // a child's parts begin anew after it was counted
  static_cast<void>(::pthread_atfork(before_fork, after_fork, after_fork_in_child));
}

}  // namespace

AddedPart::AddedPart(const ProcessPart& part) noexcept {
  follow_forks();
  parts[static_cast<std::size_t>(part.order)] = &part;
  if (part.lock != nullptr) part.lock();  // makes its object
  if (part.unlock != nullptr) part.unlock();
}

void stay_until_the_end() {
  static const bool stays = [] {
    keep_loaded();
    return std::atexit(end_process) == 0;
  }();
  static_cast<void>(stays);
}

void end_before_all_that_was_made() { static_cast<void>(std::atexit(end_process)); }

bool is_ending() { return ending.load(); }

void end_process() {
  // A child that was made without handlers for forks, such as by _Fork(), has nothing to end.
  if (process_id.load() != ::getpid() || ending.exchange(true)) return;
  for (const ProcessPart* part : parts) {
    if (part != nullptr && part->end != nullptr) part->end();
  }
}

std::string_view why_nothing_is_recorded() {
  if (is_ending()) return "nothing is recorded, since the program is ending";
  if (!is_only_copy()) {
    return "nothing is recorded by this copy of tbtrace, since another one in this process is in "
           "use; link tbtrace into one library only, and have the others use that";
  }
  return {};
}

}  // namespace tbtrace::recorder
