// Which lines allocated and freed the memory of each device.
#include <algorithm>
#include <cstddef>
#include <limits>
#include <tuple>
#include <utility>

#include <tbtrace/lines.h>

#include "analyses/attribution/line_places.h"
#include "analyses/attribution/owners.h"
#include "analyses/memory/walk.h"
#include "analyses/modules/highest_total.h"
#include "analyses/modules/place_costs.h"
#include "analyses/modules/place_totals.h"
#include "analyses/steps/selection.h"
#include "trace/call_tree.h"

namespace tbtrace {
namespace {

using analyses::LinePlaces;
using analyses::Place;
using analyses::WalkedAllocation;
using analyses::WalkedDevice;

/// What was done in a place and in no place below it.
struct PlaceBytes {
  WideInteger allocated = 0;
  WideInteger freed = 0;
  WideInteger alive = 0;  ///< at the peak

  PlaceBytes& operator+=(const PlaceBytes& other) {
    allocated += other.allocated;
    freed += other.freed;
    alive += other.alive;
    return *this;
  }
  LineBytes bytes() const { return {bounded(allocated), bounded(freed), bounded(alive)}; }
};

/// The highest total while any range of a place was open; nothing if none was.
struct Highest {
  static constexpr std::int64_t kNothing = std::numeric_limits<std::int64_t>::min();
  std::int64_t bytes = kNothing;

  /// 0 for a line that ran only outside of the chosen steps, and what it allocated was alive in
  /// them.
  std::int64_t value() const { return bytes == kNothing ? 0 : bytes; }

  Highest& operator+=(const Highest& other) {
    bytes = std::max(bytes, other.bytes);
    return *this;
  }
};

/// What a line holds more at the end of a step than at the end of the one before.
struct StepChange {
  LinePlaces::Line line;
  std::size_t step;
  WideInteger bytes;
};

class LineMemoryAnalysis {
 public:
  LineMemoryAnalysis(const Trace& trace, const LinesOptions& options,
                     const std::optional<TimeRange>& window, const analyses::CountsRange& counts)
      : trace_(trace),
        options_(options),
        counts_(counts),
        walk_(trace, window),
        places_(trace, options.libraries),
        where_(analyses::find_line_places(trace, analyses::ForwardOperators(trace), places_)) {}

  LineMemory run() {
    find_owners();
    LineMemory found;
    found.without_address = walk_.without_address();
    const std::vector<std::vector<Highest>> highest = highest_by_place();
    const std::vector<WideInteger> before = walk_.from_before_at_peak();
    for (std::size_t device = 0; device < walk_.devices().size(); ++device) {
      found.devices.push_back(lines_of(device, highest[device], bounded(before[device])));
    }
    return found;
  }

 private:
  void find_owners() {
    work_.assign(walk_.devices().size(), std::vector<PlaceBytes>(places_.size()));
    place_of_.reserve(trace_.memory().size());
    analyses::for_each_memory_owner(
        trace_, call_tree_of(trace_), [&](const MemoryRecord& record, EventId owner) {
          const Place place =
              owner == EventId::none ? StackTree::kRoot : where_.place[index(owner)];
          const std::size_t device = walk_.device_of()[place_of_.size()];
          place_of_.push_back(place);
          const bool is_counted = !counts_ || (owner != EventId::none && counts_(owner));
          if (record.out_of_memory || !is_counted) return;
          PlaceBytes& here = work_[device][place];
          (record.bytes > 0 ? here.allocated : here.freed) += record.bytes;
        });
    for (std::vector<PlaceBytes>& of_device : work_) {
      for (PlaceBytes& place : of_device) place.freed = -place.freed;
    }
    for (const WalkedAllocation& allocation : walk_.allocations()) {
      const std::optional<std::size_t> peak = walk_.devices()[allocation.device].peak;
      if (!peak || !allocation.is_alive(*peak)) continue;
      work_[allocation.device][place_of_[allocation.allocated_by]].alive += allocation.bytes;
    }
  }

  /// By device and place.
  std::vector<std::vector<Highest>> highest_by_place() const {
    std::vector<std::vector<Highest>> highest;
    for (const WalkedDevice& device : walk_.devices()) {
      std::vector<Highest>& of_device = highest.emplace_back(places_.size());
      analyses::HighestTotal totals(device.curve, bounded(device.before));
      for (const EventId range : call_tree_of(trace_).ranges()) {
        const TrackKey& process = trace_.track(trace_.events().track(range)).process;
        const Place place = where_.place[index(range)];
        if (place == StackTree::kRoot || process != device.process) continue;
        if ((counts_ && !counts_(range)) || is_inside(range)) continue;
        const std::int64_t start = trace_.events().start_ns(range);
        of_device[place] += Highest{totals.between(start, trace_.events().end_ns(range))};
      }
    }
    return highest;
  }

  /// Whether the range around a range has the same place, and is open as long.
  bool is_inside(EventId range) const {
    const EventId around = call_tree_of(trace_).parent(range);
    return around != EventId::none && where_.place[index(around)] == where_.place[index(range)] &&
           trace_.events().end_ns(around) >= trace_.events().end_ns(range) &&
           (!counts_ || counts_(around));
  }

