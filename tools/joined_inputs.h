// Several recordings that are analysed together.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <tbtrace/status.h>
#include <tbtrace/trace.h>

#include "console.h"
#include "options.h"

namespace tbtrace::tools {

struct Joining {
  /// Whether recordings of different ranks, hosts and processes can be joined.
  bool takes_several_processes = false;
  /// What to do about them otherwise, such as `--each summarises each input by itself`.
  std::string_view remedy;
};

/// A recording and where it comes from.
struct JoinedInput {
  std::string path;
  TraceIdentity from;
};

/// Fails if the last of the inputs is of another rank, host or process than the first; the error
/// names both.
Status check_same_process(std::span<const JoinedInput> inputs, std::string_view remedy);

/// `4 recordings of one process`, `4 recordings of 4 processes (4 ranks, 1 host)`.
std::string described_recordings(std::span<const JoinedInput> inputs);

using TakeTrace = std::function<void(Trace trace)>;

/// Computes and writes a result from the traces that were taken.
using MakeJoined = std::function<Status(std::span<const JoinedInput> inputs)>;

/// Reads all traces that the inputs name, passes each to `take`, and calls `make`. If one cannot be
/// read, nothing is made, because sums would lack it. Says what is joined. Returns the exit code.
int run_joined(const std::string& verb, const StandardOptions& standard, const ReadOptions& reading,
               const Joining& joining, Console& console, const TakeTrace& take,
               const MakeJoined& make);

}  // namespace tbtrace::tools
