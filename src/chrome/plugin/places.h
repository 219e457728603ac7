// Process and thread numbers for the tracks of a trace: numbers that every reader accepts, and
// lanes beside tracks with crossing ranges.
// Made from a Trace, which must outlive it. Immutable.
// Valid numbers are kept; negative numbers, those beyond 2^53 and texts get new ones.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <tbtrace/convert.h>
#include <tbtrace/trace.h>

#include "chrome/plugin/devices.h"
#include "chrome/rows/crossings.h"
#include "chrome/rows/roles.h"

namespace tbtrace::chrome {

struct Place {
  std::int64_t process = 0;
  std::int64_t thread = 0;
  bool is_device = false;
};

/// A metadata row for a track that the file does not name under its new number.
struct PlaceName {
  Place place;
  std::string name;
  bool is_process = false;
};

class Places {
 public:
  Places(const Trace& trace, const Roles& roles, const Devices& devices,
         const Crossings& crossings);

  const Place& of_track(TrackId track) const { return places_[index(track)]; }
  const Place& of_event(EventId event) const;

  /// The place of a process and thread id in the file's form, even without a track.
  Place of_text(std::string_view process, std::string_view thread) const;

  std::span<const PlaceName> names() const { return names_; }
  std::uint64_t renumbered() const { return renumbered_; }

 private:
  struct Making;

  void look_at_tracks(const Roles& roles, Making& making) const;
  void place_processes(const Devices& devices, Making& making);
  void place_threads(Making& making);
  void place_thread(std::size_t row, std::optional<std::int64_t> wanted, Making& making);
  void place_lanes(Making& making);

  const Trace& trace_;
  const Crossings& crossings_;
  std::vector<Place> places_;  // by track
  std::map<std::pair<std::size_t, std::uint32_t>, Place> lanes_;
  // By the file's text of the id.
  std::map<std::string, std::int64_t, std::less<>> processes_;
  std::map<std::string, std::int64_t, std::less<>> device_processes_;
  std::map<std::pair<std::string, std::string>, Place> by_text_;
  std::vector<PlaceName> names_;
  std::uint64_t renumbered_ = 0;
};

}  // namespace tbtrace::chrome
