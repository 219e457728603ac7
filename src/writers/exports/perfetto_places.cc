#include "writers/exports/perfetto_places.h"

#include <algorithm>
#include <limits>
#include <optional>

#include "base/utf8.h"
#include "trace/track_keys.h"

namespace tbtrace::writers::perfetto {
namespace {

using analyses::TimelineTrack;
using analyses::TimelineTrackKind;
using wire::ProtoWriter;

/// Where numbers begin that stand for ids that Perfetto has no room for. Those of Linux are below.
constexpr std::int64_t kFirstMade = 1'000'000'000;

/// An id as a number that is not taken; `is_own`: it is the one in the file.
struct Number {
  std::int64_t number = 0;
  bool is_own = false;
};

Number number_of(const TrackKey& key, std::unordered_set<std::int64_t>& taken) {
  const bool fits = key.text == StringId::empty && !key.is_unsigned && key.number > 0 &&
                    key.number <= std::numeric_limits<std::int32_t>::max();
  if (fits && taken.insert(key.number).second) return {key.number, true};
  auto made = kFirstMade + static_cast<std::int64_t>(taken.size());
  while (!taken.insert(made).second) ++made;
  return {made, false};
}

/// The process whose threads have the most ranges.
std::optional<TrackKey> main_process(const ExportedTrace& exported) {
  std::unordered_map<EventBatch::Track, std::size_t, EventBatch::TrackHash> ranges;
  std::optional<TrackKey> found;
  std::size_t most = 0;
  for (const TimelineTrack& track : exported.tracks) {
    if (track.kind != TimelineTrackKind::thread) continue;
    std::size_t& sum = ranges[{track.process_key, {}}];
    sum += track.ranges;
    if (sum > most) {
      most = sum;
      found = track.process_key;
    }
  }
  return found;
}

}  // namespace

Places::Places(const ExportedTrace& exported, PerfettoIds& ids, Packets& packets)
    : exported_(exported), ids_(ids), packets_(packets) {}

Track Places::named(const EventBatch::Track& key) const {
  const std::span<const Track> tracks = exported_.trace.tracks();
  const auto found = std::ranges::find_if(tracks, [&](const Track& track) {
    return track.process == key.process && track.thread == key.thread;
  });
  return found != tracks.end() ? *found : Track{.process = key.process, .thread = key.thread};
}

Places::Process& Places::process(const TrackKey& key) {
  const auto [place, is_new] = processes_.try_emplace(EventBatch::Track{key, {}});
  Process& process = place->second;
  if (!is_new) return process;
  process.track = new_track();
  const Number pid = number_of(key, ids_.processes);
  process.pid = pid.number;
  const Trace& trace = exported_.trace;
  const auto found = std::ranges::find(trace.tracks(), key, &Track::process);
  std::string name;
  if (pid.is_own && found != trace.tracks().end()) {
    name = trimmed(trace.string(found->process_name));
    if (name.empty()) name = "process";
  } else {
    name = analyses::process_label(trace, key);
  }
  std::string descriptor;
  ProtoWriter own(descriptor);
  own.integer(track::kPid, static_cast<std::uint64_t>(process.pid));
  own.bytes(track::kProcessName, to_utf8(exported_.prefix + name));
  std::string bytes;
  ProtoWriter out(bytes);
  out.integer(track::kUuid, process.track);
  out.bytes(track::kProcess, descriptor);
  packets_.descriptor(bytes);
  return process;
}

std::uint64_t Places::new_thread(const EventBatch::Track& key) {
  Process& process = this->process(key.process);
  const std::uint64_t uuid = new_track();
  std::string descriptor;
  ProtoWriter own(descriptor);
  own.integer(track::kPid, static_cast<std::uint64_t>(process.pid));
  own.integer(track::kTid,
              static_cast<std::uint64_t>(number_of(key.thread, process.threads).number));
  own.bytes(track::kThreadName, to_utf8(track_label(exported_.trace, named(key), "thread")));
  std::string bytes;
  ProtoWriter out(bytes);
  out.integer(track::kUuid, uuid);
  out.bytes(track::kThread, descriptor);
  packets_.descriptor(bytes);
  return uuid;
}

std::uint64_t Places::thread(const TrackKey& process, const TrackKey& thread) {
  const EventBatch::Track key = {process, thread};
  if (const auto lanes = lanes_.find(key); lanes != lanes_.end()) return lanes->second.front();
  const auto [place, is_new] = threads_.try_emplace(key, 0);
  if (is_new) place->second = new_thread(key);
  return place->second;
}

std::uint64_t Places::device_group(const TimelineTrack& of) {
  const auto [place, is_new] = device_groups_.try_emplace(EventBatch::Track{of.process_key, {}}, 0);
  if (!is_new) return place->second;
  const bool is_alone = std::ranges::none_of(exported_.tracks, [&](const TimelineTrack& other) {
    return other.kind == TimelineTrackKind::stream && other.device == of.device &&
           other.process_key != of.process_key;
  });
  const std::string name = is_alone && !exported_.is_merged
                               ? of.process
                               : analyses::process_label(exported_.trace, of.process_key);
  const std::optional<TrackKey> owner =
      exported_.is_merged ? std::nullopt : main_process(exported_);
  const std::uint64_t parent = owner ? process(*owner).track : 0;
  place->second = new_track();
  std::string bytes;
  ProtoWriter out(bytes);
  out.integer(track::kUuid, place->second);
  out.bytes(track::kName, to_utf8(parent != 0 ? name : exported_.prefix + name));
  if (parent != 0) out.integer(track::kParent, parent);
  out.integer(track::kChildOrdering, track::kExplicitOrder);
  out.integer(track::kMerging, track::kNoMerging);
  packets_.descriptor(bytes);
  return place->second;
}

std::uint64_t Places::new_stream(const TimelineTrack& of) {
  const std::uint64_t group = device_group(of);
  const std::uint64_t uuid = new_track();
  std::string bytes;
  ProtoWriter out(bytes);
  out.integer(track::kUuid, uuid);
  out.bytes(track::kName, to_utf8(of.name));
  out.integer(track::kParent, group);
  out.integer(track::kSiblingRank, streams_);
  out.integer(track::kMerging, track::kMergeByKey);
  out.integer(track::kMergeKey, streams_);
  packets_.descriptor(bytes);
  return uuid;
}

std::uint64_t Places::lane(const TimelineTrack& of, std::size_t lane) {
  std::vector<std::uint64_t>& lanes = lanes_[{of.process_key, of.thread_key}];
  while (lanes.size() <= lane) {
    if (of.kind == TimelineTrackKind::stream) {
      if (lanes.empty()) ++streams_;
      lanes.push_back(new_stream(of));
    } else if (lanes.empty()) {
      lanes.push_back(new_thread({of.process_key, of.thread_key}));
    } else {
      lanes.push_back(new_track());
      std::string bytes;
      ProtoWriter out(bytes);
      out.integer(track::kUuid, lanes.back());
      out.bytes(track::kName, to_utf8(of.name));
      out.integer(track::kParent, lanes.front());
      out.integer(track::kMerging, track::kMergeByKey);
      out.integer(track::kMergeKey, lanes.front());
      packets_.descriptor(bytes);
    }
  }
  return lanes[lane];
}

std::uint64_t Places::counter(const ExportedCounter& counter) {
  const std::uint64_t parent = process(counter.process).track;
  const std::uint64_t uuid = new_track();
  std::string unit;
  if (counter.is_bytes) ProtoWriter(unit).integer(track::kUnit, track::kBytes);
  std::string bytes;
  ProtoWriter out(bytes);
  out.integer(track::kUuid, uuid);
  out.bytes(track::kName, to_utf8(counter.name));
  out.integer(track::kParent, parent);
  out.bytes(track::kCounter, unit);
  packets_.descriptor(bytes);
  return uuid;
}

}  // namespace tbtrace::writers::perfetto
