// pprof's profile.proto: how often each stack ran, its own time on the host, and the time of the
// device work that it launched, with the rank, the step and the thread or stream as labels.
// Source of the fields: proto/profile.proto of github.com/google/pprof.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "analyses/attribution/owners.h"
#include "base/hash.h"
#include "trace/call_tree.h"
#include "trace/links.h"
#include "trace/self_times.h"
#include "wire/proto_writer.h"
#include "writers/exports/exporter.h"
#include "writers/exports/frame_names.h"
#include "writers/exports/stack_sums.h"

namespace tbtrace::writers {
namespace {

using wire::ProtoWriter;

namespace field {
constexpr std::uint32_t kSampleType = 1;  // of Profile
constexpr std::uint32_t kSample = 2;
constexpr std::uint32_t kLocation = 4;
constexpr std::uint32_t kFunction = 5;
constexpr std::uint32_t kText = 6;
constexpr std::uint32_t kTimeNs = 9;
constexpr std::uint32_t kDurationNs = 10;
constexpr std::uint32_t kDefaultType = 14;
constexpr std::uint32_t kLocations = 1;  // of Sample
constexpr std::uint32_t kValues = 2;
constexpr std::uint32_t kLabel = 3;
constexpr std::uint32_t kKey = 1;  // of Label
constexpr std::uint32_t kString = 2;
constexpr std::uint32_t kNumber = 3;
constexpr std::uint32_t kId = 1;    // of Location and Function
constexpr std::uint32_t kLine = 4;  // of Location
constexpr std::uint32_t kName = 2;  // of Function
}  // namespace field

/// The steps of a trace, by time.
class StepTimes {
 public:
  explicit StepTimes(const Trace& trace) : events_(trace.events()), steps_(trace.steps()) {}

  std::optional<std::int64_t> at(std::int64_t time_ns) const {
    const auto after = std::ranges::upper_bound(
        steps_, time_ns, {}, [&](const Step& step) { return events_.start_ns(step.event); });
    if (after == steps_.begin()) return std::nullopt;
    const Step& step = *(after - 1);
    return time_ns < events_.end_ns(step.event) ? std::optional(step.number) : std::nullopt;
  }

 private:
  const Events& events_;
  std::span<const Step> steps_;
};

struct Sample {
  std::uint32_t node = 0;
  TrackId track = {};
  std::optional<std::int64_t> step;
  std::uint64_t count = 0;
  std::int64_t cpu_ns = 0;
  std::int64_t device_ns = 0;
};

/// Sums by stack, track and step, in the order of their first.
class Samples {
 public:
  Sample& of(std::uint32_t node, TrackId track, std::optional<std::int64_t> step) {
    const std::uint64_t place = std::uint64_t{node} << 32 | index(track);
    const std::uint64_t key = hash_integer(place, static_cast<std::uint64_t>(step.value_or(-1)));
    for (auto [found, last] = numbers_.equal_range(key); found != last; ++found) {
      Sample& sample = samples_[found->second];
      if (sample.node == node && sample.track == track && sample.step == step) return sample;
    }
    numbers_.emplace(key, samples_.size());
    return samples_.emplace_back(Sample{.node = node, .track = track, .step = step});
  }

  const std::vector<Sample>& all() const { return samples_; }

 private:
  std::vector<Sample> samples_;
  std::unordered_multimap<std::uint64_t, std::size_t> numbers_;
};

class PprofExporter final : public Exporter {
 public:
  PprofExporter() { texts_.number(""); }  // the first has to be empty

  Status add(const ExportedTrace& exported, io::TextSink& out, ExportReport& report) override {
    const Trace& trace = exported.trace;
    FramesOfTrace names(trace, texts_);
    const auto frame_of = [&](EventId event) {
      const std::uint32_t name = names(event);
      return name == 0 ? texts_.number("[unnamed]") : name;
    };
    const Events& events = trace.events();
    const CallTree& tree = call_tree_of(trace);
    const StepTimes steps(trace);
    Samples samples;
    std::vector<std::uint32_t> nodes(events.size(), StackSums::kRoot);
    for (const EventId range : tree.ranges()) {
      const EventId parent = tree.parent(range);
      nodes[index(range)] = stacks_.child(
          parent == EventId::none ? StackSums::kRoot : nodes[index(parent)], frame_of(range));
      Sample& sample =
          samples.of(nodes[index(range)], events.track(range), steps.at(events.start_ns(range)));
      ++sample.count;
      sample.cpu_ns += self_times_of(trace).ns(range);
      ++report.ranges;
    }
    for (const DeviceLink& link : links_of(trace).device_work()) {
      const EventId owner = analyses::owner_of_work(tree, link);
      const std::uint32_t parent =
          owner == EventId::none ? stacks_.child(StackSums::kRoot, texts_.number("[unattributed]"))
                                 : nodes[index(owner)];
      const EventId cause = link.launch != EventId::none ? link.launch
                            : owner != EventId::none     ? owner
                                                         : link.activity;
      Sample& sample = samples.of(stacks_.child(parent, frame_of(link.activity)),
                                  events.track(link.activity), steps.at(events.start_ns(cause)));
      ++sample.count;
      sample.device_ns += events.duration_ns(link.activity);
      ++report.ranges;
    }
    write(exported, samples, out);
    if (exported.wall_ns && !started_ns_) {
      started_ns_ = bounded_sum(*exported.wall_ns, trace.window_start_ns());
    }
    duration_ns_ = std::max(duration_ns_,
                            bounded(WideInteger{trace.window_end_ns()} - trace.window_start_ns()));
    if (const std::size_t others = events.size() - count_of(samples); others > 0) {
      report.left_out
          ["ranges that are neither in stacks of the host nor kernels, memcpys or memsets"] +=
          others;
    }
    return {};
  }

