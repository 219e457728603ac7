// Random recordings of all that a window may hold.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <random>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "recorder/log/device_memory.h"
#include "recorder/log/inputs.h"
#include "recorder/log/module_map.h"
#include "recorder/log/range_arguments.h"
#include "recorder/window/hand_written.h"

namespace tbtrace::recorder {

/// A recording of everything that a window may hold, by a seed.
class RandomWindow {
 public:
  explicit RandomWindow(unsigned seed) : random_(seed), written_(options()) {
    for (int number = 1 + below(3); number > 0; --number) {
      threads_.push_back(written_.thread(40 + number, static_cast<std::uint64_t>(number),
                                         below(2) == 0 ? "main \"thread\"" : ""));
    }
    for (HandWritten::Thread& thread : threads_) write_thread(thread);
    if (below(2) == 0) write_devices();
    if (below(2) == 0) write_device_memory();
    if (below(2) == 0) {
      EXPECT_TRUE(
          written_.recording->add_metadata("own \xff \"key\"", R"({"a":  [1, "\u00e9"]})").ok());
      EXPECT_TRUE(written_.recording->add_metadata("with_stack", "0").ok());
      EXPECT_TRUE(written_.recording->add_metadata("broken", "not JSON").ok());
    }
  }

  std::shared_ptr<const Window> window() { return written_.window(); }
  /// Closed.
  std::shared_ptr<const Recording> recording() {
    window();
    return written_.recording;
  }

 private:
  int below(int limit) { return static_cast<int>(random_() % static_cast<unsigned>(limit)); }
  bool rarely() { return below(8) == 0; }

  RecordingOptions options() {
    RecordingOptions options;
    options.record_shapes = below(2) == 0;
    options.profile_memory = below(2) == 0;
    options.with_stack = below(2) == 0;
    options.element_types = {"float", "long int"};
    if (below(2) == 0) {
      auto modules = std::make_shared<ModuleMap>();
      for (std::uint32_t row = 0; row < 3; ++row) {
        const char* const instance = &bytes_[row];
        modules->add(instance, row == 0 ? "3Net" : "10LinearImpl", "net." + std::to_string(row),
                     row == 0 ? ModuleMap::kNone : 0);
        modules->own(instance, {.module = row, .begin = instance, .end = instance + 1});
      }
      options.modules = modules;
      has_modules_ = true;
    }
    return options;
  }

  std::string_view name() {
    constexpr std::array<std::string_view, 7> kNames = {"aten::mm",
                                                        "aten::add",
                                                        "ProfilerStep#3",
                                                        "odd \"\\\n\x01 name",
                                                        "not \xff\xc3 UTF-8",
                                                        "AddmmBackward0",
                                                        ""};
    return kNames[static_cast<std::size_t>(below(kNames.size()))];
  }

  BeginRecord details(const HandWritten::Thread& thread) {
    BeginRecord record;
    constexpr std::array kScopes = {Scope::function, Scope::function, Scope::user,
                                    Scope::backward_function};
    record.scope = kScopes[static_cast<std::size_t>(below(kScopes.size()))];
    if (below(3) == 0) {
      record.sequence_number = below(4);
      record.forward_thread = static_cast<std::uint64_t>(below(3));
    }
    if (below(2) == 0) {
      InputsWriter& inputs = inputs_.emplace_back();
      const std::array<std::int64_t, 2> sizes = {below(3), 4};
      inputs.tensor(static_cast<std::uint8_t>(below(2)), sizes, sizes);
      if (rarely()) inputs.nothing();
      if (rarely()) inputs.real(0.1 * below(9));
      record.inputs = inputs.data();
      record.inputs_size = static_cast<std::uint32_t>(inputs.size());
    }
    if (below(2) == 0) {
      record.script_stack = thread.log()->names().find(
          below(2) == 0 ? "b.py(3): forward;a\"b.py(9): main;" : "c.py(1): \xff;");
      record.script_modules = thread.log()->names().find("TOP(Net)::forward.");
    }
    if (record.scope == Scope::user && below(2) == 0) {
      RangeArgumentsWriter& writer = arguments_.emplace_back();
      writer.add("batch", std::int64_t{below(99)});
      writer.add(name(), 0.1 * below(99));
      if (rarely()) writer.add("External id", name());
      record.arguments = writer.bytes();
    }
    if (has_modules_ && below(2) == 0) record.module = static_cast<std::uint64_t>(1 + below(3));
    return record;
  }

