// Partials as inputs, and traces that are added up as partials.
// One thread. Failures are printed on the console.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <tbtrace/partial.h>

#include "console.h"
#include "inputs.h"

namespace tbtrace::tools {

/// Whether a file is a partial. A file that cannot be read is not; who reads it says why.
bool is_partial(const std::string& path);

/// Whether inputs name a partial, as a file or by a pattern.
bool any_partial(const std::vector<std::string>& inputs);

/// Reads a partial and reports problems with it.
Result<Partial> read_partial_input(const std::string& path, Console& console);

/// Adds up traces and partials.
class PartialSum {
 public:
  /// `parts`: what is made of traces, unless a partial has other ones. `reading`: for traces.
  PartialSum(const PartialOptions& options, const ReadOptions& reading, Console& console);

  /// Reads a trace or a partial and adds it. Returns an exit code.
  int add(const std::string& path);

  /// Adds all. Returns kDone, or the exit code of the last that failed.
  int add_all(const InputPaths& inputs);

  /// nullopt without inputs.
  const std::optional<Partial>& sum() const { return sum_; }

 private:
  Result<Partial> partial_of(const std::string& path);

  PartialOptions options_;
  ReadOptions reading_;
  Console& console_;
  std::optional<Partial> sum_;
};

}  // namespace tbtrace::tools
