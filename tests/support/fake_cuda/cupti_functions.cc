// CUPTI's functions, with their names and binary interface, on the state of cupti_state.h.
// Pointers are the caller's, texts are constants. Any thread.
// Each call is counted, and may be one that is to fail. What the real ones answer to bad input is
// answered here too: 1 for a parameter, 21 for a kind.
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "support/fake_cuda/cupti_names.h"
#include "support/fake_cuda/cupti_records.h"
#include "support/fake_cuda/cupti_state.h"
#include "support/fake_cuda/exported.h"

namespace fake = tbtrace::fake_cuda;
using fake::Function;

namespace {

// CUptiResult.
constexpr int kDone = 0;
constexpr int kInvalidParameter = 1;
constexpr int kInvalidContext = 3;
constexpr int kInvalidOperation = 7;
constexpr int kTooSmall = 10;
constexpr int kMaxLimitReached = 12;
constexpr int kNotInitialized = 15;
constexpr int kQueueEmpty = 18;
constexpr int kInvalidKind = 21;
constexpr int kUnknown = 999;

bool needs_driver(Function function) {
  switch (function) {
    case Function::set_thread_id_type:
    case Function::set_attribute:
    case Function::get_attribute:
    case Function::register_timestamp_callback:
    case Function::enable:
    case Function::disable:
    case Function::enable_runtime_api:
    case Function::enable_driver_api:
    case Function::flush_all:
    case Function::push_external_id:
    case Function::pop_external_id:
    case Function::get_device_id:
    case Function::subscribe:
    case Function::unsubscribe:
    case Function::enable_domain:
      return true;
    default:
      return false;
  }
}

/// What the call answers instead of doing its work; 0: it does it.
int enter(Function function) {
  const int code = fake::state().calls.enter(static_cast<std::size_t>(function));
  if (code != kDone || !fake::state().no_driver || !needs_driver(function)) return code;
  return FAKE_CUPTI_VERSION >= 130 ? kUnknown : kNotInitialized;
}

/// Bytes of an attribute's value; 0: there is no such attribute.
std::size_t attribute_size(int attribute) {
  constexpr int kHostPinned = 8;
  constexpr int kLast = FAKE_CUPTI_VERSION >= 130   ? 10
                        : FAKE_CUPTI_VERSION == 124 ? int{fake::kPerThread}
                                                    : kHostPinned;
  if (attribute < 0 || attribute > kLast) return 0;
  const bool is_flag = attribute == int{fake::kZeroedOut} || attribute == kHostPinned ||
                       attribute == int{fake::kPerThread};
  return is_flag ? sizeof(std::uint8_t) : sizeof(std::size_t);
}

int check_attribute(int attribute, const std::size_t* size, const void* value) {
  const std::size_t wanted = attribute_size(attribute);
  if (wanted == 0 || size == nullptr || value == nullptr) return kInvalidParameter;
  return *size < wanted ? kTooSmall : kDone;
}

/// Kinds that stand for all calls of a domain; 0: not one of them.
std::uint32_t domain_of(std::uint32_t kind) {
  if (kind == fake::kind::kRuntime) return fake::kRuntimeApi;
  return kind == fake::kind::kDriver ? fake::kDriverApi : 0;
}

int switch_kind(std::uint32_t kind, bool on) {
  if (fake::record_size(kind) == 0) return kInvalidKind;
  fake::state().kinds[kind] = on;
  if (const std::uint32_t domain = domain_of(kind)) {
    for (std::atomic<bool>& call : fake::state().enabled_calls[domain]) call = on;
    if (!on && domain == fake::kRuntimeApi) fake::state().single_calls_work[domain] = false;
  }
  return kDone;
}

#if FAKE_CUPTI_VERSION >= 130
int switch_call(std::uint32_t domain, std::uint32_t cbid, bool on) {
  if (fake::callback_name(domain, cbid) == nullptr) return kInvalidParameter;
  if (on && !fake::state().has_context) fake::state().single_calls_work[domain] = true;
  fake::state().enabled_calls[domain][cbid] = on;
  return kDone;
}
#endif

}  // namespace

