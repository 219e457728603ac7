// HolisticTraceAnalysis's device use of random recordings, against its steps one by one: tables of
// rows that are joined and filtered as its data frames are.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <tbtrace/gpu.h>

#include "analyses/compat/hta/gpu_use.h"
#include "analyses/gpu/random_device_work.h"
#include "fixtures/random_rounds.h"

namespace tbtrace::analyses {
namespace {

struct HtaRow {
  std::size_t index = 0;
  std::string category, name;
  std::int64_t start = 0, end = 0, stream = -1, correlation = -1;
  std::optional<std::size_t> linked = {};  ///< the index of the other side

  bool is_activity() const { return stream >= 0 && correlation >= 0; }
  bool is_step() const { return name.starts_with("ProfilerStep"); }
};

std::vector<HtaRow> table_of(const Trace& trace) {
  std::vector<HtaRow> rows;
  for (std::size_t index = 0; index < trace.events().size(); ++index) {
    const auto event = static_cast<EventId>(index);
    HtaRow row = {.index = index,
                  .category = std::string(trace.string(trace.category(event).name)),
                  .name = std::string(trace.name(event)),
                  .start = trace.events().start_ns(event),
                  .end = trace.events().end_ns(event)};
    row.stream = trace.argument(Argument::stream).integer(event).value_or(-1);
    if (trace.correlation(event) != 0) row.correlation = trace.correlation(event);
    rows.push_back(row);
  }
  for (HtaRow& row : rows) {
    for (const HtaRow& other : rows) {
      if (row.correlation == -1 || row.correlation != other.correlation) continue;
      if (row.is_activity() != other.is_activity()) row.linked = other.index;  // the last one
    }
  }
  return rows;
}

std::vector<HtaRow> filtered(const std::vector<HtaRow>& all) {
  std::set<std::string> steps;
  std::optional<std::int64_t> last_end;
  for (const HtaRow& row : all) {
    if (!row.is_step()) continue;
    steps.insert(row.name);
    last_end = std::max(last_end.value_or(row.end), row.end);
  }
  if (steps.size() < 2) return all;
  std::vector<HtaRow> host;
  for (const HtaRow& row : all) {
    if (!row.is_activity() && row.start <= *last_end) host.push_back(row);
  }
  std::vector<HtaRow> kept = host;
  for (const HtaRow& row : all) {
    if (!row.is_activity()) continue;
    for (const HtaRow& other : host) {
      if (other.correlation == row.correlation) kept.push_back(row);
    }
  }
  std::stable_sort(kept.begin(), kept.end(),
                   [](const HtaRow& a, const HtaRow& b) { return a.index < b.index; });
  return kept;
}

std::vector<HtaRow> by_start(std::vector<HtaRow> rows) {
  std::stable_sort(rows.begin(), rows.end(),
                   [](const HtaRow& a, const HtaRow& b) { return a.start < b.start; });
  return rows;
}

std::vector<HtaRow> with_stream(const std::vector<HtaRow>& rows) {
  std::vector<HtaRow> found;
  for (const HtaRow& row : rows) {
    if (row.stream != -1) found.push_back(row);
  }
  return by_start(found);
}

GpuUse whole_by_definition(const std::vector<HtaRow>& rows) {
  GpuUse use;
  std::int64_t end = rows.front().start;
  for (const HtaRow& row : rows) end = std::max(end, row.end);
  use.window_ns = end - rows.front().start;
  for (std::int64_t at = rows.front().start; at < end; ++at) {
    std::set<std::string> kinds;
    for (const HtaRow& row : rows) {
      if (row.start > at || at >= row.end) continue;
      const bool waits = row.name == "Stream Sync";
      kinds.insert(row.name.starts_with("nccl")     ? "communication"
                   : row.name.starts_with("Memcpy") ? "memory"
                   : waits                          ? "other"
                                                    : "computation");
    }
    const bool computes = kinds.contains("computation");
    const bool communicates = kinds.contains("communication");
    use.busy_ns += !kinds.empty();
    use.idle_ns += kinds.empty();
    use.computation_ns += computes;
    use.communication_ns += communicates;
    use.memory_ns += kinds.contains("memory");
    use.overlap_ns += computes && communicates;
    use.exposed_communication_ns += communicates && !computes;
    use.exposed_memory_ns += kinds.contains("memory") && !computes && !communicates;
  }
  return use;
}

/// Idle time by stream and cause.
std::map<std::int64_t, std::map<std::string, std::int64_t>> idle_by_definition(
    const std::vector<HtaRow>& all, const std::vector<HtaRow>& rows, std::int64_t limit) {
  std::map<std::int64_t, std::map<std::string, std::int64_t>> idle;
  std::map<std::int64_t, std::int64_t> previous_end;
  for (const HtaRow& row : rows) {
    if (row.category == "cuda_sync") continue;
    std::map<std::string, std::int64_t>& causes = idle[row.stream];
    const auto previous = previous_end.find(row.stream);
    if (previous != previous_end.end()) {
      std::optional<std::int64_t> launch;
      for (const HtaRow& other : all) {
        if (row.is_activity() && row.linked == other.index) launch = other.start;
      }
      const std::int64_t gap = row.start - previous->second;
      causes[launch > previous->second ? "host" : gap < limit ? "kernel" : "other"] += gap;
    }
    previous_end[row.stream] = row.end;
  }
  return idle;
}

/// The lengths by stream, sorted; empty if it fails.
std::map<std::int64_t, std::vector<double>> queues_by_definition(const std::vector<HtaRow>& all,
                                                                 const std::vector<HtaRow>& rows) {
  struct Change {
    std::int64_t start, stream;
    int by;
  };
  std::vector<Change> changes;
  std::size_t joined = 0;
  std::size_t activities = 0;
  std::set<std::int64_t> correlations;
  for (const HtaRow& call : all) {
    if (call.name != "cudaLaunchKernel" || !call.linked) continue;
    correlations.insert(call.correlation);
    std::size_t found = 0;
    for (const HtaRow& row : rows) {
      if (row.correlation != call.correlation) continue;
      changes.push_back({call.start, row.stream, 1});
      ++found;
    }
    joined += std::max<std::size_t>(found, 1);
  }
  for (const HtaRow& row : rows) {
    if (!correlations.contains(row.correlation)) continue;
    changes.push_back({row.start, row.stream, -1});
    ++activities;
  }
  if (joined != activities) return {};
  std::stable_sort(changes.begin(), changes.end(),
                   [](const Change& a, const Change& b) { return a.start < b.start; });
  std::map<std::int64_t, double> length;
  std::map<std::int64_t, std::vector<double>> lengths;
  for (const Change& change : changes) {
    lengths[change.stream].push_back(length[change.stream] += change.by);
  }
  for (auto& [stream, values] : lengths) std::sort(values.begin(), values.end());
  return lengths;
}

struct SeenByHta {
  int host = 0, negative = 0, queues = 0, failed_queues = 0, several_steps = 0, repeated = 0;
};

void expect_queue(const QueueChanges& found, const std::vector<double>& lengths) {
  ASSERT_EQ(found.count, lengths.size());
  const auto count = static_cast<double>(lengths.size());
  double mean = 0;
  for (const double length : lengths) mean += length / count;
  double squares = 0;
  for (const double length : lengths) squares += (length - mean) * (length - mean);
  EXPECT_NEAR(found.mean, mean, 1e-9);
  ASSERT_TRUE(found.stddev.has_value()) << "a launch and its activity are two changes";
  EXPECT_NEAR(*found.stddev, std::sqrt(squares / (count - 1)), 1e-9);
  EXPECT_EQ(static_cast<double>(found.min), lengths.front());
  EXPECT_EQ(static_cast<double>(found.max), lengths.back());
  const auto at = [&](double place) {
    const double below = std::floor(place);
    const double low = lengths[static_cast<std::size_t>(below)];
    const double high = lengths[static_cast<std::size_t>(std::ceil(place))];
    return low * (1 - (place - below)) + high * (place - below);
  };
  EXPECT_NEAR(found.quartile_1, at((count - 1) / 4), 1e-9);
  EXPECT_NEAR(found.median, at((count - 1) / 2), 1e-9);
  EXPECT_NEAR(found.quartile_3, at((count - 1) * 3 / 4), 1e-9);
}

void check_hta(unsigned seed, SeenByHta& seen) {
  const Trace trace = analyses::RandomDeviceWork(seed).make();
  const std::vector<HtaRow> everything = table_of(trace);
  const std::vector<HtaRow> all = filtered(everything);
  const std::vector<HtaRow> rows = with_stream(all);
  const auto limit = static_cast<std::int64_t>(1 + seed % 5);
  seen.several_steps += all.size() != everything.size();
  std::set<std::size_t> different;
  for (const HtaRow& row : rows) different.insert(row.index);
  seen.repeated += different.size() < rows.size();
  const auto whole = analyses::hta_gpu_use(trace);
  ASSERT_EQ(whole->empty(), rows.empty());
  const auto streams =
      analyses::hta_gpu_use(trace, {.by_stream = true, .kernel_wait_limit_ns = limit});
  if (rows.empty()) {
    ASSERT_TRUE(streams->empty());
    return;
  }
  const GpuUse& found = whole->front();
  const GpuUse expected = whole_by_definition(rows);
  for (const auto member :
       {&GpuUse::window_ns, &GpuUse::busy_ns, &GpuUse::idle_ns, &GpuUse::computation_ns,
        &GpuUse::communication_ns, &GpuUse::memory_ns, &GpuUse::overlap_ns,
        &GpuUse::exposed_communication_ns, &GpuUse::exposed_memory_ns}) {
    EXPECT_EQ(found.*member, expected.*member);
  }
  EXPECT_EQ(found.activities, rows.size());
  auto idle = idle_by_definition(all, rows, limit);
  auto queues = queues_by_definition(all, rows);
  seen.failed_queues += queues.empty();
  std::set<std::string> numbers;
  for (const auto& [stream, causes] : idle) numbers.insert(std::to_string(stream));
  for (const auto& [stream, lengths] : queues) numbers.insert(std::to_string(stream));
  ASSERT_EQ(streams->size(), numbers.size());
  for (const analyses::HtaGpuUse& use : *streams) {
    const std::int64_t stream = std::stoll(use.stream);
    ASSERT_TRUE(numbers.contains(use.stream));
    EXPECT_EQ(use.idle_host_wait_ns, idle[stream]["host"]);
    EXPECT_EQ(use.idle_kernel_wait_ns, idle[stream]["kernel"]);
    EXPECT_EQ(use.idle_other_ns, idle[stream]["other"]);
    EXPECT_EQ(use.idle_ns, use.idle_host_wait_ns + use.idle_kernel_wait_ns + use.idle_other_ns);
    seen.host += use.idle_host_wait_ns > 0;
    seen.negative += use.idle_kernel_wait_ns < 0;
    ASSERT_EQ(use.queue_changes.has_value(), queues.contains(stream));
    if (!use.queue_changes) continue;
    ++seen.queues;
    ASSERT_NO_FATAL_FAILURE(expect_queue(*use.queue_changes, queues[stream]));
  }
}

TEST(HtaGpuUse, MatchesItsStepsOnRandomTraces) {
  const unsigned traces = fixtures::random_rounds(1500u);
  SeenByHta seen;
  for (unsigned seed = 0; seed < traces; ++seed) {
    SCOPED_TRACE(seed);
    check_hta(seed, seen);
    if (testing::Test::HasFailure()) return;
  }
  for (const int count : {seen.host, seen.negative, seen.queues, seen.failed_queues,
                          seen.several_steps, seen.repeated}) {
    EXPECT_GT(count, static_cast<int>(traces) / 50);
  }
}

}  // namespace
}  // namespace tbtrace::analyses
