// What ranks match their records of collectives by.
// Plain values and pure functions.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>

#include <tbtrace/collectives.h>

namespace tbtrace::jobs {

/// What is known of a record and equal on all ranks. Records with the same key are told apart by
/// their order.
struct MatchKey {
  static constexpr std::int64_t kNone = -1;

  std::string group;  ///< name, ranks and size; empty: unknown
  MatchedBy by = MatchedBy::order;
  std::string name;  ///< of the operation; `send` for both ends of a message
  std::int64_t bytes = kNone;
  std::int64_t stream = kNone;  ///< in an unknown group: groups have their own streams
  std::int64_t source = kNone;  ///< of a message
  std::int64_t destination = kNone;
  std::int64_t number = kNone;  ///< `Seq`, or for other records the step
  std::uint32_t recording = 0;  ///< of the rank, if records are samples

  auto operator<=>(const MatchKey&) const = default;  // NOLINT(modernize-use-nullptr): in std
};

/// The part of a key that a group is; empty for an unknown one.
std::string group_key(const ProcessGroup& group);

/// `group`: group_key() of the record's. nullopt if a record does not say with which ranks it
/// communicates, so that it has no counterpart.
std::optional<MatchKey> match_key(const RankRecord& record, const RankCollective& part,
                                  const std::string& group, std::int64_t rank);

/// Of the n-th record of a rank with this key: the same number on all its ranks, on every machine.
/// It does not depend on the ends of a message, of which a trace may know one only.
std::uint64_t match_hash(const MatchKey& key, std::uint32_t number);

}  // namespace tbtrace::jobs
