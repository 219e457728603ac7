// Memory of devices that are not there, in a process of its own: there is one allocator in it,
// which is asked once to tell of its blocks.
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <map>
#include <stop_token>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <torch/torch.h>

#include <tbtrace/profiler.h>
#include <tbtrace/recover.h>
#include <tbtrace/trace.h>

#include "fixtures/whole_file.h"
#include "libtorch/record/recorded.h"
#include "libtorch/record/scripted_allocator.h"

namespace tbtrace {
namespace {

using ::testing::ElementsAre;
using testing::Folder;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::ScriptedAllocator;
using ::testing::SizeIs;

ScriptedAllocator& gpu() { return ScriptedAllocator::instance(); }

TEST(DeviceType, HasTorchsNumbers) {
  const auto is = [](DeviceType ours, c10::DeviceType torchs) {
    EXPECT_EQ(static_cast<int>(ours), static_cast<int>(torchs));
  };
  is(DeviceType::cpu, c10::DeviceType::CPU);
  is(DeviceType::cuda, c10::DeviceType::CUDA);
  is(DeviceType::hip, c10::DeviceType::HIP);
  is(DeviceType::xpu, c10::DeviceType::XPU);
  is(DeviceType::mps, c10::DeviceType::MPS);
  is(DeviceType::hpu, c10::DeviceType::HPU);
#if TORCH_VERSION_MAJOR >= 2
  is(DeviceType::mtia, c10::DeviceType::MTIA);
  is(DeviceType::privateuse1, c10::DeviceType::PrivateUse1);  // 19 before there was MTIA
#endif
}

Trace trace_of(Profiler& profiler) {
  const Folder folder;
  const Status written = profiler.export_chrome_trace(folder / "trace.json");
  EXPECT_TRUE(written.ok()) << written.message();
  Result<Trace> trace = read_trace(folder / "trace.json", {.strict = true});
  EXPECT_TRUE(trace.ok()) << trace.status().message();
  return *std::move(trace);
}

struct Row {
  int device;
  std::int64_t bytes;
  std::int64_t allocated;

  bool operator==(const Row&) const = default;
};
/// Those of devices.
std::vector<Row> rows(const Trace& trace) {
  std::vector<Row> rows;
  for (const MemoryRecord& record : trace.memory()) {
    if (record.device_type != DeviceType::cuda) continue;
    rows.push_back({record.device_id, record.bytes, record.total_allocated_bytes});
  }
  return rows;
}

std::vector<Row> rows(Profiler& profiler) { return rows(trace_of(profiler)); }

class DeviceMemoryProfiler : public ::testing::Test {
 protected:
  DeviceMemoryProfiler() { gpu().make_ready(); }

  ProfilerOptions options() {
    return {.activities = {Activity::cpu},
            .record_shapes = true,
            .profile_memory = true,
            .with_stack = true,
            .experimental = {.on_warning = [this](std::string_view sentence) {
              warnings_.emplace_back(sentence);
            }}};
  }

