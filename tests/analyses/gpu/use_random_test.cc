// Device use of random recordings against its definition, instant by instant.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <tbtrace/analysis_context.h>
#include <tbtrace/gpu.h>
#include <tbtrace/steps.h>

#include "analyses/gpu/random_device_work.h"
#include "fixtures/random_rounds.h"

namespace tbtrace {
namespace {

struct Row {
  enum Kind { computation, communication, memory } kind;
  std::int64_t device, stream, start, end;
  std::optional<std::int64_t> launch_start = {};
  std::int64_t launch_duration = 0;
  std::size_t launch = 0;         // the event, if there is a launch
  std::size_t of_its_launch = 0;  // how many rows that launch has
  std::int64_t bytes = -1;

  bool runs_at(std::int64_t instant) const { return start <= instant && instant < end; }
};

/// All work, with its launch as the trace links it: links have an oracle of their own.
std::vector<Row> rows_of(const Trace& trace) {
  const Events& events = trace.events();
  const AnalysisContext context(trace);
  std::vector<Row> rows;
  std::map<std::size_t, std::size_t> rows_of_launches;
  for (std::size_t number = 0; number < events.size(); ++number) {
    const auto event = static_cast<EventId>(number);
    const std::string category(trace.string(trace.category(event).name));
    if (category != "kernel" && category != "gpu_memcpy" && category != "gpu_memset") continue;
    const Track& track = trace.track(events.track(event));
    Row row = {.kind = category != "kernel"                             ? Row::memory
                       : trace.name(event).starts_with("ncclDevKernel") ? Row::communication
                                                                        : Row::computation,
               .device = track.process.number,
               .stream = track.thread.number,
               .start = events.start_ns(event),
               .end = events.end_ns(event)};
    const DeviceLink* link = context.device_link(event);
    if (link != nullptr && link->launch != EventId::none) {
      row.launch_start = events.start_ns(link->launch);
      row.launch_duration = events.duration_ns(link->launch);
      row.launch = static_cast<std::size_t>(link->launch);
      ++rows_of_launches[row.launch];
    }
    row.bytes = trace.argument(Argument::copied_bytes).integer(event).value_or(-1);
    rows.push_back(row);
  }
  for (Row& row : rows) {
    if (row.launch_start) row.of_its_launch = rows_of_launches[row.launch];
  }
  return rows;
}

struct Window {
  std::int64_t start, end;
  bool whole;
};

class UseByDefinition {
 public:
  UseByDefinition(std::vector<Row> rows, Window window, std::int64_t limit)
      : rows_(std::move(rows)), window_(window), limit_(limit) {}

  GpuUse run() {
    GpuUse use;
    use.window_ns = window_.end - window_.start;
    for (std::int64_t at = window_.start; at < window_.end; ++at) {
      const bool computes = runs(Row::computation, at);
      const bool communicates = runs(Row::communication, at);
      const bool moves = runs(Row::memory, at);
      use.computation_ns += computes;
      use.communication_ns += communicates;
      use.memory_ns += moves;
      use.overlap_ns += computes && communicates;
      use.exposed_communication_ns += communicates && !computes;
      use.exposed_memory_ns += moves && !computes && !communicates;
      const bool busy = computes || communicates || moves;
      use.busy_ns += busy;
      use.idle_ns += !busy;
      if (!busy) ++cause(at, use);
      std::uint64_t waiting = 0;
      for (const Row& row : rows_) {
        waiting += row.launch_start && *row.launch_start <= at && at < row.start;
      }
      waited_ += static_cast<double>(waiting);
      use.queue_length_max = std::max(use.queue_length_max, waiting);
    }
    use.queue_length_mean = use.window_ns == 0 ? 0 : waited_ / static_cast<double>(use.window_ns);
    std::set<std::size_t> launches;
    for (const Row& row : rows_) {
      if (!counts(row)) continue;
      ++use.activities;
      if (row.launch_start) launches.insert(row.launch);
      use.short_kernels += row.kind != Row::memory && row.launch_start && row.of_its_launch == 1 &&
                           row.end - row.start < row.launch_duration;
      if (row.bytes >= 0) {
        use.copied_bytes += row.bytes;
        use.copy_ns += row.end - row.start;
      }
    }
    use.launches = launches.size();
    return use;
  }

