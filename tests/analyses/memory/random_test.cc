// Memory use of random recordings against a literal implementation of its definition.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <tbtrace/memory.h>

#include "analyses/memory/by_definition.h"
#include "fixtures/random_rounds.h"
#include "fixtures/trace_rows.h"

namespace tbtrace {
namespace {

/// Small, and full of ties; addresses are few, so that they are used again.
class RandomMemory {
 public:
  explicit RandomMemory(unsigned seed) : random_(seed) {}

  Trace make() {
    with_addresses_ = below(6) != 0;
    with_totals_ = below(3);
    for (auto count = below(4); count > 0; --count) add_step();
    for (auto count = below(16); count > 0; --count) add_range();
    for (auto count = below(20); count > 0; --count) add_record();
    return fixtures::finished(builder_);
  }

 private:
  std::int64_t below(std::int64_t limit) {
    return static_cast<std::int64_t>(random_() % static_cast<unsigned long>(limit));
  }

  void add_step() {
    const std::int64_t start = below(40);
    const std::int64_t process = 1 + below(2);
    fixtures::add(builder_, {.category = "user_annotation",
                             .name = "ProfilerStep#" + std::to_string(below(3)),
                             .start = start,
                             .duration = below(20),
                             .process = process});
  }

  void add_range() {
    constexpr std::array<std::pair<std::string_view, std::string_view>, 14> kRanges = {{
        {"cpu_op", "aten::add"},
        {"cpu_op", "aten::empty"},
        {"cpu_op", "AddBackward0"},
        {"cpu_op", "autograd::engine::evaluate_function: AddBackward0"},
        {"cpu_op", "torch::autograd::AccumulateGrad"},
        {"user_annotation", "Optimizer.step#SGD.step"},
        {"user_annotation", "enumerate(DataLoader)#x.__next__"},
        {"user_annotation", "part"},
        {"cuda_runtime", "cudaMalloc"},
        {"python_function", "model.py(12): forward"},
        {"python_function", "<built-in method add(1): x>"},
        {"python_function", "nn.Module: Linear_0"},
        {"cpu_op", "MulBackward"},
        {"cpu_op", "aten::mul"},
    }};
    const auto [category, name] = kRanges[static_cast<std::size_t>(below(kRanges.size()))];
    const std::int64_t start = below(50);
    const std::int64_t duration = below(25);
    const std::int64_t thread = 1 + below(2);
    EventRow row;
    row.start_ns = start;
    row.duration_ns = duration;
    row.name = builder_.intern(name);
    row.track = fixtures::track(builder_, 1 + below(2), thread);
    row.category = builder_.category(builder_.intern(category));
    if (category == "python_function") row.flags |= Events::kPythonFrame;
    if (name.starts_with("nn.Module")) row.flags |= Events::kModule;
    const EventId event = builder_.add_event(row);
    if (category == "cpu_op" && below(3) == 0) {
      builder_.add_argument(event, Argument::call_stack,
                            builder_.intern("<built-in x>;a.py(3): f;b.py(4): g"));
    }
  }

  void add_record() {
    constexpr std::array kDevices = {DeviceType::cpu, DeviceType::cuda, DeviceType::cuda};
    MemoryRecord record;
    record.time_ns = below(60);
    record.bytes = below(2) == 0 ? 10 * below(6) : -10 * below(6);
    if (below(20) == 0) record.bytes = INT64_MAX - below(3);
    record.device_type = kDevices[static_cast<std::size_t>(below(kDevices.size()))];
    record.device_id = static_cast<std::int16_t>(below(2) - 1);
    record.out_of_memory = below(12) == 0;
    record.event_rank = static_cast<std::uint32_t>(below(3));
    const std::int64_t thread = 1 + below(2);
    record.track = fixtures::track(builder_, 1 + below(2), thread);
    const bool total = with_totals_ == 2 || (with_totals_ == 1 && below(2) == 0);
    if (total) record.total_allocated_bytes = below(100);
    builder_.add_memory(record);
    if (with_addresses_ && below(10) != 0) {
      builder_.add_memory_argument(Argument::address, below(3));
    }
    if (total && below(4) != 0) {
      builder_.add_memory_argument(Argument::total_reserved, below(3) == 0 ? 0 : below(200));
    }
  }

