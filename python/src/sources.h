// What Python's callers name as a trace: paths, also of other file systems, bytes, file objects.
// With the GIL, which reading releases.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <nanobind/nanobind.h>

#include <tbtrace/memory_snapshot.h>
#include <tbtrace/trace.h>
#include <tbtrace/trace_set.h>

#include "python_trace.h"

namespace tbtrace::python {

/// Whether it is a str or an os.PathLike.
bool is_path(nanobind::handle source);
/// Whether it is a path that fsspec opens.
bool is_remote(nanobind::handle path);

/// What tbtrace.find() finds, here and in other file systems. Takes the GIL.
FoundTraces found_anywhere(const std::vector<std::string>& paths);
/// The matches of a remote pattern; else the path itself.
std::vector<std::string> remote_matches(nanobind::handle url);

/// Where to read, with a user's home for `~`.
std::string input_path(nanobind::handle path);
/// Where to write, likewise; a ValueError for a remote path. `what` writes: `save()`.
std::string output_path(nanobind::handle path, const char* what);

/// The content of a path as a file on this machine: of a remote one a copy, which is removed in the
/// What read() reads: of a folder, a pattern or a list its only trace. A ValueError if it has
/// several.
nanobind::object only_trace(nanobind::handle source);

/// Whether it is a Job of this package, and the paths of its files that are in the tables.
bool is_job(nanobind::handle object);
std::vector<std::string> paths_of_job(nanobind::handle job);

/// end. Made and destroyed with the GIL or without.
class FileHere {
 public:
  explicit FileHere(const std::string& path);
  ~FileHere();
  FileHere(const FileHere&) = delete;
  FileHere& operator=(const FileHere&) = delete;

  const std::string& path() const { return path_; }

 private:
  std::string path_;
  nanobind::object copy_;  // a context manager
};

/// A `torch.profiler.profile`, or what exports its trace as that does.
bool is_profiler(nanobind::handle source);

/// What a source is called in messages and tables if nothing else is said.
std::string name_of_source(nanobind::handle source);

/// Reads a trace. `name`: what it is called; else name_of_source().
PythonTrace read_source(nanobind::handle source, const ReadOptions& options,
                        const std::optional<std::string>& name);

/// Reads a memory snapshot; also of what torch.cuda.memory._snapshot() returned.
MemorySnapshot read_snapshot_source(nanobind::handle source, const ReadOptions& options,
                                    const std::string& name);

}  // namespace tbtrace::python
