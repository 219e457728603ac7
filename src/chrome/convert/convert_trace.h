// Converts one trace into a sink, in two passes: the first builds the model, the second takes the
// rows again and rewrites them.
// A named file is opened twice; an input that can be read only once is kept in an unlinked
// temporary file. Memory is that of the model, whatever else the rows hold. One thread per object;
// it uses others to help.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <tbtrace/convert.h>
#include <tbtrace/trace.h>

#include "chrome/rows/row_document.h"
#include "io/rereadable.h"
#include "io/sink.h"
#include "readers/blocks/directory.h"
#include "readers/chrome/replay.h"

namespace tbtrace::chrome {

/// An input whose rows can be had twice. To convert another kind of input, implement it.
class RowInput {
 public:
  virtual ~RowInput() = default;

  /// The first pass, called once.
  virtual Result<Trace> read(const ReadOptions& options) = 0;
  /// The second one: the same rows, with all their members.
  virtual Status replay(readers::BlockSinks& sinks, int threads) = 0;
};

/// A file, or what was kept of a pipe.
class FileRows final : public RowInput {
 public:
  explicit FileRows(std::unique_ptr<io::Rereadable> file) : file_(std::move(file)) {}

  Result<Trace> read(const ReadOptions& options) override;
  Status replay(readers::BlockSinks& sinks, int threads) override;

  /// What read() found.
  const readers::BlockDirectory& blocks() const { return blocks_; }
  /// The text as it is, without compression. Does not close the sink.
  Status copy(io::ByteSink& sink) const;

 private:
  Status unchanged(Status done) const;

  std::unique_ptr<io::Rereadable> file_;
  readers::BlockDirectory blocks_;
};

class TraceConverter {
 public:
  struct Options {
    Dialect dialect = Dialect::plugin;
    bool infer_steps = false;
    bool strict = false;
    int threads = 1;
    ArgumentSet arguments = {};  ///< arguments that the model keeps besides ArgumentGroup::row
    /// Of the first pass, as in ReadOptions.
    std::function<bool(std::uint64_t done, std::uint64_t total)> on_progress = {};
  };

  /// The first pass. `path` may be `-`.
  static Result<std::unique_ptr<TraceConverter>> open(const std::string& path,
                                                      const Options& options);
  static Result<std::unique_ptr<TraceConverter>> open(std::unique_ptr<RowInput> input,
                                                      const Options& options);

  const Trace& trace() const { return trace_; }

  /// Problems of the input, except rows that are merely not part of the model: rows of other phases
  /// are kept.
  const std::vector<Issue>& issues() const { return issues_; }

  /// The second pass. Closes the sink on success.
  Result<Changes> write(io::ByteSink& sink);
  /// The same into a document of trace().
  Result<Changes> write(RowDocument& document, io::ByteSink& sink);

 private:
  TraceConverter(std::unique_ptr<RowInput> input, Trace trace, const Options& options);

  std::unique_ptr<RowInput> input_;
  Trace trace_;
  std::vector<Issue> issues_;
  Options options_;
};

}  // namespace tbtrace::chrome
