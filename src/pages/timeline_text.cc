#include "pages/timeline_text.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numeric>
#include <string_view>
#include <utility>
#include <vector>

#include "analyses/timeline/timeline.h"
#include "pages/byte_planes.h"
#include "pages/text_list.h"
#include "wire/json_emitter.h"
#include "wire/json_text.h"

namespace tbtrace {
namespace {

using analyses::Timeline;
using analyses::TimelineArgument;
using pages::BytePlanes;
using pages::Delta;
using Values = std::vector<std::uint64_t>;

constexpr std::array<std::string_view, 3> kTrackKinds = {"thread", "stream", "other"};
constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();

/// The ranges of a timeline that a document has.
class KeptRanges {
 public:
  KeptRanges(const Timeline& timeline, std::size_t limit) : all_(limit >= timeline.size()) {
    left_out_ = timeline.left_out;
    left_out_ns_ = timeline.left_out_ns;
    if (all_) {
      size_ = timeline.size();
      return;
    }
    ranges_ = analyses::longest_ranges(timeline.duration_ns, limit);
    size_ = ranges_.size();
    left_out_ += timeline.size() - size_;
    place_.assign(timeline.size(), kNone);
    for (std::size_t at = 0; at < size_; ++at) {
      place_[ranges_[at]] = static_cast<std::uint32_t>(at);
    }
    for (std::size_t range = 0; range < timeline.size(); ++range) {
      if (place_[range] == kNone) {
        left_out_ns_ = std::max(left_out_ns_, timeline.duration_ns[range]);
      }
    }
  }

  std::size_t size() const { return size_; }
  std::size_t left_out() const { return left_out_; }
  std::int64_t left_out_ns() const { return left_out_ns_; }
  std::size_t range(std::size_t at) const { return all_ ? at : ranges_[at]; }
  /// kNone: it is left out.
  std::uint32_t place(std::uint32_t range) const { return all_ ? range : place_[range]; }

  /// How many of the ranges from `begin` to before `end` are kept.
  std::size_t between(std::size_t begin, std::size_t end) const {
    if (all_) return end - begin;
    const auto at = [&](std::size_t range) {
      return std::lower_bound(ranges_.begin(), ranges_.end(), range);
    };
    return static_cast<std::size_t>(at(end) - at(begin));
  }

 private:
  bool all_;
  std::size_t size_ = 0;
  std::size_t left_out_ = 0;
  std::int64_t left_out_ns_ = 0;
  std::vector<std::uint32_t> ranges_;
  std::vector<std::uint32_t> place_;  // by range
};

class TimelineDocument {
 public:
  TimelineDocument(const pages::ViewContent& content, const ViewLimits& limits)
      : content_(content),
        timeline_(*content.timeline),
        limits_(limits),
        unit_(std::max<std::int64_t>(limits.time_unit_ns, 1)),
        kept_(timeline_, limits.ranges) {
    std::size_t behind = 0;
    for (const analyses::TimelineTrack& track : timeline_.tracks) {
      track_sizes_.push_back(kept_.between(behind, behind + track.ranges));
      behind += track.ranges;
    }
    for (std::size_t at = 0; at < kept_.size(); ++at) {
      origin_ = std::min(origin_, timeline_.start_ns[kept_.range(at)]);
    }
    if (kept_.size() == 0) origin_ = 0;
  }

  std::string text() {
    add_columns();
    std::string header;
    wire::JsonEmitter json(header);
    emit_header(json);
    std::string document = "TBTL";
    for (unsigned shift = 0; shift < 32; shift += 8) {
      document += static_cast<char>(header.size() >> shift & 0xff);
    }
    document += header;
    document += planes_.bytes();
    return document;
  }

 private:
  /// Rounded down, from the earliest start.
  std::uint64_t in_units(std::int64_t time_ns) const {
    return (static_cast<std::uint64_t>(time_ns) - static_cast<std::uint64_t>(origin_)) /
           static_cast<std::uint64_t>(unit_);
  }

  template <typename Of>
  void add_column(std::string name, Of value_of) {
    Values values(kept_.size());
    for (std::size_t at = 0; at < values.size(); ++at) values[at] = value_of(kept_.range(at));
    planes_.add(std::move(name), values, Delta::none);
  }

  void add_columns() {
    Values starts(kept_.size());
    std::size_t at = 0;
    for (const std::size_t size : track_sizes_) {
      std::uint64_t before = 0;
      for (const std::size_t behind = at + size; at < behind; ++at) {
        const std::uint64_t start = in_units(timeline_.start_ns[kept_.range(at)]);
        starts[at] = start - before;
        before = start;
      }
    }
    planes_.add("start", starts, Delta::track);
    add_column("duration", [&](std::size_t range) {
      const std::int64_t start = timeline_.start_ns[range];
      return in_units(start + timeline_.duration_ns[range]) - in_units(start);
    });
    add_column("name", [&](std::size_t range) { return timeline_.name[range]; });
    add_column("row", [&](std::size_t range) { return timeline_.row[range]; });
    for (const analyses::TimelineFlows& flows : timeline_.flows) add_flows(flows);
    add_unfinished();
    if (!limits_.range_arguments) return;
    for (const TimelineArgument& argument : timeline_.arguments) add_argument(argument);
  }

