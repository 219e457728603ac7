// `--rank N`: only inputs of one rank.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include <tbtrace/status.h>
#include <tbtrace/trace.h>

#include "console.h"
#include "options.h"

namespace tbtrace::tools {

class RankChoice {
 public:
  static Option option();

  /// What was chosen; without the option all ranks. A wrong text is a failure.
  static Result<RankChoice> of(const OptionParser& parser);

  bool takes(const Trace& trace) const { return takes(trace.identity().rank); }
  bool takes(std::optional<std::int64_t> rank) const { return !rank_ || rank == rank_; }

  /// Says that no input is of the rank, and returns the exit code.
  int say_none(std::string_view verb, Console& console) const;

 private:
  std::optional<std::int64_t> rank_;
};

}  // namespace tbtrace::tools
