// The stand-in does what real CUPTIs were seen to do.
#include "cupti/transcripts.h"

#include <cstdlib>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cupti/fake_gpu.h"
#include "cupti/record_sizes.h"
#include "cupti/records.h"

namespace tbtrace::cupti {
namespace {

using transcripts::BufferStep;
using transcripts::CallStep;

/// Numbers of the functions whose calls were recorded since the last take().
class CallsSeen {
 public:
  explicit CallsSeen(FakeGpu& gpu) : gpu_(gpu) {
    current = this;
    gpu_.library().register_callbacks(requested, completed);
  }
  CallsSeen(const CallsSeen&) = delete;
  CallsSeen& operator=(const CallsSeen&) = delete;
  ~CallsSeen() { current = nullptr; }

  std::vector<std::uint32_t> take() {
    gpu_.library().flush_all(kFlushForced);
    return std::exchange(numbers_, {});
  }

 private:
  static void requested(std::uint8_t** buffer, std::size_t* size, std::size_t* most) {
    *size = 4096;
    *most = 0;
    *buffer = static_cast<std::uint8_t*>(std::calloc(1, *size));
  }
  static void completed(void*, std::uint32_t, std::uint8_t* buffer, std::size_t,
                        std::size_t valid) {
    if (current != nullptr) current->read(buffer, valid);
    std::free(buffer);
  }
  struct Read {
    std::vector<std::uint32_t>& numbers;
    void operator()(const ApiRecord& record) { numbers.push_back(record.number); }
    template <typename Record>
    void operator()(const Record&) {}
  };
  void read(const std::uint8_t* buffer, std::size_t valid) {
    const RecordSizes sizes = RecordSizes::measured_with(gpu_.library());
    for_each_record(gpu_.library(), sizes, buffer, valid, Read{numbers_});
  }

  static CallsSeen* current;
  FakeGpu& gpu_;
  std::vector<std::uint32_t> numbers_;
};

CallsSeen* CallsSeen::current = nullptr;

void expect_calls(const std::vector<CallStep>& steps, ActivityKind kind, std::uint32_t domain,
                  const std::vector<std::uint32_t>& made) {
  FakeGpu gpu;
  gpu.cupti().set_context(false);
  CallsSeen seen(gpu);
  auto* const choose = kind == ActivityKind::runtime ? gpu.library().enable_runtime_call
                                                     : gpu.library().enable_driver_call;
  bool has_context = false;
  for (std::size_t step = 0; step < steps.size(); ++step) {
    ResultCode result = 0;
    switch (steps[step].action) {
      case transcripts::Do::enable_kind:
        result = gpu.library().enable(kind);
        break;
      case transcripts::Do::disable_kind:
        result = gpu.library().disable(kind);
        break;
      case transcripts::Do::call_on:
      case transcripts::Do::call_off:
        result = choose(steps[step].number, steps[step].action == transcripts::Do::call_on ? 1 : 0);
        break;
      case transcripts::Do::make_context:
        gpu.cupti().set_context(true);
        has_context = true;
        break;
    }
    EXPECT_EQ(result, steps[step].result) << "step " << step;
    if (!has_context) continue;
    for (const std::uint32_t number : made) gpu.cupti().call({.cbid = number, .domain = domain});
    EXPECT_EQ(seen.take(), steps[step].recorded) << "step " << step;
  }
}

TEST(CuptiTranscripts, RuntimeFunctionsSwitchedOnBeforeTheContext) {
  expect_calls(transcripts::kRuntimeBeforeContext, ActivityKind::runtime, fake_cuda::kRuntimeApi,
               {transcripts::kMalloc, transcripts::kMemcpy, transcripts::kFree});
}

TEST(CuptiTranscripts, RuntimeFunctionsSwitchedOnAfterTheContextRecordNothing) {
  expect_calls(transcripts::kRuntimeWithContext, ActivityKind::runtime, fake_cuda::kRuntimeApi,
               {transcripts::kMalloc, transcripts::kMemcpy, transcripts::kFree});
}

TEST(CuptiTranscripts, DriverFunctionsSwitchedOnAfterTheContext) {
  expect_calls(transcripts::kDriverWithContext, ActivityKind::driver, fake_cuda::kDriverApi,
               {transcripts::kAlloc, transcripts::kSet, transcripts::kDriverFree});
}

TEST(CuptiTranscripts, BuffersAreAskedForWithTheFirstRecordAndGivenBackByAFlush) {
  FakeGpu gpu;
  CallsSeen seen(gpu);
  const CuptiLibrary& cupti = gpu.library();
  for (std::size_t step = 0; step < transcripts::kBuffers.size(); ++step) {
    const BufferStep& expected = transcripts::kBuffers[step];
    switch (expected.action) {
      case transcripts::Buffer::enable_kernels:
        cupti.enable(ActivityKind::kernel);
        break;
      case transcripts::Buffer::disable_kernels:
        gpu.cupti().synchronize(-1);
        cupti.disable(ActivityKind::kernel);
        break;
      case transcripts::Buffer::enable_runtime:
        cupti.enable(ActivityKind::runtime);
        break;
      case transcripts::Buffer::launch:
        gpu.cupti().launch({.name = "k"});
        break;
      case transcripts::Buffer::call:
        gpu.cupti().call({.cbid = transcripts::kMalloc});
        break;
      case transcripts::Buffer::synchronize:
        gpu.cupti().synchronize(-1);
        break;
      case transcripts::Buffer::flush:
        cupti.flush_all(0);
        break;
    }
    EXPECT_EQ(gpu.cupti().counters().buffers_requested, expected.requested) << "step " << step;
    EXPECT_EQ(gpu.cupti().counters().buffers_completed, expected.completed) << "step " << step;
  }
}

}  // namespace
}  // namespace tbtrace::cupti
