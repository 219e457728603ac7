// The sizes of the loaded CUPTI's records: each release may add fields at the end, and CUPTI has no
// function that returns a size. A kind that the library does not know has the size 0.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "cupti/abi.h"
#include "cupti/cupti_library.h"

namespace tbtrace::cupti {

class RecordSizes {
 public:
  /// Has the library itself step over made-up records, which takes no device and no driver.
  static RecordSizes measured_with(const CuptiLibrary& cupti);

  std::size_t of(ActivityKind kind) const {
    const auto number = static_cast<std::uint32_t>(kind);
    return number < kKinds ? sizes_[number] : 0;
  }
  /// Whether records of the kind have all the fields that are read of them.
  bool fits(ActivityKind kind) const;

 private:
  std::array<std::size_t, kKinds> sizes_ = {};
};

}  // namespace tbtrace::cupti
