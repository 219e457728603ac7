#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include <tbtrace/memory_snapshot.h>
#include <tbtrace/tables.h>

#include "arguments.h"
#include "failures.h"
#include "flame_graph.h"
#include "module.h"
#include "python_table.h"
#include "report.h"
#include "sources.h"
#include "table_methods.h"
#include "trace_facts.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace tbtrace::python {
namespace {

struct PythonSnapshot {
  MemorySnapshot snapshot;
  std::string name;
};

const TableDescription& memory_table() { return *table_of_schema("tbtrace.memory_snapshot/1"); }
const TableDescription& diff_table() { return *table_of_schema("tbtrace.memory_snapshot_diff/1"); }

PythonSnapshot read(nb::handle source, bool strict, const std::optional<std::string>& name) {
  ReadOptions options;
  options.strict = strict;
  options.on_progress = [](std::uint64_t /*done*/, std::uint64_t /*total*/) { return may_go_on(); };
  const bool is_in_memory = nb::isinstance<nb::dict>(source) || nb::isinstance<nb::list>(source);
  std::string called = name           ? *name
                       : is_in_memory ? std::string("<snapshot>")
                                      : name_of_source(source);
  MemorySnapshot snapshot = read_snapshot_source(source, options, called);
  return {std::move(snapshot), std::move(called)};
}

PythonTable memory(const PythonSnapshot& self, const nb::args& args, const nb::kwargs& kwargs) {
  const OptionValues given = given_options(memory_table(), args, kwargs);
  const nb::gil_scoped_release working;
  return python_table(value_of(memory_snapshot_report(self.snapshot, given)));
}

PythonTable difference(const PythonSnapshot& self, const PythonSnapshot& after,
                       const nb::kwargs& kwargs) {
  const OptionValues given = given_options(diff_table(), nb::args(), kwargs);
  const nb::gil_scoped_release working;
  return python_table(value_of(memory_snapshot_difference(self.snapshot, after.snapshot, given)));
}

PythonFlameGraph flame_graph(const PythonSnapshot& self, const std::optional<std::string>& at,
                             std::optional<std::int64_t> at_ns) {
  OptionValues moment;
  if (at) moment.set("at", *at);
  if (at_ns) moment.set("at_ns", *at_ns);
  const nb::gil_scoped_release working;
  return {
      std::make_shared<const StackTree>(value_of(memory_snapshot_stacks(self.snapshot, moment))),
      "memory"};
}

PythonReport report(const PythonSnapshot& self, const std::optional<std::string>& title,
                    const std::optional<Names>& views, std::int64_t limit) {
  return report_of(self.snapshot, self.name, title, views, limit);
}

nb::str summary(const PythonSnapshot& self) {
  std::string text;
  for (const std::string& sentence : memory_snapshot_sentences(self.snapshot)) {
    text += (text.empty() ? "" : "\n") + sentence;
  }
  return text_object(text);
}

void add_facts(nb::class_<PythonSnapshot>& snapshot) {
  snapshot
      .def_prop_ro(
          "path", [](const PythonSnapshot& self) { return path_object(self.name); },
          "Where it was read from.", nb::sig("def path(self) -> str"))
      .def_prop_ro(
          "rank", [](const PythonSnapshot& self) { return self.snapshot.rank(); },
          "By the name of the file, such as `rank3_memory_snapshot.pickle`.")
      .def_prop_ro(
          "issues", [](const PythonSnapshot& self) { return issue_list(self.snapshot.issues()); },
          "Problems of the file, a dictionary per kind (`id`, `severity`, `sentence`, `count`, "
          "`offsets` in\nbytes); empty if it is sound.",
          nb::sig("def issues(self) -> list[dict[str, typing.Any]]"))
      .def(
          "__len__", [](const PythonSnapshot& self) { return self.snapshot.entry_count(); },
          "How many entries its traces have.")
      .def(
          "__repr__",
          [](const PythonSnapshot& self) {
            return text_object("<tbtrace.MemorySnapshot: " + self.name + ", " +
                               std::to_string(self.snapshot.entry_count()) + " entries>");
          },
          nb::sig("def __repr__(self) -> str"))
      .def(
          "__reduce__",
          [](const PythonSnapshot& /*self*/) -> nb::object {
            throw nb::type_error(
                "a MemorySnapshot cannot be pickled, because it is all of a file: send its path "
                "and read it there, or a table of it");
          },
          nb::sig("def __reduce__(self) -> typing.NoReturn"));
}

}  // namespace

