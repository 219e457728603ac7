// Converts one trace from its bytes into a sink, in two passes: the first builds the model, the
// second reads the bytes again and rewrites the rows.
// A named file is opened twice; an input that can be read only once is kept in an unlinked
// temporary file. Memory is that of the model, whatever else the rows hold. One thread per object;
// it uses others to help.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <tbtrace/convert.h>
#include <tbtrace/trace.h>

#include "io/rereadable.h"
#include "io/sink.h"
#include "readers/formats/format.h"

namespace tbtrace::chrome {

class TraceConverter {
 public:
  struct Options {
    Dialect dialect = Dialect::plugin;
    bool infer_steps = false;
    bool strict = false;
    int threads = 1;
    ArgumentSet arguments = {};  ///< arguments that the model keeps besides ArgumentGroup::row
  };

  /// The first pass. `path` may be `-`.
  static Result<std::unique_ptr<TraceConverter>> open(const std::string& path,
                                                      const Options& options);
  static Result<std::unique_ptr<TraceConverter>> open(std::unique_ptr<io::Rereadable> input,
                                                      const Options& options);

  const Trace& trace() const { return trace_; }

  /// Problems of the input, except rows that are merely not part of the model: rows of other phases
  /// are kept.
  const std::vector<Issue>& issues() const { return issues_; }

  /// The second pass. Closes the sink on success.
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

}  // namespace tbtrace::chrome
