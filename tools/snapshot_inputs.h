// Memory snapshots as inputs of verbs that take traces as well.
// One thread. Failures are printed on the console.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include <tbtrace/memory_snapshot.h>

#include "console.h"
#include "options.h"
#include "rank_choice.h"

namespace tbtrace::tools {

/// Whether one of the inputs is a memory snapshot, or a folder that has some and no traces.
bool any_snapshot(const std::vector<std::string>& inputs);

/// What is wrong with options that are for traces, if one was given; else empty.
std::string wrong_for_snapshots(const OptionParser& parser,
                                const std::vector<std::string>& of_traces);

/// Reads snapshots one after the other. What is done with each returns an exit code, and so does
/// this. `rank`: others are passed over.
int each_snapshot(
    std::string_view verb, const StandardOptions& standard, const RankChoice& rank,
    Console& console,
    const std::function<int(const MemorySnapshot& snapshot, const std::string& path)>& take);

}  // namespace tbtrace::tools
