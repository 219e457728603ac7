// The tables of a job that have a row per rank, or per rank and operation.
// Pure functions.
#pragma once

#include <tbtrace/job_analysis.h>

#include "pages/ranks/job_steps.h"
#include "pages/ranks/wait_matrix.h"
#include "pages/view_content.h"

namespace tbtrace::pages {

/// The mean step of each rank and its parts, which add up to it.
TableContent ranks_table(const JobAnalysis& job, const JobSteps& steps);

/// Who waited, and who made others wait.
TableContent waits_table(const JobAnalysis& job, const WaitMatrix& waits);

TableContent clocks_table(const JobAnalysis& job);

/// Collectives by rank and operation, those that could not be matched included.
TableContent operations_table(const JobAnalysis& job);

}  // namespace tbtrace::pages
