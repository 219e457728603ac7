#include "cupti/record_sizes.h"

#include <array>
#include <cstdint>
#include <string>

#include <gtest/gtest.h>

#include "cupti/fake_gpu.h"

namespace tbtrace::cupti {
namespace {

constexpr std::array kRead = {ActivityKind::kernel,
                              ActivityKind::memcpy,
                              ActivityKind::memcpy_peer,
                              ActivityKind::memset,
                              ActivityKind::runtime,
                              ActivityKind::driver,
                              ActivityKind::external_correlation,
                              ActivityKind::overhead,
                              ActivityKind::synchronization,
                              ActivityKind::cuda_event,
                              ActivityKind::marker};

TEST(CuptiRecordSizes, AreThoseOfTheReleaseAtHand) {
  // collector notes: strides that the real libraries of CUDA 11.8, 12.4 and 13.0 step by.
  EXPECT_EQ(RecordSizes::measured_with(*open_cupti(FAKE_CUPTI_118)).of(ActivityKind::kernel), 200U);
  EXPECT_EQ(RecordSizes::measured_with(*open_cupti(FAKE_CUPTI_124)).of(ActivityKind::kernel), 208U);
  EXPECT_EQ(RecordSizes::measured_with(*open_cupti(FAKE_CUPTI_130)).of(ActivityKind::kernel), 216U);
  EXPECT_EQ(RecordSizes::measured_with(*open_cupti(FAKE_CUPTI_134)).of(ActivityKind::kernel), 240U);
  for (const char* path : kFakes) {
    FakeGpu gpu(path);
    const RecordSizes sizes = RecordSizes::measured_with(gpu.library());
    for (const ActivityKind kind : kRead) {
      EXPECT_EQ(sizes.of(kind), gpu.cupti().record_size(static_cast<std::uint32_t>(kind)));
      EXPECT_TRUE(sizes.fits(kind)) << path << " " << static_cast<std::uint32_t>(kind);
    }
    EXPECT_EQ(sizes.of(static_cast<ActivityKind>(63)), 0U);
    EXPECT_EQ(sizes.of(static_cast<ActivityKind>(1U << 30)), 0U);
  }
}

TEST(CuptiRecordSizes, OfTheRealLibraryFit) {
  const std::string real = TBTRACE_REAL_CUPTI;
  if (real.empty()) GTEST_SKIP() << "CUDA's toolkit is not installed, so there is no CUPTI to ask";
  const Result<CuptiLibrary> library = open_cupti(real);
  ASSERT_TRUE(library.ok()) << library.status().message();
  const RecordSizes sizes = RecordSizes::measured_with(*library);
  for (const ActivityKind kind : kRead) {
    EXPECT_TRUE(sizes.fits(kind)) << static_cast<std::uint32_t>(kind);
  }
}

/// Steps by a size that is none, or by none at all.
template <int kWay>
ResultCode steps(std::uint8_t* buffer, std::size_t, void** record) {
  if (*record == nullptr) {
    *record = buffer;
    return 0;
  }
  if (kWay == 0) return results::kUnknown;
  *record = static_cast<std::uint8_t*>(*record) + (kWay == 1 ? 0 : kWay);
  return 0;
}

TEST(CuptiRecordSizes, AnswersWithoutSenseAreNone) {
  CuptiLibrary library;
  for (auto* const step : {steps<0>, steps<1>, steps<-8>, steps<12>, steps<1 << 20>}) {
    library.next_record = step;
    EXPECT_EQ(RecordSizes::measured_with(library).of(ActivityKind::kernel), 0U);
  }
  library.next_record = steps<104>;  // shorter than what is read
  EXPECT_EQ(RecordSizes::measured_with(library).of(ActivityKind::kernel), 104U);
  EXPECT_FALSE(RecordSizes::measured_with(library).fits(ActivityKind::kernel));
}

}  // namespace
}  // namespace tbtrace::cupti
