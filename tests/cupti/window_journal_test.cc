#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <random>
#include <string>
#include <utility>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cupti/clock.h"
#include "cupti/collector.h"
#include "cupti/fake_gpu.h"
#include "cupti/window_activity.h"
#include "fixtures/device_trace_text.h"
#include "fixtures/random_rounds.h"
#include "fixtures/scratch_folder.h"
#include "recorder/journal/journal.h"
#include "recorder/journal/restore.h"
#include "recorder/log/recording.h"

namespace tbtrace::cupti {
namespace {

using fixtures::device_trace_text;
using recorder::DeviceTrace;

/// What CUPTI returned, as a window has it and as the journal of its process has it.
class CuptiRowsInAJournal : public testing::Test {
 protected:
  CuptiRowsInAJournal() {
    auto opened = recorder::journal::Journal::open(dir_.root() / "journal", {});
    EXPECT_TRUE(opened.ok()) << opened.status().message();
    journal_ = *opened;
    recording_ =
        std::make_unique<recorder::Recording>(recorder::RecordingOptions{}, journal_->new_window());
    recording_->start();
  }

  /// Of a process that ends now; null: it has none.
  std::shared_ptr<const DeviceTrace> left() {
    namespace fs = std::filesystem;
    const fs::path copy = dir_.root() / "copy";
    fs::copy(dir_.root() / "journal", copy, fs::copy_options::recursive);
    const auto restored =
        recorder::journal::restore_journal(recorder::journal::journals_in(copy).at(0));
    fs::remove_all(copy);
    EXPECT_TRUE(restored.ok()) << restored.status().message();
    EXPECT_EQ(restored->unreadable_chunks, 0U);
    EXPECT_EQ(restored->windows.size(), 1U);
    return restored->windows.at(0).recording->device_trace();
  }

  static constexpr const char* kEndedEarly =
      "the process ended before CUPTI had returned all records";

