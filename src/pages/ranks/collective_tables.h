// The collectives of a job, those of one operation, group and size together.
// Pure function.
#pragma once

#include <tbtrace/job_analysis.h>

#include "pages/view_content.h"

namespace tbtrace::pages {

/// A row per operation, group, size and number of ranks; those that cost most first.
TableContent collectives_by_size(const JobAnalysis& job);

}  // namespace tbtrace::pages
