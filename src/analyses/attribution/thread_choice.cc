#include "analyses/attribution/thread_choice.h"

#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>

namespace tbtrace::analyses {
namespace {

std::string id_of(const Trace& trace, const Track& track) {
  return track.thread.text == StringId::empty ? track.thread.number_text()
                                              : std::string(trace.string(track.thread.text));
}

/// `12 (main)`; Kineto's names, such as `thread 12 (main)`, have the id already.
std::string id_and_name(const Trace& trace, const Track& thread) {
  std::string id = id_of(trace, thread);
  const std::string_view name = trace.string(thread.thread_name);
  if (name.find(id) != std::string_view::npos) return std::string(name);
  return name.empty() ? id : id + " (" + std::string(name) + ")";
}

std::string listed(const Trace& trace, const std::vector<bool>& has_ranges) {
  constexpr std::size_t kMost = 10;
  std::string list;
  std::size_t count = 0;
  for (std::size_t track = 0; track < has_ranges.size(); ++track) {
    if (!has_ranges[track]) continue;
    if (++count > kMost) continue;
    if (count > 1) list += ", ";
    list += id_and_name(trace, trace.tracks()[track]);
  }
  return count <= kMost ? list : list + " and " + std::to_string(count - kMost) + " more";
}

}  // namespace

Result<std::vector<bool>> chosen_threads(const Trace& trace, const CallTree& tree,
                                         std::string_view wanted) {
  const std::size_t size = trace.tracks().size();
  std::vector<bool> has_ranges(size);
  for (const EventId event : tree.ranges()) has_ranges[index(trace.events().track(event))] = true;
  std::vector<bool> chosen(size);
  std::vector<bool> similar(size);
  for (std::size_t track = 0; track < size; ++track) {
    if (!has_ranges[track]) continue;
    const Track& thread = trace.tracks()[track];
    const std::string_view name = trace.string(thread.thread_name);
    chosen[track] = id_of(trace, thread) == wanted || name == wanted;
    similar[track] = name.find(wanted) != std::string_view::npos;
  }
  const auto has_any = [](const std::vector<bool>& tracks) {
    return std::find(tracks.begin(), tracks.end(), true) != tracks.end();
  };
  if (has_any(chosen)) return chosen;
  if (has_any(similar)) return similar;
  const std::string threads = listed(trace, has_ranges);
  return Status(StatusCode::invalid_argument,
                "cannot select thread '" + std::string(wanted) + "': the trace has " +
                    (threads.empty() ? "no threads with ranges" : threads));
}

std::string thread_label(const Trace& trace, TrackId thread) {
  const Track& track = trace.track(thread);
  std::string label = id_and_name(trace, track);
  if (!label.starts_with("thread ")) label.insert(0, "thread ");
  const auto is_same = [&](const Track& other) {
    return other.thread == track.thread && other.thread_name == track.thread_name &&
           other.process != track.process;
  };
  if (std::ranges::none_of(trace.tracks(), is_same)) return label;
  const std::string process = track.process.text == StringId::empty
                                  ? std::to_string(track.process.number)
                                  : std::string(trace.string(track.process.text));
  return "process " + process + ", " + label;
}

}  // namespace tbtrace::analyses
