#include "pages/ranks/costly_collectives.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <numeric>
#include <string_view>
#include <utility>

#include "base/bounded_sum.h"
#include "pages/ranks/arrivals.h"
#include "pages/stacks_text.h"
#include "pages/text_list.h"

namespace tbtrace::pages {
namespace {

std::int64_t exposed_ns(const JobCollectives& job, const MatchedCollective& one) {
  WideInteger sum = 0;
  for (const CollectiveMember& member : one.members) {
    const RankCollective& part = job.part(member);
    const RankRecord& record = job.ranks[member.rank].record;
    for (std::size_t at = part.first_exposed; at < part.first_exposed + part.exposed_ranges; ++at) {
      sum += record.exposed[at].end_ns - record.exposed[at].start_ns;
    }
  }
  return bounded(sum);
}

template <typename Value>
void emit_optional(wire::JsonEmitter& json, std::string_view key,
                   const std::optional<Value>& value) {
  json.key(key);
  if (!value) return json.null();
  if constexpr (std::is_floating_point_v<Value>) {
    json.number(*value);
  } else {
    json.integer(*value);
  }
}

/// The first and the last ones to arrive.
void emit_members(wire::JsonEmitter& json, const JobAnalysis& job, std::size_t number,
                  std::size_t limit) {
  const MatchedCollective& one = job.collectives.collectives[number];
  const CollectiveTimes& times = job.times[number];
  const std::vector<std::int64_t> arrivals = arrivals_ns(job, number);
  std::vector<std::size_t> order(arrivals.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, {}, [&](std::size_t at) { return arrivals[at]; });
  if (order.size() > limit) {
    const auto first = order.begin() + static_cast<std::ptrdiff_t>(limit / 2);
    order.erase(first, order.end() - static_cast<std::ptrdiff_t>(limit - limit / 2));
  }
  json.key("members_left_out");
  json.integer(arrivals.size() - order.size());
  std::vector<std::uint32_t> ranks;
  std::vector<std::int64_t> arrival;
  std::vector<std::int64_t> waits;
  for (const std::size_t at : order) {
    ranks.push_back(one.members[at].rank);
    arrival.push_back(arrivals[at]);
    if (!times.wait_ns.empty()) waits.push_back(times.wait_ns[at]);
  }
  emit_integers(json, "members", ranks);
  emit_integers(json, "arrival_ns", arrival);
  emit_integers(json, "wait_ns", waits);
}

}  // namespace

std::vector<std::size_t> costly_collectives(const JobAnalysis& job, std::size_t limit) {
  std::vector<std::pair<std::int64_t, std::size_t>> costs;
  for (std::size_t number = 0; number < job.times.size(); ++number) {
    costs.emplace_back(-exposed_ns(job.collectives, job.collectives.collectives[number]), number);
  }
  const auto kept = static_cast<std::ptrdiff_t>(std::min(limit, costs.size()));
  std::ranges::partial_sort(costs, costs.begin() + kept);
  std::vector<std::size_t> numbers;
  for (auto at = costs.begin(); at != costs.begin() + kept; ++at) numbers.push_back(at->second);
  return numbers;
}

void emit_collectives(wire::JsonEmitter& json, const JobAnalysis& job,
                      const std::vector<std::size_t>& numbers, std::size_t limit,
                      std::size_t members, std::size_t characters, std::size_t& cuts) {
  const std::int64_t first = first_start_ns(job);
  json.new_line();
  json.key("costliest");
  json.begin_array();
  for (std::size_t at = 0; at < std::min(limit, numbers.size()); ++at) {
    const std::size_t number = numbers[at];
    const MatchedCollective& one = job.collectives.collectives[number];
    const CollectiveTimes& times = job.times[number];
    const RankCollective& part = job.collectives.part(one.members.front());
    const RankRecord& record = job.collectives.ranks[one.members.front().rank].record;
    json.new_line();
    json.begin_object();
    json.member("name", cut_text(job.collectives.name(one), characters, cuts));
    json.member("group", cut_text(group_text(record.groups[part.group]), characters, cuts));
    emit_optional(json, "step", part.step);
    emit_optional(json, "sequence", part.sequence);
    emit_optional(json, "bytes", part.bytes);
    json.key("start_ns");
    json.integer(times.start_ns - first);
    json.key("duration_ns");
    json.integer(times.duration_ns);
    json.key("exposed_ns");
    json.integer(exposed_ns(job.collectives, one));
    emit_optional(json, "transfer_ns", times.transfer_ns);
    emit_optional(json, "bus_bandwidth_bytes_per_s", times.bus_bandwidth_bytes_per_s);
    emit_optional(json, "last_rank", times.last_rank);
    emit_members(json, job, number, members);
    json.end_object();
  }
  json.end_array();
}

}  // namespace tbtrace::pages