  Status finish(io::TextSink& out, ExportReport& /*report*/) override {
    ProtoWriter profile(out.text());
    std::string bytes;
    for (const auto& [name, unit] :
         {std::pair{"count", "count"}, {"cpu_self", "nanoseconds"}, {"device", "nanoseconds"}}) {
      bytes.clear();
      ProtoWriter type(bytes);
      type.integer(1, texts_.number(name));
      type.integer(2, texts_.number(unit));
      profile.bytes(field::kSampleType, bytes);
    }
    profile.integer(field::kDefaultType, texts_.number("cpu_self"));
    if (started_ns_) profile.signed_integer(field::kTimeNs, *started_ns_);
    profile.signed_integer(field::kDurationNs, duration_ns_);
    std::vector<bool> is_frame(texts_.names().size());
    for (const StackSums::Node& node : stacks_.nodes()) is_frame[node.frame] = true;
    std::string line;
    for (std::uint32_t frame = 1; frame < is_frame.size(); ++frame) {
      if (!is_frame[frame]) continue;
      line.clear();
      ProtoWriter(line).integer(field::kId, frame);
      bytes.clear();
      ProtoWriter location(bytes);
      location.integer(field::kId, frame);
      location.bytes(field::kLine, line);
      profile.bytes(field::kLocation, bytes);
      bytes.clear();
      ProtoWriter function(bytes);
      function.integer(field::kId, frame);
      function.integer(field::kName, frame);
      profile.bytes(field::kFunction, bytes);
      out.flow();
    }
    for (const std::string& text : texts_.names()) {
      profile.bytes(field::kText, text);
      out.flow();
    }
    return {};
  }

 private:
  static std::size_t count_of(const Samples& samples) {
    std::size_t count = 0;
    for (const Sample& sample : samples.all()) count += sample.count;
    return count;
  }

  void add_label(std::string& sample, std::string_view key, std::uint32_t kind,
                 std::int64_t value) {
    std::string label;
    ProtoWriter out(label);
    out.integer(field::kKey, texts_.number(key));
    out.signed_integer(kind, value);
    ProtoWriter(sample).bytes(field::kLabel, label);
  }

  void write(const ExportedTrace& exported, const Samples& samples, io::TextSink& out) {
    struct Place {
      const char* kind;
      std::uint32_t text;
      std::uint32_t process;  // 0: of a stream, whose text has it
    };
    std::unordered_map<std::uint32_t, Place> places;
    for (const analyses::TimelineTrack& track : exported.tracks) {
      if (track.ranges == 0) continue;
      const bool is_stream = track.kind == analyses::TimelineTrackKind::stream;
      places.emplace(static_cast<std::uint32_t>(index(track.id)),
                     Place{is_stream ? "stream" : "thread",
                           texts_.number(is_stream ? track.process + " " + track.name : track.name),
                           is_stream ? 0 : texts_.number(track.process)});
    }
    const std::optional<std::int64_t> rank = exported.trace.identity().rank;
    std::string bytes;
    std::string packed;
    for (const Sample& sample : samples.all()) {
      bytes.clear();
      packed.clear();
      ProtoWriter one(bytes);
      for (std::uint32_t node = sample.node; node != StackSums::kRoot;
           node = stacks_.nodes()[node].parent) {
        ProtoWriter(packed).element(stacks_.nodes()[node].frame);
      }
      one.bytes(field::kLocations, packed);
      packed.clear();
      ProtoWriter values(packed);
      values.element(sample.count);
      values.element(static_cast<std::uint64_t>(sample.cpu_ns));
      values.element(static_cast<std::uint64_t>(sample.device_ns));
      one.bytes(field::kValues, packed);
      if (rank) {
        add_label(bytes, "rank", field::kNumber, *rank);
      } else if (!exported.name.empty()) {
        add_label(bytes, "trace", field::kString, texts_.number(exported.name));
      }
      if (sample.step) add_label(bytes, "step", field::kNumber, *sample.step);
      const Place& place = places.at(static_cast<std::uint32_t>(index(sample.track)));
      add_label(bytes, place.kind, field::kString, place.text);
      if (place.process != 0) add_label(bytes, "process", field::kString, place.process);
      ProtoWriter(out.text()).bytes(field::kSample, bytes);
      out.flow();
    }
  }

  FrameNames texts_;
  StackSums stacks_;
  std::optional<std::int64_t> started_ns_;
  std::int64_t duration_ns_ = 0;
};

}  // namespace

std::unique_ptr<Exporter> pprof_exporter() { return std::make_unique<PprofExporter>(); }

}  // namespace tbtrace::writers
