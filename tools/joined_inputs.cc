#include "joined_inputs.h"

#include <cstddef>
#include <cstdint>
#include <set>
#include <vector>

#include <tbtrace/operators.h>

namespace tbtrace::tools {
namespace {

/// `2 ranks`; nothing if none is known.
std::string counted(std::size_t count, const std::string& what) {
  if (count == 0) return {};
  return std::to_string(count) + " " + what + (count == 1 ? "" : "s");
}

}  // namespace

Status check_same_process(std::span<const JoinedInput> inputs, std::string_view remedy) {
  const JoinedInput& last = inputs.back();
  for (const JoinedInput& input : inputs.first(inputs.size() - 1)) {
    const std::string_view what = what_differs(input.from, last.from);
    if (what.empty()) continue;
    return {StatusCode::invalid_argument,
            input.path + " and " + last.path + " are of different " + std::string(what) +
                ", so they cannot be summarised together; " + std::string(remedy)};
  }
  return {};
}

std::string described_recordings(std::span<const JoinedInput> inputs) {
  std::set<std::int64_t> ranks;
  std::set<std::string> hosts;
  std::vector<TraceIdentity> identities;
  for (const auto& [path, from] : inputs) {
    if (from.rank) ranks.insert(*from.rank);
    if (!from.host.empty()) hosts.insert(from.host);
    identities.push_back(from);
  }
  const std::size_t processes = count_processes(identities);
  const std::string recordings = std::to_string(inputs.size()) + " recordings of ";
  if (processes == 1) return recordings + "one process";
  std::string where = counted(ranks.size(), "rank");
  if (!where.empty() && !hosts.empty()) where += ", ";
  where += counted(hosts.size(), "host");
  if (!where.empty()) where = " (" + where + ")";
  return recordings + std::to_string(processes) + " processes" + where;
}

}  // namespace tbtrace::tools
