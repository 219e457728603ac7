// Whether two sides can be compared, from what their runs say of themselves. Pure function.
#pragma once

#include <span>
#include <string>
#include <vector>

#include <tbtrace/diff.h>

namespace tbtrace::analyses {

struct Circumstances {
  Comparable comparable = Comparable::yes;
  std::vector<std::string> reasons;  ///< a sentence each
  /// Each run is on both sides, so that nothing can have changed.
  bool is_same_recording = false;
  /// Of compiled code not all FLOPs are counted: whether those of both sides are of the same kind.
  bool can_compare_flops = true;
};

Circumstances circumstances_of(std::span<const RunFigures> base,
                               std::span<const RunFigures> changed);

}  // namespace tbtrace::analyses
