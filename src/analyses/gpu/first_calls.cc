#include "analyses/gpu/first_calls.h"

#include <algorithm>
#include <cstdint>
#include <unordered_map>
#include <utility>

#include "analyses/attribution/runtime_calls.h"
#include "base/hash.h"
#include "trace/call_tree.h"
#include "trace/links.h"
#include "trace/self_times.h"

namespace tbtrace::analyses {
namespace {

constexpr std::int64_t kLong = 1'000'000;  // ns
constexpr std::int64_t kLonger = 10;       // times as long as later ones
constexpr std::uint64_t kEarly = 10;       // one in so many

/// Calls of a name in an operator, or for a kernel; operators of a name.
struct Kind {
  std::uint32_t scope = 0;
  StringId name = StringId::empty;
  StringId of = StringId::empty;

  bool operator==(const Kind&) const = default;
};

struct KindHash {
  std::size_t operator()(const Kind& kind) const {
    const auto text =
        static_cast<std::uint64_t>(kind.name) << 32 | static_cast<std::uint64_t>(kind.of);
    return fold_multiply(text ^ 0x9e3779b97f4a7c15ULL, 0xd6e8feb86659fd93ULL + kind.scope);
  }
};

/// The calls of a kind that has a long one.
struct Calls {
  std::uint64_t all = 0;
  std::uint64_t seen = 0;
  std::vector<std::pair<EventId, std::int64_t>> early;  // long ones, with their lengths
  std::vector<std::int64_t> late_ns;                    // of the second half

  /// In the order of time, when it is known how many there are.
  void see(EventId call, std::int64_t ns) {
    const std::uint64_t place = seen++;
    if (place >= (all + 1) / 2) {
      late_ns.push_back(ns);
    } else if (place < std::max<std::uint64_t>(2, all / kEarly) && ns >= kLong) {
      early.emplace_back(call, ns);
    }
  }
  /// After all calls; -1 without late ones. Of an even number the lower one in the middle.
  std::int64_t median_late_ns() {
    if (late_ns.empty()) return -1;
    const auto middle = late_ns.begin() + static_cast<std::ptrdiff_t>((late_ns.size() - 1) / 2);
    std::ranges::nth_element(late_ns, middle);
    return *middle;
  }
  /// After all calls; -1 without late ones.
  std::int64_t longest_late_ns() const {
    return late_ns.empty() ? -1 : *std::ranges::max_element(late_ns);
  }
};

class FirstCalls {
 public:
  explicit FirstCalls(const Trace& trace)
      : trace_(trace), events_(trace.events()), runtime_(trace) {}

  std::vector<EventId> run() {
    for (const EventId event : trace_.by_start()) {
      if (events_.duration_ns(event) >= kLong && may_be_first(event)) long_.push_back(event);
    }
    if (long_.empty()) return {};
    for (const DeviceLink& link : links_of(trace_).device_work()) {
      if (link.launch != EventId::none) launched_.emplace(link.launch, link.activity);
    }
    for (const EventId event : long_) {
      for_each_kind(event, [&](const Kind& kind) { calls_.try_emplace(kind); });
      const std::size_t name = index(events_.name(event));
      if (name >= is_long_.size()) is_long_.resize(name + 1);
      is_long_[name] = true;
    }
    for_each_known([](Calls& calls, EventId /*event*/) { ++calls.all; });
    const SelfTimes& self_times = self_times_of(trace_);
    for_each_known([&](Calls& calls, EventId event) {
      const bool is_op = trace_.kind(event) == EventKind::cpu_op;
      calls.see(event, is_op ? self_times.ns(event) : events_.duration_ns(event));
    });
    for (auto& [kind, lengths] : allocations_) std::ranges::sort(lengths);
    std::vector<EventId> found;
    for (auto& [kind, calls] : calls_) {
      if (calls.early.empty()) continue;
      const std::int64_t later = calls.median_late_ns();
      const std::int64_t longest = calls.longest_late_ns();
      for (const auto& [call, ns] : calls.early) {
        const bool is_short_later = later < (ns + kLonger - 1) / kLonger && longest < ns - ns / 2;
        if (is_short_later && is_confirmed(kind, calls, call, ns)) found.push_back(call);
      }
    }
    std::ranges::sort(found);
    found.erase(std::unique(found.begin(), found.end()), found.end());
    return found;
  }

 private:
  bool may_be_first(EventId event) {
    if (trace_.kind(event) == EventKind::cpu_op) return true;
    if (trace_.kind(event) != EventKind::runtime) return false;
    const RuntimeCall call = runtime_.of(event);
    return call != RuntimeCall::wait && call != RuntimeCall::copy;
  }

  Kind kind_of(EventId event, EventId of) const {
    return {links_of(trace_).scope(trace_, event), events_.name(event),
            of == EventId::none ? StringId::empty : events_.name(of)};
  }

  /// An operator is of its name; a call is of its name in its operator, and for its kernel.
  template <typename Do>
  void for_each_kind(EventId event, Do act) const {
    if (trace_.kind(event) == EventKind::cpu_op) {
      act(kind_of(event, EventId::none));
      return;
    }
    act(kind_of(event, operator_around(trace_, event)));
    const auto launched = launched_.find(event);
    if (launched != launched_.end()) act(kind_of(event, launched->second));
  }

  /// Of the kinds that have a long call.
  template <typename Do>
  void for_each_known(Do act) {
    allocations_.clear();
    for (const EventId event : trace_.by_start()) {
      const std::size_t name = index(events_.name(event));
      if (name >= is_long_.size() || !is_long_[name] || !may_be_first(event)) continue;
      for_each_kind(event, [&](const Kind& kind) {
        const auto calls = calls_.find(kind);
        if (calls != calls_.end()) act(calls->second, event);
      });
      if (trace_.kind(event) == EventKind::runtime &&
          runtime_.of(event) == RuntimeCall::allocation) {
        allocations_[kind_of(event, EventId::none)].push_back(events_.duration_ns(event));
      }
    }
  }

  /// The only operator of its name may always take so long; the only allocation in an operator may
  /// be one of many that do.
  bool is_confirmed(const Kind& kind, const Calls& calls, EventId call, std::int64_t ns) const {
    if (calls.all > 1) return true;
    if (trace_.kind(call) == EventKind::cpu_op) return false;
    const auto found = allocations_.find({kind.scope, kind.name, StringId::empty});
    if (found == allocations_.end()) return true;
    const std::vector<std::int64_t>& all = found->second;  // sorted
    if (all.size() == 1) return true;
    const auto its_own = static_cast<std::size_t>(std::ranges::lower_bound(all, ns) - all.begin());
    const std::size_t middle = (all.size() - 2) / 2;  // of the others
    const std::int64_t median = all[middle < its_own ? middle : middle + 1];
    return median < (ns + kLonger - 1) / kLonger;
  }

  const Trace& trace_;
  const Events& events_;
  RuntimeCalls runtime_;
  std::unordered_map<EventId, EventId> launched_;  // the first activity of each launch
  std::vector<EventId> long_;
  std::vector<bool> is_long_;  // by StringId: the names of these
  std::unordered_map<Kind, Calls, KindHash> calls_;
  std::unordered_map<Kind, std::vector<std::int64_t>, KindHash> allocations_;  // by name
};

}  // namespace

std::vector<EventId> first_calls(const Trace& trace) { return FirstCalls(trace).run(); }

}  // namespace tbtrace::analyses
