// Random traces of several kinds, as if they were the ranks of a job.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include <tbtrace/partial.h>
#include <tbtrace/trace.h>

#include "analyses/gpu/random_device_work.h"
#include "analyses/modules/random_model.h"
#include "analyses/random_recording.h"

namespace tbtrace::partials {

inline Trace random_trace(unsigned seed) {
  switch (seed % 3) {
    case 0:
      return analyses::RandomModel(seed).make();
    case 1:
      return analyses::RandomDeviceWork(seed).make();
    default:
      return analyses::RandomRecording(seed, {.devices = seed % 2 == 0, .arguments = true}).make();
  }
}

/// The name of a source; natural order is that of the numbers.
inline std::string random_name(unsigned seed) { return "trace_" + std::to_string(seed); }

inline Partial random_partial(unsigned seed) {
  return *Partial::of(random_trace(seed), random_name(seed));
}

}  // namespace tbtrace::partials