  std::vector<std::string> warnings_;
};

TEST_F(DeviceMemoryProfiler, HasTheBlocksOfAnOpenWindowInItsJournal) {
  const Folder folder;
  ProfilerOptions journaled = options();
  journaled.journal = {.directory = folder / "journal"};
  Profiler profiler(journaled);
  profiler.start();
  const std::uint64_t one = gpu().allocate(0, 1000);
  const std::uint64_t two = gpu().allocate(1, 100, 2048);
  gpu().free(1, two);
  gpu().free(0, one);
  // What the process would leave if it ended now.
  std::filesystem::copy(folder / "journal", folder / "left",
                        std::filesystem::copy_options::recursive);
  const auto recovery = recover(folder / "left", {.output = folder.path()});
  profiler.stop();
  ASSERT_TRUE(recovery.ok()) << recovery.status().message();
  ASSERT_THAT(recovery->journals, SizeIs(1));
  ASSERT_THAT(recovery->journals[0].windows, SizeIs(1));
  const RecoveredWindow& window = recovery->journals[0].windows[0];
  ASSERT_TRUE(window.status.ok()) << window.status.message();
  const auto trace = read_trace(window.path, {.strict = true});
  ASSERT_TRUE(trace.ok()) << trace.status().message();
  EXPECT_THAT(rows(*trace), SizeIs(4));
  EXPECT_EQ(rows(*trace), rows(profiler));
}

TEST_F(DeviceMemoryProfiler, RecordsBlocksAsTheAllocatorMadeThem) {
  const std::uint64_t before = gpu().allocate(1, 5000, 512);
  Profiler profiler(options());
  profiler.start();
  const std::uint64_t one = gpu().allocate(0, 1000);
  gpu().free(1, before);
  gpu().free(0, one);
  const std::uint64_t two = gpu().allocate(0, 100, 2048);
  profiler.stop();
  gpu().free(0, two);
  EXPECT_THAT(warnings_, IsEmpty());
  EXPECT_THAT(rows(profiler), ElementsAre(Row{0, 1024, 1024}, Row{1, -5632, 0}, Row{0, -1024, 0},
                                          Row{0, 2560, 2560}));
}

TEST_F(DeviceMemoryProfiler, CountsAsTheOperatorsThatAskForIt) {
  Profiler profiler(options());
  profiler.start();
  {
    const record_function outer("outer");
    gpu().free(0, gpu().allocate(0, 3000));
    const record_function inner("inner");
    gpu().allocate(0, 4096);
  }
  profiler.stop();
  const OperatorSummary summary = profiler.key_averages();
  const auto row = [&](std::string_view name) {
    for (const OperatorRow& each : summary.rows()) {
      if (each.key == name) return each;
    }
    ADD_FAILURE() << "no row " << name;
    return OperatorRow{};
  };
  EXPECT_EQ(row("inner").self_device_memory_usage_bytes, 4096);
  EXPECT_EQ(row("outer").self_device_memory_usage_bytes, 0);
  EXPECT_EQ(row("outer").device_memory_usage_bytes, 4096);
}

TEST_F(DeviceMemoryProfiler, OtherThreadsCountInTheTotalsOnly) {
  const auto elsewhere = [] { std::thread([] { gpu().allocate(0, 512); }).join(); };
  const std::int64_t base = gpu().totals(0).allocated;
  Profiler one(options());
  one.start();
  elsewhere();
  gpu().allocate(0, 512);
  one.stop();
  EXPECT_THAT(rows(one), ElementsAre(Row{0, 512, base + 1024}));

  ProfilerOptions everywhere = options();
  everywhere.all_threads = true;
  Profiler all(everywhere);
  all.start();
  elsewhere();
  all.stop();
  EXPECT_THAT(rows(all), ElementsAre(Row{0, 512, base + 1536}));
}

TEST_F(DeviceMemoryProfiler, WindowsHaveWhatHappenedInThem) {
  const std::int64_t base = gpu().totals(0).allocated;
  std::vector<std::vector<Row>> windows;
  ProfilerOptions cycles = options();
  cycles.schedule = schedule({.wait = 1, .warmup = 0, .active = 1, .repeat = 2});
  cycles.on_trace_ready = [&](Profiler& profiler) { windows.push_back(rows(profiler)); };
  Profiler profiler(cycles);
  profiler.start();
  for (int step = 0; step < 4; ++step) {
    gpu().allocate(0, 512);
    profiler.step();
  }
  profiler.stop();
  EXPECT_THAT(windows, ElementsAre(ElementsAre(Row{0, 512, base + 1024}),
                                   ElementsAre(Row{0, 512, base + 2048})));
}

TEST_F(DeviceMemoryProfiler, PausesAreLeftOut) {
  const std::int64_t base = gpu().totals(0).allocated;
  Profiler profiler(options());
  profiler.start();
  gpu().allocate(0, 512);
  profiler.toggle_collection_dynamic(false, {Activity::cpu});
  gpu().allocate(0, 1024);
  profiler.toggle_collection_dynamic(true, {Activity::cpu});
  gpu().allocate(0, 1536);
  profiler.stop();
  EXPECT_THAT(rows(profiler), ElementsAre(Row{0, 512, base + 512}, Row{0, 1536, base + 3072}));
}

TEST_F(DeviceMemoryProfiler, TwoAtATimeHearTheSame) {
  Profiler one(options());
  Profiler two(options());
  one.start();
  gpu().allocate(0, 512);
  two.start();
  gpu().allocate(0, 1024);
  two.stop();
  gpu().allocate(0, 1536);
  one.stop();
  EXPECT_THAT(rows(one), SizeIs(3));
  EXPECT_THAT(rows(two), SizeIs(1));
}

TEST_F(DeviceMemoryProfiler, WithoutProfileMemoryThereIsNone) {
  ProfilerOptions without = options();
  without.profile_memory = false;
  Profiler profiler(without);
  profiler.start();
  gpu().allocate(0, 512);
  profiler.stop();
  EXPECT_THAT(rows(profiler), IsEmpty());
}

TEST_F(DeviceMemoryProfiler, WithoutMemoryForThemEventsAreCounted) {
  Profiler profiler(options());
  profiler.start();
  gpu().fail_totals(true);
  gpu().allocate(0, 512);
  gpu().fail_totals(false);
  profiler.stop();
  EXPECT_THAT(warnings_, ElementsAre(HasSubstr("1 records were lost")));
}

/// Threads that allocate on both devices while recordings begin and end: each event adds up.
TEST_F(DeviceMemoryProfiler, ThreadsMayAllocateWhileRecordingsBeginAndEnd) {
  std::vector<std::jthread> threads;
  for (int device = 0; device < 2; ++device) {
    threads.emplace_back([device](const std::stop_token& stop) {
      while (!stop.stop_requested()) gpu().free(device, gpu().allocate(device, 700, 512));
    });
  }
  ProfilerOptions everywhere = options();
  everywhere.all_threads = true;
  everywhere.with_stack = false;
  std::map<int, int> events;  // by device
  for (int round = 0; round < 8; ++round) {
    Profiler profiler(everywhere);
    profiler.start();
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    profiler.stop();
    std::map<int, std::int64_t> totals;  // by device
    for (const Row& row : rows(profiler)) {
      ASSERT_TRUE(row.bytes == 1536 || row.bytes == -1536) << row.bytes << " " << round;
      const auto [total, is_first] = totals.try_emplace(row.device, row.allocated);
      if (!is_first) {
        ASSERT_EQ(row.allocated, total->second + row.bytes) << round;
      }
      total->second = row.allocated;
      ++events[row.device];
    }
  }
  EXPECT_GT(events[0], 100);
  EXPECT_GT(events[1], 100);
}

/// What happens once in a process.
class DeviceMemoryOnceDeathTest : public ::testing::Test {
 protected:
  DeviceMemoryOnceDeathTest() { GTEST_FLAG_SET(death_test_style, "threadsafe"); }

