// Perfetto's track events. Ranges are pairs of begin and end on tracks on which they nest; times
// count from the earliest one of their trace, whose own time is in the first packet.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "analyses/timeline/flows.h"
#include "base/bounded_sum.h"
#include "trace/event_batch.h"
#include "writers/exports/exporter.h"
#include "writers/exports/lanes.h"
#include "writers/exports/perfetto_arguments.h"
#include "writers/exports/perfetto_packets.h"
#include "writers/exports/perfetto_places.h"

namespace tbtrace::writers {
namespace {

using analyses::TimelineFlow;
using analyses::TimelineFlows;
using analyses::TimelineTrack;
using perfetto::PerfettoIds;
using wire::ProtoWriter;

namespace event = perfetto::event;

/// One end of a flow, at a range by its number.
struct FlowMark {
  std::uint32_t range = 0;
  std::uint64_t id = 0;
};

/// One trace of the file.
class Part {
 public:
  Part(const ExportedTrace& exported, PerfettoIds& ids, io::TextSink& out, ExportReport& report)
      : exported_(exported),
        trace_(exported.trace),
        report_(report),
        ids_(ids),
        packets_(out, ++ids.last_sequence),
        places_(exported, ids, packets_),
        annotations_(trace_, packets_) {}

  void write() {
    const WideInteger zero =
        WideInteger{exported_.first_ns} + exported_.wall_ns.value_or(trace_.base_time_ns());
    // Perfetto's times are not negative.
    const bool has_time = zero >= 0;
    packets_.begin(has_time ? static_cast<std::uint64_t>(bounded(zero)) : 0,
                   has_time && exported_.wall_ns.has_value());
    find_flows();
    std::size_t first = 0;
    for (const TimelineTrack& track : exported_.tracks) {
      write_ranges(track, first);
      first += track.ranges;
    }
    write_instants();
    write_failed_allocations();
    for (const ExportedCounter& counter : exported_.counters) write_counter(counter);
  }

 private:
  std::uint64_t time(std::int64_t time_ns) const {
    return static_cast<std::uint64_t>(exported_.since_first(time_ns));
  }

  void find_flows() {
    const Events& events = trace_.events();
    std::uint64_t backwards = 0;
    for (const TimelineFlows& kind :
         analyses::timeline_flows(trace_, exported_.tracks, exported_.events)) {
      for (const TimelineFlow& flow : kind.flows) {
        // Perfetto leads a flow from the earlier to the later one.
        if (events.start_ns(exported_.events[flow.to]) <
            events.start_ns(exported_.events[flow.from])) {
          ++backwards;
          continue;
        }
        const std::uint64_t id = ++ids_.last_flow;
        starts_.push_back({flow.from, id});
        ends_.push_back({flow.to, id});
      }
    }
    std::ranges::stable_sort(starts_, {}, &FlowMark::range);
    std::ranges::stable_sort(ends_, {}, &FlowMark::range);
    report_.flows += starts_.size();
    if (backwards > 0)
      report_.left_out["flows to a range that begins before their start"] += backwards;
  }

  void write_end(std::uint64_t track, std::int64_t time_ns) {
    bytes_.clear();
    ProtoWriter out(bytes_);
    out.integer(event::kType, event::kEnd);
    out.integer(event::kTrack, track);
    packets_.event(time(time_ns), bytes_);
  }

