// A trace file written anew: a part of it, what is left of it, or without private names.
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include <tbtrace/anonymise.h>
#include <tbtrace/repair.h>
#include <tbtrace/slice.h>

#include "arguments.h"
#include "failures.h"
#include "module.h"
#include "python_table.h"
#include "sources.h"
#include "trace_facts.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace tbtrace::python {
namespace {

/// Writes `output` from `source` by `write`, without the GIL. A failure names the file that it is
/// about.
template <typename Report, typename Options>
Report rewritten(Result<Report> (*write)(const std::string& input, const std::string& output,
                                         const Options& options),
                 nb::handle source, nb::handle output, const char* function,
                 const Options& options) {
  const std::string input = input_path(source);
  const std::string place = output_path(output, function);
  const nb::gil_scoped_release working;
  const FileHere file(input);
  Result<Report> report = write(file.path(), place, options);
  const StatusCode code = report.status().code();
  if (code == StatusCode::output_exists || code == StatusCode::unwritable_output) {
    throw Failure(place, report.status());
  }
  return read_value(std::move(report), input);
}

/// Sets what all of these take.
template <typename Options>
void take_reading(Options& options, bool strict, std::optional<int> threads) {
  options.strict = strict;
  options.reading_threads = threads_of(threads);
  options.on_progress = [](std::uint64_t /*done*/, std::uint64_t /*total*/) { return may_go_on(); };
}

nb::dict counts_of(const Changes& changes) {
  nb::dict counts;
  for (const auto& [id, count] : changes) counts[nb::str(id.c_str())] = count;
  return counts;
}

SliceKinds kinds_named(const char* argument, const Names& names) {
  std::vector<std::string_view> choices;
  for (std::size_t kind = 0; kind < kSliceKinds; ++kind) {
    choices.push_back(slice_kind_name(static_cast<SliceKind>(kind)));
  }
  SliceKinds kinds;
  for (const std::string& name : listed(names)) kinds.set(choice(argument, name, choices));
  return kinds;
}

/// Takes which time is chosen.
void take_part(SliceOptions& options, const std::optional<Steps>& steps, bool slowest_step,
               std::optional<std::int64_t> from_ns, std::optional<std::int64_t> to_ns) {
  int parts = 0;
  if (const std::optional<StepRange> range = step_range(steps)) {
    options.part = *range;
    ++parts;
  }
  if (slowest_step) {
    options.part = SliceSlowestStep();
    ++parts;
  }
  if (from_ns || to_ns) {
    const SliceTime time = {from_ns.value_or(0),
                            to_ns.value_or(std::numeric_limits<std::int64_t>::max())};
    if (time.start_ns < 0 || time.start_ns >= time.end_ns) {
      wrong_argument("from_ns and to_ns take times from 0 on, the earlier one first");
    }
    options.part = time;
    ++parts;
  }
  if (parts > 1) {
    wrong_argument("steps, slowest_step and a time from from_ns to to_ns exclude each other");
  }
}

/// `expression` as one of Python's `re`. What it raises ends the slicing before anything is
/// written.
void take_name(SliceOptions& options, const nb::object& expression) {
  if (expression.is_none()) return;
  const nb::module_ re = nb::module_::import_("re");
  nb::object compiled;
  try {
    compiled = re.attr("compile")(expression);
  } catch (nb::python_error& problem) {
    if (!problem.matches(re.attr("error"))) throw;
    wrong_argument("name is not a regular expression: " +
                   std::string(nb::str(problem.value()).c_str()));
  }
  if (!nb::isinstance<nb::str>(compiled.attr("pattern"))) {
    wrong_argument("name takes an expression for texts, not for bytes");
  }
  options.name_pattern = nb::cast<std::string>(compiled.attr("pattern"));
  options.accepts_name = [search = nb::object(compiled.attr("search"))](std::string_view name) {
    const nb::gil_scoped_acquire python;
    return !search(text_object(std::string(name))).is_none();
  };
}

nb::dict slice(nb::handle source, nb::handle output, const std::optional<Steps>& steps,
               bool slowest_step, std::optional<std::int64_t> from_ns,
               std::optional<std::int64_t> to_ns, std::optional<std::int64_t> max_size,
               const nb::object& name, const std::optional<Names>& thread_ids,
               const std::optional<Names>& kinds, const std::optional<Names>& without,
               bool overwrite, bool strict, std::optional<int> threads) {
  SliceOptions options;
  take_reading(options, strict, threads);
  options.overwrite = overwrite;
  take_part(options, steps, slowest_step, from_ns, to_ns);
  if (max_size && *max_size < 1) wrong_argument("max_size takes a number of bytes from 1");
  options.most_bytes = static_cast<std::uint64_t>(max_size.value_or(0));
  take_name(options, name);
  if (thread_ids) {
    if (listed(*thread_ids).empty())
      wrong_argument("thread_ids names at least one thread, or is None");
    for (std::string& id : listed(*thread_ids)) options.threads.insert(std::move(id));
  }
  if (kinds) options.kinds = kinds_named("kinds", *kinds);
  if (without) options.kinds &= ~kinds_named("without", *without);
  if (std::holds_alternative<std::monostate>(options.part) && !max_size && !options.accepts_name &&
      options.threads.empty() && options.kinds == kAllSliceKinds) {
    wrong_argument("slice() takes which part, such as steps=(5, 7) or max_size=200_000_000");
  }
  const SliceReport report =
      rewritten<SliceReport>(slice_trace, source, output, "slice()", options);
  nb::dict made;
  made["events"] = report.events;
  made["left_out"] = report.left_out;
  made["cut"] = report.cut;
  made["start_ns"] = report.time ? nb::cast(report.time->start_ns) : nb::none();
  made["end_ns"] = report.time ? nb::cast(report.time->end_ns) : nb::none();
  made["steps"] = report.steps;
  made["bytes"] = report.bytes;
  made["changes"] = counts_of(report.changes);
  made["issues"] = issue_list(report.issues);
  return made;
}

nb::object repair(nb::handle source, nb::handle output, bool overwrite, bool strict,
                  std::optional<int> threads) {
  RepairOptions options;
  take_reading(options, strict, threads);
  options.overwrite = overwrite;
  return from_json(
      rewritten<RepairReport>(repair_trace, source, output, "repair()", options).receipt);
}

nb::dict facts_of(const AnonymiseReport& report) {
  nb::dict facts;
  facts["events"] = report.events;
  facts["names"] = from_json(names_document(report.names))["names"];
  facts["arguments_left_out"] = report.arguments_left_out;
  facts["members_left_out"] = report.members_left_out;
  facts["changes"] = counts_of(report.changes);
  facts["issues"] = issue_list(report.issues);
  return facts;
}

nb::dict anonymise(nb::handle source, nb::handle output, const std::optional<nb::bytes>& key,
                   bool overwrite, bool strict, std::optional<int> threads) {
  AnonymiseOptions options;
  take_reading(options, strict, threads);
  options.overwrite = overwrite;
  if (key) {
    options.key = {key->c_str(), key->size()};
    if (key->size() < kLeastAnonymiseKey) {
      wrong_argument("key takes at least " + std::to_string(kLeastAnonymiseKey) +
                     " bytes, such as secrets.token_bytes(32)");
    }
  }
  return facts_of(
      rewritten<AnonymiseReport>(anonymise_trace, source, output, "anonymise()", options));
}

nb::dict private_names(nb::handle source, bool strict, std::optional<int> threads) {
  AnonymiseOptions options;
  take_reading(options, strict, threads);
  const std::string input = input_path(source);
  AnonymiseReport report;
  {
    const nb::gil_scoped_release working;
    const FileHere file(input);
    report = read_value(find_private_names(file.path(), options), input);
  }
  nb::dict facts = facts_of(report);
  facts["names"] = nb::steal(PySequence_List(nb::object(facts["names"]).ptr()));
  return facts;
}

}  // namespace