void bind_snapshot(nb::module_& module) {
  nb::class_<PythonSnapshot> snapshot(
      module, "MemorySnapshot",
      "What PyTorch's allocator held on GPUs, and what it did. Immutable: any number of threads "
      "may\n"
      "use one, and its methods run beside other threads of Python. Made by\n"
      "read_memory_snapshot().");
  add_facts(snapshot);
  add_copies(snapshot, "MemorySnapshot");
  snapshot
      .def("memory", memory,
           (what_it_makes(memory_table()) + "\n\nRaises ValueError if an argument is wrong.\n\n    "
                                            "snapshot.memory(by=\"line\").to_pandas()")
               .c_str(),
           nb::sig(signature_of(memory_table(), "memory(self").c_str()))
      .def(
          "diff", difference, "after"_a, "kwargs"_a,
          (what_it_makes(diff_table()) + "\n\nThis snapshot is the first, `after` the second. "
                                         "Raises ValueError if an argument is "
                                         "wrong.\n\n    before.diff(after, at=\"end\").to_pandas()")
              .c_str(),
          nb::sig(signature_of(diff_table(), "diff(self, after: MemorySnapshot").c_str()))
      .def(
          "flame_graph", flame_graph, nb::kw_only(), "at"_a = nb::none(), "at_ns"_a = nb::none(),
          "What was allocated at a moment by the stack that allocated it, in bytes. `at`: 'peak',\n"
          "'end' or 'oom', the last failed allocation (default: that if there is one, else the\n"
          "peak). `at_ns`: the moment in ns since the first entry. A notebook shows the picture.\n"
          "Raises ValueError for a wrong argument.\n\n"
          "    snapshot.flame_graph(at=\"end\").save(\"flame.svg\")",
          nb::sig("def flame_graph(self, *, at: typing.Literal['peak', 'end', 'oom'] | None = "
                  "None, at_ns: int | None = None) -> FlameGraph"))
      .def("report", report, nb::kw_only(), "title"_a = nb::none(), "views"_a = nb::none(),
           "limit"_a = 2'000'000,
           "A page with memory over time, its holders, the segments and flame graphs, complete in\n"
           "one file. `views`: only these, of 'memory' and 'flame_graph'. `limit`: of its size in\n"
           "bytes. Raises ValueError for a wrong argument.\n\n"
           "    snapshot.report(title=\"out of memory\").save(\"report.html\")",
           nb::sig("def report(self, *, title: str | None = None, "
                   "views: str | collections.abc.Sequence[str] | None = None, "
                   "limit: int = 2000000) -> Report"))
      .def(
          "summary", summary,
          "What there is to say first, a sentence a line: why an allocation failed, what held the\n"
          "memory, what grows, what is missing.\n\n    print(snapshot.summary())",
          nb::sig("def summary(self) -> str"));

  module.def(
      "read_memory_snapshot", read, "source"_a, nb::kw_only(), "strict"_a = false,
      "name"_a = nb::none(),
      "Reads a memory snapshot: the pickle of torch.cuda.memory._dump_snapshot(), plain or\n"
      "compressed, also damaged. Nothing in it is run.\n\n"
      "`source`: a path, bytes or a buffer of them, a file object in binary mode, what fsspec\n"
      "opens, or what torch.cuda.memory._snapshot() returned. `strict`: any problem of the file "
      "is\n"
      "an error; without, problems are counted in `snapshot.issues`. `name`: what it is called in\n"
      "messages, its path if None; the rank is found in it.\n\n"
      "Raises TraceError if it is not a snapshot or cannot be read, TraceFileNotFoundError (which\n"
      "is also a FileNotFoundError) if it is not there, ValueError for a wrong argument. Other\n"
      "threads of Python run meanwhile; Ctrl-C ends it.\n\n"
      "    tbtrace.read_memory_snapshot(\"snapshot.pickle\").memory(\"peak\")",
      nb::sig("def read_memory_snapshot(source: str | os.PathLike[str] | bytes | bytearray | "
              "memoryview | typing.BinaryIO | dict[str, typing.Any] | list[typing.Any], *, "
              "strict: bool = False, name: str | None = None) -> MemorySnapshot"));
}

}  // namespace tbtrace::python
