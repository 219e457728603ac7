// What the fake libraries have in common: what they export, and what a context is.
// Values only. Any thread. Nothing here can fail.
// All else in them is hidden, so that several versions live in one process.
#pragma once

#include <cstddef>
#include <cstdint>

#define FAKE_EXPORTED __attribute__((visibility("default")))

namespace tbtrace::fake_cuda {

inline constexpr std::size_t kMostDevices = 32;
/// The handle of a device's primary context is this and the device's number.
inline constexpr std::uintptr_t kContextHandles = 0xc0de0000;

}  // namespace tbtrace::fake_cuda
