// Firefox profiler's Gecko format, version 31: every range as a marker with its exact times, and
// stacks in regular steps of time for its call tree. A process for each trace, a thread for each
// track. Later versions of the profiler upgrade this one when they load it.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "analyses/timeline/arguments.h"
#include "trace/event_batch.h"
#include "wire/json_text.h"
#include "writers/exports/exporter.h"
#include "writers/exports/frame_names.h"
#include "writers/exports/lane_events.h"
#include "writers/exports/stack_sums.h"

namespace tbtrace::writers {
namespace {

using analyses::TimelineTrack;

/// Samples of a thread, at most.
constexpr std::int64_t kSamples = 10'000;

struct MarkerCategory {
  const char* name;
  const char* color;
};

constexpr std::array kCategories = {
    MarkerCategory{"Other", "grey"},        MarkerCategory{"Operators", "blue"},
    MarkerCategory{"Annotations", "green"}, MarkerCategory{"Python", "yellow"},
    MarkerCategory{"Calls", "orange"},      MarkerCategory{"Kernels", "purple"},
    MarkerCategory{"Copies", "brown"},
};

std::size_t category_of(EventKind kind) {
  switch (kind) {
    case EventKind::cpu_op:
      return 1;
    case EventKind::user_annotation:
    case EventKind::gpu_user_annotation:
      return 2;
    case EventKind::python_function:
      return 3;
    case EventKind::runtime:
      return 4;
    case EventKind::kernel:
      return 5;
    case EventKind::gpu_memcpy:
    case EventKind::gpu_memset:
      return 6;
    default:
      return 0;
  }
}

/// Its times are milliseconds.
void append_ms(std::string& json, std::int64_t ns) {
  fmt::format_to(std::back_inserter(json), "{}.{:06}", ns / 1'000'000, ns % 1'000'000);
}

void append_key(std::string& json, std::string_view key) {
  wire::append_json_string(json, key);
  json += ':';
}

class FirefoxExporter final : public Exporter {
 public:
  Status add(const ExportedTrace& exported, io::TextSink& out, ExportReport& report) override {
    // The first is the profile, the others are in it.
    if (traces_ > 0) out.text() += traces_ == 1 ? "],\"processes\":[\n" : "],\"processes\":[]},\n";
    ++traces_;
    const Events& events = exported.trace.events();
    std::int64_t last_ns = 0;
    for (const EventId event : exported.events) {
      last_ns = std::max(last_ns, exported.since_first(events.end_ns(event)));
    }
    interval_ns_ = std::max<std::int64_t>(1000, last_ns / kSamples + 1);
    write_meta(exported, out);
    std::size_t first = 0;
    bool is_first = true;
    for (const TimelineTrack& track : exported.tracks) {
      out.text() += is_first ? "\n" : ",\n";
      is_first = false;
      write_thread(exported, track, first, out);
      first += track.ranges;
      report.ranges += track.ranges;
    }
    for (const Instant& instant : instants_of(exported.trace)) {
      report.instants += has_track(exported, instant) ? 1 : 0;
    }
    return {};
  }

  Status finish(io::TextSink& out, ExportReport& /*report*/) override {
    if (traces_ == 0) return {};
    out.text() += traces_ == 1 ? "],\"processes\":[]}\n" : "],\"processes\":[]}\n]}\n";
    return {};
  }

 private:
  static bool has_track(const ExportedTrace& exported, const Instant& instant) {
    return std::ranges::any_of(exported.tracks, [&](const TimelineTrack& track) {
      return track.process_key == instant.process && track.thread_key == instant.thread;
    });
  }

  void write_meta(const ExportedTrace& exported, io::TextSink& out) const {
    std::string& json = out.text();
    json += "{\"meta\":{\"version\":31,\"startTime\":";
    append_ms(json, std::max<std::int64_t>(
                        0, bounded(WideInteger{exported.first_ns} + exported.wall_ns.value_or(0))));
    json += ",\"interval\":";
    append_ms(json, interval_ns_);
    json +=
        ",\"stackwalk\":0,\"debug\":0,\"gcpoison\":0,\"asyncstack\":0,\"processType\":0,"
        "\"shutdownTime\":null,\"product\":\"tbtrace\",\"presymbolicated\":true,\"categories\":[";
    for (const MarkerCategory& category : kCategories) {
      if (&category != kCategories.data()) json += ',';
      json += fmt::format(R"({{"name":"{}","color":"{}","subcategories":["Other"]}})",
                          category.name, category.color);
    }
    json +=
        "],\"markerSchema\":[{\"name\":\"range\",\"display\":[\"marker-chart\",\"marker-table\"],"
        "\"isStackBased\":true,\"data\":[{\"key\":\"kind\",\"label\":\"category\","
        "\"format\":\"string\",\"searchable\":true}";
    for (std::size_t number = 0; number < kArgumentCount; ++number) {
      const std::string_view key = argument_row(static_cast<Argument>(number)).keys.front();
      json += ",{\"key\":";
      wire::append_json_string(json, key);
      json += ",\"label\":";
      wire::append_json_string(json, key);
      json += ",\"format\":\"string\"}";
    }
    json += "]}]},\"libs\":[],\"pausedRanges\":[],\"threads\":[";
  }

