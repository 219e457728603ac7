// How Kineto names device activity, and the rows that it puts it on.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>

#include "recorder/log/device_trace.h"

namespace tbtrace::recorder {

inline constexpr std::int64_t kOverheadProcess = -1;

/// `Memcpy HtoD (Pageable -> Device)`, `Memset (Device)`.
std::string transfer_name(DeviceActivityKind kind, const DeviceTransfer& transfer);

/// CUpti_ActivitySynchronizationType.
std::string_view wait_name(std::uint8_t kind);

/// CUpti_ActivityOverheadKind.
std::string_view overhead_name(std::uint32_t kind);

/// Whether this is a stream waiting for an event.
bool is_wait_for_event(const DeviceSynchronization& wait);

/// Whether this is the host waiting for a stream. Such waits have a row of their own,
/// `stream N (sync)`.
bool is_wait_for_stream(const DeviceSynchronization& wait);

/// The thread that a wait is shown on: a stream, the row beside it, or -1.
std::int64_t thread_of_wait(const DeviceSynchronization& wait);

/// The device of a context; 0 if nothing was recorded in it.
std::uint32_t device_of(const std::unordered_map<std::uint32_t, std::uint32_t>& devices_of_contexts,
                        std::uint32_t context);

/// The devices of contexts, as far as something was recorded in them.
std::unordered_map<std::uint32_t, std::uint32_t> devices_of_contexts(const DeviceTrace& trace);

}  // namespace tbtrace::recorder
