// The parts of a summary as tables. Pure function; the result owns its texts.
#pragma once

#include <vector>

#include <tbtrace/summary.h>

#include "pages/view_content.h"

namespace tbtrace::pages {

/// One table per part of `tbtrace.summary/1` that has entries, with its members as columns.
std::vector<TableContent> summary_tables(const TraceSummary& summary);

}  // namespace tbtrace::pages
