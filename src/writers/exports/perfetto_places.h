// Where events of a trace stand in a Perfetto trace: processes, threads, streams of devices, lanes
// for ranges that cross others, and counters. Descriptors are written when they are first needed.
// Uses Packets, an ExportedTrace and a PerfettoIds, which must outlive it. One thread at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include <tbtrace/trace.h>

#include "trace/event_batch.h"
#include "writers/exports/exported_trace.h"
#include "writers/exports/perfetto_packets.h"

namespace tbtrace::writers::perfetto {

/// What must not repeat in a file.
struct PerfettoIds {
  std::uint64_t last_track = 0;
  std::uint64_t last_flow = 0;
  std::uint64_t last_sequence = 0;
  std::unordered_set<std::int64_t> processes;
};

class Places {
 public:
  Places(const ExportedTrace& exported, PerfettoIds& ids, Packets& packets);

  /// The track for ranges of a track of the trace; `lane` counts from 0.
  std::uint64_t lane(const analyses::TimelineTrack& of, std::size_t lane);
  /// The track for moments.
  std::uint64_t thread(const TrackKey& process, const TrackKey& thread);
  std::uint64_t counter(const ExportedCounter& counter);

 private:
  struct Process {
    std::uint64_t track = 0;
    std::int64_t pid = 0;
    std::unordered_set<std::int64_t> threads;
  };

  std::uint64_t new_track() { return ++ids_.last_track; }
  Process& process(const TrackKey& key);
  std::uint64_t new_thread(const EventBatch::Track& key);
  std::uint64_t device_group(const analyses::TimelineTrack& of);
  std::uint64_t new_stream(const analyses::TimelineTrack& of);
  Track named(const EventBatch::Track& key) const;

  const ExportedTrace& exported_;
  PerfettoIds& ids_;
  Packets& packets_;
  std::unordered_map<EventBatch::Track, Process, EventBatch::TrackHash> processes_;
  std::unordered_map<EventBatch::Track, std::uint64_t, EventBatch::TrackHash> threads_;
  std::unordered_map<EventBatch::Track, std::vector<std::uint64_t>, EventBatch::TrackHash> lanes_;
  std::unordered_map<EventBatch::Track, std::uint64_t, EventBatch::TrackHash> device_groups_;
  std::uint64_t streams_ = 0;
};

}  // namespace tbtrace::writers::perfetto
