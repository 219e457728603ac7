#include "partials/rank_parts.h"

#include <algorithm>
#include <utility>

#include "jobs/collectives/recorded_by.h"
#include "jobs/collectives/sample.h"

namespace tbtrace::partials {
namespace {

/// Times that no clock has cannot be compared: differences of them do not fit in 64 bits.
bool has_clock_times(const RankRecord& record) {
  return is_clock_time(record.start_ns) && is_clock_time(record.end_ns) &&
         std::ranges::all_of(record.collectives,
                             [](const RankCollective& part) {
                               return is_clock_time(part.start_ns) && is_clock_time(part.end_ns);
                             }) &&
         std::ranges::all_of(record.steps, [](const RankStep& step) {
           return is_clock_time(step.start_ns) && is_clock_time(step.end_ns);
         });
}

}  // namespace

RankRecord kept_record(const Trace& trace, const std::string& name) {
  RankRecord record = rank_record(trace, name);
  if (!has_clock_times(record)) {
    RankRecord empty;
    empty.device = record.device;
    empty.calls_without_kernel = record.calls_without_kernel;
    return empty;
  }
  jobs::limit_record(record);
  record.path.clear();
  record.rank.reset();
  record.world_size.reset();
  record.host.clear();
  return record;
}

void add_job_facts(PartialSource& source, const Trace& trace) {
  jobs::RecordedBy by = jobs::recorded_by(trace);
  source.world_size = trace.identity().world_size;
  source.backend = std::move(by.backend);
  source.start_ns = trace.identity().start_ns;
  source.base_time_ns = by.base_ns;
  source.events = trace.events().size();
  source.versions = std::move(by.versions);
  // What the members say about the torch that wrote them.
  if (!by.has_schema || source.versions.contains("torch")) return;
  if (source.base_time_ns) {
    source.versions["torch"] = "2.4 or later";
  } else if (source.start_ns) {
    source.versions["torch"] = "2.3 or earlier";
  }
}

RankRecord complete_record(const PartialSource& source, RankRecord record) {
  record.path = source.name;
  record.rank = source.rank;
  record.world_size = source.world_size;
  record.host = source.host;
  return record;
}

}  // namespace tbtrace::partials
