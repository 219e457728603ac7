#include "merge_clocks.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <utility>

#include <tbtrace/clocks.h>
#include <tbtrace/collectives.h>

#include "inputs.h"

namespace tbtrace::tools {
namespace {

Result<RankRecord> record_of(const JobFile& file, const StandardOptions& standard,
                             Console& console) {
  ReadOptions reading = standard.reading;
  reading.arguments = kRankArguments;
  reading.on_progress = [&](std::uint64_t done, std::uint64_t total) {
    console.progress(subject_of(file.path), done, total);
    return true;
  };
  const Result<Trace> trace = read_trace(file.path, reading);
  if (!trace.ok()) {
    return Status(trace.status().code(), subject_of(file.path) + ": " + trace.status().message());
  }
  RankRecord record = rank_record(*trace, file.path);
  if (!record.rank) record.rank = file.rank;
  return record;
}

/// What to add to times of the rank, with the error at the end of the recording that is worse.
ClockCorrection correction_of(const RankClock& clock, const RankRecord& record) {
  const double error =
      std::max(clock.error_at_ns(record.start_ns), clock.error_at_ns(record.end_ns));
  return {.offset_ns = -std::llround(clock.offset_ns),
          .drift_ppm = -clock.drift_ppm,
          .error_ns = std::llround(error),
          .at_ns = clock.middle_ns};
}

}  // namespace

Status align_parts(std::vector<MergePart>& parts, const StandardOptions& standard,
                   Console& console) {
  if (parts.size() == 1) {
    parts.front().clock = ClockCorrection();
    return {};
  }
  std::vector<RankRecord> records;
  for (const MergePart& part : parts) {
    Result<RankRecord> record = record_of(part.file, standard, console);
    if (!record.ok()) return record.status();
    records.push_back(*std::move(record));
  }
  JobCollectives job = match_collectives(std::move(records));
  const std::vector<RankClock> clocks = align_clocks(job);
  std::map<std::int64_t, ClockCorrection> corrections;
  for (std::size_t place = 0; place < clocks.size(); ++place) {
    const RankClock& clock = clocks[place];
    const bool is_first = place == 0;
    if (is_first || (clock.is_known && clock.reference == clocks.front().rank)) {
      corrections[clock.rank] =
          is_first ? ClockCorrection() : correction_of(clock, job.ranks[place].record);
    }
  }
  for (MergePart& part : parts) {
    const auto found = part.file.rank ? corrections.find(*part.file.rank) : corrections.end();
    if (found == corrections.end()) {
      return {StatusCode::unreadable_input,
              subject_of(part.file.path) +
                  ": nothing shows how its clock differs from that of the first rank, since they "
                  "have fewer than five collectives in common; leave out --clocks, or choose "
                  "other ranks with --ranks"};
    }
    part.clock = found->second;
  }
  return {};
}

std::string clock_error_text(const std::vector<MergePart>& parts) {
  std::int64_t most = 0;
  for (const MergePart& part : parts) {
    if (part.clock) most = std::max(most, part.clock->error_ns);
  }
  if (most == 0) return "exactly";
  // Upwards to tenths of a microsecond.
  const std::int64_t tenths = most / 100 + (most % 100 == 0 ? 0 : 1);
  return "within " + std::to_string(tenths / 10) + "." + std::to_string(tenths % 10) + " us";
}

}  // namespace tbtrace::tools
