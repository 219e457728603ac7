#include "chrome/slice/row_sizes.h"

#include <string_view>

#include "chrome/rows/member_json.h"

namespace tbtrace::chrome {
namespace {

constexpr std::uint64_t kCutMark = 80;  // `"uncut_ts":…,"uncut_dur":…` at most

}  // namespace

void RowSizes::add(EventId range, std::size_t bytes) {
  ranges_[index(range)] = static_cast<std::uint32_t>(bytes);
}

void RowSizes::add(const EventBatch& rows, const EventBatch::Row& row, std::size_t bytes) {
  Other other = {.kind = row.kind, .bytes = static_cast<std::uint32_t>(bytes)};
  if (row.kind == RowKind::memory) {
    other.time_ns = rows.memory[row.number].time_ns;
  } else if (row.kind == RowKind::flow) {
    other.flow = rows.flows[row.number];
  } else if (row.kind != RowKind::label) {
    other.time_ns = rows.others[row.number].time_ns;
  }
  const std::lock_guard lock(mutex_);
  if (row.kind == RowKind::flow) {
    const EventBatch::Track& track = rows.tracks[index(other.flow.track)];
    const auto number = static_cast<std::uint32_t>(processes_.size());
    other.process = processes_.try_emplace(id_text(rows, track.process), number).first->second;
  }
  if (row.kind == RowKind::label) {
    labels_ += bytes;
  } else {
    others_.push_back(other);
  }
}

std::uint64_t RowSizes::total(const RowSelection& selection) const {
  std::uint64_t bytes = labels_;
  for (std::size_t number = 0; number < ranges_.size(); ++number) {
    const auto event = static_cast<EventId>(number);
    if (!selection.takes_range(event)) continue;
    bytes += ranges_[number] + (selection.cuts(event) ? kCutMark : 0);
  }
  std::vector<std::string_view> processes(processes_.size());
  for (const auto& [process, number] : processes_) processes[number] = process;
  for (const Other& other : others_) {
    // Those of threads that are not taken were not written.
    const bool takes = other.kind == RowKind::flow
                           ? selection.takes_flow(other.flow, processes[other.process])
                           : selection.takes_time(other.time_ns);
    if (takes) bytes += other.bytes;
  }
  return bytes;
}

}  // namespace tbtrace::chrome
