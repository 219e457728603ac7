#include "libtorch/record/collectives.h"

#if defined(USE_DISTRIBUTED) && __has_include(<torch/csrc/distributed/c10d/ParamCommsUtils.hpp>)
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <c10/core/ScalarType.h>
#include <c10/util/ThreadLocalDebugInfo.h>
#include <c10/util/hash.h>
#include <torch/csrc/distributed/c10d/ParamCommsUtils.hpp>

#include "libtorch/record/torch_version.h"

namespace tbtrace::libtorch {

namespace {

using recorder::Collective;

// The getters have come one by one, in many releases. Each is asked for where it is.

template <typename Info>
void add_message(const Info& info, Collective& collective) {
  if constexpr (requires { info.getCollectiveName(); }) {
    collective.name = info.getCollectiveName();
  } else {
    collective.name = info.getColumnName();
  }
  if constexpr (requires { info.getInMessageNelems(); }) {
    collective.in_elements = info.getInMessageNelems();
    collective.out_elements = info.getOutMessageNelems();
  } else {  // the same by another name
    collective.in_elements = info.getInMessageSize();
    collective.out_elements = info.getOutMessageSize();
  }
  collective.element_type = c10::toString(info.getDType());
  collective.in_splits = recorder::shown_list(info.getInputSplitSizes());
  collective.out_splits = recorder::shown_list(info.getOutputSplitSizes());
  collective.rank = info.getRank();
  if constexpr (requires { info.isAsynchronizedOp(); }) {
    collective.is_async = info.isAsynchronizedOp();
    collective.has_words = TBTRACE_TORCH_WRITES_WORDS;
  }
}

template <typename Info>
void add_group(const Info& info, Collective& collective) {
  if constexpr (requires { info.getGlobalRankStart(); }) {
    if (info.getGlobalRankStart() >= 0) collective.first_rank = info.getGlobalRankStart();
    if (info.getGlobalRankStride() > 0) collective.rank_stride = info.getGlobalRankStride();
  }
  if constexpr (requires { info.getWorldSize(); }) collective.group_size = info.getWorldSize();
  if constexpr (requires { info.getProcessGroupName(); }) {
    collective.group = info.getProcessGroupName();
  }
  if constexpr (requires { info.getProcessGroupDesc(); }) {
    collective.group_description = info.getProcessGroupDesc();
  }
}

/// Numbers of a message are those of its group; its ends are told among all ranks.
template <typename Info>
void add_ranks(const Info& info, Collective& collective) {
  if constexpr (requires { info.getGroupRanks(); }) {
    const std::vector<std::int64_t>& ranks = info.getGroupRanks();
    collective.group_ranks = recorder::shown_list(ranks);
    if (collective.rank < 0 || static_cast<std::size_t>(collective.rank) >= ranks.size()) return;
    const std::int64_t other = ranks[static_cast<std::size_t>(collective.rank)];
    if (collective.name == "send") collective.receiver = other;
    if (collective.name == "recv") collective.sender = other;
  }
}

template <typename Info>
void add_identity(const Info& info, Collective& collective) {
  if constexpr (requires { info.getSequenceNumber(); }) {
    if (info.getSequenceNumber() < 0) return;
    collective.sequence = info.getSequenceNumber();
    // By torch's own hash of the same values, so that ranks recorded by either of us agree.
    if constexpr (requires { info.getIsP2P(); }) {
      collective.id =
          c10::get_hash(info.getProcessGroupName(), info.getSequenceNumber(), info.getIsP2P(),
                        info.getGlobalRankStart(), info.getGlobalRankStride(), info.getWorldSize());
    }
  }
}

}  // namespace

std::optional<Collective> described_collective() {
  const auto* const info = dynamic_cast<const torch::ParamCommsDebugInfo*>(
      c10::ThreadLocalDebugInfo::get(c10::DebugInfoKind::PARAM_COMMS_INFO));
  if (info == nullptr) return std::nullopt;
  Collective collective;
  add_message(*info, collective);
  add_group(*info, collective);
  add_ranks(*info, collective);
  add_identity(*info, collective);
  return collective;
}

}  // namespace tbtrace::libtorch

#else

namespace tbtrace::libtorch {
std::optional<recorder::Collective> described_collective() { return std::nullopt; }
}  // namespace tbtrace::libtorch

#endif
