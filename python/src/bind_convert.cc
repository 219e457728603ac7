#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include <tbtrace/capabilities.h>
#include <tbtrace/convert.h>
#include <tbtrace/trace_set.h>

#include "arguments.h"
#include "failures.h"
#include "live/cycle_log.h"
#include "module.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace tbtrace::python {
namespace {

/// Throws the first failure, with how many there were.
void raise_failures(const Conversion& conversion) {
  std::size_t failed = 0;
  const ConvertedInput* first = nullptr;
  for (const ConvertedInput& input : conversion.inputs) {
    if (input.state != ConvertedInput::State::failed) continue;
    if (first == nullptr) first = &input;
    ++failed;
  }
  if (first != nullptr) {
    const std::string counts = std::to_string(failed) + " of " +
                               std::to_string(conversion.inputs.size()) +
                               " inputs failed, the others are done: ";
    throw Failure((conversion.inputs.size() > 1 ? counts : "") + first->input, first->status,
                  first->input);
  }
  for (const auto& [run, status] : conversion.failed_runs) throw Failure(run, status);
}

/// Warns if event files have no pictures because of what this machine lacks.
void warn_without_pictures(LogFormat format) {
  if (format == LogFormat::plugin || !capabilities().event_files) return;
  const std::string problem = capabilities().pictures_problem;
  if (problem.empty()) return;
  const std::string sentence = "the event files have no flame graphs: " + problem;
  if (PyErr_WarnEx(PyExc_RuntimeWarning, sentence.c_str(), 1) < 0) throw nb::python_error();
}

nb::object convert(nb::handle inputs, nb::handle log_directory, const std::string& to,
                   const std::string& dialect, const std::optional<std::string>& run,
                   const std::optional<std::string>& worker, bool gzip, bool infer_steps,
                   bool overwrite, bool skip_existing, bool strict, std::optional<int> workers,
                   const std::string& on_error) {
  constexpr LogFormat kFormats[] = {LogFormat::both, LogFormat::plugin, LogFormat::event_files};
  ConvertOptions options;
  options.log.format = kFormats[choice("to", to, {"both", "plugin", "tensorboard"})];
  const bool is_kineto = choice("dialect", dialect, {"plugin", "kineto"}) == 1;
  options.log.dialect = is_kineto ? Dialect::kineto : Dialect::plugin;
  options.log.run = run.value_or("");
  options.log.worker = worker.value_or("");
  options.log.use_gzip = gzip;
  options.log.infer_steps = infer_steps;
  options.log.overwrite = overwrite;
  if (skip_existing && overwrite) wrong_argument("skip_existing and overwrite exclude each other");
  options.skip_existing = skip_existing;
  options.strict = strict;
  options.threads = threads_of(workers);
  const bool raises = choice("on_error", on_error, {"raise", "return"}) == 0;
  bool is_interrupted = false;
  options.on_progress = [&](std::size_t /*done*/, std::size_t /*inputs*/) {
    is_interrupted = is_interrupted || !may_go_on();
    return !is_interrupted;
  };
  const std::vector<std::string> paths = paths_of(inputs);
  const std::string directory = path_of(log_directory);
  std::string manifest;
  {
    const nb::gil_scoped_release working;
    const Conversion conversion = value_of(convert_to_log_directory(paths, directory, options));
    if (is_interrupted) throw Failure(Status(StatusCode::cancelled, "interrupted"));
    if (raises) raise_failures(conversion);
    manifest = conversion_json(conversion);
  }
  warn_without_pictures(options.log.format);
  return from_json(manifest);
}

nb::object find(nb::handle inputs) {
  const std::vector<std::string> named = paths_of(inputs);
  FoundTraces found;
  {
    const nb::gil_scoped_release working;
    found = find_traces(named);
  }
  nb::list paths;
  for (const std::string& path : found.paths) paths.append(path_object(path));
  nb::list unread;
  for (const UnreadInput& input : found.unread) {
    unread.append(nb::make_tuple(path_object(input.path), input.status.message()));
  }
  return nb::make_tuple(paths, unread);
}

std::string add_cycle(CycleLog& log, nb::handle path) {
  const std::string place = path_of(path);
  const nb::gil_scoped_release working;
  return value_of(log.add(place));
}

void finish_log(CycleLog& log) {
  const nb::gil_scoped_release working;
  check(log.finish());
}

}  // namespace

