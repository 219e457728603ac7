// Several recordings that are analysed together.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include <tbtrace/status.h>
#include <tbtrace/trace.h>

namespace tbtrace::tools {

/// A recording and where it comes from.
struct JoinedInput {
  std::string path;
  TraceIdentity from;
};

/// Fails if the last of the inputs is of another rank, host or process than the first; the error
/// names both, and `remedy`.
Status check_same_process(std::span<const JoinedInput> inputs, std::string_view remedy);

/// `4 recordings of one process`, `4 recordings of 4 processes (4 ranks, 1 host)`.
std::string described_recordings(std::span<const JoinedInput> inputs);

}  // namespace tbtrace::tools