extern "C" {

FAKE_EXPORTED int cuptiGetVersion(std::uint32_t* version) {
  if (const int code = enter(Function::get_version)) return code;
  if (version == nullptr) return kInvalidParameter;
  *version = FAKE_CUPTI_VERSION == 118   ? 18
             : FAKE_CUPTI_VERSION == 124 ? 22
             : FAKE_CUPTI_VERSION == 130 ? 130001
                                         : 130400;
  return kDone;
}

FAKE_EXPORTED int cuptiGetResultString(int result, const char** text) {
  if (const int code = enter(Function::get_result_string)) return code;
  if (text == nullptr) return kInvalidParameter;
  const char* const name = fake::result_name(result);
  *text = name == nullptr ? "<unknown>" : name;
  return name == nullptr ? kInvalidParameter : kDone;
}

#if FAKE_CUPTI_VERSION >= 124
FAKE_EXPORTED int cuptiGetErrorMessage(int result, const char** text) {
  if (const int code = enter(Function::get_error_message)) return code;
  if (text == nullptr) return kInvalidParameter;
  const char* const name = fake::result_name(result);
  *text = name == nullptr ? "<unknown>" : name;
  return kDone;
}
#endif

FAKE_EXPORTED int cuptiGetTimestamp(std::uint64_t* timestamp) {
  if (const int code = enter(Function::get_timestamp)) return code;
  if (timestamp == nullptr) return kInvalidParameter;
  *timestamp = fake::state().clock.now();
  return kDone;
}

FAKE_EXPORTED int cuptiGetCallbackName(int domain, std::uint32_t cbid, const char** name) {
  if (const int code = enter(Function::get_callback_name)) return code;
  if (name == nullptr) return kInvalidParameter;
  *name = fake::callback_name(static_cast<std::uint32_t>(domain), cbid);
  return *name == nullptr ? kInvalidParameter : kDone;
}

FAKE_EXPORTED int cuptiSetThreadIdType(int type) {
  if (const int code = enter(Function::set_thread_id_type)) return code;
  if (type < 0 || type > 1) return kInvalidParameter;
  fake::state().system_thread_ids = type == 1;
  return kDone;
}

FAKE_EXPORTED int cuptiActivitySetAttribute(int attribute, std::size_t* size, void* value) {
  if (const int code = enter(Function::set_attribute)) return code;
  if (const int code = check_attribute(attribute, size, value)) return code;
  std::uint64_t number = 0;
  std::memcpy(&number, value, attribute_size(attribute));
  const auto index = static_cast<std::size_t>(attribute);
  fake::state().attributes[index] = number;
  if (index == fake::kZeroedOut) fake::state().buffers.set_zeroed(number != 0);
  if (index == fake::kPerThread) fake::state().buffers.set_per_thread(number != 0);
  return kDone;
}

FAKE_EXPORTED int cuptiActivityGetAttribute(int attribute, std::size_t* size, void* value) {
  if (const int code = enter(Function::get_attribute)) return code;
  if (const int code = check_attribute(attribute, size, value)) return code;
  const std::uint64_t number = fake::state().attributes[static_cast<std::size_t>(attribute)];
  *size = attribute_size(attribute);
  std::memcpy(value, &number, *size);
  return kDone;
}

FAKE_EXPORTED int cuptiActivityRegisterTimestampCallback(fake::Clock::Function function) {
  if (const int code = enter(Function::register_timestamp_callback)) return code;
  if (function == nullptr) return kInvalidParameter;
  const std::uint64_t before = fake::state().clock.now();
  fake::state().clock.set_function(function);
  fake::state().timeline.clock_changed(before, fake::state().clock.now());
  return kDone;
}

FAKE_EXPORTED int cuptiActivityRegisterCallbacks(fake::Buffers::Request request,
                                                 fake::Buffers::Complete complete) {
  if (const int code = enter(Function::register_callbacks)) return code;
  if (request == nullptr || complete == nullptr) return kInvalidParameter;
  fake::state().buffers.register_callbacks(request, complete);
  return kDone;
}

FAKE_EXPORTED int cuptiActivityEnable(std::uint32_t kind) {
  if (const int code = enter(Function::enable)) return code;
  if (fake::record_size(kind) == 0) return kInvalidKind;
  if (const int code = fake::state().enable_answers[kind]) return code;
  return switch_kind(kind, true);
}

FAKE_EXPORTED int cuptiActivityDisable(std::uint32_t kind) {
  if (const int code = enter(Function::disable)) return code;
  return switch_kind(kind, false);
}

#if FAKE_CUPTI_VERSION >= 130
FAKE_EXPORTED int cuptiActivityEnableRuntimeApi(std::uint32_t cbid, std::uint8_t enable) {
  if (const int code = enter(Function::enable_runtime_api)) return code;
  return switch_call(fake::kRuntimeApi, cbid, enable != 0);
}

FAKE_EXPORTED int cuptiActivityEnableDriverApi(std::uint32_t cbid, std::uint8_t enable) {
  if (const int code = enter(Function::enable_driver_api)) return code;
  return switch_call(fake::kDriverApi, cbid, enable != 0);
}
#endif

FAKE_EXPORTED int cuptiActivityFlushAll(std::uint32_t flag) {
  if (const int code = enter(Function::flush_all)) return code;
  return fake::state().buffers.flush((flag & 1U) != 0) ? kDone : kInvalidOperation;
}

FAKE_EXPORTED int cuptiActivityGetNextRecord(std::uint8_t* buffer, std::size_t valid,
                                             void** record) {
  if (const int code = enter(Function::get_next_record)) return code;
  if (buffer == nullptr || record == nullptr) return kInvalidParameter;
  const auto kind_at = [buffer](std::size_t offset) {
    std::uint32_t kind = 0;
    std::memcpy(&kind, buffer + offset, sizeof kind);
    return kind;
  };
  std::size_t offset = 0;
  if (*record != nullptr) {
    offset = static_cast<std::size_t>(static_cast<std::uint8_t*>(*record) - buffer);
    offset += fake::record_size(kind_at(offset));
  }
  if (valid < sizeof(std::uint32_t) || offset > valid - sizeof(std::uint32_t)) {
    return kMaxLimitReached;
  }
  const std::uint32_t kind = kind_at(offset);
  const std::size_t size = fake::record_size(kind);
  if (size == 0) return FAKE_CUPTI_VERSION == 118 && kind != 0 ? kUnknown : kInvalidKind;
  if (size > valid - offset) return kMaxLimitReached;
  *record = buffer + offset;
  return kDone;
}

FAKE_EXPORTED int cuptiActivityGetNumDroppedRecords(void*, std::uint32_t, std::size_t* dropped) {
  if (const int code = enter(Function::get_dropped_records)) return code;
  if (dropped == nullptr) return kInvalidParameter;
  *dropped = fake::state().buffers.take_dropped();
  return kDone;
}

FAKE_EXPORTED int cuptiActivityPushExternalCorrelationId(std::uint32_t kind, std::uint64_t id) {
  if (const int code = enter(Function::push_external_id)) return code;
  if (kind == 0 || kind >= fake::kExternalKinds) return kInvalidParameter;
  fake::this_thread().external_ids[kind].push_back(id);
  return kDone;
}

FAKE_EXPORTED int cuptiActivityPopExternalCorrelationId(std::uint32_t kind, std::uint64_t* last) {
  if (const int code = enter(Function::pop_external_id)) return code;
  if (kind == 0 || kind >= fake::kExternalKinds) return kInvalidParameter;
  auto& ids = fake::this_thread().external_ids[kind];
  if (ids.empty()) return kQueueEmpty;
  if (last != nullptr) *last = ids.back();
  ids.pop_back();
  return kDone;
}

FAKE_EXPORTED int cuptiGetDeviceId(void* context, std::uint32_t* device) {
  if (const int code = enter(Function::get_device_id)) return code;
  if (device == nullptr) return kInvalidParameter;
  const auto handle = reinterpret_cast<std::uintptr_t>(context);
  if (handle < fake::kContextHandles || handle >= fake::kContextHandles + fake::kMostDevices) {
    return kInvalidContext;
  }
  *device = static_cast<std::uint32_t>(handle - fake::kContextHandles);
  return kDone;
}

FAKE_EXPORTED int cuptiFinalize() {
  if (const int code = enter(Function::finalize)) return code;
  fake::state().disable_all();
  fake::state().buffers.forget();
  fake::state().clock.set_function(nullptr);
  return kDone;
}

FAKE_EXPORTED int cuptiSubscribe(void** subscriber, fake::State::Callback callback, void* user) {
  if (const int code = enter(Function::subscribe)) return code;
  if (subscriber == nullptr || callback == nullptr) return kInvalidParameter;
  *subscriber = &fake::state();
  return fake::state().subscribe(callback, user);
}

FAKE_EXPORTED int cuptiUnsubscribe(void* subscriber) {
  if (const int code = enter(Function::unsubscribe)) return code;
  if (subscriber == nullptr) return kInvalidParameter;
  fake::state().unsubscribe();
  return kDone;
}

FAKE_EXPORTED int cuptiEnableDomain(std::uint32_t enable, void* subscriber, std::uint32_t domain) {
  if (const int code = enter(Function::enable_domain)) return code;
  if (subscriber == nullptr) return kInvalidParameter;
  fake::state().enable_domain(domain, enable != 0);
  return kDone;
}

}  // extern "C"