void bind_convert(nb::module_& module) {
  module.def(
      "convert", convert, "inputs"_a, "log_directory"_a, nb::kw_only(), "to"_a = "both",
      "dialect"_a = "plugin", "run"_a = nb::none(), "worker"_a = nb::none(), "gzip"_a = true,
      "infer_steps"_a = false, "overwrite"_a = false, "skip_existing"_a = false, "strict"_a = false,
      "workers"_a = nb::none(), "on_error"_a = "raise",
      "Writes log files for `tensorboard --logdir LOG_DIRECTORY`.\n\n"
      "`inputs`: a file, a directory that is searched for traces, a glob pattern, or a list of\n"
      "these. `to`: 'plugin' (traces for torch-tb-profiler), 'tensorboard' (summaries for plain\n"
      "TensorBoard) or 'both'. `dialect`: of the traces, 'plugin' or 'kineto'. `run` and "
      "`worker`:\n"
      "names, those of the command line if None. `workers`: inputs at a time, None for one per\n"
      "core. A run appears complete or not at all; an existing log file is an error, unless\n"
      "`overwrite` or `skip_existing`. Remote inputs ('s3://bucket/ranks/', by fsspec) are "
      "fetched\n"
      "into a temporary folder first; if one cannot be, that is raised before anything is "
      "written.\n"
      "`log_directory` is local.\n\n"
      "Returns what became of each input (`tbtrace.convert/1`). If one failed, the others are\n"
      "converted all the same; then the first failure is raised, unless `on_error='return'`:\n"
      "TraceError, FileExistsError or OSError. Raises ValueError for a wrong argument.\n\n"
      "    tbtrace.convert(\"ranks/\", \"logs\", to=\"both\")",
      nb::sig("def convert(inputs: str | os.PathLike[str] | "
              "collections.abc.Sequence[str | os.PathLike[str]], "
              "log_directory: str | os.PathLike[str], *, to: typing.Literal['both', 'plugin', "
              "'tensorboard'] = 'both', "
              "dialect: typing.Literal['plugin', 'kineto'] = 'plugin', run: str | None = None, "
              "worker: str | None = None, "
              "gzip: bool = True, infer_steps: bool = False, overwrite: bool = False, "
              "skip_existing: bool = False, strict: bool = False, workers: int | None = None, "
              "on_error: typing.Literal['raise', 'return'] = 'raise') -> dict[str, typing.Any]"));
  module.def(
      "find", find, "inputs"_a,
      "The traces that inputs name, without reading them: files, all traces in directories,\n"
      "the matches of glob patterns, here or where fsspec finds them ('s3://bucket/ranks/'). "
      "Named\n"
      "files are not looked at, nor are those in remote directories, of which the names decide.\n"
      "Returns paths, local ones first, and (path, why) of directories and patterns without any\n"
      "trace. Raises TraceError if a remote directory cannot be listed.\n\n"
      "    tbtrace.find(\"ranks/\")[0]",
      nb::sig("def find(inputs: str | os.PathLike[str] | "
              "collections.abc.Sequence[str | os.PathLike[str]]) "
              "-> tuple[list[str], list[tuple[str, str]]]"));
  module.def(
      "name_says", [](const std::string& path) { return std::string(name_says(path)); }, "path"_a,
      "What the name of a file, or its path in a searched folder, says: 'trace', "
      "'unfinished', 'archive'\nor ''.");
  module.def(
      "pictures_problem", [] { return capabilities().pictures_problem; },
      "Why event files have no flame graphs on this machine; empty if they have.");
  nb::class_<CycleLog>(module, "CycleLog", "The log files that tensorboard_trace_handler() writes.")
      .def(
          "__init__",
          [](CycleLog* self, nb::handle directory, const std::string& worker, bool gzip) {
            new (self) CycleLog(path_of(directory), worker, gzip);
          },
          "directory"_a, "worker"_a, "gzip"_a,
          nb::sig("def __init__(self, directory: str, worker: str, gzip: bool) -> None"))
      .def("add", add_cycle, "path"_a, "Adds a cycle from torch's file; returns the trace's path.",
           nb::sig("def add(self, path: str) -> str"))
      .def("finish", finish_log, "Writes what is kept for the end.");
}

}  // namespace tbtrace::python