  DeviceLineMemory lines_of(std::size_t number, const std::vector<Highest>& highest,
                            std::int64_t before) const {
    const WalkedDevice& device = walk_.devices()[number];
    const std::vector<PlaceBytes>& work = work_[number];
    const std::size_t count = places_.rows().size();
    const std::vector<PlaceBytes> totals = analyses::totals_of(places_.parents(), work);
    const std::vector<PlaceBytes> by_line =
        analyses::totals_by_key(places_.parents(), totals, places_.lines(), count);
    const std::vector<PlaceBytes> own = analyses::own_by_key(work, places_.lines(), count);
    const std::vector<Highest> peaks = analyses::own_by_key(
        analyses::totals_of(places_.parents(), highest), places_.lines(), count);
    const std::vector<std::optional<std::int64_t>> growth = growth_of(number);

    DeviceLineMemory found;
    found.process = key_text(trace_, device.process);
    found.device = device.name;
    found.is_host = analyses::is_cpu_memory(device.type);
    found.unattributed = own.front().bytes();
    found.total = totals.front().bytes();
    if (device.peak) found.peak_bytes = device.curve[*device.peak].allocated_bytes;
    found.before_bytes = before;
    found.unknown_bytes = bounded(WideInteger{found.peak_bytes} - before - totals.front().alive);
    for (LinePlaces::Line line = 1; line < count; ++line) {
      const PlaceBytes& total = by_line[line];
      if (total.allocated == 0 && total.freed == 0 && total.alive == 0) continue;
      const analyses::PlaceLine& row = places_.rows()[line];
      found.lines.push_back({.file = row.file,
                             .line = row.line,
                             .function = row.function,
                             .level = row.is_function ? LineLevel::function : LineLevel::line,
                             .total = total.bytes(),
                             .self = own[line].bytes(),
                             .peak_bytes = peaks[line].value(),
                             .self_growth_per_step_bytes = growth[line]});
    }
    std::ranges::sort(found.lines, [](const LineMemoryRow& one, const LineMemoryRow& two) {
      return std::tie(two.self.alive_at_peak_bytes, two.self.allocated_bytes,
                      two.total.allocated_bytes, one.file, one.line, one.function, one.level) <
             std::tie(one.self.alive_at_peak_bytes, one.self.allocated_bytes,
                      one.total.allocated_bytes, two.file, two.line, two.function, two.level);
    });
    return found;
  }

  /// By line: the growth of what it allocated and nobody freed.
  std::vector<std::optional<std::int64_t>> growth_of(std::size_t number) const {
    const WalkedDevice& device = walk_.devices()[number];
    std::vector<std::optional<std::int64_t>> growth(places_.rows().size());
    std::vector<std::size_t> records;  // until the end of each step
    for (const std::int64_t end : walk_.step_ends(device, options_.steps)) {
      records.push_back(device.records_until(end));
    }
    if (records.size() < 2) return growth;
    std::vector<StepChange> changes;
    const auto add = [&](LinePlaces::Line line, std::size_t place, WideInteger bytes) {
      const auto first = std::ranges::upper_bound(records, place);
      if (first != records.end()) {
        changes.push_back({line, static_cast<std::size_t>(first - records.begin()), bytes});
      }
    };
    for (const WalkedAllocation& allocation : walk_.allocations()) {
      if (allocation.device != number || allocation.is_from_before()) continue;
      if (!allocation.is_alive(allocation.begin)) continue;
      const LinePlaces::Line line = places_.lines()[place_of_[allocation.allocated_by]];
      add(line, allocation.begin, allocation.bytes);
      if (allocation.end != WalkedAllocation::kNever) add(line, allocation.end, -allocation.bytes);
    }
    std::ranges::sort(changes, {}, &StepChange::line);
    auto change = changes.begin();
    std::ranges::fill(growth, 0);
    while (change != changes.end()) {
      const LinePlaces::Line line = change->line;
      std::vector<WideInteger> in_steps(records.size(), 0);
      for (; change != changes.end() && change->line == line; ++change) {
        in_steps[change->step] += change->bytes;
      }
      in_steps.erase(in_steps.begin());  // nobody knows what there was before the first step
      growth[line] = analyses::median_growth(std::move(in_steps));
    }
    return growth;
  }

  const Trace& trace_;
  const LinesOptions& options_;
  const analyses::CountsRange& counts_;
  const analyses::MemoryWalk walk_;
  LinePlaces places_;
  const analyses::WorkPlaces where_;
  std::vector<std::vector<PlaceBytes>> work_;  // by device and place
  std::vector<Place> place_of_;                // by record
};

}  // namespace

std::int64_t LineBytes::net_bytes() const {
  return bounded(WideInteger{allocated_bytes} - freed_bytes);
}

Result<LineMemory> line_memory(const Trace& trace, const LinesOptions& options) {
  const Result<std::optional<TimeRange>> window = analyses::window_of_steps(trace, options.steps);
  if (!window.ok()) return window.status();
  LineMemory found;
  const Status chosen =
      analyses::with_steps(trace, options.steps, [&](const analyses::CountsRange& counts) {
        found = LineMemoryAnalysis(trace, options, *window, counts).run();
      });
  return chosen.ok() ? Result<LineMemory>(std::move(found)) : Result<LineMemory>(chosen);
}

}  // namespace tbtrace
