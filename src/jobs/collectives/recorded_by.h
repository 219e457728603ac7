// What the members of a trace say of the job that it is of, and of the versions that recorded it.
// Any text is accepted as a member. Plain values; pure functions.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include <tbtrace/trace.h>

namespace tbtrace::jobs {

struct RecordedBy {
  std::optional<std::int64_t> rank;        ///< from `distributedInfo`
  std::optional<std::int64_t> world_size;  ///< likewise
  std::string backend;                     ///< likewise
  std::optional<std::int64_t> base_ns;     ///< `baseTimeNanoseconds`
  bool has_schema = false;                 ///< `schemaVersion`: torch wrote it
  /// By what has them, as people call it: `NCCL`, `CUDA`, `torch`.
  std::map<std::string, std::string> versions;

  /// Takes what a member at the top of the trace says.
  void take_member(std::string_view key, std::string_view json);
};

/// Of all members.
RecordedBy recorded_by(const Trace& trace);

}  // namespace tbtrace::jobs
