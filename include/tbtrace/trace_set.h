// Several traces read together, usually one per rank of a job.
// A TraceSet owns its traces. Immutable: any number of threads may read one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <tbtrace/export.h>
#include <tbtrace/status.h>
#include <tbtrace/trace.h>

namespace TBTRACE_EXPORT tbtrace {

/// A trace of a set. Traces of one job may have different Trace::base_time_ns().
struct TraceOfSet {
  std::string path;
  std::optional<std::int64_t> rank;  ///< from `distributedInfo` (TraceIdentity)
  Trace trace;
};

/// Whether a trace of this rank and path comes before the other one in a set (TraceSet).
bool comes_before_in_set(std::optional<std::int64_t> rank, std::string_view path,
                         std::optional<std::int64_t> other_rank, std::string_view other_path);

/// An input that could not be read, and why.
struct UnreadInput {
  std::string path;
  Status status;
};

/// By rank, then by path in natural order (`trace_9` before `trace_10`); traces without a rank come
/// last. A rank with several recordings has several traces.
class TraceSet {
 public:
  /// Sorts the traces.
  TraceSet(std::vector<TraceOfSet> traces, std::vector<UnreadInput> unread,
           std::vector<std::string> passed_over);

  std::size_t size() const { return traces_.size(); }
  const TraceOfSet& operator[](std::size_t number) const& { return traces_[number]; }
  const TraceOfSet& operator[](std::size_t) const&& = delete;
  auto begin() const { return traces_.begin(); }
  auto end() const { return traces_.end(); }

  /// Traces that could not be read.
  const std::vector<UnreadInput>& unread() const& { return unread_; }
  std::vector<UnreadInput> unread() && { return std::move(unread_); }
  /// What searched directories contain besides: files that are not traces, and directories that
  /// cannot be read.
  const std::vector<std::string>& passed_over() const& { return passed_over_; }
  std::vector<std::string> passed_over() && { return std::move(passed_over_); }

 private:
  std::vector<TraceOfSet> traces_;
  std::vector<UnreadInput> unread_;
  std::vector<std::string> passed_over_;
};

/// The traces that inputs name, without reading them.
struct FoundTraces {
  std::vector<std::string> paths;  ///< `-` is standard input
  /// Directories and patterns without any trace, and files that have the name of an unfinished one.
  std::vector<UnreadInput> unread;
  std::vector<std::string> passed_over;  ///< as TraceSet::passed_over()
  std::vector<std::string> named = {};   ///< those of `paths` that are inputs themselves
};

/// Finds files, all traces in directories and archives, and the matches of glob patterns, in the
/// order of the inputs and in natural order within each. The same file is found once. Of named
/// files only archives are looked into: `ranks.tar.gz/rank0.json` is a path that read_trace()
/// takes.
FoundTraces find_traces(const std::vector<std::string>& inputs);

/// What the name of a file says, by which folders are searched: `trace`, `archive`, `unfinished`
/// (of a trace that is still being written), or nothing for hidden files and for others. `path`: in
/// the searched folder. For those who list files of their own, such as those of an object store.
std::string_view name_says(std::string_view path);

/// The runs that a path of a comparison (diff.h) names: each match of a pattern, in natural order,
/// else the path itself. A run is a trace, a directory with the traces of its ranks, or a baseline.
std::vector<std::string> run_paths(const std::string& path);

/// The same for partials: in directories the files whose name ends in `.tbp`.
FoundTraces find_partials(const std::vector<std::string>& inputs);

struct TraceSetOptions {
  /// Number of threads for all traces together; 0: one per core. Each reads a trace of its own; if
  /// there are fewer traces, several threads read each.
  int threads = 0;
  /// Treats any issue of an input as a failure to read it.
  bool strict = false;
  ArgumentSet arguments = kOperatorArguments;  ///< as in ReadOptions
  /// Called now and then, from one of the reading threads at a time, with the number of finished
  /// and of all inputs. If it returns false, reading ends soon, with StatusCode::cancelled.
  std::function<bool(std::size_t done, std::size_t inputs)> on_progress = {};
};

/// Reads files, all traces in directories, and the matches of glob patterns. Memory is that of all
/// traces. Fails if it was cancelled, or if no input could be read, with the reason of the first.
Result<TraceSet> read_trace_set(const std::vector<std::string>& inputs,
                                const TraceSetOptions& options = {});

}  // namespace tbtrace