void bind_rewrite(nb::module_& module) {
  module.def(
      "slice", slice, "source"_a, "output"_a, nb::kw_only(), "steps"_a = nb::none(),
      "slowest_step"_a = false, "from_ns"_a = nb::none(), "to_ns"_a = nb::none(),
      "max_size"_a = nb::none(), "name"_a = nb::none(), "thread_ids"_a = nb::none(),
      "kinds"_a = nb::none(), "without"_a = nb::none(), "overwrite"_a = false, "strict"_a = false,
      "threads"_a = nb::none(),
      "Writes a part of a trace as a trace of its own, gzip if `output` ends in `.gz`. What is\n"
      "kept satisfies all that is given; docs/slice.md says what belongs together.\n\n"
      "`steps`: 3 or (3, 5); `slowest_step`: the one that took longest; `from_ns`, `to_ns`: a "
      "time\n"
      "in ns since the start of the window, without its end. One of these three. `max_size`: "
      "bytes\n"
      "without compression; the widest part around the median step that is no larger. `name`: "
      "only\n"
      "what runs in ranges whose name has a match of this regular expression of Python's `re`, "
      "and\n"
      "what that launched. `thread_ids`: only these threads, as texts, and what they launched.\n"
      "`kinds`, `without`: only these kinds of events, or all but these. `threads`: to read with,\n"
      "None for one per core.\n\n"
      "Returns `events`, `left_out` and `cut`, which are numbers of events, `start_ns` and "
      "`end_ns`\n"
      "of the part (None: all of the time), `steps` that are in it as a whole, `bytes` of its\n"
      "events without compression, `changes`, and `issues` of the input. Raises ValueError for a\n"
      "wrong argument, or if nothing is left, TraceError, FileExistsError or OSError.\n\n"
      "    tbtrace.slice(\"rank0.json.gz\", \"part.json.gz\", slowest_step=True)",
      nb::sig("def slice(source: str | os.PathLike[str], output: str | os.PathLike[str], *, "
              "steps: int | tuple[int, int] | None = None, slowest_step: bool = False, "
              "from_ns: int | None = None, to_ns: int | None = None, max_size: int | None = None, "
              "name: str | re.Pattern[str] | None = None, "
              "thread_ids: str | collections.abc.Sequence[str] | None = None, "
              "kinds: str | collections.abc.Sequence[str] | None = None, "
              "without: str | collections.abc.Sequence[str] | None = None, "
              "overwrite: bool = False, strict: bool = False, threads: int | None = None) "
              "-> dict[str, typing.Any]"));
  module.def(
      "repair", repair, "source"_a, "output"_a, nb::kw_only(), "overwrite"_a = false,
      "strict"_a = false, "threads"_a = nb::none(),
      "Writes what is left of a damaged trace as a valid one, gzip if `output` ends in `.gz`. A\n"
      "file with nothing to repair is copied; with `strict`, any other one is a TraceError, and\n"
      "nothing is written. `threads`: to read with, None for one per core.\n\n"
      "Returns the receipt (`tbtrace.repair/1`): `read_events`, `lost_bytes`, `damages` with "
      "their\n"
      "places, `issues` and `changes`, of which the last three are empty for a copy. Raises\n"
      "TraceError, FileExistsError or OSError, ValueError for a wrong argument.\n\n"
      "    tbtrace.repair(\"rank0.json.gz\", \"whole.json.gz\")[\"lost_bytes\"]",
      nb::sig("def repair(source: str | os.PathLike[str], output: str | os.PathLike[str], *, "
              "overwrite: bool = False, strict: bool = False, threads: int | None = None) "
              "-> dict[str, typing.Any]"));
  module.def(
      "anonymise", anonymise, "source"_a, "output"_a, nb::kw_only(), "key"_a = nb::none(),
      "overwrite"_a = false, "strict"_a = false, "threads"_a = nb::none(),
      "Writes a trace that can be given away, gzip if `output` ends in `.gz`: names, paths and\n"
      "texts are replaced or left out, figures stay. docs/anonymise.md says what it does not "
      "hide.\n"
      "`key`: a secret of at least 16 bytes; with the same one, a name has the same replacement "
      "in\n"
      "all traces, None for a random one. `threads`: to read with, None for one per core.\n\n"
      "Returns `names`, each word that was replaced with its replacement, `events`,\n"
      "`arguments_left_out`, `members_left_out`, `changes`, and `issues` of the input. Keep it to\n"
      "yourself. Raises TraceError, FileExistsError or OSError, ValueError for a wrong "
      "argument.\n\n"
      "    tbtrace.anonymise(\"rank0.json.gz\", \"public.json.gz\", key=b\"our own secret!!\")",
      nb::sig("def anonymise(source: str | os.PathLike[str], output: str | os.PathLike[str], *, "
              "key: bytes | None = None, overwrite: bool = False, strict: bool = False, "
              "threads: int | None = None) -> dict[str, typing.Any]"));
  module.def(
      "find_private_names", private_names, "source"_a, nb::kw_only(), "strict"_a = false,
      "threads"_a = nb::none(),
      "What anonymise() would replace or leave out; writes nothing. `names` is a list of words,\n"
      "the rest as anonymise() returns it. Raises TraceError, ValueError for a wrong argument.\n\n"
      "    tbtrace.find_private_names(\"rank0.json.gz\")[\"names\"]",
      nb::sig("def find_private_names(source: str | os.PathLike[str], *, strict: bool = False, "
              "threads: int | None = None) -> dict[str, typing.Any]"));
}

}  // namespace tbtrace::python
