// The collectives that cost a job most, one by one, as JSON.
// Pure functions; results are plain values.
#pragma once

#include <cstddef>
#include <vector>

#include <tbtrace/job_analysis.h>

#include "wire/json_emitter.h"

namespace tbtrace::pages {

/// Numbers in JobCollectives::collectives: in which ranks computed nothing for longest, all ranks
/// together, the costliest first.
std::vector<std::size_t> costly_collectives(const JobAnalysis& job, std::size_t limit);

/// `members`: how many ranks of each are listed: the first and the last ones.
void emit_collectives(wire::JsonEmitter& json, const JobAnalysis& job,
                      const std::vector<std::size_t>& numbers, std::size_t limit,
                      std::size_t members, std::size_t characters, std::size_t& cuts);

}  // namespace tbtrace::pages
