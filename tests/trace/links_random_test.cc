// The links of random traces against the rules, each taken literally and slowly.
#include <cstddef>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "fixtures/random_rounds.h"
#include "fixtures/trace_rows.h"
#include "trace/call_tree.h"
#include "trace/links.h"

namespace tbtrace {
namespace {

using fixtures::random_rounds;

class Rules {
 public:
  explicit Rules(const Trace& trace) : trace_(trace) {}

  bool ids_valid() const {
    double both = 0;
    double equal = 0;
    for (const EventId event : trace_.by_start()) {
      const bool asked = trace_.kind(event) == EventKind::runtime || is_work(event);
      if (!asked || trace_.external_id(event) == 0 || trace_.correlation(event) == 0) continue;
      both += 1;
      if (trace_.external_id(event) == trace_.correlation(event)) equal += 1;
    }
    return both == 0 || equal / both < 0.9;
  }

  bool is_work(EventId event) const {
    const EventKind kind = trace_.kind(event);
    return kind == EventKind::kernel || kind == EventKind::gpu_memcpy ||
           kind == EventKind::gpu_memset;
  }

  EventId launch_by_correlation(EventId work) const {
    return first([&](EventId event) {
      return trace_.kind(event) == EventKind::runtime && trace_.correlation(work) != 0 &&
             trace_.correlation(event) == trace_.correlation(work);
    });
  }

  /// The first arrow that ends at the work, its first start, the first launch that is there.
  EventId launch_by_flow(EventId work) const {
    const FlowEnd* const start = start_of_arrow(work);
    if (start == nullptr) return EventId::none;
    return first([&](EventId event) {
      return trace_.kind(event) == EventKind::runtime && is_at(event, *start);
    });
  }

  /// The last operator that is where the arrow starts.
  EventId operator_by_flow(EventId work) const {
    const FlowEnd* const start = start_of_arrow(work);
    EventId last = EventId::none;
    for (const EventId event : trace_.by_start()) {
      const bool there = start != nullptr && is_at(event, *start);
      if (there && trace_.kind(event) == EventKind::cpu_op) last = event;
    }
    return last;
  }

  EventId named_by(EventId event) const {
    if (event == EventId::none || trace_.external_id(event) == 0) return EventId::none;
    return first([&](EventId op) {
      const EventKind kind = trace_.kind(op);
      return (kind == EventKind::cpu_op || kind == EventKind::user_annotation) &&
             trace_.external_id(op) == trace_.external_id(event);
    });
  }

  EventId around(EventId launch) const {
    for (const EventKind wanted : {EventKind::cpu_op, EventKind::user_annotation}) {
      EventId up = call_tree_of(trace_).parent(launch);
      while (up != EventId::none && trace_.kind(up) != wanted) up = call_tree_of(trace_).parent(up);
      if (up != EventId::none) return up;
    }
    return EventId::none;
  }

 private:
  const FlowEnd* start_of_arrow(EventId work) const {
    const FlowEnd* const end =
        first_end([&](const FlowEnd& flow) { return !flow.start && is_at(work, flow); });
    if (end == nullptr) return nullptr;
    return first_end([&](const FlowEnd& flow) { return flow.start && flow.id == end->id; });
  }

  template <typename Test>
  EventId first(Test test) const {
    for (const EventId event : trace_.by_start()) {
      if (test(event)) return event;
    }
    return EventId::none;
  }

  template <typename Test>
  const FlowEnd* first_end(Test test) const {
    for (const FlowEnd& flow : trace_.flows()) {
      if (flow.type == FlowEnd::Type::launch && test(flow)) return &flow;
    }
    return nullptr;
  }

  bool is_at(EventId event, const FlowEnd& flow) const {
    return trace_.events().track(event) == flow.track &&
           trace_.events().start_ns(event) == flow.time_ns;
  }

  const Trace& trace_;
};

/// Few ids and times, so that all rules meet, and often.
class RandomTrace {
 public:
  explicit RandomTrace(std::mt19937& random) : random_(random) {}

  Trace make() {
    for (int row = below(12); row-- > 0;) {
      const Place place = {1, below(2), below(40)};
      fixtures::add(builder_, {.category = below(3) == 0 ? "user_annotation" : "cpu_op",
                               .start = place.time,
                               .duration = below(20),
                               .thread = place.thread,
                               .external_id = below(8)});
      if (below(3) == 0) launches_.push_back(place);  // where an arrow may start
    }
    for (int row = below(10); row-- > 0;) add_launch();
    for (int row = below(10); row-- > 0;) add_work();
    for (int row = below(16); row-- > 0;) add_arrow_end();
    return fixtures::finished(builder_);
  }

 private:
  struct Place {
    std::int64_t process, thread, time;
  };

  int below(int limit) { return static_cast<int>(random_() % static_cast<unsigned>(limit)); }

  void add_launch() {
    const int correlation = below(8);
    const Place place = {1, below(2), below(40)};
    launches_.push_back(place);
    fixtures::add(builder_, {.category = "cuda_runtime",
                             .start = place.time,
                             .duration = below(4),
                             .thread = place.thread,
                             .external_id = broken_ids_ ? correlation : below(8),
                             .correlation = correlation});
  }

