#include <cstdio>
#include <cstdlib>
#include <string>

#include <dlfcn.h>

#include "support/fake_cuda/fake_cuda.h"

namespace tbtrace::fake_cuda {

namespace {

[[noreturn]] void give_up(const char* why) {
  const std::string reason = why == nullptr ? "a function is null" : why;
  static_cast<void>(std::fputs(("the fake CUDA cannot be used: " + reason + "\n").c_str(), stderr));
  std::abort();
}

void* open(const std::string& path) {
  void* const library = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  if (library == nullptr) give_up(::dlerror());
  return library;
}

template <typename Function>
void load(void* library, Function& function, const char* name) {
  function = reinterpret_cast<Function>(::dlsym(library, name));
  if (function == nullptr) give_up(::dlerror());
}

}  // namespace

Cupti::Cupti(const std::string& path) {
  void* const library = open(path);
  load(library, reset, "fake_cupti_reset");
  load(library, set_faults, "fake_cupti_set_faults");
  load(library, fail, "fake_cupti_fail");
  load(library, fail_call, "fake_cupti_fail_call");
  load(library, fail_enable, "fake_cupti_fail_enable");
  load(library, calls, "fake_cupti_calls");
  load(library, read_counters, "fake_cupti_counters");
  load(library, enabled, "fake_cupti_enabled");
  load(library, enabled_kinds, "fake_cupti_enabled_kinds");
  load(library, call_enabled, "fake_cupti_call_enabled");
  load(library, enabled_calls, "fake_cupti_enabled_calls");
  load(library, record_size, "fake_cupti_record_size");
  load(library, set_context, "fake_cupti_set_context");
  load(library, take_over, "fake_cupti_take_over");
  load(library, set_correlation, "fake_cupti_set_correlation");
  load(library, synchronize, "fake_cupti_synchronize");
  load(library, skip_waits, "fake_cupti_skip_waits");
  load(library, put_bytes, "fake_cupti_put_bytes");
  load(library, call, "fake_cupti_call");
  load(library, launch, "fake_cupti_launch");
  load(library, copy, "fake_cupti_copy");
  load(library, copy_peer, "fake_cupti_copy_peer");
  load(library, fill, "fake_cupti_fill");
  load(library, launch_graph, "fake_cupti_launch_graph");
  load(library, sync, "fake_cupti_sync");
  load(library, record_event, "fake_cupti_record_event");
  load(library, overhead, "fake_cupti_overhead");
  load(library, push_range, "fake_cupti_push_range");
  load(library, pop_range, "fake_cupti_pop_range");
  load(library, generate, "fake_cupti_generate");
}

Counters Cupti::counters() const {
  Counters counters;
  read_counters(counters);
  return counters;
}

Driver::Driver(const std::string& path) {
  void* const library = open(path);
  load(library, reset, "fake_driver_reset");
  load(library, set_up, "fake_driver_set_up");
  load(library, set_attribute, "fake_driver_set_attribute");
  load(library, fail, "fake_driver_fail");
  load(library, fail_call, "fake_driver_fail_call");
  load(library, calls, "fake_driver_calls");
  load(library, retained, "fake_driver_retained");
  load(library, pushed, "fake_driver_pushed");
  load(library, connect, "fake_driver_connect");
}

FakeCuda::FakeCuda(const std::string& cupti_path, const std::string& driver_path)
    : cupti(cupti_path), driver(driver_path) {
  cupti.reset();
  driver.reset();
  driver.connect(cupti.synchronize);
}

}  // namespace tbtrace::fake_cuda
