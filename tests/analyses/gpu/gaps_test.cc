// The table `gaps`: a trace made by hand, and random recordings against the table `gpu` and against
// the definitions of the columns.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <tbtrace/gpu.h>
#include <tbtrace/tables.h>

#include "analyses/gpu/random_device_work.h"
#include "analyses/random_recording.h"
#include "fixtures/random_rounds.h"
#include "fixtures/trace_rows.h"
#include "trace/links.h"

namespace tbtrace {
namespace {

using fixtures::add;
using testing::ElementsAre;

/// The rows of a table by the names of its columns.
class NamedRows {
 public:
  explicit NamedRows(const AnalysisReport& report) : table_(report.table) {}

  std::size_t size() const { return table_.rows.size(); }
  const Cell& cell(std::size_t row, std::string_view column) const {
    const auto found = std::ranges::find(table_.columns, column);
    return table_.rows[row][static_cast<std::size_t>(found - table_.columns.begin())];
  }
  std::int64_t number(std::size_t row, std::string_view column) const {
    return std::get<std::int64_t>(cell(row, column));
  }
  std::string text(std::size_t row, std::string_view column) const {
    const auto* text = std::get_if<std::string>(&cell(row, column));
    return text == nullptr ? "null" : *text;
  }
  std::vector<std::string> texts(std::string_view column) const {
    std::vector<std::string> all;
    for (std::size_t row = 0; row < size(); ++row) all.push_back(text(row, column));
    return all;
  }

 private:
  const Table& table_;
};

/// What of the idle time of devices the rows of `gaps` and those of `gpu` have.
struct IdleTime {
  std::int64_t all = 0, host_wait = 0, kernel_wait = 0, other = 0;
  bool operator==(const IdleTime&) const = default;
};

std::map<std::int64_t, IdleTime> idle_of_gpu(const AnalysisReport& report) {
  const NamedRows rows(report);
  std::map<std::int64_t, IdleTime> devices;
  for (std::size_t row = 0; row < rows.size(); ++row) {
    devices[rows.number(row, "device")] = {
        rows.number(row, "idle_ns"), rows.number(row, "idle_host_wait_ns"),
        rows.number(row, "idle_kernel_wait_ns"), rows.number(row, "idle_other_ns")};
  }
  return devices;
}

/// Devices without gaps have none.
std::map<std::int64_t, IdleTime> idle_of_gaps(const AnalysisReport& report,
                                              const std::map<std::int64_t, IdleTime>& gpu) {
  const NamedRows rows(report);
  std::map<std::int64_t, IdleTime> devices;
  for (const auto& [device, idle] : gpu) devices[device] = {};
  std::map<std::int64_t, double> shares;
  for (std::size_t row = 0; row < rows.size(); ++row) {
    IdleTime& idle = devices[rows.number(row, "device")];
    const std::int64_t length = rows.number(row, "duration_ns");
    const std::string cause = rows.text(row, "cause");
    idle.all += length;
    (cause == "host_wait"     ? idle.host_wait
     : cause == "kernel_wait" ? idle.kernel_wait
                              : idle.other) += length;
    shares[rows.number(row, "device")] += std::get<double>(rows.cell(row, "idle_share"));
  }
  for (const auto& [device, sum] : shares) EXPECT_NEAR(sum, 1, 1e-9) << device;
  return devices;
}

/// The causes of the table gpu are those of the gaps, and add up.
void expect_causes_are_equal(const std::vector<GpuUse>& use,
                             const AnalysisReport::Totals& of_gaps) {
  std::map<std::string, std::int64_t> sums;
  for (const GpuUse& device : use) {
    std::int64_t all = 0;
    std::int64_t before = INT64_MAX;
    for (const IdlePart& part : device.idle_causes) {
      EXPECT_LE(part.ns, before) << "the largest first";
      EXPECT_LE(part.largest.ns, part.ns);
      EXPECT_GE(part.gaps, 1U);
      all += before = part.ns;
      sums[std::string(idle_cause_name(part.cause)) + "_ns"] += part.ns;
    }
    EXPECT_EQ(all, device.idle_ns);
  }
  for (const auto& [name, total] : std::span(of_gaps).subspan(2)) {
    EXPECT_EQ(std::get<std::int64_t>(total), sums[name]) << name;
  }
}

void expect_gaps_add_up(const Trace& trace, const OptionValues& options) {
  const Result<AnalysisReport> gpu = make_table("gpu", trace, options);
  const Result<AnalysisReport> gaps = make_table("gaps", trace, options);
  ASSERT_EQ(gaps.status().message(), gpu.status().message());
  if (!gpu.ok()) return;
  const auto expected = idle_of_gpu(*gpu);
  EXPECT_EQ(idle_of_gaps(*gaps, expected), expected);
  std::int64_t all = 0;
  for (const auto& [device, idle] : expected) all += idle.all;
  const NamedRows rows(*gaps);
  std::map<std::string, std::int64_t> main_parts;
  for (std::size_t row = 0; row < rows.size(); ++row) {
    main_parts[rows.text(row, "why") + "_ns"] += rows.number(row, "why_ns");
  }
  ASSERT_EQ(gaps->totals.size(), 2 + kIdleCauses);
  EXPECT_EQ(gaps->totals[0],
            std::pair(std::string("gaps"), Cell(std::uint64_t{gaps->table.rows.size()})));
  EXPECT_EQ(gaps->totals[1], std::pair(std::string("idle_ns"), Cell(all)));
  for (const auto& [name, total] : std::span(gaps->totals).subspan(2)) {
    all -= std::get<std::int64_t>(total);
    EXPECT_GE(std::get<std::int64_t>(total), main_parts[name]) << name;
  }
  EXPECT_EQ(all, 0) << "the parts add up to the idle time";
  expect_causes_are_equal(*gpu_use(trace, {.steps = options.steps()}), gaps->totals);
  for (std::size_t row = 1; row < rows.size(); ++row) {
    EXPECT_GE(rows.number(row - 1, "duration_ns"), rows.number(row, "duration_ns"));
  }
}

/// Kernels of one microsecond, each launched by an operator of its own.
class GapJob {
 public:
  static constexpr std::int64_t kUs = 1000;

