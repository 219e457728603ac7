#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <tbtrace/checks.h>
#include <tbtrace/compat.h>
#include <tbtrace/convert.h>
#include <tbtrace/flame_graph.h>
#include <tbtrace/operators.h>
#include <tbtrace/replay_program.h>
#include <tbtrace/trace.h>
#include <tbtrace/trace_export.h>
#include <tbtrace/views.h>

#include "arguments.h"
#include "event_table.h"
#include "flame_graph.h"
#include "module.h"
#include "operators.h"
#include "report.h"
#include "sources.h"
#include "sql.h"
#include "summary.h"
#include "table_methods.h"
#include "trace_facts.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace tbtrace::python {
namespace {

PythonTrace read(nb::handle source, std::optional<int> threads, bool strict,
                 const std::optional<Names>& arguments, const std::optional<std::string>& name) {
  ReadOptions options;
  options.threads = threads_of(threads);
  options.strict = strict;
  options.arguments = arguments_of(arguments);
  options.on_progress = [](std::uint64_t /*done*/, std::uint64_t /*total*/) { return may_go_on(); };
  if (is_path(source) || nb::isinstance<nb::list>(source) || nb::isinstance<nb::tuple>(source)) {
    return read_source(only_trace(source), options, name);
  }
  return read_source(source, options, name);
}

PythonOperators operators(const PythonTrace& self, const std::optional<Names>& group_by,
                          const std::string& figures, int group_by_stack_n,
                          const std::string& stack_source) {
  need(kOperatorArguments, self, "operators");
  const SummaryOptions options = summary_options(group_by, group_by_stack_n, stack_source);
  const Figures chosen = figures_named("ops", figures);
  const nb::gil_scoped_release working;
  return PythonOperators(value_of(operator_summary(*self.trace, chosen, options)));
}

/// Of torch's key_averages().
SummaryOptions averages_options(bool group_by_input_shape, int group_by_stack_n,
                                bool group_by_overload_name, bool include_python_functions,
                                const std::string& torch) {
  SummaryOptions options;
  options.group_by_input_shape = group_by_input_shape;
  if (group_by_stack_n < 0) wrong_argument("group_by_stack_n takes a number from 0");
  options.group_by_stack_n = group_by_stack_n;
  options.group_by_overload_name = group_by_overload_name;
  options.include_python_functions = include_python_functions;
  choice("torch", torch, {"2.13", "2.14", "2.15"});
  options.torch = *torch_version_named(torch);
  return options;
}

/// Several recordings of one profiler, oldest first.
PythonOperators joined_averages(const std::vector<PythonTrace>& traces, bool group_by_input_shape,
                                int group_by_stack_n, bool group_by_overload_name,
                                bool include_python_functions, const std::string& torch) {
  std::vector<const Trace*> joined;
  for (const PythonTrace& trace : traces) {
    need(kOperatorArguments, trace, "key_averages");
    joined.push_back(trace.trace.get());
  }
  if (joined.empty()) wrong_argument("key_averages() takes at least one trace");
  const SummaryOptions options =
      averages_options(group_by_input_shape, group_by_stack_n, group_by_overload_name,
                       include_python_functions, torch);
  const nb::gil_scoped_release working;
  return PythonOperators(value_of(operator_summary(joined, options)));
}

PythonOperators key_averages(const PythonTrace& self, bool group_by_input_shape,
                             int group_by_stack_n, bool group_by_overload_name,
                             bool include_python_functions, const std::string& torch) {
  return joined_averages({self}, group_by_input_shape, group_by_stack_n, group_by_overload_name,
                         include_python_functions, torch);
}

PythonTable events(const PythonTrace& self, const std::optional<Names>& columns,
                   const std::optional<Names>& arguments) {
  const std::vector<std::string> names = columns ? listed(*columns) : std::vector<std::string>();
  if (columns && names.empty()) wrong_argument("columns is empty; None takes all columns");
  const std::vector<std::string> argument_names =
      arguments ? listed(*arguments) : std::vector<std::string>();
  const nb::gil_scoped_release working;
  return {value_of(event_table(self.trace, names, argument_names)), base_time_ns(*self.trace)};
}

std::string events_signature() {
  std::string names;
  for (const std::string_view name : event_arguments()) {
    names += (names.empty() ? "" : ", ") + quoted(name);
  }
  names = "typing.Literal[" + names + "]";
  return "def events(self, columns: str | collections.abc.Sequence[str] | None = None, *, "
         "arguments: " +
         names + " | collections.abc.Sequence[" + names + "] | None = None) -> Table";
}

PythonTable checks(const PythonTrace& self) {
  const nb::gil_scoped_release working;
  const CheckedInput input = checked_input(self.name, *self.trace);
  return python_table(checks_report({&input, 1}), base_time_ns(*self.trace));
}

PythonSummary summary(const PythonTrace& self) {
  need(kSummaryNeeds, self, "summary");
  const nb::gil_scoped_release working;
  std::vector<TraceSummary> traces;
  traces.push_back(trace_summary(*self.trace, self.name));
  return PythonSummary(traces);
}

PythonPartial partial(const PythonTrace& self, std::optional<std::string> name,
                      int group_by_stack_n, const std::string& stack_source) {
  const PartialOptions options = partial_options(group_by_stack_n, stack_source);
  const nb::gil_scoped_release working;
  return {std::make_shared<const Partial>(
      value_of(Partial::of(*self.trace, name ? *std::move(name) : self.name, options), self.name))};
}

nb::dict links(const PythonTrace& self) {
  const LinkReport* report = nullptr;
  {
    const nb::gil_scoped_release working;
    report = &self.trace->links();
  }
  nb::dict links;
  links["external_ids_valid"] = report->external_ids_valid;
  links["launch_by_correlation"] = report->launch_by_correlation;
  links["launch_by_flow"] = report->launch_by_flow;
  links["launch_unknown"] = report->launch_unknown;
  links["operator_by_flow"] = report->operator_by_flow;
  links["operator_by_external_id"] = report->operator_by_external_id;
  links["operator_by_containment"] = report->operator_by_containment;
  links["operator_unknown"] = report->operator_unknown;
  links["work_over_operator_limit"] = report->work_over_operator_limit;
  links["linked_ns"] = report->linked_ns;
  links["unlinked_ns"] = report->unlinked_ns;
  return links;
}

std::string view_names_hint() {
  std::string names;
  for (const ViewDescription& view : views()) {
    names += (names.empty() ? "" : ", ") + quoted(view.name);
  }
  return "typing.Literal[" + names + "]";
}

nb::dict metadata(const PythonTrace& self) {
  nb::dict metadata;
  for (const auto& [name, json] : self.trace->metadata()) {
    metadata[nb::str(name.data(), name.size())] = from_json(json);
  }
  return metadata;
}

nb::dict identity(const PythonTrace& self) {
  const TraceIdentity made = self.trace->identity();
  nb::dict identity;
  identity["rank"] = made.rank;
  identity["world_size"] = made.world_size;
  identity["host"] = made.host;
  identity["process"] = made.process;
  return identity;
}

void export_chrome_trace(const PythonTrace& self, nb::handle path, const std::string& dialect,
                         bool overwrite) {
  ChromeTraceOptions options;
  const bool is_plugin = choice("dialect", dialect, {"kineto", "plugin"}) == 1;
  options.dialect = is_plugin ? Dialect::plugin : Dialect::kineto;
  options.overwrite = overwrite;
  const std::string place = output_path(path, "export_chrome_trace()");
  const nb::gil_scoped_release working;
  value_of(write_chrome_trace(*self.trace, place, options), place);
}

/// The format of this name, or that of files with the path's suffix.
ExportFormat export_format(const std::optional<std::string>& name, std::string_view path) {
  std::vector<std::string_view> names;
  for (const ExportFormatRow& row : export_formats()) {
    names.push_back(row.name);
    const std::string suffix(row.suffix);
    if (!name && (path.ends_with(suffix) || path.ends_with(suffix + ".gz"))) return row.format;
  }
  return export_formats()[choice("format", name.value_or(""), names)].format;
}

void export_as(const PythonTrace& self, nb::handle path, const std::optional<std::string>& format,
               bool overwrite) {
  const std::string place = output_path(path, "export()");
  const ExportFormat chosen = export_format(format, place);
  const nb::gil_scoped_release working;
  value_of(export_trace(*self.trace, place, chosen, overwrite), place);
}

void export_stacks(const PythonTrace& self, nb::handle path, const std::string& metric,
                   bool overwrite) {
  need(kOperatorArguments, self, "export_stacks");
  const std::string place = output_path(path, "export_stacks()");
  const Trace* const trace = self.trace.get();
  const nb::gil_scoped_release working;
  check(write_exported_stacks({&trace, 1}, place, metric, overwrite), place);
}

/// The program of an operator. `shapes`: a list, or its text.
nb::str replay(const PythonTrace& self, const std::string& op, const nb::object& shapes,
               std::int64_t row_limit) {
  need(kReplayArguments, self, "replay_program");
  if (row_limit < 1) wrong_argument("row_limit takes a number from 1");
  ReplayOptions options;
  options.op = op;
  options.most_inputs = static_cast<std::size_t>(row_limit);
  if (nb::isinstance<nb::str>(shapes)) {
    options.shapes = nb::cast<std::string>(shapes);
  } else if (!shapes.is_none()) {
    options.shapes = nb::cast<std::string>(nb::module_::import_("json").attr("dumps")(shapes));
  }
  std::string program;
  {
    const nb::gil_scoped_release working;
    program = value_of(replay_program(*self.trace, options), self.name);
  }
  return text_object(program);
}

void add_facts(nb::class_<PythonTrace>& trace) {
  trace
      .def_prop_ro(
          "path", [](const PythonTrace& self) { return path_object(self.name); },
          "Where it was read from.", nb::sig("def path(self) -> str"))
      .def_prop_ro(
          "issues", [](const PythonTrace& self) { return issue_list(self.trace->issues()); },
          "Problems of the file, a dictionary per kind (`id`, `severity`, `sentence`, "
          "`count`, `offsets` in\nbytes of the uncompressed text); empty if it is sound.",
          nb::sig("def issues(self) -> list[dict[str, typing.Any]]"))
      .def_prop_ro("links", links,
                   "How kernels, memcpys and memsets were linked to what launched them: counts by "
                   "rule.",
                   nb::sig("def links(self) -> dict[str, int]"))
      .def_prop_ro("metadata", metadata, "The file's members other than the events.",
                   nb::sig("def metadata(self) -> dict[str, typing.Any]"))
      .def_prop_ro("identity", identity,
                   "Where it was recorded: `rank`, `world_size`, `host`, `process`.",
                   nb::sig("def identity(self) -> dict[str, typing.Any]"))
      .def_prop_ro(
          "base_time_ns", [](const PythonTrace& self) { return base_time_ns(*self.trace); },
          "The start of the recording's window, from which the times of all tables count: Unix "
          "time\n"
          "in ns, or what the file counts from if it does not say when that was.")
      .def_prop_ro(
          "window_ns",
          [](const PythonTrace& self) {
            return self.trace->window_end_ns() - self.trace->window_start_ns();
          },
          "The length of the recording's window.")
      .def(
          "__len__", [](const PythonTrace& self) { return self.trace->events().size(); },
          "How many events it has.")
      .def(
          "__repr__", [](const PythonTrace& self) { return text_object(trace_repr(self)); },
          nb::sig("def __repr__(self) -> str"))
      .def(
          "_repr_html_", [](const PythonTrace& self) { return text_object(trace_html(self)); },
          nb::sig("def _repr_html_(self) -> str"))
      .def(
          "__reduce__",
          [](const PythonTrace& /*self*/) -> nb::object {
            throw nb::type_error(
                "a Trace cannot be pickled, because it is all of a file: send its path and read it "
                "there, or trace.partial()");
          },
          nb::sig("def __reduce__(self) -> typing.NoReturn"));
}

void add_tables(nb::class_<PythonTrace>& trace) {
  trace
      .def(
          "key_averages", key_averages, "group_by_input_shape"_a = false, "group_by_stack_n"_a = 0,
          "group_by_overload_name"_a = false, "include_python_functions"_a = false, nb::kw_only(),
          "torch"_a = "2.15",
          "What `prof.key_averages()` returned in the process that made the trace, with torch's\n"
          "arguments and torch's figures: those of the version `torch`, '2.13', '2.14' or '2.15'.\n"
          "2.13 always includes Python functions. Raises ValueError for a wrong argument.\n\n"
          "    print(trace.key_averages(group_by_input_shape=True).table(row_limit=5))",
          nb::sig("def key_averages(self, group_by_input_shape: bool = False, "
                  "group_by_stack_n: int = 0, group_by_overload_name: bool = False, "
                  "include_python_functions: bool = False, *, torch: typing.Literal['2.13', "
                  "'2.14', '2.15'] = '2.15') -> Operators"))
      .def("operators", operators, "group_by"_a = nb::none(), nb::kw_only(), "figures"_a = "torch",
           "group_by_stack_n"_a = 5, "stack_source"_a = "auto",
           "A row per operator.\n\n"
           "`group_by`: one or several of 'shape', 'stack' (`group_by_stack_n` frames),\n"
           "'overload_name', 'module', 'line', 'device', 'stream', 'thread', 'rank' and 'step'; a\n"
           "row always has a name ('name'). What an event has none of is None; `notes` says why.\n"
           "`figures`: 'torch'; 'exact', whole ns that add up, with rows `[idle]` and\n"
           "`[unattributed]`; or 'plugin' (torch-tb-profiler). `stack_source`: 'call_stack', the\n"
           "events' argument; 'frames', the Python functions around each; 'auto', frames where\n"
           "there is no argument. Times in ns, sizes in bytes. Raises ValueError for a wrong "
           "argument,\n"
           "or if the trace was read without what the rows need.\n\n"
           "    trace.operators((\"module\", \"step\"), figures=\"exact\").to_pandas()",
           nb::sig(("def operators(self, group_by: " + operator_groupings_hint() +
                    " = None, *, figures: typing.Literal['torch', 'exact', 'plugin'] = "
                    "'torch', group_by_stack_n: int = 5, stack_source: "
                    "typing.Literal['auto', 'call_stack', 'frames'] = 'auto') -> Operators")
                       .c_str()))
      .def("events", events, "columns"_a = nb::none(), nb::kw_only(), "arguments"_a = nb::none(),
           "A row per event, in the file's order. `columns`: which, all if None; those from\n"
           "`self_time_ns` to `step` take time to find. Times in ns since `base_time_ns`; "
           "`parent`,\n"
           "`operator` and `launch` are values of `event`, the row's number. Durations go to\n"
           "Arrow without a copy, and keep the trace alive.\n\n"
           "`arguments`: those of the events that become columns besides, by the names in the\n"
           "signature: `trace.events([\"name\"], arguments=[\"grid\", \"stream\"])`. They must "
           "have been\n"
           "read: read(arguments=...) takes their groups. Raises ValueError for a name that there "
           "is\n"
           "not.\n\n"
           "    trace.events([\"name\", \"duration_ns\", \"step\"]).to_polars()",
           nb::sig(events_signature().c_str()))
      .def("checks", checks,
           "What is missing or contradictory in the trace, with cause and remedy; a row per "
           "finding.\n\n    trace.checks().to_pandas()")
      .def("summary", summary,
           "The first page about the trace. Raises ValueError if it was read without what that\n"
           "needs.\n\n"
           "    print(trace.summary())")
      .def("view", view_of, "name"_a,
           "One view of the page, such as 'steps': the JSON `tbtrace.view/1`, of 'timeline'\n"
           "`tbtrace.timeline/1`. tbtrace.views() has the names; raises ValueError for others.\n\n"
           "    json.loads(trace.view(\"steps\"))[\"schema\"]",
           nb::sig(("def view(self, name: " + view_names_hint() + ") -> bytes").c_str()))
      .def("timeline", timeline_of, "from_ns"_a = nb::none(), "to_ns"_a = nb::none(),
           "`tbtrace.timeline/1` of the ranges that touch the time from `from_ns` to before\n"
           "`to_ns`, in ns since the start of the window; None: from the first, to the last.\n\n"
           "    trace.timeline(0, 1_000_000)[:4]",
           nb::sig("def timeline(self, from_ns: int | None = None, to_ns: int | None = None) "
                   "-> bytes"))
      .def("range", range_of, "track"_a, "start_ns"_a, "duration_ns"_a, "name"_a, "nth"_a = 0,
           "`tbtrace.range/1`: the arguments of a range of the timeline. `nth`: of those that are\n"
           "alike in all that comes before it. Times in ns. Raises KeyError if there is none.\n\n"
           "    trace.range(2, 10_000, 80_000, \"aten::to\")",
           nb::sig("def range(self, track: int, start_ns: int, duration_ns: int, name: str, "
                   "nth: int = 0) -> bytes"))
      .def(
          "partial", partial, "name"_a = nb::none(), nb::kw_only(), "group_by_stack_n"_a = 5,
          "stack_source"_a = "auto",
          "The tables of this trace in a form that adds up with those of other traces. `name`: of\n"
          "the source, its path if None. `group_by_stack_n`: frames of the stacks that operators\n"
          "can be grouped by. Raises ValueError for a wrong argument.\n\n"
          "    trace.partial().save(\"job.tbp\")")
      .def("export_chrome_trace", export_chrome_trace, "path"_a, nb::kw_only(),
           "dialect"_a = "kineto", "overwrite"_a = false,
           "Writes Chrome JSON with what the trace holds, gzip if the name ends in `.gz`.\n"
           "`dialect`: 'kineto', or 'plugin' for torch-tb-profiler. convert() keeps everything "
           "that\n"
           "is in the file. Raises FileExistsError if the file is there, unless `overwrite`.\n\n"
           "    trace.export_chrome_trace(\"copy.json.gz\")",
           nb::sig("def export_chrome_trace(self, path: str | os.PathLike[str], *, "
                   "dialect: typing.Literal['kineto', 'plugin'] = 'kineto', overwrite: bool = "
                   "False) -> None"))
      .def("export", export_as, "path"_a, nb::kw_only(), "format"_a = nb::none(),
           "overwrite"_a = false,
           "Writes a file of another tool, gzip if the name ends in `.gz`: 'perfetto',\n"
           "'speedscope', 'pprof', 'firefox' or 'folded'. Without a `format` the name says which:\n"
           "`.pftrace`, `.speedscope.json`, `.pb.gz`, `.gecko.json`, `.folded`. docs/exports.md "
           "says\n"
           "what each has. Raises FileExistsError if the file is there, unless `overwrite`.\n\n"
           "    trace.export(\"trace.pftrace\")",
           nb::sig("def export(self, path: str | os.PathLike[str], *, "
                   "format: typing.Literal['perfetto', 'speedscope', 'pprof', 'firefox', 'folded'] "
                   "| None = None, "
                   "overwrite: bool = False) -> None"))
      .def("replay_program", replay, "operator"_a, nb::kw_only(), "shapes"_a = nb::none(),
           "row_limit"_a = 5,
           "A Python program that runs one operator with the recorded inputs, and compares its\n"
           "times with the recorded ones (docs/replay.md). `shapes`: only inputs of these shapes, "
           "as\n"
           "`input_shapes` has them. `row_limit`: how many different inputs, those whose calls "
           "take\n"
           "the most time together. Raises ValueError if the trace has no such operator, or no "
           "inputs\n"
           "of it, or if it was read without the groups 'inputs', 'strides' and 'placement'.\n\n"
           "    trace.replay_program(\"aten::addmm\", row_limit=1)",
           nb::sig("def replay_program(self, operator: str, *, shapes: str | "
                   "collections.abc.Sequence[collections.abc.Sequence[typing.Any]] | None = None, "
                   "row_limit: int = 5) -> str"))
      .def("export_stacks", export_stacks, "path"_a, "metric"_a = "self_cpu_time_total",
           nb::kw_only(), "overwrite"_a = false,
           "Writes the lines that `prof.export_stacks(path, metric)` writes, with times in us. "
           "Raises\n"
           "ValueError for another metric, FileExistsError if the file is there, unless "
           "`overwrite`.\n\n"
           "    trace.export_stacks(\"stacks.txt\", \"self_cpu_time_total\")",
           nb::sig("def export_stacks(self, path: str | os.PathLike[str], "
                   "metric: str = 'self_cpu_time_total', *, overwrite: bool = False) -> None"));
}

}  // namespace

