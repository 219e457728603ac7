// What both directions of a partial's message know.
#pragma once

#include <tbtrace/partial.h>

namespace tbtrace::partials {

/// The bits of `Partial.parts` in proto/partial.proto.
inline constexpr unsigned kPartCount = 7;
inline constexpr bool PartialParts::*kParts[kPartCount] = {
    &PartialParts::operators, &PartialParts::kernels, &PartialParts::modules,
    &PartialParts::lines,     &PartialParts::stacks,  &PartialParts::reports, &PartialParts::ranks};

}  // namespace tbtrace::partials
