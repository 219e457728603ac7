// What ranks are compared by, in a partial.
#pragma once

#include <cstdint>
#include <string>

#include <tbtrace/collectives.h>
#include <tbtrace/trace.h>

#include "partials/content.h"

namespace tbtrace::partials {

/// Whether a clock may show it, until the year 2079: neither differences of two such times nor
/// those of two differences overflow.
constexpr bool is_clock_time(std::int64_t ns) {
  constexpr std::int64_t kPart = std::int64_t{1} << 60;
  return ns > -kPart && ns < 3 * kPart;
}

/// Of a trace: bounded (jobs/collectives/sample.h), and without what PartialSource has.
RankRecord kept_record(const Trace& trace, const std::string& name);

/// What a trace says of its job, besides the members that each source has.
void add_job_facts(PartialSource& source, const Trace& trace);

/// kept_record() with what its source has.
RankRecord complete_record(const PartialSource& source, RankRecord record);

}  // namespace tbtrace::partials
