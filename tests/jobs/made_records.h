// Records of ranks for tests: collectives of groups with chosen times, and steps.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <tbtrace/collectives.h>

namespace tbtrace::fixtures {

inline RankRecord record_of(std::int64_t rank, std::int64_t start_ns = 0,
                            std::int64_t end_ns = 1'000'000'000) {
  RankRecord record;
  record.path = "rank" + std::to_string(rank) + ".json";
  record.rank = rank;
  record.start_ns = start_ns;
  record.end_ns = end_ns;
  return record;
}

inline std::uint32_t text_in(RankRecord& record, const std::string& text) {
  for (std::uint32_t at = 0; at < record.texts.size(); ++at) {
    if (record.texts[at] == text) return at;
  }
  record.texts.push_back(text);
  return static_cast<std::uint32_t>(record.texts.size() - 1);
}

inline std::uint32_t group_in(RankRecord& record, const ProcessGroup& group) {
  for (std::uint32_t at = 0; at < record.groups.size(); ++at) {
    if (record.groups[at] == group) return at;
  }
  record.groups.push_back(group);
  return static_cast<std::uint32_t>(record.groups.size() - 1);
}

/// With the ranks as torch writes them.
inline ProcessGroup group_of(const std::string& name, std::vector<std::int64_t> ranks) {
  ProcessGroup group;
  group.name = name;
  for (const std::int64_t rank : ranks) {
    group.ranks_text += (group.ranks_text.empty() ? "[" : ", ") + std::to_string(rank);
  }
  group.ranks_text += "]";
  group.size = std::ssize(ranks);
  group.ranks = std::move(ranks);
  return group;
}

/// Adds a collective and returns it for what else is to be set.
inline RankCollective& add_collective(RankRecord& record, CollectiveKind kind,
                                      const ProcessGroup& group, std::int64_t start_ns,
                                      std::int64_t end_ns,
                                      std::optional<std::int64_t> sequence = {}) {
  RankCollective part;
  part.kind = kind;
  part.on_device = true;
  part.name = text_in(record, std::string(collective_kind_name(kind)));
  part.group = group_in(record, group);
  part.sequence = sequence;
  part.start_ns = start_ns;
  part.end_ns = end_ns;
  part.first_exposed = static_cast<std::uint32_t>(record.exposed.size());
  part.exposed_ranges = 1;
  record.exposed.push_back({start_ns, end_ns});
  record.collectives.push_back(part);
  return record.collectives.back();
}

}  // namespace tbtrace::fixtures
