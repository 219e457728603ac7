// The number of the device that a track of device activities belongs to.
#pragma once

#include <cstdint>

#include <tbtrace/trace.h>

namespace tbtrace::analyses {

/// The number in the names of the track, else its process id. torch.autograd.profiler wrote a
/// single process whose id is text, and the device in place of the stream.
inline std::int64_t device_number(const Track& track) {
  if (track.device >= 0) return track.device;
  return track.process.text == StringId::empty ? track.process.number : track.thread.number;
}

}  // namespace tbtrace::analyses