 private:
  bool counts(const Row& row) const {
    if (window_.whole) return true;
    if (row.start == row.end) return window_.start <= row.start && row.start < window_.end;
    return std::max(row.start, window_.start) < std::min(row.end, window_.end);
  }

  bool runs(Row::Kind kind, std::int64_t at) const {
    return std::any_of(rows_.begin(), rows_.end(),
                       [&](const Row& row) { return row.kind == kind && row.runs_at(at); });
  }

  bool runs_any(std::int64_t at) const {
    return std::any_of(rows_.begin(), rows_.end(), [&](const Row& row) { return row.runs_at(at); });
  }

  bool starts_any(std::int64_t at) const {
    return std::any_of(rows_.begin(), rows_.end(),
                       [&](const Row& row) { return counts(row) && row.start == at; });
  }

  /// The part of idle time that an instant is of. Goes left to where the gap began, right to where
  /// it ends.
  std::int64_t& cause(std::int64_t at, GpuUse& use) const {
    std::int64_t begin = at;
    while (begin > window_.start && !runs_any(begin - 1) && !starts_any(begin)) --begin;
    std::int64_t end = at + 1;
    while (end < window_.end && !runs_any(end) && !starts_any(end)) ++end;
    const bool follows = begin > window_.start || starts_any(begin);
    if (!follows) return use.idle_other_ns;
    std::optional<std::int64_t> launch;
    for (const Row& row : rows_) {
      if (!counts(row) || row.start != end || !row.launch_start) continue;
      launch = std::min(launch.value_or(*row.launch_start), *row.launch_start);
    }
    if (!launch) return use.idle_other_ns;
    if (*launch >= begin) return use.idle_host_wait_ns;
    return end - begin < limit_ ? use.idle_kernel_wait_ns : use.idle_other_ns;
  }

