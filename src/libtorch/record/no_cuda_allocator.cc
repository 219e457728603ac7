// For LibTorch without CUDA.
#include "libtorch/record/device_allocator.h"

namespace tbtrace::libtorch {

DeviceAllocator* cuda_allocator() { return nullptr; }

}  // namespace tbtrace::libtorch
