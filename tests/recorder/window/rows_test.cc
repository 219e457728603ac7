// Rows of random recordings, against the trace that a reader makes of the recording's file.
#include "recorder/window/rows.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fixtures/random_rounds.h"
#include "recorder/window/hand_written.h"
#include "recorder/window/head.h"
#include "recorder/window/random_window.h"
#include "recorder/window/read_window.h"
#include "trace/trace_builder.h"

namespace tbtrace::recorder {
namespace {

Trace of_rows(const Window& window, ArgumentSet arguments) {
  TraceBuilder builder;
  for (const auto& [key, json] : trace_members(window)) builder.set_metadata(key, json);
  pass_rows(window, {.arguments = arguments}, builder);
  return std::move(builder).finish();
}

std::string track_text(const Trace& trace, TrackId id) {
  const Track& track = trace.track(id);
  const auto key = [&](const TrackKey& one) {
    return fmt::format("{}/{}", one.number, trace.string(one.text));
  };
  return fmt::format("{} {} '{}' '{}'", key(track.process), key(track.thread),
                     trace.string(track.process_name), trace.string(track.thread_name));
}

std::string value_text(const Trace& trace, EventId event, Argument argument) {
  const ArgumentColumn& column = trace.argument(argument);
  if (const auto integer = column.integer(event)) return std::to_string(*integer);
  if (const auto real = column.real(event)) return fmt::format("{}", *real);
  if (const auto sizes = column.dim3(event)) {
    return fmt::format("{} {} {}", sizes->x, sizes->y, sizes->z);
  }
  return std::string(trace.argument_text(event, argument));
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
          fmt::format(" {}={}", argument_row(argument).name, value_text(trace, event, argument));
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
    const ArgumentColumn& column = trace.memory_argument(static_cast<Argument>(number));
    for (std::size_t record = 0; record < trace.memory().size(); ++record) {
      if (const auto value = column.integer(record)) {
        lines.push_back(fmt::format("memory {} argument {}: {}", record, number, *value));
      }
    }
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

void expect_same(const WindowPointer& window, ArgumentSet arguments) {
  const auto rows = lines_of(of_rows(*window, arguments));
  const auto of_file = lines_of(read(window, arguments, true));
  ASSERT_EQ(rows.size(), of_file.size());
  for (std::size_t row = 0; row < rows.size(); ++row) ASSERT_EQ(rows[row], of_file[row]);
}

TEST(WindowRows, AreThoseThatAReaderMakesOfTheFile) {
  std::size_t with_work = 0;
  std::size_t with_modules = 0;
  for (unsigned seed = 0; seed < fixtures::random_rounds(300U); ++seed) {
    SCOPED_TRACE(seed);
    const WindowPointer window = RandomWindow(seed).window();
    with_work += window->device_trace() != nullptr ? 1 : 0;
    with_modules += window->modules().frames.empty() ? 0 : 1;
    expect_same(window, seed % 2 == 0 ? kOperatorArguments : ArgumentSet::all());
    if (HasFatalFailure()) return;
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
  expect_same(written.window(), ArgumentSet::all());
}

TEST(WindowRows, OfNothing) { expect_same(HandWritten().window(), ArgumentSet::all()); }

}  // namespace
}  // namespace tbtrace::recorder
