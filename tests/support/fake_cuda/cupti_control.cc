// What tests see and set of the fake CUPTI; fake_cuda.h says what each function does.
// Structs are the caller's. Any thread.
// Nothing here can fail, but for the name of a function that there is not.
#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "support/fake_cuda/cupti_state.h"
#include "support/fake_cuda/exported.h"
#include "support/fake_cuda/fake_cuda.h"

namespace tbtrace::fake_cuda {

namespace {

std::size_t count_true(const auto& flags) {
  return static_cast<std::size_t>(
      std::count_if(flags.begin(), flags.end(), [](const auto& flag) { return flag.load(); }));
}

}  // namespace

extern "C" {

FAKE_EXPORTED void fake_cupti_reset() { state().reset(); }

FAKE_EXPORTED void fake_cupti_set_faults(const Faults& faults) {
  state().buffers.set_faults(faults);
  state().no_driver = faults.no_driver;
}

FAKE_EXPORTED void fake_cupti_fail(const char* function, std::uint64_t nth, int code) {
  state().calls.fail(function, nth, code);
}

FAKE_EXPORTED void fake_cupti_fail_call(std::uint64_t nth, int code) {
  state().calls.fail_call(nth, code);
}

FAKE_EXPORTED void fake_cupti_fail_enable(std::uint32_t kind, int code) {
  state().enable_answers.at(kind) = code;
}

FAKE_EXPORTED std::uint64_t fake_cupti_calls(const char* function) {
  return state().calls.calls(function);
}

FAKE_EXPORTED void fake_cupti_counters(Counters& counters) {
  counters = state().buffers.counters();
}

FAKE_EXPORTED bool fake_cupti_enabled(std::uint32_t kind) { return state().kinds.at(kind); }

FAKE_EXPORTED std::size_t fake_cupti_enabled_kinds() { return count_true(state().kinds); }

FAKE_EXPORTED bool fake_cupti_call_enabled(std::uint32_t domain, std::uint32_t cbid) {
  return state().enabled_calls.at(domain).at(cbid);
}

FAKE_EXPORTED std::size_t fake_cupti_enabled_calls(std::uint32_t domain) {
  return count_true(state().enabled_calls.at(domain));
}

FAKE_EXPORTED std::size_t fake_cupti_record_size(std::uint32_t kind) { return record_size(kind); }

FAKE_EXPORTED void fake_cupti_set_context(bool has_context) { state().has_context = has_context; }

FAKE_EXPORTED void fake_cupti_take_over() { state().buffers.take_over(); }

FAKE_EXPORTED void fake_cupti_set_correlation(std::uint32_t next) {
  state().next_correlation = next;
}

FAKE_EXPORTED int fake_cupti_synchronize(int device) {
  state().timeline.wait_for_device(device);
  return 0;
}

FAKE_EXPORTED void fake_cupti_skip_waits(bool skip) { state().timeline.skip_waits(skip); }

FAKE_EXPORTED void fake_cupti_put_bytes(const void* bytes, std::size_t size) {
  Writer(state().buffers).write_bytes(bytes, size);
}

}  // extern "C"

}  // namespace tbtrace::fake_cuda