  std::vector<Row> rows_;
  Window window_;
  std::int64_t limit_;
  double waited_ = 0;
};

void expect_equal(const GpuUse& found, const GpuUse& expected) {
  EXPECT_EQ(found.window_ns, expected.window_ns);
  EXPECT_EQ(found.busy_ns, expected.busy_ns);
  EXPECT_EQ(found.computation_ns, expected.computation_ns);
  EXPECT_EQ(found.communication_ns, expected.communication_ns);
  EXPECT_EQ(found.memory_ns, expected.memory_ns);
  EXPECT_EQ(found.overlap_ns, expected.overlap_ns);
  EXPECT_EQ(found.exposed_communication_ns, expected.exposed_communication_ns);
  EXPECT_EQ(found.exposed_memory_ns, expected.exposed_memory_ns);
  EXPECT_EQ(found.idle_ns, expected.idle_ns);
  EXPECT_EQ(found.idle_host_wait_ns, expected.idle_host_wait_ns);
  EXPECT_EQ(found.idle_kernel_wait_ns, expected.idle_kernel_wait_ns);
  EXPECT_EQ(found.idle_other_ns, expected.idle_other_ns);
  EXPECT_DOUBLE_EQ(found.queue_length_mean, expected.queue_length_mean);
  EXPECT_EQ(found.queue_length_max, expected.queue_length_max);
  EXPECT_EQ(found.activities, expected.activities);
  EXPECT_EQ(found.launches, expected.launches);
  EXPECT_EQ(found.short_kernels, expected.short_kernels);
  EXPECT_EQ(found.copied_bytes, expected.copied_bytes);
  EXPECT_EQ(found.copy_ns, expected.copy_ns);
  EXPECT_EQ(found.computation_ns + found.exposed_communication_ns + found.exposed_memory_ns +
                found.idle_ns,
            found.window_ns);
  EXPECT_EQ(found.idle_host_wait_ns + found.idle_kernel_wait_ns + found.idle_other_ns,
            found.idle_ns);
}

Window whole_window(const std::vector<Row>& rows, std::int64_t device) {
  Window window = {INT64_MAX, INT64_MIN, true};
  for (const Row& row : rows) {
    if (row.device != device) continue;
    window.start = std::min(window.start, row.start);
    window.end = std::max(window.end, row.end);
  }
  return window;
}

std::vector<Row> chosen(const std::vector<Row>& rows, std::int64_t device, std::int64_t stream) {
  std::vector<Row> some;
  std::copy_if(rows.begin(), rows.end(), std::back_inserter(some), [&](const Row& row) {
    return row.device == device && (stream < 0 || row.stream == stream);
  });
  return some;
}

/// The steps' time as step_breakdown() gives it, which has an oracle of its own.
std::optional<Window> window_of(const Trace& trace, StepRange steps) {
  Window window = {INT64_MAX, INT64_MIN, false};
  for (const StepTime& step : step_breakdown(trace, {.keep_tail_steps = true}).steps) {
    if (step.name == "[all]" || !steps.contains(step.number)) continue;
    window.start = std::min(window.start, step.start_ns);
    window.end = std::max(window.end, step.end_ns);
  }
  return window.start == INT64_MAX ? std::nullopt : std::optional(window);
}

struct Seen {
  int host_wait = 0, kernel_wait = 0, other = 0, overlap = 0, graphs = 0, steps = 0, queued = 0;
};

void check_use(unsigned seed, Seen& seen) {
  const Trace trace = analyses::RandomDeviceWork(seed).make();
  const std::vector<Row> rows = rows_of(trace);
  const auto limit = static_cast<std::int64_t>(1 + seed % 5);
  std::set<std::int64_t> devices;
  std::set<std::pair<std::int64_t, std::int64_t>> streams;
  for (const Row& row : rows) {
    devices.insert(row.device);
    streams.insert({row.device, row.stream});
  }
  const auto whole = gpu_use(trace, {.kernel_wait_limit_ns = limit});
  ASSERT_EQ(whole->size(), devices.size());
  std::size_t at = 0;
  for (const std::int64_t device : devices) {
    const GpuUse& found = (*whole)[at++];
    ASSERT_EQ(found.device, device);
    expect_equal(
        found, UseByDefinition(chosen(rows, device, -1), whole_window(rows, device), limit).run());
    seen.host_wait += found.idle_host_wait_ns > 0;
    seen.kernel_wait += found.idle_kernel_wait_ns > 0;
    seen.other += found.idle_other_ns > 0;
    seen.overlap += found.overlap_ns > 0;
    seen.graphs += found.launches > 0 && found.launches < found.activities;
    seen.queued += found.queue_length_max > 1;
  }
  const auto each = gpu_use(trace, {.by_stream = true, .kernel_wait_limit_ns = limit});
  ASSERT_EQ(each->size(), streams.size());
  for (const GpuUse& found : *each) {
    const std::int64_t stream = std::stoll(found.stream);
    ASSERT_TRUE(streams.contains({found.device, stream}));
    expect_equal(found, UseByDefinition(chosen(rows, found.device, stream),
                                        whole_window(rows, found.device), limit)
                            .run());
  }
  const StepRange steps = {1, 2};
  const auto in_steps = gpu_use(trace, {.steps = steps, .kernel_wait_limit_ns = limit});
  const std::optional<Window> window = window_of(trace, steps);
  ASSERT_EQ(in_steps.ok(), window.has_value());
  if (!window) return;
  ++seen.steps;
  at = 0;
  for (const std::int64_t device : devices) {
    expect_equal((*in_steps)[at++],
                 UseByDefinition(chosen(rows, device, -1), *window, limit).run());
  }
}

TEST(GpuUse, MatchesItsDefinitionOnRandomTraces) {
  const unsigned traces = fixtures::random_rounds(1500u);
  Seen seen;
  for (unsigned seed = 0; seed < traces; ++seed) {
    SCOPED_TRACE(seed);
    check_use(seed, seen);
    if (testing::Test::HasFailure()) return;
  }
  for (const int count : {seen.host_wait, seen.kernel_wait, seen.other, seen.overlap, seen.graphs,
                          seen.steps, seen.queued}) {
    EXPECT_GT(count, static_cast<int>(traces) / 30);
  }
}

}  // namespace
}  // namespace tbtrace
