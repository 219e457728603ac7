// The record of a rank as a part of a partial's message: PartialRank in proto/partial.proto. Only in
// builds with protobuf. Pure functions.
#pragma once

#include <tbtrace/collectives.h>

namespace tbtrace::proto {
class PartialRank;
}

namespace tbtrace::partials {

/// `record`: of one recording.
void put_rank(proto::PartialRank& message, const RankRecord& record);

/// Takes what is right and says whether all was: whether put_rank() can have written it, within the
/// limits of a partial.
bool take_rank(const proto::PartialRank& message, RankRecord& record);

}  // namespace tbtrace::partials
