// What differs between the generations of LibTorch that are supported, 1.13 and 2.x.
// Constants only.
#pragma once

#include <torch/version.h>

#define TBTRACE_TORCH_AT_LEAST(major, minor) \
  (TORCH_VERSION_MAJOR > (major) ||          \
   (TORCH_VERSION_MAJOR == (major) && TORCH_VERSION_MINOR >= (minor)))

/// torch's own files have `true` where they had 1.
#define TBTRACE_TORCH_WRITES_WORDS TBTRACE_TORCH_AT_LEAST(2, 14)
