// For LibTorch without CUDA, and before 2.2.
#include "libtorch/device_allocator.h"

namespace tbtrace::libtorch {

DeviceAllocator* cuda_allocator() { return nullptr; }

}  // namespace tbtrace::libtorch
