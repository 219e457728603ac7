// Rows of random recordings, against the trace that a reader makes of the recording's text.
#include "recorder/window/rows.h"

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

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/utf8.h"
#include "fixtures/random_rounds.h"
#include "recorder/log/device_memory.h"
#include "recorder/log/inputs.h"
#include "recorder/log/module_map.h"
#include "recorder/window/hand_written.h"
#include "recorder/window/head.h"
#include "recorder/window/read_window.h"
#include "trace/trace_builder.h"

namespace tbtrace::recorder {
namespace {

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

  WindowPointer window() { return written_.window(); }

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
            rarely() ? static_cast<std::size_t>(below(static_cast<int>(open.size())))
                     : open.size() - 1;
        HandWritten::Thread& at =
            rarely() ? threads_[static_cast<std::size_t>(below(static_cast<int>(threads_.size())))]
                     : thread;
        at.end(now, open[which], rarely());
        open.erase(open.begin() + static_cast<std::ptrdiff_t>(which));
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
  HandWritten written_;
  std::vector<HandWritten::Thread> threads_;
  std::deque<InputsWriter> inputs_;
  std::uint64_t key_ = 0;
};

Trace of_rows(const Window& window) {
  TraceBuilder builder;
  for (const auto& [key, json] : trace_members(window)) {
    builder.set_metadata(is_utf8(key) ? key : to_utf8(key), json);
  }
  pass_rows(window, builder);
  return std::move(builder).finish();
}

Trace of_text(const WindowPointer& window) {
  Result<Trace> trace = fixtures::trace_of(
      readers::read_source(std::make_unique<WindowText>(window, true), {.threads = 1}));
  EXPECT_TRUE(trace.ok()) << trace.status().message();
  EXPECT_THAT(trace->issues(), testing::IsEmpty());
  return *std::move(trace);
}

std::string track_text(const Trace& trace, TrackId id) {
  const Track& track = trace.track(id);
  const auto key = [&](const TrackKey& one) {
    return fmt::format("{}/{}", one.number, trace.string(one.text));
  };
  return fmt::format("{} {} '{}' '{}'", key(track.process), key(track.thread),
                     trace.string(track.process_name), trace.string(track.thread_name));
}

/// All that a trace holds, a line for each row. Ids of texts, tracks and categories are the
/// builder's own, so they stand for what they mean.
std::vector<std::string> lines_of(const Trace& trace) {
  std::vector<std::string> lines;
  for (std::uint32_t row = 0; row < trace.events().size(); ++row) {
    const auto event = static_cast<EventId>(row);
    const Events& events = trace.events();
    std::string line = fmt::format(
        "event {} +{} '{}' [{} {} {}] {} flags {}{}{}{}{} ids {} {}", events.start_ns(event),
        events.duration_ns(event), trace.name(event), trace.string(trace.category(event).name),
        static_cast<int>(trace.kind(event)), static_cast<int>(trace.category(event).device),
        track_text(trace, events.track(event)), events.unfinished(event),
        events.is_python_frame(event), events.is_module(event), events.has_zero_external_id(event),
        events.is_asynchronous(event), trace.external_id(event), trace.correlation(event));
    for (std::size_t number = 0; number < kArgumentCount; ++number) {
      const auto argument = static_cast<Argument>(number);
      const ArgumentColumn& column = trace.argument(argument);
      if (!column.has(event)) continue;
      line +=
          fmt::format(" {}={}", argument_row(argument).name,
                      column.integer(event) ? std::to_string(*column.integer(event))
                                            : std::string(trace.argument_text(event, argument)));
    }
    lines.push_back(line);
  }
  for (const EventId event : trace.by_start())
    lines.push_back(fmt::format("next {}", index(event)));
  for (const MemoryRecord& record : trace.memory()) {
    lines.push_back(fmt::format(
        "memory {} {} {} {} rank {} device {} {} {}", record.time_ns, record.bytes,
        record.total_allocated_bytes, track_text(trace, record.track), record.event_rank,
        static_cast<int>(record.device_type), record.device_id, record.out_of_memory));
  }
  for (std::size_t number = 0; number < kArgumentCount; ++number) {
    const std::size_t values = trace.memory_argument(static_cast<Argument>(number)).size();
    if (values > 0) lines.push_back(fmt::format("memory argument {}: {}", number, values));
  }
  for (const FlowEnd& end : trace.flows()) {
    lines.push_back(fmt::format("flow {} {} {} {} {}", end.id, end.time_ns,
                                track_text(trace, end.track), static_cast<int>(end.type),
                                end.start));
  }
  std::vector<std::string> tracks;
  for (std::uint32_t track = 0; track < trace.tracks().size(); ++track) {
    tracks.push_back("track " + track_text(trace, static_cast<TrackId>(track)));
  }
  std::sort(tracks.begin(), tracks.end());
  lines.insert(lines.end(), tracks.begin(), tracks.end());
  for (const Step& step : trace.steps()) {
    lines.push_back(fmt::format("step {} {}", step.number, index(step.event)));
  }
  for (const auto& [key, json] : trace.metadata()) lines.push_back("member " + key + ": " + json);
  lines.push_back(fmt::format("times {} {} {} {} {} device {}", trace.base_time_ns(),
                              trace.first_time_ns(), trace.window_start_ns(), trace.window_end_ns(),
                              trace.has_window(),
                              trace.device() ? static_cast<int>(*trace.device()) : -1));
  return lines;
}

TEST(WindowRows, AreThoseThatAReaderMakesOfTheText) {
  std::size_t with_work = 0;
  std::size_t with_modules = 0;
  for (unsigned seed = 0; seed < fixtures::random_rounds(150u); ++seed) {
    const WindowPointer window = RandomWindow(seed).window();
    with_work += window->device_trace() != nullptr ? 1 : 0;
    with_modules += window->modules().frames.empty() ? 0 : 1;
    const auto rows = lines_of(of_rows(*window));
    const auto of_reader = lines_of(of_text(window));
    ASSERT_EQ(rows.size(), of_reader.size()) << "seed " << seed;
    for (std::size_t row = 0; row < rows.size(); ++row) {
      ASSERT_EQ(rows[row], of_reader[row]) << "seed " << seed;
    }
  }
  EXPECT_GT(with_work, fixtures::random_rounds(20));
  EXPECT_GT(with_modules, fixtures::random_rounds(20));
}

TEST(WindowRows, ManyArePassedOnInSeveralParts) {
  HandWritten written;
  auto thread = written.thread();
  for (std::uint64_t range = 0; range < 10'000; ++range) {
    thread.range(range * 4, range * 4 + 2, "op " + std::to_string(range % 7),
                 {.sequence_number = static_cast<std::int64_t>(range)});
  }
  const WindowPointer window = written.window();
  EXPECT_EQ(lines_of(of_rows(*window)), lines_of(of_text(window)));
}

TEST(WindowRows, OfNothing) {
  HandWritten written;
  const WindowPointer window = written.window();
  EXPECT_EQ(lines_of(of_rows(*window)), lines_of(of_text(window)));
}

}  // namespace
}  // namespace tbtrace::recorder