  void add_work() {
    const int correlation = below(12);
    const Place place = {0, 7 + below(2), below(40)};
    fixtures::add(builder_, {.category = below(4) == 0 ? "gpu_memcpy" : "kernel",
                             .start = place.time,
                             .duration = below(9),
                             .thread = place.thread,
                             .process = 0,
                             .external_id = broken_ids_ && below(8) != 0 ? correlation : below(10),
                             .correlation = correlation});
    work_.push_back(place);
  }

  /// At a row, or not far from one.
  void add_arrow_end() {
    const bool start = below(2) == 0;
    const std::vector<Place>& places = start ? launches_ : work_;
    if (places.empty()) return;
    const Place place = places[random_() % places.size()];
    const int off = below(5) == 0 ? 1 : 0;
    fixtures::add_arrow_end(builder_, below(5), start, place.process, place.thread,
                            place.time + off);
  }

  std::mt19937& random_;
  TraceBuilder builder_;
  const bool broken_ids_ = below(3) == 0;
  std::vector<Place> launches_;
  std::vector<Place> work_;
};

struct Seen {
  std::uint64_t by_flow = 0;
  std::uint64_t operator_by_flow = 0;
  std::uint64_t by_id = 0;
  std::uint64_t by_containment = 0;
  std::uint64_t invalid = 0;
};

void expect_rules(const Trace& trace, Seen& seen) {
  const Rules rules(trace);
  const bool valid = rules.ids_valid();
  LinkReport sums;
  std::vector<EventId> work;
  for (const EventId event : trace.by_start()) {
    if (rules.is_work(event)) work.push_back(event);
  }
  const auto links = links_of(trace).device_work();
  ASSERT_EQ(links.size(), work.size());
  for (std::size_t row = 0; row < work.size(); ++row) {
    ASSERT_EQ(links[row].activity, work[row]) << "work is listed by start";
    EventId launch = rules.launch_by_correlation(work[row]);
    if (launch != EventId::none) {
      ++sums.launch_by_correlation;
    } else {
      launch = rules.launch_by_flow(work[row]);
      ++(launch != EventId::none ? sums.launch_by_flow : sums.launch_unknown);
    }
    ASSERT_EQ(links[row].launch, launch) << "of work " << index(work[row]);
    EventId op = valid ? rules.named_by(work[row]) : EventId::none;
    if (valid && op == EventId::none) op = rules.named_by(launch);
    if (op != EventId::none) {
      ++sums.operator_by_external_id;
    } else if (launch != EventId::none) {
      op = rules.around(launch);
      ++(op != EventId::none ? sums.operator_by_containment : sums.operator_unknown);
    } else {
      op = rules.operator_by_flow(work[row]);
      ++(op != EventId::none ? sums.operator_by_flow : sums.operator_unknown);
    }
    ASSERT_EQ(links[row].op, op) << "of work " << index(work[row]);
    const bool known = launch != EventId::none || op != EventId::none;
    (known ? sums.linked_ns : sums.unlinked_ns) += trace.events().duration_ns(work[row]);
  }
  const LinkReport& report = trace.links();
  ASSERT_EQ(report.external_ids_valid, valid);
  ASSERT_EQ(report.launch_by_correlation, sums.launch_by_correlation);
  ASSERT_EQ(report.launch_by_flow, sums.launch_by_flow);
  ASSERT_EQ(report.launch_unknown, sums.launch_unknown);
  ASSERT_EQ(report.operator_by_flow, sums.operator_by_flow);
  ASSERT_EQ(report.operator_by_external_id, sums.operator_by_external_id);
  ASSERT_EQ(report.operator_by_containment, sums.operator_by_containment);
  ASSERT_EQ(report.operator_unknown, sums.operator_unknown);
  ASSERT_EQ(report.linked_ns, sums.linked_ns);
  ASSERT_EQ(report.unlinked_ns, sums.unlinked_ns);
  seen.by_flow += report.launch_by_flow;
  seen.operator_by_flow += report.operator_by_flow;
  seen.by_id += report.operator_by_external_id;
  seen.by_containment += report.operator_by_containment;
  seen.invalid += report.external_ids_valid ? 0 : 1;
}

TEST(Links, FollowTheirRulesOnThousandsOfRandomTraces) {
  Seen seen;
  for (unsigned seed = 0; seed < random_rounds(6000u); ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937 random(seed);
    ASSERT_NO_FATAL_FAILURE(expect_rules(RandomTrace(random).make(), seen));
  }
  // The traces are worth nothing if a rule was hardly met.
  EXPECT_GT(seen.by_flow, random_rounds(1000u));
  EXPECT_GT(seen.operator_by_flow, random_rounds(100u));
  EXPECT_GT(seen.by_id, random_rounds(1000u));
  EXPECT_GT(seen.by_containment, random_rounds(1000u));
  EXPECT_GT(seen.invalid, random_rounds(500u));
}

}  // namespace
}  // namespace tbtrace
