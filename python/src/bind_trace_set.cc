#include <algorithm>
#include <cstddef>
#include <memory>
#include <numeric>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <tbtrace/checks.h>
#include <tbtrace/job_analysis.h>
#include <tbtrace/operators.h>

#include "arguments.h"
#include "module.h"
#include "operators.h"
#include "read_set.h"
#include "report.h"
#include "sql.h"
#include "summary.h"
#include "table_methods.h"
#include "trace_facts.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace tbtrace::python {
namespace {

PythonTraceSet open(nb::handle inputs, std::optional<int> workers, bool strict,
                    const std::optional<Names>& arguments) {
  SetReading reading;
  reading.workers = threads_of(workers);
  reading.strict = strict;
  reading.arguments = arguments_of(arguments);
  return read_set(inputs, reading);
}

PythonTrace trace_at(const PythonTraceSet& self, std::ptrdiff_t number) {
  const auto size = static_cast<std::ptrdiff_t>(self.traces().size());
  if (number < 0) number += size;
  if (number < 0 || number >= size) throw nb::index_error("the set has fewer traces");
  const SharedTrace& trace = self.traces()[static_cast<std::size_t>(number)];
  return {trace.trace, trace.path};
}

nb::list unread(const PythonTraceSet& self) {
  nb::list unread;
  for (const UnreadInput& input : self.shared->unread) {
    unread.append(nb::make_tuple(path_object(input.path), input.status.message()));
  }
  return unread;
}

nb::list ranks(const PythonTraceSet& self) {
  nb::list ranks;
  for (const SharedTrace& trace : self.traces()) ranks.append(nb::cast(trace.rank));
  return ranks;
}

PythonOperators operators(const PythonTraceSet& self, const std::optional<Names>& group_by,
                          const std::string& figures, int group_by_stack_n,
                          const std::string& stack_source) {
  need(kOperatorArguments, self, "operators");
  choice("figures", figures, {"exact"});
  const SummaryOptions options = summary_options(group_by, group_by_stack_n, stack_source);
  const nb::gil_scoped_release working;
  ExactSummaryBuilder sum(options);
  for (const SharedTrace& trace : self.traces()) sum.add(*trace.trace);
  return PythonOperators(std::move(sum).finish());
}

PythonSummary summary(const PythonTraceSet& self) {
  need(kSummaryNeeds, self, "summary");
  const nb::gil_scoped_release working;
  const std::vector<SharedTrace>& traces = self.traces();
  std::vector<TraceSummary> made(traces.size());
  std::vector<RankRecord> records(traces.size());
  for_each_number(traces.size(), self.workers, [&](std::size_t number) {
    TraceSummaryOptions options;
    options.threads = 1;
    made[number] = trace_summary(*traces[number].trace, traces[number].path, options);
    records[number] = rank_record(*traces[number].trace, traces[number].path);
  });
  std::optional<StragglerResult> stragglers = stragglers_of(std::move(records));
  if (stragglers) add_straggler_findings(made, *stragglers);
  return PythonSummary(made, stragglers);
}

/// The sum of the traces' partials.
PythonPartial partial(const PythonTraceSet& self, int group_by_stack_n,
                      const std::string& stack_source) {
  const PartialOptions options = partial_options(group_by_stack_n, stack_source);
  const nb::gil_scoped_release working;
  const std::vector<SharedTrace>& traces = self.traces();
  std::vector<std::optional<Partial>> made(traces.size());
  for_each_number(traces.size(), self.workers, [&](std::size_t number) {
    const SharedTrace& trace = traces[number];
    made[number].emplace(value_of(Partial::of(*trace.trace, trace.path, options), trace.path));
  });
  // Of traces with the same content the first path counts, as in jobs.
  std::vector<std::size_t> order(made.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::sort(order, {}, [&](std::size_t number) { return traces[number].path; });
  std::set<std::string> digests;
  std::optional<Partial> sum;
  for (const std::size_t number : order) {
    if (!digests.insert(made[number]->sources().front().digest).second) continue;
    if (sum) {
      check(sum->merge(*made[number]));
    } else {
      sum = *std::move(made[number]);
    }
  }
  return {std::make_shared<const Partial>(*std::move(sum))};
}

PythonTable checks(const PythonTraceSet& self) {
  const nb::gil_scoped_release working;
  std::vector<CheckedInput> inputs;
  std::vector<CheckedTrace> checked;
  for (const SharedTrace& trace : self.traces()) {
    inputs.push_back(checked_input(trace.path, *trace.trace));
    checked.push_back(checked_trace(trace.path, *trace.trace));
  }
  inputs.push_back({.input = {}, .findings = job_checks(checked)});
  return python_table(checks_report(inputs));
}

/// The ranks of the set as one job.
JobAnalysis job_of(const PythonTraceSet& self) {
  const std::vector<SharedTrace>& traces = self.traces();
  std::vector<RankRecord> records(traces.size());
  for_each_number(traces.size(), self.workers, [&](std::size_t number) {
    records[number] = rank_record(*traces[number].trace, traces[number].path);
  });
  return analyse_job(std::move(records));
}

PythonTable collectives(const PythonTraceSet& self) {
  need(kRankArguments, self, "collectives");
  const nb::gil_scoped_release working;
  return python_table(collectives_report(job_of(self)));
}

PythonTable clocks(const PythonTraceSet& self) {
  need(kRankArguments, self, "clocks");
  const nb::gil_scoped_release working;
  return python_table(clocks_report(job_of(self)));
}

PythonTable stragglers(const PythonTraceSet& self) {
  need(kRankArguments, self, "stragglers");
  const nb::gil_scoped_release working;
  return python_table(stragglers_report(job_of(self)));
}

}  // namespace

void bind_trace_set(nb::module_& module) {
  nb::class_<PythonTraceSet> set(
      module, "TraceSet",
      "Several traces in memory, usually one per rank of a job, by rank and path. Tables have the\n"
      "rows of all, with the columns `input` and `rank`. Immutable. For more traces than fit into\n"
      "memory: tbtrace.local.summarize().");
  define_sql(set);
  set.def_static(
         "open", open, "inputs"_a, nb::kw_only(), "workers"_a = nb::none(), "strict"_a = false,
         "arguments"_a = nb::none(),
         "Reads files, all traces in directories, and the matches of glob patterns, here or where\n"
         "fsspec finds them ('s3://bucket/ranks/').\n\n"
         "`inputs`: one of these, or a list, which may also have what read() takes: bytes and "
         "file\n"
         "objects; and Trace objects, which are shared, not copied. Rows name a trace by its "
         "path;\n"
         "bytes and file objects without a name are '<bytes 0>', by their place in the list. A\n"
         "mapping from names to such values names them. The rank is always the one in the trace\n"
         "(`distributedInfo`), None if it has none; names and places say nothing about it.\n"
         "`workers`: threads, None for one per core. `strict` and `arguments` as for read(); they\n"
         "do not apply to Trace objects. What cannot be read is in `unread`, and so are files "
         "that\n"
         "were found in a directory or by a pattern and are copies of another one, byte for byte, "
         "or\n"
         "a merged timeline of ranks. Raises TraceError if nothing can be read, ValueError for a\n"
         "wrong argument. Ctrl-C ends it.\n\n"
         "    tbtrace.TraceSet.open(\"ranks/\", workers=2)",
         nb::sig("def open(inputs: str | os.PathLike[str] | Trace | bytes | bytearray | memoryview "
                 "| typing.BinaryIO | "
                 "collections.abc.Sequence[str | os.PathLike[str] | Trace | bytes | bytearray | "
                 "memoryview | typing.BinaryIO] | "
                 "collections.abc.Mapping[str, str | os.PathLike[str] | Trace | bytes | bytearray "
                 "| memoryview | typing.BinaryIO], *, workers: int | None = None, "
                 "strict: bool = False, "
                 "arguments: str | collections.abc.Sequence[str] | None = None) "
                 "-> TraceSet"))
      .def("__len__", [](const PythonTraceSet& self) { return self.traces().size(); })
      .def("__getitem__", trace_at, "number"_a)
      .def(
          "__iter__",
          [](nb::handle self) { return nb::steal<nb::object>(PySeqIter_New(self.ptr())); },
          nb::sig("def __iter__(self) -> collections.abc.Iterator[Trace]"))
      .def_prop_ro("ranks", ranks, "The rank of each trace, None where the file has none.",
                   nb::sig("def ranks(self) -> list[int | None]"))
      .def_prop_ro("unread", unread, "What could not be read or does not count: (path, why).",
                   nb::sig("def unread(self) -> list[tuple[str, str]]"))
      .def(
          "operators", operators, "group_by"_a = nb::none(), nb::kw_only(), "figures"_a = "exact",
          "group_by_stack_n"_a = 5, "stack_source"_a = "auto",
          "A row per operator, summed over all traces; with 'rank' in `group_by`, per rank. Exact\n"
          "figures. Arguments as those of Trace.operators().\n\n"
          "    ranks.operators((\"rank\", \"step\")).to_pandas()",
          nb::sig(("def operators(self, group_by: " + operator_groupings_hint() +
                   " = None, *, figures: typing.Literal['exact'] = 'exact', group_by_stack_n: "
                   "int = 5, "
                   "stack_source: typing.Literal['auto', 'call_stack', 'frames'] = 'auto') -> "
                   "Operators")
                      .c_str()))
      .def("summary", summary,
           "A line per trace, findings, and the page of the slowest.\n\n    print(ranks.summary())")
      .def(
          "partial", partial, nb::kw_only(), "group_by_stack_n"_a = 5, "stack_source"_a = "auto",
          "The tables of all traces together, also their flame graph, in a form that adds up with\n"
          "others. Arguments as those of Trace.partial(). Of traces with the same content one "
          "counts.\n\n"
          "    ranks.partial().save(\"job.tbp\")")
      .def("checks", checks,
           "What is missing or contradictory in the traces and among them, with cause and "
           "remedy.\n\n"
           "    ranks.checks().to_pandas()")
      .def("collectives", collectives,
           "The collectives of the job whose ranks the traces are, a row each: who waited for "
           "whom,\n"
           "transfers and bandwidths (docs/formats/collectives.md). Times in ns, bandwidths in\n"
           "bytes per second; None where the clocks do not tell. `notes` says what could not be\n"
           "matched.\n\n"
           "    ranks.collectives().to_pandas()")
      .def("clocks", clocks,
           "How the clocks of the ranks differ, a row each: `offset_ns` from that of the rank\n"
           "`reference` at `at_ns`, `drift_ppm`, and half of their 95 % intervals, `error_ns` and\n"
           "`drift_error_ppm`. Times in ns; None if the clock is unknown.\n\n"
           "    ranks.clocks().to_pandas()")
      .def("stragglers", stragglers,
           "The ranks that hold up the job, a row each: `cause`, `excess_per_step_ns`, `steps`\n"
           "(docs/ranks.md). Times in ns. Usually without rows; `notes` says then that nobody "
           "does,\n"
           "or why that is not known.\n\n"
           "    ranks.stragglers().notes")
      .def(
          "__reduce__",
          [](const PythonTraceSet& /*self*/) -> nb::object {
            throw nb::type_error(
                "a TraceSet cannot be pickled, because it is all of its files: send their paths "
                "and read them there, or ranks.partial()");
          },
          nb::sig("def __reduce__(self) -> typing.NoReturn"))
      .def("__repr__",
           [](const PythonTraceSet& self) {
             return "<tbtrace.TraceSet: " + std::to_string(self.traces().size()) + " traces>";
           })
      .def(
          "_repr_html_",
          [](const PythonTraceSet& self) { return text_object(trace_set_html(self)); },
          nb::sig("def _repr_html_(self) -> str"));
  add_table_methods(set);
  add_report_method(set, [](const PythonTraceSet& self) {
    NamedTraces named;
    for (const SharedTrace& trace : self.traces())
      named.emplace_back(trace.trace.get(), trace.path);
    return named;
  });
}

}  // namespace tbtrace::python
