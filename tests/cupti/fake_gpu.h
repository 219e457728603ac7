// A GPU that is not there, and a collector of what it does.
// One at a time in a process, as CUPTI is. For the thread of the test.
#pragma once

#include <algorithm>
#include <chrono>
#include <memory>
#include <string>
#include <utility>

#include <gtest/gtest.h>

#include "cupti/collector.h"
#include "fixtures/soon.h"
#include "support/fake_cuda/fake_cuda.h"

namespace tbtrace::cupti {

inline constexpr const char* kFakes[] = {FAKE_CUPTI_118, FAKE_CUPTI_124, FAKE_CUPTI_130,
                                         FAKE_CUPTI_134};

class FakeGpu {
 public:
  explicit FakeGpu(const std::string& cupti = FAKE_CUPTI_130) : cuda_(cupti, FAKE_CUDA_DRIVER) {
    Result<CuptiLibrary> library = open_cupti(cupti);
    EXPECT_TRUE(library.ok()) << library.status().message();
    library_ = *std::move(library);
  }

  fake_cuda::Cupti& cupti() { return cuda_.cupti; }
  fake_cuda::Driver& driver() { return cuda_.driver; }
  const CuptiLibrary& library() const { return library_; }

  /// The driver is asked anew.
  std::unique_ptr<Collector> collector(CollectorSettings settings = {}) {
    Result<DriverLibrary> driver = DriverLibrary::open(FAKE_CUDA_DRIVER);
    EXPECT_TRUE(driver.ok()) << driver.status().message();
    return std::make_unique<Collector>(library_, *std::move(driver), settings);
  }

  /// Without the waits of real life.
  static CollectorSettings impatient() {
    return {.buffers = {.buffer_bytes = 64 << 10, .most_buffers = 64},
            .flush_period = std::chrono::milliseconds(20)};
  }

 private:
  fake_cuda::FakeCuda cuda_;
  CuptiLibrary library_;
};

using fixtures::soon;

inline bool enabled(FakeGpu& gpu, ActivityKind kind) {
  return gpu.cupti().enabled(static_cast<std::uint32_t>(kind));
}

/// What `work` has devices do, as a window of its own has it.
template <typename Work>
std::shared_ptr<const recorder::DeviceTrace> recorded(Collector& collector, Work&& work,
                                                      SessionOptions options = {}) {
  options.patience = std::min(options.patience, std::chrono::milliseconds(200));
  auto session = collector.begin(options);
  EXPECT_TRUE(session.ok()) << session.status().message();
  if (!session.ok()) return nullptr;
  (*session)->begin_window();
  work();
  return (*session)->end_window().get();
}

}  // namespace tbtrace::cupti
