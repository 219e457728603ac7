// Where the recordings of a job's ranks are on one clock, and which of their collectives are one,
// as JSON: what timelines of several ranks are drawn by. Pure functions.
#pragma once

#include <cstddef>

#include <tbtrace/job_analysis.h>

#include "wire/json_emitter.h"

namespace tbtrace::pages {

/// `recordings`: by place of a rank, its recording on its own clock and on that of its reference.
void emit_recordings(wire::JsonEmitter& json, const JobAnalysis& job);

/// `matches`: the members of the longest matched collectives, at most `limit` members.
void emit_matches(wire::JsonEmitter& json, const JobAnalysis& job, std::size_t limit);

}  // namespace tbtrace::pages
