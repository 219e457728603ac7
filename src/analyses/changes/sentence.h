// A comparison in one sentence.
#pragma once

#include <string>
#include <string_view>

#include <tbtrace/diff.h>

namespace tbtrace::analyses {

/// What changed, what explains it, and whether that may be chance, from the step, the verdict and
/// the rows of `diff`; `what` is `step` or `recording`. Empty if there is nothing to compare.
std::string sentence_of(const Diff& diff, std::string_view what);

}  // namespace tbtrace::analyses