  void add_flows(const analyses::TimelineFlows& flows) {
    Values from;
    Values to;
    std::uint32_t from_before = 0;
    std::uint32_t to_before = 0;
    for (const analyses::TimelineFlow& flow : flows.flows) {
      const std::uint32_t start = kept_.place(flow.from);
      const std::uint32_t end = kept_.place(flow.to);
      if (start == kNone || end == kNone) continue;
      from.push_back(start - from_before);
      to.push_back(BytePlanes::zigzag(std::int64_t{end} - to_before));
      from_before = start;
      to_before = end;
    }
    flow_counts_.push_back(from.size());
    planes_.add(std::string(flows.kind) + ".from", from, Delta::previous);
    planes_.add(std::string(flows.kind) + ".to", to, Delta::previous, true);
  }

  void add_unfinished() {
    Values numbers;
    std::uint32_t before = 0;
    for (const std::uint32_t range : timeline_.unfinished) {
      const std::uint32_t place = kept_.place(range);
      if (place == kNone) continue;
      numbers.push_back(place - before);
      before = place;
    }
    if (!numbers.empty()) planes_.add("unfinished", numbers, Delta::previous);
  }

  void add_argument(const TimelineArgument& argument) {
    const std::string name = "argument." + std::string(argument.key);
    if (!argument.is_integer) {
      add_column(name, [&](std::size_t range) {
        return static_cast<std::uint64_t>(argument.values[range]);
      });
      return;
    }
    Values values(kept_.size());
    std::int64_t before = 0;
    for (std::size_t at = 0; at < values.size(); ++at) {
      const std::int64_t value = argument.values[kept_.range(at)];
      // Differences wrap around, and so do their sums.
      values[at] = BytePlanes::zigzag(static_cast<std::int64_t>(
          static_cast<std::uint64_t>(value) - static_cast<std::uint64_t>(before)));
      before = value;
    }
    planes_.add(name, values, Delta::previous, true);
    add_column("has." + std::string(argument.key),
               [&](std::size_t range) { return argument.has[range]; });
  }

  template <typename T>
  static void emit_number(wire::JsonEmitter& json, std::string_view key, T value) {
    json.key(key);
    json.integer(value);
  }

  void emit_header(wire::JsonEmitter& json) {
    json.begin_object();
    json.member("schema", "tbtrace.timeline/1");
    json.member("view", content_.view->name);
    json.member("title", content_.view->title);
    json.member("about", content_.view->about);
    emit_number(json, "unit_ns", unit_);
    emit_number(json, "origin_ns", origin_);
    emit_number(json, "from_ns", timeline_.from_ns);
    emit_number(json, "to_ns", timeline_.to_ns);
    emit_number(json, "window_ns", timeline_.window_ns);
    json.key("part");
    if (content_.timeline_part) {
      json.begin_array();
      json.integer(content_.timeline_part->from_ns);
      json.integer(content_.timeline_part->to_ns);
      json.end_array();
    } else {
      json.null();
    }
    emit_number(json, "ranges", kept_.size());
    emit_number(json, "left_out", kept_.left_out());
    emit_number(json, "left_out_ns", kept_.left_out_ns());
    json.key("arguments_left_out");
    json.boolean(timeline_.has_more_arguments ||
                 (!limits_.range_arguments && !timeline_.arguments.empty()));
    emit_tracks(json);
    emit_names(json);
    emit_steps(json);
    emit_counters(json);
    emit_number(json, "counters_left_out", timeline_.counters.left_out);
    emit_marks(json);
    emit_flows(json);
    emit_arguments(json);
    emit_number(json, "names_cut", names_cut_);
    json.key("columns");
    planes_.emit(json);
    json.key("notes");
    json.begin_array();
    json.end_array();
    json.key("empty");
    timeline_.size() == 0 ? json.text("the trace has no ranges") : json.null();
    json.end_object();
  }

  void emit_tracks(wire::JsonEmitter& json) {
    json.key("tracks");
    json.begin_array();
    for (std::size_t number = 0; number < timeline_.tracks.size(); ++number) {
      const analyses::TimelineTrack& track = timeline_.tracks[number];
      json.begin_object();
      emit_text(json, "name", track.name);
      emit_text(json, "process", track.process);
      json.member("kind", kTrackKinds[static_cast<std::size_t>(track.kind)]);
      json.key("device");
      track.device ? json.integer(*track.device) : json.null();
      emit_number(json, "ranges", track_sizes_[number]);
      emit_number(json, "rows", track.rows);
      json.end_object();
    }
    json.end_array();
  }

  void emit_text(wire::JsonEmitter& json, std::string_view key, std::string_view text) {
    json.member(key, pages::cut_text(text, limits_.characters, names_cut_));
  }

