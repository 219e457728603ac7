// `--rank N`, `--iteration N`: only inputs of one rank, of one iteration.
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
  static Option iteration_option();

  /// What was chosen; without the option all ranks. A wrong text is a failure.
  static Result<RankChoice> of(const OptionParser& parser);

  bool takes(const Trace& trace) const { return takes(trace.identity().rank); }
  bool takes_iteration(std::optional<std::int64_t> iteration) const {
    return !iteration_ || iteration == iteration_;
  }
  std::optional<std::int64_t> rank() const { return rank_; }
  std::optional<std::int64_t> iteration() const { return iteration_; }
  bool takes(std::optional<std::int64_t> rank) const { return !rank_ || rank == rank_; }

  /// Says that no input is of the rank and iteration, and returns the exit code.
  int say_none(std::string_view verb, Console& console) const;

 private:
  std::optional<std::int64_t> rank_;
  std::optional<std::int64_t> iteration_;
};

}  // namespace tbtrace::tools