  void write_ranges(const TimelineTrack& track, std::size_t first) {
    Lanes lanes;
    const auto end = [&](std::size_t lane, std::int64_t time_ns) {
      write_end(places_.lane(track, lane), time_ns);
    };
    const Events& events = trace_.events();
    auto start = std::ranges::lower_bound(starts_, first, {}, &FlowMark::range);
    auto stop = std::ranges::lower_bound(ends_, first, {}, &FlowMark::range);
    for (std::size_t range = first; range < first + track.ranges; ++range) {
      const EventId of = exported_.events[range];
      const std::size_t lane = lanes.place(events.start_ns(of), events.end_ns(of), end);
      const std::uint64_t place = places_.lane(track, lane);
      bytes_.clear();
      begin_event(event::kBegin, place, events.name(of));
      if (const Category& category = trace_.category(of); category.name != StringId::empty) {
        ProtoWriter(bytes_).integer(
            event::kCategoryIid, packets_.categories().iid(static_cast<std::size_t>(category.name),
                                                           trace_.string(category.name)));
      }
      annotations_.append(bytes_, of);
      for (; start != starts_.end() && start->range == range; ++start) {
        ProtoWriter(bytes_).fixed64(event::kFlow, start->id);
      }
      for (; stop != ends_.end() && stop->range == range; ++stop) {
        ProtoWriter(bytes_).fixed64(event::kEndOfFlow, stop->id);
      }
      packets_.event(time(events.start_ns(of)), bytes_);
    }
    lanes.finish(end);
    report_.ranges += track.ranges;
  }

  void begin_event(std::uint64_t type, std::uint64_t track, StringId name) {
    ProtoWriter out(bytes_);
    out.integer(event::kType, type);
    out.integer(event::kTrack, track);
    out.integer(event::kNameIid,
                packets_.names().iid(static_cast<std::size_t>(name), trace_.string(name)));
  }

  void write_instants() {
    for (const Instant& instant : instants_of(trace_)) {
      const std::uint64_t track = places_.thread(instant.process, instant.thread);
      bytes_.clear();
      begin_event(event::kInstant, track, instant.name);
      if (instant.arguments != StringId::empty) {
        annotations_.append_text(bytes_, "arguments", instant.arguments);
      }
      packets_.event(time(instant.time_ns), bytes_);
      ++report_.instants;
    }
  }

  void write_failed_allocations() {
    for (const MemoryRecord& record : trace_.memory()) {
      if (!record.out_of_memory) continue;
      const Track& thread = trace_.track(record.track);
      const std::uint64_t track = places_.thread(thread.process, thread.thread);
      bytes_.clear();
      ProtoWriter out(bytes_);
      out.integer(event::kType, event::kInstant);
      out.integer(event::kTrack, track);
      out.bytes(event::kName, "[OutOfMemory]");
      annotations_.append_integer(bytes_, "Bytes", record.bytes);
      packets_.event(time(record.time_ns), bytes_);
      ++report_.instants;
    }
  }

  void write_counter(const ExportedCounter& counter) {
    const std::uint64_t track = places_.counter(counter);
    for (const ExportedCounter::Value& each : counter.values) {
      bytes_.clear();
      ProtoWriter out(bytes_);
      out.integer(event::kType, event::kCounter);
      out.integer(event::kTrack, track);
      if (std::abs(each.value) < 9e15 && each.value == std::floor(each.value)) {
        out.signed_integer(event::kCounterValue, static_cast<std::int64_t>(each.value));
      } else {
        out.real(event::kDoubleCounterValue, each.value);
      }
      packets_.event(time(each.time_ns), bytes_);
    }
    report_.counter_values += counter.values.size();
  }

  const ExportedTrace& exported_;
  const Trace& trace_;
  ExportReport& report_;
  PerfettoIds& ids_;
  perfetto::Packets packets_;
  perfetto::Places places_;
  perfetto::Annotations annotations_;
  std::vector<FlowMark> starts_;
  std::vector<FlowMark> ends_;
  std::string bytes_;
};

class PerfettoExporter final : public Exporter {
 public:
  Status add(const ExportedTrace& exported, io::TextSink& out, ExportReport& report) override {
    Part(exported, ids_, out, report).write();
    return {};
  }

 private:
  PerfettoIds ids_;
};

}  // namespace

std::unique_ptr<Exporter> perfetto_exporter() { return std::make_unique<PerfettoExporter>(); }

}  // namespace tbtrace::writers