  void write_thread(HandWritten::Thread& thread) {
    std::uint64_t now = 0;
    std::vector<std::uint64_t> open;
    for (int step = 0; step < 60; ++step) {
      now += static_cast<std::uint64_t>(below(3)) * 400;  // some begin at once
      const int kind = below(5);
      if (kind < 2) {
        open.push_back(++key_);
        BeginRecord record = details(thread);
        record.ticks = written_.start() + now;
        record.name = thread.log()->names().find(name(), below(3) == 0 ? "Tensor" : "");
        record.key = key_;
        write(*thread.log(), record);
      } else if (kind < 4 && !open.empty()) {
        const std::size_t which =
            crosses_ && rarely() ? static_cast<std::size_t>(below(static_cast<int>(open.size())))
                                 : open.size() - 1;
        HandWritten::Thread& at =
            crosses_ && rarely()
                ? threads_[static_cast<std::size_t>(below(static_cast<int>(threads_.size())))]
                : thread;
        at.end(now, open[which], crosses_ && rarely());
        open.erase(open.begin() + static_cast<std::ptrdiff_t>(which));
      } else if (below(2) == 0) {
        const NameNumber named = thread.log()->names().find(below(4) == 0 ? "[memory]" : name());
        const std::uint64_t ticks = written_.start() + now;
        if (below(2) == 0) {
          write(*thread.log(), InstantRecord{.ticks = ticks, .name = named, .arguments = {}});
        } else {
          write(*thread.log(), CounterRecord{.ticks = ticks, .name = named, .value = 0.5});
        }
      } else {
        thread.memory(now, below(2) == 0 ? 64 : -64);
      }
    }
  }

  void write_device_memory() {
    using Kind = AllocatorEvent::Kind;
    DeviceMemory memory;
    memory.start(1, {.allocated = 4096, .active = 4096, .reserved = 8192});
    AllocatorTotals totals = {.allocated = 4096, .active = 4096, .reserved = 8192};
    for (std::uint64_t at = 0; at < 20'000; at += static_cast<std::uint64_t>(below(4000))) {
      const HandWritten::Thread& thread =
          threads_[static_cast<std::size_t>(below(static_cast<int>(threads_.size())))];
      constexpr std::array kKinds = {Kind::allocate, Kind::free, Kind::out_of_memory, Kind::other};
      const AllocatorEvent event = {.kind = kKinds[static_cast<std::size_t>(below(4))],
                                    .device = 1,
                                    .address = 4096U * static_cast<std::uint64_t>(1 + below(3)),
                                    .requested = 512};
      memory.add(event, totals, written_.start() + at, thread.log());
      totals.allocated += event.kind == Kind::allocate ? 512 : 0;
    }
    memory.close();
    memory.end(1, totals);
    written_.recording->add_device_memory(std::move(memory));
  }

  void write_devices() {
    DeviceTrace trace;
    trace.devices.push_back({.id = 0, .name = "a \"GPU\"", .multiprocessors = 8});
    trace.interface_version = 130001;
    trace.names = {"", "cudaLaunchKernel", "_Z4gemmPfS_", "cuLaunchKernel", "range \xff"};
    trace.functions = {{.number = 211, .name = 1},
                       {.number = 307, .name = 3, .library = ApiLibrary::driver}};
    trace.launches.push_back({.name = 2, .grid = {2, 1, 1}, .block = {32, 1, 1}});
    for (std::uint32_t correlation = 1; correlation < 20; ++correlation) {
      const std::uint64_t start = written_.start() + static_cast<std::uint64_t>(below(20'000));
      trace.calls.push_back({.start_ticks = start,
                             .end_ticks = start + 200,
                             .thread = static_cast<std::uint32_t>(41 + below(3)),
                             .correlation = correlation + static_cast<std::uint32_t>(below(2)),
                             .function = static_cast<std::uint32_t>(below(2))});
      DeviceActivity activity = {.start_ticks = start + static_cast<std::uint64_t>(below(900)),
                                 .correlation = correlation,
                                 .kind = static_cast<DeviceActivityKind>(below(3))};
      activity.end_ticks = activity.start_ticks + static_cast<std::uint64_t>(below(900));
      activity.place = {.device = static_cast<std::uint32_t>(below(2)),
                        .context = static_cast<std::uint32_t>(below(2)),
                        .stream = static_cast<std::uint32_t>(7 + below(2))};
      if (activity.kind != DeviceActivityKind::kernel) {
        activity.transfer = {.bytes = 4096,
                             .copy_kind = static_cast<std::uint8_t>(below(13)),
                             .from_memory = static_cast<std::uint8_t>(below(9)),
                             .to_memory = static_cast<std::uint8_t>(below(9))};
      }
      trace.activities.push_back(activity);
      if (rarely()) {
        trace.synchronizations.push_back(
            {.start_ticks = start,
             .end_ticks = start + 50,
             .context = static_cast<std::uint32_t>(below(3)),
             .stream = below(2) == 0 ? DeviceSynchronization::kNoStream : 7U,
             .correlation = correlation,
             .event = DeviceSynchronization::kNoEvent,
             .kind = static_cast<std::uint8_t>(below(6))});
        trace.overheads.push_back({.start_ticks = start,
                                   .end_ticks = start + 9,
                                   .kind = static_cast<std::uint32_t>(below(3)) << 16});
        trace.markers.push_back(
            {.start_ticks = start, .end_ticks = start + 700, .thread = 41, .name = 4});
      }
    }
    written_.device(std::move(trace));
  }

  std::mt19937 random_;
  std::array<char, 3> bytes_ = {};
  bool has_modules_ = false;
  bool crosses_ = below(2) == 0;  // some ranges are not inside or after others
  HandWritten written_;
  std::vector<HandWritten::Thread> threads_;
  std::deque<InputsWriter> inputs_;
  std::deque<RangeArgumentsWriter> arguments_;
  std::uint64_t key_ = 0;
};

}  // namespace tbtrace::recorder
