#include "pages/report/page_fit.h"

#include <algorithm>
#include <cstdint>
#include <queue>
#include <string>
#include <string_view>
#include <utility>

#include "base/threads.h"
#include "pages/page_file.h"

namespace tbtrace::pages {
namespace {

/// The least that is kept of a view.
constexpr std::size_t kLeastRows = 50;
constexpr std::size_t kLeastFrames = 300;
constexpr std::size_t kLeastRanges = 300;
constexpr std::int64_t kCoarsestUnitNs = 10'000;

std::size_t most_rows(const ViewContent& content) {
  std::size_t most = 0;
  for (const TableContent& table : content.tables) {
    most = std::max(most, table.report.table.rows.size());
  }
  return most;
}

std::size_t most_frames(const ViewContent& content) {
  std::size_t most = 0;
  for (const StacksContent& stacks : content.stacks) {
    most = std::max(most, stacks.tree.size());
  }
  return most;
}

Status write_section(ViewSection& section) {
  const std::string text = view_text(*section.content, section.limits);
  Result<std::string> packed = packed_section(text);
  if (!packed.ok()) return packed.status();
  section.text_bytes = text.size();
  section.base64 = *std::move(packed);
  return {};
}

/// Makes a timeline smaller: first without arguments, then in coarser units, then with half of its
/// ranges. False if it has no more than the least.
bool reduce_timeline(const analyses::Timeline& timeline, ViewLimits& limits) {
  const std::size_t ranges = std::min(limits.ranges, timeline.size());
  if (limits.range_arguments && !timeline.arguments.empty()) {
    limits.range_arguments = false;
  } else if (limits.time_unit_ns < kCoarsestUnitNs) {
    limits.time_unit_ns *= limits.time_unit_ns == 1 ? 100 : 10;
  } else if (ranges > kLeastRanges) {
    limits.ranges = std::max(kLeastRanges, ranges / 2);
  } else {
    return false;
  }
  return true;
}

/// Makes what the section has smaller, tables and stacks by half. False if it has no more than the
/// least.
bool reduce(ViewSection& section) {
  ViewLimits& limits = section.limits;
  if (section.content->timeline) return reduce_timeline(*section.content->timeline, limits);
  const std::size_t rows = std::min(limits.rows, most_rows(*section.content));
  const std::size_t frames = std::min(limits.frames, most_frames(*section.content));
  if (rows <= kLeastRows && frames <= kLeastFrames) return false;
  limits.rows = std::max(kLeastRows, rows / 2);
  limits.frames = std::max(kLeastFrames, frames / 2);
  return true;
}

}  // namespace

bool fit_sections(std::vector<ViewSection>& sections, std::size_t limit, std::size_t threads,
                  Status& failure) {
  std::vector<Status> all_written(sections.size());
  run_numbered(threads, sections.size(),
               [&](std::size_t number) { all_written[number] = write_section(sections[number]); });
  for (const Status& written : all_written) {
    if (!written.ok()) {
      failure = written;
      return false;
    }
  }
  std::size_t sum = bytes_of(sections);
  std::priority_queue<std::pair<std::size_t, std::size_t>> by_size;  // size, number
  for (std::size_t number = 0; number < sections.size(); ++number) {
    by_size.emplace(sections[number].base64.size(), number);
  }
  while (sum > limit && !by_size.empty()) {
    const std::size_t number = by_size.top().second;
    ViewSection& largest = sections[number];
    by_size.pop();
    if (!reduce(largest)) continue;
    sum -= largest.base64.size();
    if (Status now = write_section(largest); !now.ok()) {
      failure = now;
      return false;
    }
    sum += largest.base64.size();
    by_size.emplace(largest.base64.size(), number);
  }
  return sum <= limit;
}

std::size_t bytes_of(const std::vector<ViewSection>& sections) {
  std::size_t sum = 0;
  for (const ViewSection& section : sections) sum += section.base64.size();
  return sum;
}

Result<JobSection> job_section(const RanksView& view, const RanksLimits& limits) {
  const std::string text = view.document(limits);
  Result<std::string> packed = packed_section(text);
  if (!packed.ok()) return packed.status();
  return JobSection{text.size(), *std::move(packed)};
}

Result<JobSection> job_section_within(const RanksView& view, std::size_t bytes) {
  RanksLimits limits;
  while (true) {
    Result<JobSection> section = job_section(view, limits);
    if (!section.ok() || section->base64.size() <= bytes) return section;
    const RanksLimits less = fewer(limits);
    if (less == limits) return section;
    limits = less;
  }
}

}  // namespace tbtrace::pages
