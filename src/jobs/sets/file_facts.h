// What the start of a trace says about where it comes from, and its end where the start says too
// little. Results are owned. Any thread. Reads some 100 KB of most files.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <tbtrace/status.h>

#include "jobs/collectives/recorded_by.h"

namespace tbtrace::jobs {

struct FileFacts {
  Status problem;          ///< why it is not a trace; then there is nothing else
  bool is_merged = false;  ///< by tbtrace or SGLang; then there is nothing else
  RecordedBy by;           ///< what its members say
  std::string host;
  std::string process;
  std::optional<std::int64_t> start_ns;  ///< of the earliest range at the start of the file
};

/// Whether a text starts as merged traces do.
bool begins_as_merged(std::string_view start);

/// `find_base`: reads a compressed file to its end if its start does not have the time base. Of
/// other files the end is looked at in any case.
FileFacts look_at_trace(const std::string& path, bool find_base);

}  // namespace tbtrace::jobs
