#include "analyses/attribution/python_tracks.h"

#include <algorithm>

namespace tbtrace::analyses {

std::vector<bool> tracks_with_frames(const Trace& trace, const CallTree& tree) {
  std::vector<TrackKey> processes;
  for (const EventId event : tree.ranges()) {
    if (trace.kind(event) != EventKind::python_function || trace.events().is_module(event))
      continue;
    const TrackKey process = trace.track(trace.events().track(event)).process;
    if (std::find(processes.begin(), processes.end(), process) == processes.end()) {
      processes.push_back(process);
    }
  }
  std::vector<bool> has_frames;
  for (const Track& track : trace.tracks()) {
    has_frames.push_back(std::find(processes.begin(), processes.end(), track.process) !=
                         processes.end());
  }
  return has_frames;
}

}  // namespace tbtrace::analyses
