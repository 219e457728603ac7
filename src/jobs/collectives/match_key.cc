#include "jobs/collectives/match_key.h"

#include "analyses/kernels/collective_operations.h"
#include "wire/stable_hash.h"

namespace tbtrace::jobs {
namespace {

constexpr std::int64_t kNone = MatchKey::kNone;

/// A message's ends are of the same class on both ranks. In a group of two the other rank is known.
bool set_message(MatchKey& key, std::int64_t rank, const RankCollective& part,
                 const ProcessGroup& group) {
  std::optional<std::int64_t> peer = part.peer;
  if (!peer && group.ranks.size() == 2) {
    peer = group.ranks[0] == rank ? group.ranks[1] : group.ranks[0];
  }
  if (!peer || *peer == rank) return false;
  const bool sends = part.kind == CollectiveKind::send;
  key.by = MatchedBy::pair;
  key.name = "send";
  key.bytes = part.bytes.value_or(kNone);
  key.source = sends ? rank : *peer;
  key.destination = sends ? *peer : rank;
  key.number = part.step.value_or(kNone);
  return true;
}

}  // namespace

std::string group_key(const ProcessGroup& group) {
  if (group == ProcessGroup()) return {};
  return group.name + '\n' + group.ranks_text + '\n' + std::to_string(group.size.value_or(kNone));
}

std::optional<MatchKey> match_key(const RankRecord& record, const RankCollective& part,
                                  const std::string& group, std::int64_t rank) {
  MatchKey key = {.group = group, .name = record.texts[part.name]};
  if (analyses::is_message(part.kind)) {
    if (!set_message(key, rank, part, record.groups[part.group])) return std::nullopt;
  } else if (part.sequence && !key.group.empty()) {
    key.by = MatchedBy::sequence;
    key.name = {};
    key.number = *part.sequence;
  } else {
    const bool is_of_any = part.kind == CollectiveKind::other && key.name == analyses::kSendReceive;
    if (key.group.empty() && is_of_any) return std::nullopt;
    key.bytes = part.bytes.value_or(kNone);
    key.number = part.step.value_or(kNone);
    if (key.group.empty()) key.stream = part.stream;
  }
  return key;
}

std::uint64_t match_hash(const MatchKey& key, std::uint32_t number) {
  StableHash hash;
  hash.add(key.group);
  hash.add(static_cast<std::uint64_t>(key.by));
  hash.add(key.name);
  for (const std::int64_t part : {key.bytes, key.stream, key.number}) {
    hash.add(static_cast<std::uint64_t>(part));
  }
  hash.add(number);
  return hash.value();
}

}  // namespace tbtrace::jobs
