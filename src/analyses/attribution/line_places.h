// The lines of a trace as a tree of places: each below the line that called it.
// Refers to its Trace, which must outlive it. Not synchronised.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <unordered_map>
#include <vector>

#include <tbtrace/trace.h>

#include "analyses/attribution/own_code.h"
#include "analyses/attribution/range_places.h"
#include "analyses/attribution/source_lines.h"
#include "base/id_map.h"

namespace tbtrace::analyses {

/// A line, or a function, which begins at `line`.
struct PlaceLine {
  std::string file;
  std::int64_t line = 0;
  std::string function;
  bool is_function = false;
};

/// As tables name a line in a single column: `train.py(46): forward`.
std::string line_text(const std::string& file, std::int64_t line, const std::string& function);

/// An operator's `Call stack` has all functions that were active, so it is the whole way to its
/// place, and so for what is inside the operator. In processes whose Python frames are ranges these
/// are the way, and stacks are not used. A range that a `with` statement opened has the stack of
/// `__enter__`, which has returned: it is where the range around it is.
class LinePlaces {
 public:
  /// A line or a function, which may have several places.
  using Line = std::uint32_t;

  /// `with_libraries`: frames of libraries are places as well; without, what they do is done by the
  /// lines that called them.
  LinePlaces(const Trace& trace, bool with_libraries);

  /// The place of a range, by the place around it.
  Place place_in(Place around, EventId range);

  /// Whether a range is one call of the function at its place.
  /// After place_in() of the range.
  bool is_call(EventId range) const;

  /// Places are numbered from 0, the root, parents first.
  std::size_t size() const { return parents_.size(); }
  const std::vector<Place>& parents() const { return parents_; }
  /// By place; that of the root is line 0.
  const std::vector<Line>& lines() const { return lines_; }

  /// What the lines are; line 0 is none.
  const std::vector<PlaceLine>& rows() const { return rows_; }

 private:
  Line line(const SourceLine& source, bool is_function);
  Place place_of_stack(StringId stack);
  Place child(Place around, Line line);

  const Trace& trace_;
  std::optional<OwnCode> own_code_;                // without libraries
  std::vector<bool> has_frames_;                   // by track
  std::unordered_map<StringId, Place> of_stacks_;  // by `Call stack`; the root: not used
  std::unordered_map<StringId, Line> names_;       // of Python frames, by name; 0: not a line
  std::vector<Place> parents_ = {StackTree::kRoot};
  std::vector<Line> lines_ = {0};
  std::vector<PlaceLine> rows_ = {{}};
  std::map<std::tuple<std::string, std::int64_t, std::string, bool>, Line> numbers_;
  IdMap children_;  // by place and line
};

/// Where in `places`, to which places are added, the ranges of a trace are.
WorkPlaces find_line_places(const Trace& trace, const ForwardOperators& forward,
                            LinePlaces& places);

}  // namespace tbtrace::analyses