  void write_thread(const ExportedTrace& exported, const TimelineTrack& track, std::size_t first,
                    io::TextSink& out) {
    const Trace& trace = exported.trace;
    FrameNames texts;
    FramesOfTrace frames(trace, texts);
    std::string& json = out.text();
    json += "{\"name\":";
    wire::append_json_string(json, to_utf8(exported.prefix + track.name));
    json += ",\"processName\":";
    wire::append_json_string(json, to_utf8(exported.prefix + track.process));
    json += fmt::format(
        ",\"processType\":\"default\",\"pid\":{},\"tid\":{},\"registerTime\":0,"
        "\"unregisterTime\":null,",
        traces_, ++threads_);
    json +=
        "\"markers\":{\"schema\":{\"name\":0,\"startTime\":1,\"endTime\":2,\"phase\":3,"
        "\"category\":4,\"data\":5},\"data\":[";
    std::vector<std::size_t> category_of_frame;
    bool is_first = true;
    for (std::size_t range = first; range < first + track.ranges; ++range) {
      const EventId event = exported.events[range];
      const std::uint32_t frame = frames(event);
      const std::size_t category = category_of(trace.kind(event));
      if (frame >= category_of_frame.size()) category_of_frame.resize(frame + 1, 0);
      category_of_frame[frame] = category;
      out.text() += is_first ? "\n[" : ",\n[";
      is_first = false;
      out.text() += std::to_string(frame) + ",";
      append_ms(out.text(), exported.since_first(trace.events().start_ns(event)));
      out.text() += ',';
      append_ms(out.text(), exported.since_first(trace.events().end_ns(event)));
      out.text() += ",1," + std::to_string(category) + ",{\"type\":\"range\",\"kind\":";
      wire::append_json_string(out.text(), trace.string(trace.category(event).name));
      for (const Argument argument : analyses::arguments_of(trace, event)) {
        const std::string value = analyses::argument_json(trace, event, argument);
        if (value.empty()) continue;
        out.text() += ',';
        append_key(out.text(), argument_row(argument).keys.front());
        // Lists are shown as the text that they are.
        if (value.front() == '[' || value.front() == '{') {
          wire::append_json_string(out.text(), value);
        } else {
          out.text() += value;
        }
      }
      out.text() += "}]";
      out.flow();
    }
    for (const Instant& instant : instants_of(trace)) {
      if (track.process_key != instant.process || track.thread_key != instant.thread) continue;
      out.text() += is_first ? "\n[" : ",\n[";
      is_first = false;
      out.text() += std::to_string(texts.number(trace.string(instant.name))) + ",";
      append_ms(out.text(), exported.since_first(instant.time_ns));
      out.text() += ",null,0,0,null]";
    }
    out.text() += "]},\n";
    write_samples(lane_events(exported, track, first, std::ref(frames)), category_of_frame, out);
    out.text() += ",\n\"stringTable\":[";
    is_first = true;
    for (const std::string& text : texts.names()) {
      if (!is_first) out.text() += ',';
      is_first = false;
      wire::append_json_string(out.text(), text);
      out.flow();
    }
    out.text() += "]}";
  }

  /// Of the first lane: what was open after each interval.
  void write_samples(const std::vector<std::vector<LaneEvent>>& lanes,
                     const std::vector<std::size_t>& category_of_frame, io::TextSink& out) const {
    StackSums stacks;
    out.text() += "\"samples\":{\"schema\":{\"stack\":0,\"time\":1,\"eventDelay\":2},\"data\":[";
    std::vector<std::uint32_t> open = {StackSums::kRoot};
    std::int64_t next_ns = 0;
    bool is_first = true;
    for (const LaneEvent& event : lanes.empty() ? std::vector<LaneEvent>() : lanes.front()) {
      for (; next_ns < event.time_ns; next_ns += interval_ns_) {
        if (open.size() == 1) continue;
        out.text() += is_first ? "[" : ",[";
        is_first = false;
        out.text() += std::to_string(open.back() - 1) + ",";
        append_ms(out.text(), next_ns);
        out.text() += ",0]";
        out.flow();
      }
      if (event.is_begin) {
        open.push_back(stacks.child(open.back(), event.frame));
      } else {
        open.pop_back();
      }
    }
    out.text() += "]},\n\"stackTable\":{\"schema\":{\"prefix\":0,\"frame\":1},\"data\":[";
    for (std::uint32_t node = 1; node < stacks.nodes().size(); ++node) {
      const StackSums::Node& stack = stacks.nodes()[node];
      const std::string prefix =
          stack.parent == StackSums::kRoot ? "null" : std::to_string(stack.parent - 1);
      out.text() += fmt::format("{}[{},{}]", node == 1 ? "" : ",", prefix, stack.frame);
      out.flow();
    }
    out.text() +=
        "]},\n\"frameTable\":{\"schema\":{\"location\":0,\"relevantForJS\":1,\"innerWindowID\":2,"
        "\"implementation\":3,\"line\":4,\"column\":5,\"category\":6,\"subcategory\":7},\"data\":[";
    for (std::size_t frame = 0; frame < category_of_frame.size(); ++frame) {
      out.text() += fmt::format("{}[{},false,0,null,null,null,{},0]", frame == 0 ? "" : ",", frame,
                                category_of_frame[frame]);
      out.flow();
    }
    out.text() += "]}";
  }

  std::size_t traces_ = 0;
  std::size_t threads_ = 0;
  std::int64_t interval_ns_ = 1000;
};

}  // namespace

std::unique_ptr<Exporter> firefox_exporter() { return std::make_unique<FirefoxExporter>(); }

}  // namespace tbtrace::writers
