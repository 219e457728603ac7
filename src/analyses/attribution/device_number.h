// The number of the device that a track of device activities belongs to.
#pragma once

#include <cstdint>

#include <tbtrace/trace.h>

namespace tbtrace::analyses {

/// The process id of the track. torch.autograd.profiler wrote a single process whose id is text,
/// and the device in place of the stream.
inline std::int64_t device_number(const Track& track) {
  return track.process.text == StringId::empty ? track.process.number : track.thread.number;
}

}  // namespace tbtrace::analyses