  void range(std::string_view category, std::string_view name, std::int64_t start,
             std::int64_t duration) {
    add(builder_,
        {.category = category, .name = name, .start = start * kUs, .duration = duration * kUs});
  }

  /// Launched by `aten::NAME` at a time, in the first microsecond of its two.
  void kernel(const std::string& name, std::int64_t launch, std::int64_t start) {
    add(builder_, {.name = "aten::" + name,
                   .start = launch * kUs,
                   .duration = 2 * kUs,
                   .external_id = ++last_id_});
    add(builder_, {.category = "cuda_runtime",
                   .name = "cudaLaunchKernel",
                   .start = launch * kUs,
                   .duration = kUs,
                   .external_id = last_id_,
                   .correlation = last_id_});
    work("kernel", name, start, last_id_);
  }

  void work(std::string_view category, std::string_view name, std::int64_t start,
            std::int64_t correlation) {
    add(builder_, {.category = category,
                   .name = name,
                   .start = start * kUs,
                   .duration = kUs,
                   .thread = 7,
                   .process = 0,
                   .external_id = correlation,
                   .correlation = correlation});
  }

  Trace trace() { return fixtures::finished(builder_); }

 private:
  TraceBuilder builder_;
  std::int64_t last_id_ = 0;
};

/// The gaps in time order: 2 (launched before), 89 (data loading), 29 (a long operator), 109 (the
/// thread ran nothing), 9 (unknown launch).
Trace gap_job() {
  GapJob job;
  job.range("user_annotation", "ProfilerStep#3", 0, 120);
  job.kernel("first", 0, 10);
  job.kernel("early", 3, 13);
  job.range("user_annotation", "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__", 14,
            80);
  job.kernel("late", 95, 103);
  job.range("cpu_op", "aten::slow", 104, 25);
  job.kernel("after_slow", 130, 133);
  job.kernel("after_pause", 240, 243);
  job.work("gpu_memset", "Memset", 253, 0);
  return job.trace();
}

TEST(Gaps, SayWhyTheGpuWasIdle) {
  const AnalysisReport report = *make_table("gaps", gap_job());
  const NamedRows rows(report);
  EXPECT_THAT(rows.texts("before"),
              ElementsAre("after_pause", "late", "after_slow", "Memset", "early"));
  EXPECT_THAT(rows.texts("after"),
              ElementsAre("after_slow", "early", "late", "after_pause", "first"));
  EXPECT_THAT(rows.texts("operator"), ElementsAre("aten::after_pause", "aten::late",
                                                  "aten::after_slow", "null", "aten::early"));
  EXPECT_THAT(rows.texts("cause"),
              ElementsAre("host_wait", "host_wait", "host_wait", "other", "kernel_wait"));
  EXPECT_THAT(rows.texts("why"),
              ElementsAre("nothing_recorded", "data", "launches", "unknown", "device"));
  EXPECT_THAT(rows.texts("host"),
              ElementsAre("[idle]", "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__",
                          "aten::slow", "null", "ProfilerStep#3"));
  EXPECT_EQ(rows.number(0, "duration_ns"), 109'000);
  EXPECT_EQ(rows.number(0, "start_ns"), 134'000);
  EXPECT_EQ(rows.number(0, "why_ns"), 106'000) << "up to the operator that launches";
  EXPECT_EQ(rows.number(0, "host_ns"), 107'000);
  EXPECT_EQ(rows.number(1, "why_ns"), 80'000);
  EXPECT_EQ(rows.number(2, "why_ns"), 26'000);
  EXPECT_EQ(rows.number(2, "host_ns"), 25'000);
  EXPECT_EQ(rows.number(4, "host_ns"), 2'000);
  EXPECT_EQ(rows.number(3, "why_ns"), 9'000);
  EXPECT_EQ(rows.number(1, "step"), 3);
  EXPECT_EQ(rows.cell(0, "step"), Cell());
}

TEST(Gaps, OfStepsBeginAndEndWithTheirTime) {
  GapJob job;
  job.range("user_annotation", "ProfilerStep#1", 0, 50);
  job.kernel("first", 30, 40);
  job.kernel("early", 70, 80);
  const AnalysisReport report = *make_table("gaps", job.trace(), {{"steps", StepRange{1, 1}}});
  const NamedRows rows(report);
  EXPECT_THAT(rows.texts("before"), ElementsAre("first", "null"));
  EXPECT_THAT(rows.texts("after"), ElementsAre("null", "first"));
  EXPECT_THAT(rows.texts("why"), ElementsAre("nothing_recorded", "nothing_recorded"))
      << "the second gap goes on until the next launch, after the window";
  EXPECT_THAT(rows.texts("cause"), ElementsAre("other", "other"));
  EXPECT_EQ(rows.number(0, "step"), 1);
}

TEST(Gaps, AddUpToTheIdleTimeOfTheTableGpu) {
  expect_gaps_add_up(gap_job(), {});
  expect_gaps_add_up(gap_job(), {{"steps", StepRange{3, 3}}});
  for (unsigned seed = 0; seed < fixtures::random_rounds(1000U); ++seed) {
    SCOPED_TRACE(seed);
    OptionValues options = {{"kernel_wait_limit_ns", std::int64_t{seed % 7}}};
    for (const bool in_steps : {false, true}) {
      if (in_steps) options.set("steps", StepRange{1, 2});
      expect_gaps_add_up(analyses::RandomRecording(seed, {}).make(), options);
      expect_gaps_add_up(analyses::RandomDeviceWork(seed).make(), options);
    }
    if (testing::Test::HasFailure()) return;
  }
}

TEST(Gaps, TheLongestAreTheFirstOfAll) {
  for (unsigned seed = 0; seed < fixtures::random_rounds(300U); ++seed) {
    const Trace trace = analyses::RandomDeviceWork(seed).make();
    const AnalysisReport all = *make_table("gaps", trace);
    const std::size_t count = all.table.rows.size();
    for (std::size_t most = 1; most <= count + 1; ++most) {
      SCOPED_TRACE(testing::Message() << seed << ", " << most << " of " << count);
      OptionValues options;
      options.most_rows = most;
      const AnalysisReport longest = *make_table("gaps", trace, options);
      std::vector<std::vector<Cell>> first = all.table.rows;
      first.resize(std::min(most, count));
      EXPECT_EQ(longest.table.rows, first);
      EXPECT_EQ(longest.left_out, count - first.size());
      EXPECT_EQ(longest.totals, all.totals);
    }
    if (testing::Test::HasFailure()) return;
  }
}

struct HostByDefinition {
  std::string name;
  std::int64_t ns = 0;
};

std::int64_t part_in(const Trace& trace, EventId range, std::int64_t start, std::int64_t end) {
  return std::max<std::int64_t>(0, std::min(trace.events().end_ns(range), end) -
                                       std::max(trace.events().start_ns(range), start));
}

/// Those inside a range that were open in a time; for EventId::none, those inside none of these.
std::vector<EventId> inside(const Trace& trace, EventId around, TrackId thread, std::int64_t start,
                            std::int64_t end) {
  std::vector<EventId> found;
  for (const EventId range : call_tree_of(trace).ranges()) {
    if (trace.events().track(range) != thread || part_in(trace, range, start, end) == 0) continue;
    EventId parent = call_tree_of(trace).parent(range);
    if (parent != EventId::none && part_in(trace, parent, start, end) == 0) parent = EventId::none;
    if (parent == around) found.push_back(range);
  }
  return found;
}

HostByDefinition host_by_definition(const Trace& trace, TrackId thread, std::int64_t start,
                                    std::int64_t end) {
  std::int64_t idle = 0;
  for (std::int64_t time = start; time < end; ++time) {
    idle += std::ranges::none_of(call_tree_of(trace).ranges(), [&](EventId range) {
      return trace.events().track(range) == thread && part_in(trace, range, time, time + 1) > 0;
    });
  }
  if (2 * idle > end - start) return {"[idle]", idle};
  HostByDefinition host;
  EventId around = EventId::none;
  for (;;) {
    EventId longest = EventId::none;
    std::int64_t own = around == EventId::none ? 0 : part_in(trace, around, start, end);
    for (const EventId range : inside(trace, around, thread, start, end)) {
      const std::int64_t part = part_in(trace, range, start, end);
      own -= part;
      const bool is_longer = longest == EventId::none || part > part_in(trace, longest, start, end);
      if (is_longer) longest = range;
    }
    if (longest == EventId::none || part_in(trace, longest, start, end) < own) return host;
    around = longest;
    host = {std::string(trace.name(around)), part_in(trace, around, start, end)};
  }
}

struct HostsSeen {
  int idle = 0, busy = 0, short_ranges = 0, unknown = 0;
};

/// The activities of random recordings have one name, so each gap is looked up by its end.
void check_hosts(const Trace& trace, HostsSeen& seen) {
  const AnalysisReport report = *make_table("gaps", trace);
  const NamedRows rows(report);
  for (std::size_t row = 0; row < rows.size(); ++row) {
    const std::int64_t start = rows.number(row, "start_ns") + trace.window_start_ns();
    const std::int64_t end = start + rows.number(row, "duration_ns");
    const DeviceLink* next = nullptr;
    std::int64_t last_end = INT64_MIN;
    for (const DeviceLink& link : links_of(trace).placed_work()) {
      const Events& events = trace.events();
      if (events.start_ns(link.activity) > end) continue;
      if (events.start_ns(link.activity) < end) {
        last_end = std::max(last_end, events.end_ns(link.activity));
        continue;
      }
      const bool is_earlier = link.launch != EventId::none &&
                              (next == nullptr || next->launch == EventId::none ||
                               events.start_ns(link.launch) < events.start_ns(next->launch));
      if (next == nullptr || is_earlier) next = &link;
    }
    ASSERT_NE(next, nullptr);
    EXPECT_EQ(last_end, start);
    if (next->launch == EventId::none) {
      ++seen.unknown;
      EXPECT_EQ(rows.cell(row, "host"), Cell());
      EXPECT_EQ(rows.cell(row, "host_ns"), Cell());
      continue;
    }
    const HostByDefinition host =
        host_by_definition(trace, trace.events().track(next->launch), start, end);
    EXPECT_EQ(rows.text(row, "host"), host.name);
    EXPECT_EQ(rows.number(row, "host_ns"), host.ns);
    (host.name == "[idle]"       ? seen.idle
     : 2 * host.ns > end - start ? seen.busy
                                 : seen.short_ranges) += 1;
  }
}

TEST(Gaps, HaveTheHostRangeWithTheLargestPart) {
  const unsigned traces = fixtures::random_rounds(1500U);
  HostsSeen seen;
  for (unsigned seed = 0; seed < traces; ++seed) {
    SCOPED_TRACE(seed);
    check_hosts(analyses::RandomRecording(seed, {}).make(), seen);
    if (testing::Test::HasFailure()) return;
  }
  for (const int count : {seen.idle, seen.busy, 10 * seen.short_ranges, seen.unknown}) {
    EXPECT_GT(count, static_cast<int>(traces) / 30);
  }
}

TEST(Gaps, OfManyActivitiesTakeNoMoreThanTheirTime) {
  GapJob job;
  const std::int64_t kernels = fixtures::many_rows(std::int64_t{100'000});
  for (std::int64_t kernel = 0; kernel < kernels; ++kernel) {
    job.kernel("k", 10 * kernel, 10 * kernel + 5);
  }
  const AnalysisReport report = *make_table("gaps", job.trace());
  EXPECT_EQ(report.table.rows.size(), static_cast<std::size_t>(kernels - 1));
}

TEST(Gaps, ThereAreNoneWithoutDeviceActivities) {
  GapJob job;
  job.range("cpu_op", "aten::add", 0, 10);
  const Trace trace = job.trace();
  EXPECT_TRUE(make_table("gaps", trace)->table.rows.empty());
  EXPECT_EQ(why_no_rows(*table_named("gaps"), {}, &trace),
            "the trace has no gaps between kernels, memcpys or memsets; "
            "record CUDA activities too");
}

}  // namespace
}  // namespace tbtrace
