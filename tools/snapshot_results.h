// What `summary` and `diff` write of memory snapshots.
// One thread. Failures are printed on the console; results are exit codes.
#pragma once

#include <vector>

#include "option.h"
#include "options.h"

namespace tbtrace::tools {

/// Sentences about each snapshot.
int summarize_snapshots(const OptionParser& parser);

/// The options of diff that are for snapshots.
std::vector<Option> snapshot_diff_options();

/// A table of what is different between the two inputs.
int diff_snapshots(const OptionParser& parser);

}  // namespace tbtrace::tools