  /// Two recordings, the first of which begins with `within`; prints what the profiler warns of,
  /// and whether a recording has memory of a device.
  template <typename Function>
  [[noreturn]] static void record_twice(Function&& within) {
    Profiler profiler({.activities = {Activity::cpu},
                       .schedule = schedule({.warmup = 1, .active = 1, .repeat = 2}),
                       .on_trace_ready =
                           [](Profiler& recorded) {
                             const bool has_one = !rows(recorded).empty();
                             std::cerr << (has_one ? "memory; " : "none; ");
                           },
                       .profile_memory = true,
                       .experimental = {.on_warning = [](std::string_view sentence) {
                         if (sentence.starts_with("Warning: Profiler clears events")) return;
                         std::cerr << sentence << "; ";
                       }}});
    profiler.start();
    profiler.step();
    within();
    for (int step = 0; step < 3; ++step) {
      {
        const record_function work("work");
        if (gpu().is_ready()) gpu().allocate(0, 512);
      }
      profiler.step();
    }
    profiler.stop();
    std::_Exit(0);
  }
};

TEST_F(DeviceMemoryOnceDeathTest, DevicesThatAreUsedWithinARecordingAreInTheNext) {
  EXPECT_EXIT(record_twice([] { gpu().make_ready(); }), ::testing::ExitedWithCode(0),
              "used for the first time within it.*none; memory; ");
}

TEST_F(DeviceMemoryOnceDeathTest, ARefusalIsSaidOnce) {
  EXPECT_EXIT(
      {
        gpu().make_ready();
        gpu().refuse("it does not tell");
        record_twice([] {});
      },
      ::testing::ExitedWithCode(0), "^it does not tell; none; none; $");
}

TEST_F(DeviceMemoryOnceDeathTest, WithoutAnyDeviceNothingIsSaid) {
  EXPECT_EXIT(record_twice([] {}), ::testing::ExitedWithCode(0), "^none; none; $");
}

/// Of a tensor that nothing here can compute with.
at::Tensor tensor_on(int device, std::uint64_t address, std::int64_t elements) {
  // NOLINTNEXTLINE(performance-no-int-to-ptr): nobody follows it
  c10::DataPtr data(reinterpret_cast<void*>(address), c10::Device(c10::kCUDA, device));
  c10::Storage storage(c10::Storage::use_byte_size_t(), elements * 4, std::move(data), nullptr,
                       false);
  at::Tensor tensor = at::detail::make_tensor<c10::TensorImpl>(
      std::move(storage), c10::DispatchKeySet(c10::DispatchKey::CUDA),
      caffe2::TypeMeta::Make<float>());
  tensor.unsafeGetTensorImpl()->set_sizes_contiguous({elements});
  return tensor;
}

TEST_F(DeviceMemoryProfiler, TimelinesAreOfOneDevice) {
  Profiler profiler(options());
  profiler.start();
  const std::uint64_t address = gpu().allocate(1, 4096);
  { RECORD_FUNCTION("aten::relu", std::vector<c10::IValue>{tensor_on(1, address, 1024)}); }
  profiler.stop();
  gpu().free(1, address);
  const Folder folder;
  const auto timeline = [&](const char* device) {
    EXPECT_TRUE(profiler.export_memory_timeline(folder / "timeline.json", device).ok());
    return fixtures::read_whole_file(folder / "timeline.json");
  };
  EXPECT_THAT(timeline("cuda:1"), HasSubstr("4096"));
  EXPECT_EQ(timeline("cuda:0"), "[[], []]");
  EXPECT_EQ(timeline("cuda"), timeline("cuda:0"));
  EXPECT_EQ(timeline("cpu").find("4096"), std::string::npos);
}

}  // namespace
}  // namespace tbtrace
