#include "dialects/places.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <set>

#include "base/decimal.h"
#include "trace/track_text.h"

namespace tbtrace::dialects {
namespace {

constexpr std::int64_t kLargestSound = std::int64_t{1} << 53;  // doubles hold integers up to here
constexpr std::int64_t kFirstNew = 1'000'000'000;              // far from ids that systems give

bool is_sound(const TrackKey& key) {
  return key.text == StringId::empty && key.number >= 0 && key.number <= kLargestSound;
}

/// `stream 7` is 7.
std::optional<std::int64_t> stream_number(std::string_view text) {
  constexpr std::string_view kPrefix = "stream ";
  if (!text.starts_with(kPrefix)) return std::nullopt;
  const auto number = parse_integer(text.substr(kPrefix.size()));
  return number && *number >= 0 && *number <= kLargestSound ? number : std::nullopt;
}

/// A number from its text, as the reader makes one.
std::string normal(std::string_view text) {
  const auto number = parse_integer(text);
  return number ? std::to_string(*number) : std::string(text);
}

/// What stands on a track.
struct Content {
  bool device = false;
  bool host = false;
  bool node = false;
  bool only_span = true;  ///< the recording's window, whose ids Kineto writes as text
};

}  // namespace

/// Gives numbers that nothing else has.
struct Places::Numbers {
  std::set<std::int64_t> used;
  std::int64_t next = kFirstNew;

  std::int64_t fresh() {
    while (used.contains(next)) ++next;
    return next++;
  }
};

Places::Places(const Trace& trace, const Roles& roles, const Devices& devices,
               const Crossings& crossings, Dialect dialect)
    : trace_(trace), crossings_(crossings) {
  const Events& events = trace.events();
  std::vector<Content> contents(trace.tracks().size());
  for (std::size_t row = 0; row < events.size(); ++row) {
    const auto event = static_cast<EventId>(row);
    const EventKind kind = trace.kind(event);
    Content& content = contents[index(events.track(event))];
    const bool device = kind >= EventKind::kernel && kind <= EventKind::gpu_user_annotation;
    (device ? content.device : content.host) = true;
    content.only_span = content.only_span && kind == EventKind::trace_span;
    content.node = content.node || is_node(roles.role(event));
  }

  Numbers process_numbers;
  Numbers thread_numbers;
  for (const Track& track : trace.tracks()) {
    if (is_sound(track.process)) process_numbers.used.insert(track.process.number);
    if (is_sound(track.thread)) {
      thread_numbers.used.insert(track.thread.number);
    } else if (const auto stream = stream_number(trace.string(track.thread.text))) {
      thread_numbers.used.insert(*stream);
    }
  }

  places_.resize(trace.tracks().size());
  for (std::size_t row = 0; row < places_.size(); ++row) {
    const Track& track = trace.tracks()[row];
    if (contents[row].device) {
      device_processes_.try_emplace(key_text(trace, track.process), devices.number(track));
    }
  }
  for (std::size_t row = 0; row < places_.size(); ++row) {
    const Track& track = trace.tracks()[row];
    Place& place = places_[row];
    const std::string text = key_text(trace, track.process);
    place.is_device = contents[row].device;
    // Also what only has a name: it names the device.
    if (place.is_device || (!contents[row].host && device_processes_.contains(text))) {
      place.process = devices.number(track);
      continue;
    }
    const auto known = processes_.find(text);
    if (known != processes_.end()) {
      place.process = known->second;
      continue;
    }
    place.process = is_sound(track.process) ? track.process.number : process_numbers.fresh();
    processes_[text] = place.process;
    if (is_sound(track.process)) continue;
    renumbered_ += contents[row].only_span ? 0 : 1;
    if (track.process_name == StringId::empty) names_.push_back({place, text, true});
  }

  // Sound numbers first, so that they stay.
  std::set<std::pair<std::int64_t, std::int64_t>> taken;
  std::set<std::int64_t> taken_by_nodes;  // the plugin does not look at processes
  const auto settle = [&](std::size_t row, std::optional<std::int64_t> wanted) {
    Place& place = places_[row];
    const bool is_unique =
        wanted && !taken.contains({place.process, *wanted}) &&
        !(dialect == Dialect::plugin && contents[row].node && taken_by_nodes.contains(*wanted));
    place.thread = is_unique ? *wanted : thread_numbers.fresh();
    taken.insert({place.process, place.thread});
    if (contents[row].node) taken_by_nodes.insert(place.thread);
    const Track& track = trace.tracks()[row];
    if (is_unique && is_sound(track.thread)) return;
    renumbered_ += contents[row].only_span ? 0 : 1;
    if (track.thread_name != StringId::empty) return;
    const std::string text = key_text(trace, track.thread);
    const bool is_number = track.thread.text == StringId::empty;
    names_.push_back({place, is_number ? "thread " + text : text, false});
  };
  for (std::size_t row = 0; row < places_.size(); ++row) {
    const TrackKey& thread = trace.tracks()[row].thread;
    if (is_sound(thread)) settle(row, thread.number);
  }
  for (std::size_t row = 0; row < places_.size(); ++row) {
    const TrackKey& thread = trace.tracks()[row].thread;
    if (!is_sound(thread)) settle(row, stream_number(trace.string(thread.text)));
  }
  for (std::size_t row = 0; row < places_.size(); ++row) {
    const Track& track = trace.tracks()[row];
    by_text_[{key_text(trace, track.process), key_text(trace, track.thread)}] = places_[row];
  }

  for (const Crossings::Move& move : crossings.moved) {
    const TrackId track = events.track(move.event);
    const auto [lane, added] = lanes_.try_emplace({index(track), move.lane}, of_track(track));
    if (!added) continue;
    lane->second.thread = thread_numbers.fresh();
    const Track& of = trace.track(track);
    const std::string thread = of.thread_name != StringId::empty
                                   ? std::string(trace.string(of.thread_name))
                                   : "thread " + key_text(trace, of.thread);
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

}  // namespace tbtrace::dialects
