// What makes the program slow, as lines of the first page for people.
#pragma once

#include <string>
#include <vector>

#include <tbtrace/summary.h>

namespace tbtrace::writers {

/// A finding takes three lines: what, evidence, remedy. Parts of one follow it, indented. Without
/// findings, what was looked for.
std::string findings_text(const std::vector<TraceSummary>& summaries);

}  // namespace tbtrace::writers
