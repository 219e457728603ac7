// The first card of TensorBoard's Text tab: what makes the program slow, and what to do about it.
#pragma once

#include <string>

#include <tbtrace/summary.h>

namespace tbtrace::logdir {

/// Markdown: what ran, errors and warnings of the recording, findings with their evidence and
/// remedy. `heading` says what part of the trace that is.
std::string findings_card(const TraceSummary& summary, const std::string& heading);

}  // namespace tbtrace::logdir
