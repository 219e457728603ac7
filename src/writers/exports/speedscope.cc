// speedscope's own JSON: a profile for each thread and stream, with ranges in their order or, if
// there are too many for its page, as sums by stack; and device time by the stack on the host.
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <tbtrace/flame_graph.h>

#include "wire/json_text.h"
#include "writers/exports/exporter.h"
#include "writers/exports/frame_names.h"
#include "writers/exports/lane_events.h"
#include "writers/exports/stack_sums.h"

namespace tbtrace::writers {
namespace {

using analyses::TimelineTrack;
using analyses::TimelineTrackKind;

/// Its page fails at 300,000 events in a profile.
constexpr std::size_t kMostEvents = 200'000;

void append_number(std::string& json, std::int64_t value) { json += std::to_string(value); }

class SpeedscopeExporter final : public Exporter {
 public:
  Status add(const ExportedTrace& exported, io::TextSink& out, ExportReport& report) override {
    begin(out);
    FramesOfTrace frames(exported.trace, frames_);
    std::size_t first = 0;
    for (const TimelineTrack& track : exported.tracks) {
      const auto lanes = lane_events(exported, track, first, std::ref(frames));
      first += track.ranges;
      report.ranges += track.ranges;
      const std::string name = exported.prefix + track.name + " of " + track.process;
      for (std::size_t lane = 0; lane < lanes.size(); ++lane) {
        note_busiest(track, lanes[lane].size());
        const std::string number = lane == 0 ? "" : ", lane " + std::to_string(lane + 1);
        if (lanes[lane].size() <= kMostEvents) {
          write_events(name + number, lanes[lane], out);
        } else {
          report.left_out["ranges that are only in sums by stack: their tracks have too many"] +=
              lanes[lane].size() / 2;
          StackSums sums;
          sums.add(lanes[lane]);
          write_sums(name + number + ", sums by stack", sums, out);
        }
      }
    }
    return write_device_time(exported, out);
  }

  Status finish(io::TextSink& out, ExportReport& /*report*/) override {
    begin(out);
    out.text() += "\n],\n\"activeProfileIndex\":";
    append_number(out.text(), static_cast<std::int64_t>(busiest_));
    out.text() += ",\n\"shared\":{\"frames\":[";
    bool is_first = true;
    for (const std::string& name : frames_.names()) {
      out.text() += is_first ? "\n{\"name\":" : ",\n{\"name\":";
      is_first = false;
      wire::append_json_string(out.text(), name);
      out.text() += '}';
      out.flow();
    }
    out.text() += "\n]}}\n";
    return {};
  }

 private:
  void begin(io::TextSink& out) {
    if (has_begun_) return;
    has_begun_ = true;
    out.text() +=
        "{\"$schema\":\"https://www.speedscope.app/file-format-schema.json\","
        "\"exporter\":\"tbtrace\",\n\"profiles\":[";
  }

  /// Of the profile that is written next.
  void note_busiest(const TimelineTrack& track, std::size_t events) {
    if (track.kind == TimelineTrackKind::other || events <= most_events_) return;
    most_events_ = events;
    busiest_ = profiles_;
  }

  void start(std::string_view type, const std::string& name, std::int64_t from, std::int64_t to,
             io::TextSink& out) {
    std::string& json = out.text();
    json += profiles_++ == 0 ? "\n{\"type\":\"" : ",\n{\"type\":\"";
    json += type;
    json += "\",\"name\":";
    wire::append_json_string(json, to_utf8(name));
    json += ",\"unit\":\"nanoseconds\",\"startValue\":";
    append_number(json, from);
    json += ",\"endValue\":";
    append_number(json, to);
  }

  void write_events(const std::string& name, const std::vector<LaneEvent>& events,
                    io::TextSink& out) {
    start("evented", name, events.front().time_ns, events.back().time_ns, out);
    out.text() += ",\"events\":[";
    bool is_first = true;
    for (const LaneEvent& event : events) {
      std::string& json = out.text();
      json += is_first ? "\n" : ",\n";
      is_first = false;
      json += event.is_begin ? "{\"type\":\"O\",\"frame\":" : "{\"type\":\"C\",\"frame\":";
      append_number(json, event.frame);
      json += ",\"at\":";
      append_number(json, event.time_ns);
      json += '}';
      out.flow();
    }
    out.text() += "]}";
  }

  void write_sums(const std::string& name, const StackSums& sums, io::TextSink& out) {
    std::string weights;
    std::string samples;
    std::int64_t total = 0;
    for (std::uint32_t node = 1; node < sums.nodes().size(); ++node) {
      const std::int64_t self = sums.nodes()[node].self_ns;
      if (self == 0) continue;
      samples += total == 0 ? "\n[" : ",\n[";
      weights += total == 0 ? "" : ",";
      total += self;
      append_number(weights, self);
      bool is_first = true;
      for (const std::uint32_t frame : sums.frames(node)) {
        if (!is_first) samples += ',';
        is_first = false;
        append_number(samples, frame);
      }
      samples += ']';
    }
    start("sampled", name, 0, total, out);
    out.text() += ",\"samples\":[" + samples + "],\"weights\":[" + weights + "]}";
    out.flow();
  }

  Status write_device_time(const ExportedTrace& exported, io::TextSink& out) {
    const Result<StackTree> stacks =
        flame_graph(exported.trace, {.weight = "self_device_time_total", .all_frames = true});
    if (!stacks.ok()) return stacks.status();
    if (stacks->total() == 0) return {};
    StackSums sums;
    std::vector<std::uint32_t> nodes(stacks->size(), StackSums::kRoot);
    for (StackTree::Node node = 1; node < stacks->size(); ++node) {
      const std::uint32_t frame = frames_.number(stacks->frame(node));
      nodes[node] = sums.child(nodes[stacks->parent(node)], frame);
      sums.add(nodes[node], stacks->self(node));
    }
    write_sums(exported.prefix + "device time by the stack on the host", sums, out);
    return {};
  }

  FrameNames frames_;
  std::size_t profiles_ = 0;
  std::size_t busiest_ = 0;
  std::size_t most_events_ = 0;
  bool has_begun_ = false;
};

}  // namespace

std::unique_ptr<Exporter> speedscope_exporter() { return std::make_unique<SpeedscopeExporter>(); }

}  // namespace tbtrace::writers