  FakeGpu gpu_;
  fixtures::ScratchFolder dir_;
  std::shared_ptr<recorder::journal::Journal> journal_;
  std::unique_ptr<recorder::Recording> recording_;
};

template <typename Record>
Record record_at(std::uint64_t now, std::mt19937_64& random) {
  Record record = {};
  record.start = random() % 20 == 0 ? 0 : now + random() % 2000;
  record.end = record.start + random() % 100;
  record.correlation = static_cast<std::uint32_t>(random() % 100);
  return record;
}

template <typename Record>
Record activity_at(std::uint64_t now, std::mt19937_64& random) {
  auto record = record_at<Record>(now, random);
  record.device = static_cast<std::uint32_t>(random() % 8);
  record.context = static_cast<std::uint32_t>(random() % 3);
  record.stream = static_cast<std::uint32_t>(random() % 70);
  record.graph = static_cast<std::uint32_t>(random() % 3);
  record.graph_node = random() % 10;
  return record;
}

void add_random_record(WindowActivity& rows, std::uint64_t now, std::mt19937_64& random) {
  static constexpr const char* kNames[] = {"gemm", "conv", "softmax", "", "layer_norm"};
  const char* const name = random() % 10 == 0 ? nullptr : kNames[random() % 5];
  switch (random() % 10) {
    case 0: {
      auto record = activity_at<KernelRecord>(now, random);
      record.name = name;
      record.grid[0] = static_cast<std::int32_t>(random() % 10);
      record.registers_per_thread = 32;
      return rows.add(record);
    }
    case 1: {
      auto record = activity_at<MemcpyRecord>(now, random);
      record.bytes = random();
      record.copy_kind = static_cast<std::uint8_t>(random());
      return rows.add(record);
    }
    case 2: {
      auto record = activity_at<MemcpyPeerRecord>(now, random);
      record.from_device = 1;
      record.to_context = static_cast<std::uint32_t>(random());
      return rows.add(record);
    }
    case 3: {
      auto record = activity_at<MemsetRecord>(now, random);
      record.bytes = random();
      record.memory = 3;
      return rows.add(record);
    }
    case 4: {
      auto record = record_at<ApiRecord>(now, random);
      record.kind = random() % 2 == 0 ? ActivityKind::runtime : ActivityKind::driver;
      record.number = static_cast<std::uint32_t>(random() % 400);
      record.thread = 7;
      return rows.add(record);
    }
    case 5: {
      ExternalCorrelationRecord record = {};
      record.external_kind = kOperatorIds;
      record.external_id = random();
      record.correlation = static_cast<std::uint32_t>(random());
      return rows.add(record);
    }
    case 6: {
      OverheadRecord record = {};
      record.start = now + random() % 2000;
      record.end = record.start + 5;
      record.overhead_kind = static_cast<decltype(record.overhead_kind)>(random() % 4);
      return rows.add(record);
    }
    case 7: {
      auto record = record_at<SynchronizationRecord>(now, random);
      record.stream = static_cast<std::uint32_t>(random());
      record.wait_kind = static_cast<decltype(record.wait_kind)>(random() % 5);
      return rows.add(record);
    }
    case 8: {
      CudaEventRecord record = {};
      record.correlation = static_cast<std::uint32_t>(random());
      record.event = static_cast<std::uint32_t>(random());
      return rows.add(record);
    }
    default: {
      MarkerRecord record = {};
      record.flags =
          static_cast<decltype(record.flags)>(random() % 2 == 0 ? kMarkerStart : kMarkerEnd);
      record.timestamp = now + random() % 2000;
      record.id = static_cast<std::uint32_t>(random() % 4);
      record.name = name;
      record.domain = random() % 2 == 0 ? nullptr : "data";
      if (random() % 30 == 0) rows.count_lost(random() % 3);
      return rows.add(record);
    }
  }
}

TEST_F(CuptiRowsInAJournal, RowsOfAWindowAreThoseInItsJournal) {
  std::mt19937_64 random(20260101);
  const Calls calls(gpu_.library());
  for (int round = 0; round < fixtures::random_rounds(10); ++round) {
    recording_ =
        std::make_unique<recorder::Recording>(recorder::RecordingOptions{}, journal_->new_window());
    recording_->start();
    const std::uint64_t now = clock_ns();
    const auto journal = recording_->device_journal();
    WindowActivity rows(calls, ticks_of(now + 300), true, journal);
    rows.end(ticks_of(now + 1500));
    for (int record = 0; record < 2000; ++record) add_random_record(rows, now, random);
    const auto restored = left();
    DeviceTrace trace = rows.take();
    EXPECT_GT(trace.activities.size(), 100U);
    EXPECT_GT(trace.markers.size(), 0U);
    EXPECT_GT(trace.untimed, 0U);
    trace.problem = kEndedEarly;
    EXPECT_EQ(device_trace_text(*restored), device_trace_text(trace));
  }
}

TEST_F(CuptiRowsInAJournal, AWindowThatEndedIsWholeThere) {
  const auto collector = gpu_.collector(FakeGpu::impatient());
  auto session = collector->begin({});
  ASSERT_TRUE(session.ok()) << session.status().message();
  (*session)->begin_window(recording_->device_journal());
  ASSERT_NE(left(), nullptr);
  EXPECT_EQ(left()->devices.at(0).name, "NVIDIA H200");
  EXPECT_EQ(left()->interface_version, gpu_.library().version);
  EXPECT_EQ(left()->problem, kEndedEarly);
  for (int launch = 0; launch < 100; ++launch) gpu_.cupti().launch({.name = "gemm"});
  const auto ended = (*session)->end_window();
  recording_->close();
  EXPECT_EQ(ended.get()->activities.size(), 100U);
  EXPECT_EQ(device_trace_text(*left()), device_trace_text(*ended.get()));
}

TEST_F(CuptiRowsInAJournal, AnOpenWindowHasWhatWasReturned) {
  gpu_.cupti().fail_enable(static_cast<std::uint32_t>(ActivityKind::overhead), 1);
  const auto collector = gpu_.collector(FakeGpu::impatient());
  auto session = collector->begin({.extras = {.overhead = true}});
  ASSERT_TRUE(session.ok()) << session.status().message();
  (*session)->begin_window(recording_->device_journal());
  for (int launch = 0; launch < 100; ++launch) gpu_.cupti().launch({.name = "gemm"});
  gpu_.cupti().synchronize(-1);
  EXPECT_TRUE(soon([&] { return left()->activities.size() == 100; }));
  const auto open = left();
  EXPECT_EQ(open->calls.size(), 100U);
  EXPECT_EQ(open->names[open->launches[open->activities[99].launch].name], "gemm");
  EXPECT_EQ(open->problem, (*session)->shortcoming() + "; " + kEndedEarly);
  EXPECT_EQ((*session)->end_window().get()->problem, (*session)->shortcoming());
}

}  // namespace
}  // namespace tbtrace::cupti
