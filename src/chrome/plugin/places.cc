#include "chrome/plugin/places.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <set>

#include "base/decimal.h"
#include "trace/track_keys.h"

namespace tbtrace::chrome {
namespace {

constexpr std::int64_t kLargestSound = std::int64_t{1} << 53;  // doubles hold integers up to here
constexpr std::int64_t kFirstNew = 1'000'000'000;              // far from ids that systems assign

bool is_sound(const TrackKey& key) {
  return key.text == StringId::empty && key.number >= 0 && key.number <= kLargestSound;
}

/// The number in `stream 7`.
std::optional<std::int64_t> stream_number(std::string_view text) {
  constexpr std::string_view kPrefix = "stream ";
  if (!text.starts_with(kPrefix)) return std::nullopt;
  const auto number = parse_integer(text.substr(kPrefix.size()));
  return number && *number >= 0 && *number <= kLargestSound ? number : std::nullopt;
}

/// A number's text as the reader stores it.
std::string normal(std::string_view text) {
  const auto number = parse_integer(text);
  return number ? std::to_string(*number) : std::string(text);
}

/// The contents of a track.
struct Content {
  bool device = false;
  bool host = false;
  bool node = false;
  bool only_span = true;  ///< holds only the recording's window, whose ids Kineto writes as text
};

}  // namespace

/// Temporary state while places are assigned.
struct Places::Making {
  /// Assigns unused numbers.
  struct Numbers {
    std::set<std::int64_t> used;
    std::int64_t next = kFirstNew;

    std::int64_t fresh() {
      while (used.contains(next)) ++next;
      return next++;
    }
  };

