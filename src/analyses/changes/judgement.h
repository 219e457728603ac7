// Whether changes are more than the variation between runs. Pure functions.
#pragma once

#include <span>
#include <vector>

#include <tbtrace/diff.h>

#include "analyses/changes/rows.h"

namespace tbtrace::analyses {

/// Sets the verdict on the step, its interval, and the sentence about them, from the means of each
/// run. `found` has its reasons and the step's means.
void judge_step(std::span<const RunFigures> base, std::span<const RunFigures> changed,
                const DiffOptions& options, Diff& found);

/// Sets the interval of a time, from that of each run.
void judge_quantity(std::span<const double> base, std::span<const double> changed,
                    const DiffOptions& options, DiffQuantity& quantity);

/// Sets the intervals of rows that are at least 0.5 % of the step on a side, and, if the step is
/// slower or faster, their verdicts: of the rows of a division that are called slower or faster, at
/// most 1 % are false on average.
void judge_rows(std::span<RowSides> rows, const Diff& found, const DiffOptions& options);

}  // namespace tbtrace::analyses
