// Ranges whose beginning and end are separate rows in the file (`B` and `E`).
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "trace/trace_builder_lookup.h"
#include "trace/trace_data.h"

namespace tbtrace {
namespace {

/// A beginning or an end. Per thread they are sorted by time, because rows of a file need not be;
/// with equal times, file order counts.
struct Moment {
  std::int64_t time_ns;
  std::size_t track;
  std::uint64_t place;  ///< file order: twice the number of the next range; plus 1 for a beginning
  std::size_t number;   ///< index of the event, or of the end

  bool is_begin() const { return place % 2 == 1; }
  auto key() const { return std::pair(track, std::pair(time_ns, place)); }
};

/// The open ranges of a thread, the last begun on top.
class OpenRanges {
 public:
  void begin(std::size_t event, StringId name) {
    by_name_[name].push_back({all_.size(), event});
    all_.push_back({event, true});
  }

  /// Closes the last open range with this name, or with any, and returns its event.
  std::optional<std::size_t> end(StringId name) {
    while (!all_.empty() && !all_.back().is_open) all_.pop_back();
    if (all_.empty()) return std::nullopt;
    std::size_t place = all_.size() - 1;
    if (name != StringId::empty) {
      std::vector<Place>& places = by_name_[name];
      while (!places.empty() && !is_open(places.back())) places.pop_back();
      if (places.empty()) return std::nullopt;
      place = places.back().at;
      places.pop_back();
    }
    all_[place].is_open = false;
    return all_[place].event;
  }

  /// Calls `visit` for the remaining events, and clears the list.
  template <typename Visit>
  void leave(Visit visit) {
    for (const Range& range : all_) {
      if (range.is_open) visit(range.event);
    }
    all_.clear();
    by_name_.clear();
  }

 private:
  struct Range {
    std::size_t event;
    bool is_open;
  };

  struct Place {
    std::size_t at;     ///< index in all_, which may hold another range by now
    std::size_t event;  ///< event that was there
  };

  bool is_open(const Place& place) const {
    return place.at < all_.size() && all_[place.at].event == place.event && all_[place.at].is_open;
  }

  std::vector<Range> all_;
  std::unordered_map<StringId, std::vector<Place>> by_name_;
};

/// Merges `column` with the values of the range ends in `ends`, which take precedence.
ArgumentValues merged(const ArgumentColumn& column, const ArgumentColumn& ends,
                      const std::vector<std::pair<std::size_t, std::size_t>>& end_of,
                      std::size_t events) {
  ArgumentValues values;
  auto next = end_of.begin();  // (event, end) by event
  for (std::size_t event = 0; event < events; ++event) {
    while (next != end_of.end() && next->first < event) ++next;
    if (next != end_of.end() && next->first == event) values.copy(event, ends, next->second);
    values.copy(event, column, event);  // no effect if the end has set it
  }
  return values;
}

}  // namespace

/// An end belongs to the open range on its thread that began last with the same name, or with any
/// name if the end has none. (Chrome's Trace Event Format, "Duration Events".)
void TraceBuilder::pair_ranges() {
  if (!has_begun_ranges_ && range_ends_.empty()) return;
  std::vector<Moment> moments;
  std::int64_t last_ns = std::numeric_limits<std::int64_t>::min();
  for (std::size_t event = 0; event < data_->start_ns.size(); ++event) {
    const std::int64_t start = data_->start_ns[event];
    last_ns = std::max(last_ns, start + data_->duration_ns[event]);
    if ((data_->flags[event] & Events::kBegun) == 0) continue;
    moments.push_back({start, index(data_->track[event]), 2 * event + 1, event});
  }
  for (std::size_t end = 0; end < range_ends_.size(); ++end) {
    const RangeEnd& row = range_ends_[end];
    last_ns = std::max(last_ns, row.time_ns);
    moments.push_back({row.time_ns, index(row.track), 2 * std::uint64_t{index(row.next)}, end});
  }
  std::stable_sort(moments.begin(), moments.end(),
                   [](const Moment& a, const Moment& b) { return a.key() < b.key(); });

  std::vector<std::pair<std::size_t, std::size_t>> end_of;  // event, its end
  OpenRanges open;
  const auto leave_open = [&](std::size_t event) {
    data_->duration_ns[event] = last_ns - data_->start_ns[event];
    data_->flags[event] |= Events::kUnfinished;
    issues_.add_anywhere(IssueId::range_not_ended);
  };
  for (std::size_t at = 0; at < moments.size(); ++at) {
    const Moment& moment = moments[at];
    if (at > 0 && moments[at - 1].track != moment.track) open.leave(leave_open);
    if (moment.is_begin()) {
      open.begin(moment.number, data_->name[moment.number]);
    } else if (const auto event = open.end(range_ends_[moment.number].name)) {
      data_->duration_ns[*event] = moment.time_ns - data_->start_ns[*event];
      end_of.emplace_back(*event, moment.number);
    } else {
      issues_.add_anywhere(IssueId::range_end_unmatched);
    }
  }
  open.leave(leave_open);
  for (std::uint8_t& flags : data_->flags) flags &= static_cast<std::uint8_t>(~Events::kBegun);

  std::sort(end_of.begin(), end_of.end());
  for (const auto& [argument, values] : lookup_->end_arguments) {
    const ArgumentColumn ends = values.view();
    if (argument == Argument::external_id || argument == Argument::correlation) {
      IdColumn& ids = argument == Argument::external_id ? data_->external_id : data_->correlation;
      for (const auto& [event, end] : end_of) {
        const std::optional<std::int64_t> id = ends.integer(end);
        if (!id) continue;
        ids.replace(event, *id);
        if (argument == Argument::external_id) {
          data_->flags[event] &= static_cast<std::uint8_t>(~Events::kZeroExternalId);
          if (*id == 0) data_->flags[event] |= Events::kZeroExternalId;
        }
      }
      continue;
    }
    ArgumentValues& column = data_->arguments[index(argument)];
    column = merged(column.view(), ends, end_of, data_->start_ns.size());
  }
}

}  // namespace tbtrace
