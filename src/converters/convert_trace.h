// One trace from its bytes into a sink, in two passes: the first makes the model, the second reads
// the bytes again and rewrites the rows.
// A named file is opened twice; what can be read once only is kept in a temporary file without a
// name. Memory is that of the model, whatever rows hold besides. One thread per object, which has
// others help it.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <tbtrace/convert.h>
#include <tbtrace/trace.h>

#include "io/rereadable.h"
#include "io/sink.h"
#include "readers/format.h"

namespace tbtrace::converters {

class TraceConverter {
 public:
  struct Options {
    Dialect dialect = Dialect::plugin;
    bool infer_steps = false;
    bool strict = false;
    int threads = 1;
    ArgumentSet arguments = {};  ///< that the model keeps besides those of every row
  };

  /// The first pass. `path` may be `-`.
  static Result<std::unique_ptr<TraceConverter>> open(const std::string& path,
                                                      const Options& options);
  static Result<std::unique_ptr<TraceConverter>> open(std::unique_ptr<io::Rereadable> input,
                                                      const Options& options);

  const Trace& trace() const { return trace_; }

  /// Problems of the input, but for what is only no part of the model: rows of other phases are
  /// kept.
  const std::vector<Issue>& issues() const { return issues_; }

  /// The second pass. Closes the sink if all went well.
  Result<Changes> write(io::ByteSink& sink);

 private:
  TraceConverter(std::unique_ptr<io::Rereadable> input, readers::Reading reading,
                 const Options& options);

  std::unique_ptr<io::Rereadable> input_;
  Trace trace_;
  readers::BlockDirectory blocks_;
  std::vector<Issue> issues_;
  Options options_;
};

}  // namespace tbtrace::converters