void bind_trace(nb::module_& module) {
  module.attr("ARGUMENT_GROUPS") = nb::tuple(nb::cast(argument_groups()));
  nb::class_<PythonTrace> trace(
      module, "Trace",
      "A torch.profiler recording in memory. Immutable: any number of threads may use one, and\n"
      "its methods run beside other threads of Python. Made by read().");
  define_sql(trace);
  add_facts(trace);
  add_copies(trace, "Trace");
  add_tables(trace);
  add_table_methods(trace);
  add_report_method(trace, [](const PythonTrace& self) {
    return NamedTraces{{self.trace.get(), self.name}};
  });
  add_flame_graph_method(trace, [](const PythonTrace& self, const FlameGraphOptions& options) {
    return flame_graph(*self.trace, options);
  });

  module.def("key_averages", joined_averages, "traces"_a, "group_by_input_shape"_a = false,
             "group_by_stack_n"_a = 0, "group_by_overload_name"_a = false,
             "include_python_functions"_a = false, nb::kw_only(), "torch"_a = "2.15",
             "The same for several recordings of one profiler, oldest first, as torch's\n"
             "`acc_events` joins them. Raises ValueError if they are of different processes.\n\n"
             "    tbtrace.key_averages([trace]).table(row_limit=5)",
             nb::sig("def key_averages(traces: collections.abc.Sequence[Trace], "
                     "group_by_input_shape: bool = False, group_by_stack_n: int = 0, "
                     "group_by_overload_name: bool = False, "
                     "include_python_functions: bool = False, *, torch: typing.Literal['2.13', "
                     "'2.14', '2.15'] = '2.15') "
                     "-> Operators"));
  module.def(
      "read", read, "source"_a, nb::kw_only(), "threads"_a = nb::none(), "strict"_a = false,
      "arguments"_a = nb::none(), "name"_a = nb::none(),
      "Reads a trace: Chrome or Kineto JSON, plain or compressed, also damaged.\n\n"
      "`source`: a path, bytes or a buffer of them, a file object in binary mode, what fsspec\n"
      "opens, such as 's3://bucket/rank0.json.gz', or a torch.profiler.profile that has stopped\n"
      "and whose trace was not exported yet; of a folder, a glob pattern or a list its only "
      "trace.\n"
      "`name`: what it is called in messages and tables, its path if None. `threads`: "
      "None for one per "
      "core.\n"
      "`strict`: any problem of the file is an error; without, problems are counted in\n"
      "`trace.issues`. `arguments`: the groups of event arguments to keep ('inputs', 'launches',\n"
      "...; ARGUMENT_GROUPS has all), None for those that tables need; fewer take less time and\n"
      "memory.\n\n"
      "Raises TraceError if it is not a trace or cannot be read, TraceFileNotFoundError (which is\n"
      "also a FileNotFoundError) if it is not there, ValueError for a wrong argument.\n"
      "Other threads of Python run meanwhile; Ctrl-C ends it.\n\n"
      "    tbtrace.read(\"rank0.json.gz\", threads=2)",
      nb::sig("def read(source: str | os.PathLike[str] | bytes | bytearray | memoryview | "
              "typing.BinaryIO | _Profiler | collections.abc.Sequence[str | os.PathLike[str]], *, "
              "threads: int | None = None, strict: bool = False, "
              "arguments: str | collections.abc.Sequence[str] | None = None, "
              "name: str | None = None) -> Trace"));
}

}  // namespace tbtrace::python
