// What both directions of a partial's message know.
#pragma once

#include <tbtrace/collectives.h>
#include <tbtrace/partial.h>

namespace tbtrace::proto {
class PartialRank;
}

namespace tbtrace::partials {

/// The bits of `Partial.parts` in proto/partial.proto.
inline constexpr unsigned kPartCount = 7;
inline constexpr bool PartialParts::*kParts[kPartCount] = {
    &PartialParts::operators, &PartialParts::kernels, &PartialParts::modules, &PartialParts::lines,
    &PartialParts::stacks,    &PartialParts::reports, &PartialParts::ranks};

/// The record of a rank, which is of one recording.
void put_rank(proto::PartialRank& message, const RankRecord& record);

/// Takes what is right and says whether all was: whether put_rank() can have written it, within the
/// limits of a partial.
bool take_rank(const proto::PartialRank& message, RankRecord& record);

}  // namespace tbtrace::partials