  std::mt19937 random_;
  TraceBuilder builder_;
  bool with_addresses_ = true;
  std::int64_t with_totals_ = 0;
};

void expect_device(const Trace& trace, const MemoryByDefinition& expected,
                   const MemoryByDefinition::Device& device, const DeviceMemory& found) {
  const ArgumentColumn& reserved = trace.memory_argument(Argument::total_reserved);
  bool reserves = false;
  std::vector<std::size_t> rows;       // in the chosen time
  std::vector<std::size_t> peak_rows;  // and the last one before it
  for (const std::size_t row : expected.rows_of(device)) {
    reserves = reserves || reserved.integer(row).value_or(0) > 0;
    if (expected.is_chosen(row)) rows.push_back(row);
    if (expected.records()[row].time_ns < expected.start()) peak_rows = {row};
  }
  peak_rows.insert(peak_rows.end(), rows.begin(), rows.end());
  const auto reserved_at = [&](std::size_t row) {
    return reserves ? reserved.integer(row) : std::nullopt;
  };
  ASSERT_EQ(found.curve.size(), rows.size());
  for (std::size_t place = 0; place < rows.size(); ++place) {
    const MemoryPoint& point = found.curve[place];
    ASSERT_EQ(point.at_ns, expected.records()[rows[place]].time_ns);
    ASSERT_EQ(point.allocated_bytes, clamped(expected.total_after(device, rows[place])));
    ASSERT_EQ(point.reserved_bytes, reserved_at(rows[place]));
  }
  std::optional<std::int64_t> most_reserved;
  std::optional<std::size_t> peak;
  const auto total = [&](std::size_t row) { return clamped(expected.total_after(device, row)); };
  for (const std::size_t row : peak_rows) {
    most_reserved = std::max(most_reserved, reserved_at(row));
    if (!peak || total(row) > total(*peak)) peak = row;
  }
  std::uint64_t out_of_memory = 0;
  for (std::size_t row = 0; row < expected.records().size(); ++row) {
    const bool counts = expected.device_of(row) == device && expected.is_chosen(row);
    out_of_memory += counts && expected.records()[row].out_of_memory ? 1 : 0;
  }
  ASSERT_EQ(found.out_of_memory, out_of_memory);
  ASSERT_EQ(found.growth_per_step_bytes, expected.growth(device));
  std::vector<std::int64_t> at_step_ends;
  for (const Wide bytes : expected.at_step_ends(device)) at_step_ends.push_back(clamped(bytes));
  ASSERT_EQ(found.step_end_bytes, at_step_ends);
  ASSERT_EQ(found.peak_reserved_bytes, most_reserved);
  if (!peak) {
    ASSERT_EQ(found.peak_at_ns, std::nullopt);
    ASSERT_TRUE(found.alive.empty());
    return;
  }
  ASSERT_EQ(found.peak_bytes, total(*peak));
  ASSERT_EQ(found.peak_at_ns, std::max(expected.records()[*peak].time_ns, expected.start()));
  MemoryByDefinition::Holders holders = expected.alive(device, *peak);
  ASSERT_EQ(found.alive.size(), holders.size());
  Wide sum = 0;
  std::int64_t last = INT64_MAX;
  bool bounded = false;
  for (const MemoryHolder& holder : found.alive) {
    const MemorySource& source = holder.source;
    const auto& [bytes, count] = holders[{source.op, source.module, source.line, source.category}];
    ASSERT_EQ(holder.bytes, clamped(bytes)) << source.op;
    ASSERT_EQ(holder.allocations, count) << source.op;
    ASSERT_LE(holder.bytes, last);
    last = holder.bytes;
    bounded = bounded || holder.bytes != bytes;
    sum += holder.bytes;
  }
  if (!bounded) {
    ASSERT_EQ(clamped(sum), found.peak_bytes);
  }
}

void expect_allocations(const MemoryByDefinition& expected, const MemoryUse& found) {
  using AllocationRow =
      std::tuple<std::int64_t, std::int64_t, std::int64_t, std::string, AllocationEnd>;
  std::vector<AllocationRow> wanted;
  for (std::size_t row = 0; row < expected.records().size(); ++row) {
    const MemoryRecord& record = expected.records()[row];
    if (record.out_of_memory) continue;
    if (record.bytes > 0) {
      if (!expected.is_held(row)) continue;
      const std::optional<std::size_t> freed = expected.freed_by(row);
      wanted.emplace_back(record.time_ns, freed ? expected.records()[*freed].time_ns : -1,
                          record.bytes, expected.op(row), expected.end_of(row));
    } else if (expected.frees_unknown(row) && record.time_ns >= expected.start()) {
      wanted.emplace_back(-1, record.time_ns, clamped(-Wide{record.bytes}), "",
                          AllocationEnd::freed);
    }
  }
  std::vector<AllocationRow> rows;
  for (const MemoryAllocation& allocation : found.allocations) {
    rows.emplace_back(allocation.allocated_at_ns.value_or(-1), allocation.freed_at_ns.value_or(-1),
                      allocation.bytes,
                      allocation.source ? found.sources[*allocation.source].op : "",
                      allocation.end);
  }
  std::sort(wanted.begin(), wanted.end());
  std::sort(rows.begin(), rows.end());
  ASSERT_EQ(rows, wanted);
}

TEST(MemoryUse, ChosenStepsMatchTheirDefinitionOnRandomTraces) {
  int chosen = 0;
  int smaller = 0;
  for (unsigned seed = 0; seed < fixtures::random_rounds(500u); ++seed) {
    SCOPED_TRACE(seed);
    const Trace trace = RandomMemory(seed).make();
    for (std::int64_t first = 0; first < 3; ++first) {
      const StepRange steps = {first, first + seed % 2};
      const Result<MemoryUse> found = memory_use(trace, {.steps = steps});
      const auto is_in_trace = [&](const Step& step) { return steps.contains(step.number); };
      ASSERT_EQ(found.ok(), std::ranges::any_of(trace.steps(), is_in_trace));
      if (!found.ok()) continue;
      ++chosen;
      const MemoryByDefinition expected(trace, steps);
      const std::vector<MemoryByDefinition::Device> devices = expected.devices();
      const MemoryUse whole = *memory_use(trace);
      ASSERT_EQ(found->devices.size(), devices.size());
      for (std::size_t device = 0; device < devices.size(); ++device) {
        ASSERT_NO_FATAL_FAILURE(
            expect_device(trace, expected, devices[device], found->devices[device]));
        smaller += found->devices[device].peak_bytes < whole.devices[device].peak_bytes;
      }
      ASSERT_NO_FATAL_FAILURE(expect_allocations(expected, *found));
    }
  }
  EXPECT_GT(chosen, fixtures::random_rounds(50));
  EXPECT_GT(smaller, fixtures::random_rounds(50));
}

TEST(MemoryUse, MatchesItsDefinitionOnRandomTraces) {
  std::map<MemoryCategory, int> categories;
  int unknown = 0;
  int before = 0;
  int growing = 0;
  for (unsigned seed = 0; seed < fixtures::random_rounds(500u); ++seed) {
    SCOPED_TRACE(seed);
    const Trace trace = RandomMemory(seed).make();
    const MemoryUse found = *memory_use(trace);
    const MemoryByDefinition expected(trace);
    const std::vector<MemoryByDefinition::Device> devices = expected.devices();
    ASSERT_EQ(found.devices.size(), devices.size());
    for (std::size_t device = 0; device < devices.size(); ++device) {
      ASSERT_NO_FATAL_FAILURE(
          expect_device(trace, expected, devices[device], found.devices[device]));
      growing += found.devices[device].growth_per_step_bytes.value_or(0) != 0;
      for (const MemoryHolder& holder : found.devices[device].alive) {
        ++categories[holder.source.category];
        unknown += holder.source.op == DeviceMemory::kUnknown;
        before += holder.source.op == DeviceMemory::kBefore;
      }
    }
    ASSERT_NO_FATAL_FAILURE(expect_allocations(expected, found));
  }
  EXPECT_GT(unknown, fixtures::random_rounds(50));
  EXPECT_GT(before, fixtures::random_rounds(50));
  EXPECT_GT(growing, fixtures::random_rounds(50));
  for (const MemoryCategory category :
       {MemoryCategory::parameter, MemoryCategory::optimizer_state, MemoryCategory::input,
        MemoryCategory::temporary, MemoryCategory::activation, MemoryCategory::gradient,
        MemoryCategory::unknown}) {
    EXPECT_GE(categories[category], fixtures::random_rounds(5)) << memory_category_key(category);
  }
}

}  // namespace
}  // namespace tbtrace
