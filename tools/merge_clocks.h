// The clocks of the traces that `merge` joins, from the collectives that they have in common.
#pragma once

#include <string>
#include <vector>

#include <tbtrace/merge.h>
#include <tbtrace/status.h>

#include "console.h"
#include "options.h"

namespace tbtrace::tools {

/// Sets MergePart::clock of all parts: what brings a rank's clock to that of the first rank. Reads
/// each part, one at a time. Fails if the clock of a rank is not known, or one cannot be read.
Status align_parts(std::vector<MergePart>& parts, const StandardOptions& standard,
                   Console& console);

/// `within 12.0 us`: how far off times of other ranks may be on the clock of the first one.
std::string clock_error_text(const std::vector<MergePart>& parts);

}  // namespace tbtrace::tools
