// The names of what collectives.h has, the sizes of c10d's types, and bus bandwidths.
#include <algorithm>
#include <array>
#include <cstddef>
#include <numeric>

#include <tbtrace/collectives.h>

namespace tbtrace {

double bus_bandwidth_factor(CollectiveKind kind, std::size_t ranks) {
  if (ranks < 2) return 1;
  const double others = static_cast<double>(ranks - 1) / static_cast<double>(ranks);
  switch (kind) {
    case CollectiveKind::all_reduce:
      return 2 * others;
    case CollectiveKind::all_gather:
    case CollectiveKind::reduce_scatter:
    case CollectiveKind::all_to_all:
      return others;
    default:
      return 1;
  }
}

std::optional<std::int64_t> element_bytes(std::string_view type) {
  struct TypeSize {
    std::string_view name;
    std::int64_t bytes;
  };
  // c10::toString(ScalarType), and the names of C++ types that operator inputs have.
  constexpr auto kSizes = std::to_array<TypeSize>({
      {"Float", 4},
      {"float", 4},
      {"Half", 2},
      {"c10::Half", 2},
      {"BFloat16", 2},
      {"c10::BFloat16", 2},
      {"Double", 8},
      {"double", 8},
      {"Byte", 1},
      {"unsigned char", 1},
      {"Char", 1},
      {"signed char", 1},
      {"Bool", 1},
      {"bool", 1},
      {"Short", 2},
      {"short int", 2},
      {"Int", 4},
      {"int", 4},
      {"Long", 8},
      {"long int", 8},
      {"long", 8},
      {"ComplexFloat", 8},
      {"ComplexDouble", 16},
      {"Float8_e4m3fn", 1},
      {"Float8_e5m2", 1},
      {"Float8_e4m3fnuz", 1},
      {"Float8_e5m2fnuz", 1},
      {"Float8_e8m0fnu", 1},
      {"UInt16", 2},
      {"UInt32", 4},
      {"UInt64", 8},
  });
  const auto* const found = std::ranges::find(kSizes, type, &TypeSize::name);
  return found == kSizes.end() ? std::nullopt : std::optional(found->bytes);
}

std::string_view rank_time_name(RankTime time) {
  constexpr auto kNames =
      std::to_array<std::string_view>({"compute", "communication", "input", "garbage_collection",
                                       "memory", "copy", "launch", "unknown"});
  static_assert(kNames.size() == kRankTimes);
  return kNames[static_cast<std::size_t>(time)];
}

std::string_view matched_by_name(MatchedBy by) {
  constexpr auto kNames = std::to_array<std::string_view>({"sequence", "pair", "order"});
  return kNames[static_cast<std::size_t>(by)];
}

std::string_view unmatched_reason_name(UnmatchedReason reason) {
  constexpr auto kNames = std::to_array<std::string_view>(
      {"no_other_rank", "missing_on_ranks", "counts_differ", "ranks_disagree", "unknown_peer",
       "times_contradict", "without_kernel"});
  static_assert(kNames.size() == kUnmatchedReasons);
  return kNames[static_cast<std::size_t>(reason)];
}

std::string_view unmatched_reason_text(UnmatchedReason reason) {
  switch (reason) {
    case UnmatchedReason::no_other_rank:
      return "no trace of another rank of their group was given; add the traces of all ranks";
    case UnmatchedReason::missing_on_ranks:
      return "other ranks of the group did not record them: their recordings began later or ended "
             "earlier; record the same steps on all ranks";
    case UnmatchedReason::counts_differ:
      return "they have no sequence number, and the ranks recorded different numbers of them; "
             "record with torch 2.7 or later, which writes Seq";
    case UnmatchedReason::ranks_disagree:
      return "the ranks recorded different operations or sizes under one sequence number";
    case UnmatchedReason::unknown_peer:
      return "sends and receives that do not say with which rank";
    case UnmatchedReason::times_contradict:
      return "they have no sequence number, and the ranks did not run them at the same time, so "
             "they belong to different groups";
    case UnmatchedReason::without_kernel:
      return "the host called them, but their kernels were not recorded; record CUDA activities";
  }
  return {};
}

std::string group_text(const ProcessGroup& group) {
  std::string text;
  for (const std::string* const part : {&group.description, &group.name, &group.ranks_text}) {
    if (part->empty()) continue;
    text += (text.empty() ? "" : " ") + *part;
  }
  return text;
}

std::string_view JobCollectives::name(const MatchedCollective& one) const& {
  if (one.by == MatchedBy::pair) return "send";
  const CollectiveMember& first = one.members.front();
  return ranks[first.rank].record.texts[part(first).name];
}

std::uint64_t JobCollectives::unmatched_total() const {
  return std::accumulate(unmatched.begin(), unmatched.end(), std::uint64_t{0});
}

}  // namespace tbtrace
