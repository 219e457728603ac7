// All that the fake CUPTI remembers: settings, buffers, the device, and what was called.
// One for the life of the process, never destroyed, since threads of the library may outlive
// main(). Any thread. Nothing here can fail.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "support/fake_cuda/call_log.h"
#include "support/fake_cuda/cupti_buffers.h"
#include "support/fake_cuda/cupti_device.h"
#include "support/fake_cuda/cupti_names.h"
#include "support/fake_cuda/cupti_records.h"
#include "support/fake_cuda/fake_cuda.h"

namespace tbtrace::fake_cuda {

/// Those from `get_callback_name` on only look something up.
enum class Function : std::size_t {
  get_version,
  get_timestamp,
  set_thread_id_type,
  set_attribute,
  get_attribute,
  register_timestamp_callback,
  register_callbacks,
  enable,
  disable,
  enable_runtime_api,
  enable_driver_api,
  flush_all,
  get_dropped_records,
  push_external_id,
  pop_external_id,
  get_device_id,
  finalize,
  subscribe,
  unsubscribe,
  enable_domain,
  get_callback_name,
  get_result_string,
  get_error_message,
  get_next_record,
};

inline constexpr std::array<std::string_view, 24> kFunctionNames = {
    "cuptiGetVersion",
    "cuptiGetTimestamp",
    "cuptiSetThreadIdType",
    "cuptiActivitySetAttribute",
    "cuptiActivityGetAttribute",
    "cuptiActivityRegisterTimestampCallback",
    "cuptiActivityRegisterCallbacks",
    "cuptiActivityEnable",
    "cuptiActivityDisable",
    "cuptiActivityEnableRuntimeApi",
    "cuptiActivityEnableDriverApi",
    "cuptiActivityFlushAll",
    "cuptiActivityGetNumDroppedRecords",
    "cuptiActivityPushExternalCorrelationId",
    "cuptiActivityPopExternalCorrelationId",
    "cuptiGetDeviceId",
    "cuptiFinalize",
    "cuptiSubscribe",
    "cuptiUnsubscribe",
    "cuptiEnableDomain",
    "cuptiGetCallbackName",
    "cuptiGetResultString",
    "cuptiGetErrorMessage",
    "cuptiActivityGetNextRecord",
};

/// CUpti_ActivityAttribute.
inline constexpr std::size_t kZeroedOut = 5;
inline constexpr std::size_t kPerThread = 9;
inline constexpr std::size_t kAttributes = 11;

inline constexpr std::size_t kExternalKinds = 6;  ///< 0 is none of them

struct State {
  CallLog calls{kFunctionNames, static_cast<std::size_t>(Function::get_callback_name)};
  Clock clock;
  Timeline timeline{clock};
  Buffers buffers{clock};

  std::array<std::atomic<bool>, kKinds> kinds = {};
  std::array<std::atomic<int>, kKinds> enable_answers = {};
  /// By domain and number.
  std::array<std::array<std::atomic<bool>, kCallbacks>, 3> enabled_calls = {};
  std::array<std::atomic<std::uint64_t>, kAttributes> attributes = {};
  std::atomic<bool> system_thread_ids = false;
  /// By domain: whether functions that are switched on one by one record calls while their kind is
  /// off (tests/cupti/transcripts.h).
  std::array<std::atomic<bool>, 3> single_calls_work = {};
  std::atomic<bool> has_context = true;
  std::atomic<bool> no_driver = false;
  std::atomic<std::uint32_t> next_correlation = 1;
  std::atomic<std::uint64_t> next_event_sync_id = 1;
  std::atomic<std::uint32_t> next_marker = 1;
  std::atomic<std::uint64_t> generation = 1;  ///< of what threads remember

  State() { set_defaults(); }

  using Callback = void (*)(void* user, std::uint32_t domain, std::uint32_t cbid, const void* data);

  void set_defaults();
  void disable_all();
  /// Whether a record is made of a call.
  bool records_call(std::uint32_t domain, std::uint32_t cbid) const;
  /// 39: there is a subscriber already.
  int subscribe(Callback callback, void* user);
  void unsubscribe();
  void enable_domain(std::uint32_t domain, bool on);
  /// Tells the subscriber of the exit of a call.
  void call_ends(std::uint32_t domain, std::uint32_t cbid);
  void reset();
  /// Stays where it is for the life of the process; null stays null.
  const char* keep(const char* text);
  std::uint64_t event_sync_id(std::uint32_t event);
  void set_event_sync_id(std::uint32_t event, std::uint64_t id);

 private:
  std::mutex mutex_;  // what follows
  std::set<std::string, std::less<>> texts_;
  std::map<std::uint32_t, std::uint64_t> event_sync_ids_;
  Callback callback_ = nullptr;
  void* callback_user_ = nullptr;
  std::array<bool, 3> subscribed_domains_ = {};
};

State& state();

/// What the library remembers of the calling thread.
struct Thread {
  struct Range {
    std::uint32_t marker;
    const char* domain;
  };

  std::uint64_t generation = 0;
  std::array<std::vector<std::uint64_t>, kExternalKinds> external_ids = {};
  std::vector<Range> ranges = {};
};

Thread& this_thread();
/// As cuptiSetThreadIdType chose.
std::uint32_t thread_id();

}  // namespace tbtrace::fake_cuda
