#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <tbtrace/jobs.h>

#include "io/archives/input.h"
#include "io/archives/unpacked.h"
#include "jobs/sets/file_facts.h"
#include "wire/json_tree.h"

namespace tbtrace {

bool is_merged_trace(const std::string& path) {
  if (path == "-") return false;
  Result<std::unique_ptr<io::ByteSource>> file = io::open_input(path);
  if (!file.ok()) return false;
  Result<io::Unpacked> content = io::unpacked(*std::move(file));
  if (!content.ok()) return false;
  constexpr std::size_t kStart = 1024;
  const Result<std::string> start = io::peek(content->source, kStart);
  return start.ok() && jobs::begins_as_merged(*start);
}

std::string merged_ranks(const Trace& trace) {
  const auto found = trace.metadata().find(kMergedRanks);
  if (found == trace.metadata().end()) return {};
  const std::optional<wire::JsonTree> tree = wire::parse_json_tree(found->second);
  const wire::JsonTree* const parts =
      tree ? tree->find("parts", wire::JsonTree::Kind::list) : nullptr;
  if (parts == nullptr) return {};
  std::vector<std::int64_t> ranks;
  for (const wire::JsonTree& part : parts->items) {
    if (const auto* const rank = part.find("rank", wire::JsonTree::Kind::integer)) {
      ranks.push_back(rank->integer);
    }
  }
  if (ranks.size() < parts->items.size()) return std::to_string(parts->items.size()) + " traces";
  return "ranks " + rank_list(ranks);
}

}  // namespace tbtrace