  void emit_names(wire::JsonEmitter& json) {
    json.key("names");
    json.begin_array();
    for (const analyses::TimelineName& name : timeline_.names) {
      json.text(pages::cut_text(name.name, limits_.characters, names_cut_));
    }
    json.end_array();
    json.key("categories");
    json.begin_array();
    for (const analyses::TimelineName& name : timeline_.names) json.integer(name.category);
    json.end_array();
    json.key("category_list");
    json.begin_array();
    for (const analyses::TimelineCategory& category : timeline_.categories) {
      json.begin_object();
      emit_text(json, "name", category.name);
      json.member("kind", event_kind_name(category.kind));
      json.end_object();
    }
    json.end_array();
  }

  void emit_steps(wire::JsonEmitter& json) const {
    json.key("steps");
    json.begin_array();
    for (const analyses::TimelineStep& step : timeline_.steps) {
      json.begin_object();
      emit_number(json, "number", step.number);
      emit_number(json, "start_ns", step.start_ns);
      emit_number(json, "end_ns", step.end_ns);
      json.end_object();
    }
    json.end_array();
  }

  void emit_counters(wire::JsonEmitter& json) {
    json.key("counters");
    json.begin_array();
    for (const analyses::TimelineCounter& counter : timeline_.counters.counters) {
      json.begin_object();
      emit_text(json, "name", counter.name);
      emit_text(json, "process", counter.process);
      json.member("unit", counter.is_bytes ? "bytes" : "");
      emit_number(json, "samples", counter.samples);
      json.key("times_ns");
      json.begin_array();
      for (const std::int64_t time : counter.times_ns) json.integer(time);
      json.end_array();
      json.key("values");
      json.begin_array();
      for (const double value : counter.values) emit_value(json, value);
      json.end_array();
      json.end_object();
    }
    json.end_array();
  }

  /// Whole numbers in full, not as `1e+16`.
  static void emit_value(wire::JsonEmitter& json, double value) {
    constexpr double kWhole = 9007199254740992;  // 2^53
    const bool is_whole = std::abs(value) <= kWhole && std::trunc(value) == value;
    is_whole ? json.integer(static_cast<std::int64_t>(value)) : json.number(value);
  }

  void emit_marks(wire::JsonEmitter& json) {
    const std::vector<analyses::TimelineMark>& marks = timeline_.marks.marks;
    pages::TextList names;
    json.key("marks");
    json.begin_object();
    emit_number(json, "left_out", timeline_.marks.left_out);
    const auto list = [&](std::string_view key, const auto& emit) {
      json.key(key);
      json.begin_array();
      for (const analyses::TimelineMark& mark : marks) emit(mark);
      json.end_array();
    };
    list("tracks", [&](const auto& mark) { json.integer(mark.track); });
    list("times_ns", [&](const auto& mark) { json.integer(mark.time_ns); });
    list("names", [&](const auto& mark) { json.integer(names.number_of(mark.name)); });
    list("arguments", [&](const auto& mark) {
      json.text(pages::cut_text(mark.arguments, limits_.characters, names_cut_));
    });
    json.key("texts");
    json.begin_array();
    for (const std::string_view name : names.texts()) {
      json.text(pages::cut_text(name, limits_.characters, names_cut_));
    }
    json.end_array();
    json.end_object();
  }

  void emit_flows(wire::JsonEmitter& json) const {
    json.key("flows");
    json.begin_array();
    for (std::size_t number = 0; number < timeline_.flows.size(); ++number) {
      json.begin_object();
      json.member("kind", timeline_.flows[number].kind);
      emit_number(json, "count", flow_counts_[number]);
      json.end_object();
    }
    json.end_array();
  }

  void emit_arguments(wire::JsonEmitter& json) {
    json.key("arguments");
    json.begin_array();
    if (limits_.range_arguments) {
      for (const TimelineArgument& argument : timeline_.arguments) emit_argument(json, argument);
    }
    json.end_array();
  }

  void emit_argument(wire::JsonEmitter& json, const TimelineArgument& argument) {
    json.begin_object();
    json.member("key", argument.key);
    json.member("unit", argument.unit);
    if (!argument.is_integer) {
      json.key("texts");
      json.begin_array();
      for (const std::string& value : argument.texts) {
        std::string cut = pages::cut_text(value, 4 * limits_.characters, names_cut_);
        if (cut == value) {
          json.text(value);
          continue;
        }
        std::string quoted;
        wire::append_json_string(quoted, cut);
        json.text(quoted);
      }
      json.end_array();
    }
    json.end_object();
  }

  const pages::ViewContent& content_;
  const Timeline& timeline_;
  const ViewLimits& limits_;
  std::int64_t unit_;
  KeptRanges kept_;
  std::vector<std::size_t> track_sizes_;
  std::vector<std::size_t> flow_counts_;
  std::int64_t origin_ = std::numeric_limits<std::int64_t>::max();
  std::size_t names_cut_ = 0;
  BytePlanes planes_;
};

}  // namespace

std::string pages::timeline_text(const ViewContent& content, const ViewLimits& limits) {
  return TimelineDocument(content, limits).text();
}

}  // namespace tbtrace