  std::vector<Content> contents;  // by track
  Numbers processes;
  Numbers threads;
  std::set<std::pair<std::int64_t, std::int64_t>> taken;  // process and thread
  std::set<std::int64_t> taken_by_nodes;                  // the plugin ignores processes
};

Places::Places(const Trace& trace, const Roles& roles, const Devices& devices,
               const Crossings& crossings)
    : trace_(trace), crossings_(crossings), places_(trace.tracks().size()) {
  Making making;
  look_at_tracks(roles, making);
  place_processes(devices, making);
  place_threads(making);
  for (std::size_t row = 0; row < places_.size(); ++row) {
    const Track& track = trace.tracks()[row];
    by_text_[{key_text(trace, track.process), key_text(trace, track.thread)}] = places_[row];
  }
  place_lanes(making);
}

/// Finds out what tracks contain, and which numbers are taken because they are kept.
void Places::look_at_tracks(const Roles& roles, Making& making) const {
  const Events& events = trace_.events();
  making.contents.resize(places_.size());
  for (std::size_t row = 0; row < events.size(); ++row) {
    const auto event = static_cast<EventId>(row);
    const EventKind kind = trace_.kind(event);
    Content& content = making.contents[index(events.track(event))];
    const bool device = is_device_row(kind);
    (device ? content.device : content.host) = true;
    content.only_span = content.only_span && kind == EventKind::trace_span;
    content.node = content.node || is_node(roles.role(event));
  }
  for (const Track& track : trace_.tracks()) {
    if (is_sound(track.process)) making.processes.used.insert(track.process.number);
    if (is_sound(track.thread)) {
      making.threads.used.insert(track.thread.number);
    } else if (const auto stream = stream_number(trace_.string(track.thread.text))) {
      making.threads.used.insert(*stream);
    }
  }
}

void Places::place_processes(const Devices& devices, Making& making) {
  for (std::size_t row = 0; row < places_.size(); ++row) {
    const Track& track = trace_.tracks()[row];
    if (making.contents[row].device) {
      device_processes_.try_emplace(key_text(trace_, track.process), devices.number(track));
    }
  }
  for (std::size_t row = 0; row < places_.size(); ++row) {
    const Track& track = trace_.tracks()[row];
    const Content& content = making.contents[row];
    Place& place = places_[row];
    const std::string text = key_text(trace_, track.process);
    place.is_device = content.device;
    // Also a track that only has a name, which is the device's name.
    if (place.is_device || (!content.host && device_processes_.contains(text))) {
      place.process = devices.number(track);
      continue;
    }
    const auto known = processes_.find(text);
    if (known != processes_.end()) {
      place.process = known->second;
      continue;
    }
    const bool stays = is_sound(track.process);
    place.process = stays ? track.process.number : making.processes.fresh();
    processes_[text] = place.process;
    if (stays) continue;
    renumbered_ += content.only_span ? 0 : 1;
    if (track.process_name == StringId::empty) names_.push_back({place, text, true});
  }
}

/// Valid numbers first, so that they are kept.
void Places::place_threads(Making& making) {
  for (std::size_t row = 0; row < places_.size(); ++row) {
    const TrackKey& thread = trace_.tracks()[row].thread;
    if (is_sound(thread)) place_thread(row, thread.number, making);
  }
  for (std::size_t row = 0; row < places_.size(); ++row) {
    const TrackKey& thread = trace_.tracks()[row].thread;
    if (!is_sound(thread)) place_thread(row, stream_number(trace_.string(thread.text)), making);
  }
}

void Places::place_thread(std::size_t row, std::optional<std::int64_t> wanted, Making& making) {
  const Content& content = making.contents[row];
  Place& place = places_[row];
  const bool is_unique = wanted && !making.taken.contains({place.process, *wanted}) &&
                         !(content.node && making.taken_by_nodes.contains(*wanted));
  place.thread = is_unique ? *wanted : making.threads.fresh();
  making.taken.insert({place.process, place.thread});
  if (content.node) making.taken_by_nodes.insert(place.thread);
  const Track& track = trace_.tracks()[row];
  if (is_unique && is_sound(track.thread)) return;
  renumbered_ += content.only_span ? 0 : 1;
  if (track.thread_name != StringId::empty) return;
  const std::string text = key_text(trace_, track.thread);
  const bool is_number = track.thread.text == StringId::empty;
  names_.push_back({place, is_number ? "thread " + text : text, false});
}

void Places::place_lanes(Making& making) {
  for (const Crossings::Move& move : crossings_.moved) {
    const TrackId track = trace_.events().track(move.event);
    const auto [lane, added] = lanes_.try_emplace({index(track), move.lane}, of_track(track));
    if (!added) continue;
    lane->second.thread = making.threads.fresh();
    const Track& of = trace_.track(track);
    const std::string thread = of.thread_name != StringId::empty
                                   ? std::string(trace_.string(of.thread_name))
                                   : "thread " + key_text(trace_, of.thread);
    names_.push_back({lane->second, thread + " (lane " + std::to_string(move.lane) + ")", false});
  }
}

const Place& Places::of_event(EventId event) const {
  const auto found = std::lower_bound(crossings_.moved.begin(), crossings_.moved.end(), event,
                                      [](const Crossings::Move& move, EventId wanted) {
                                        return index(move.event) < index(wanted);
                                      });
  const TrackId track = trace_.events().track(event);
  if (found == crossings_.moved.end() || found->event != event) return of_track(track);
  return lanes_.at({index(track), found->lane});
}

Place Places::of_text(std::string_view process, std::string_view thread) const {
  const std::string process_text = normal(process);
  const auto known = by_text_.find({process_text, thread.empty() ? process_text : normal(thread)});
  if (known != by_text_.end()) return known->second;
  Place place;
  const auto sound = [](std::string_view text) {
    const auto number = parse_integer(text);
    return number && *number >= 0 && *number <= kLargestSound ? *number : 0;
  };
  place.process = sound(process);
  for (const auto* processes : {&processes_, &device_processes_}) {
    const auto found = processes->find(process_text);
    if (found == processes->end()) continue;
    place.process = found->second;
    break;
  }
  place.thread = sound(thread);
  return place;
}

}  // namespace tbtrace::chrome
