#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include <tbtrace/compare_page.h>
#include <tbtrace/diff.h>
#include <tbtrace/flame_difference.h>

#include "arguments.h"
#include "diff_sides.h"
#include "failures.h"
#include "module.h"
#include "report.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace tbtrace::python {
namespace {

struct Compared {
  Diff diff;
  std::vector<RunStacks> base;
  std::vector<RunStacks> changed;
};

/// Without the GIL.
Compared compared(const std::vector<PythonRun>& before, const std::vector<PythonRun>& after,
                  const DiffOptions& options) {
  BothSums sums = sums_of_sides(before, after, true);
  return {value_of(diff(sums.base.figures, sums.changed.figures, options)),
          std::move(sums.base.stacks), std::move(sums.changed.stacks)};
}

ArgumentSet needed() { return diff_arguments() | run_stacks_arguments(); }

PythonReport compare_report(nb::handle base, nb::handle changed,
                            const std::optional<std::string>& title, std::int64_t limit,
                            double min_effect, std::optional<double> run_noise) {
  if (limit <= 0) wrong_argument("limit takes a number of bytes");
  const DiffOptions options = diff_options(min_effect, run_noise);
  const std::vector<PythonRun> before = side_of(base, "compare_report", needed());
  const std::vector<PythonRun> after = side_of(changed, "compare_report", needed());
  const nb::gil_scoped_release working;
  const Compared sides = compared(before, after, options);
  return {std::make_shared<const std::string>(value_of(
      compare_page(sides.diff, sides.base, sides.changed,
                   {.title = title.value_or(""), .bytes = static_cast<std::size_t>(limit)})))};
}

nb::bytes comparison(nb::handle base, nb::handle changed,
                     const std::optional<std::string>& base_name,
                     const std::optional<std::string>& new_name) {
  std::vector<PythonRun> before = side_of(base, "comparison", needed());
  std::vector<PythonRun> after = side_of(changed, "comparison", needed());
  if (base_name && before.size() == 1) before.front().name = *base_name;
  if (new_name && after.size() == 1) after.front().name = *new_name;
  std::string json;
  {
    const nb::gil_scoped_release working;
    const Compared sides = compared(before, after, {});
    json = value_of(comparison_document(sides.diff, sides.base, sides.changed));
  }
  return nb::bytes(json.data(), json.size());
}

}  // namespace

void bind_compare(nb::module_& module) {
  module.def(
      "compare_report", compare_report, "base"_a, "new"_a, nb::kw_only(), "title"_a = nb::none(),
      "limit"_a = 2'000'000, "min_effect"_a = 0.01, "run_noise"_a = nb::none(),
      "A page that shows what changed from `base` to `new`, complete in one file: the "
      "verdict, what\n"
      "explains it, and the flame graph of the difference. Arguments are those of diff(); "
      "`limit`:\n"
      "of its size in bytes. Raises what diff() raises.\n\n"
      "    tbtrace.compare_report(\"before.json.gz\", \"after.json.gz\").save(\"compare.html\")",
      nb::sig("def compare_report("
              "base: str | os.PathLike[str] | Trace | TraceSet | _Job | "
              "collections.abc.Sequence[str | os.PathLike[str] | Trace | TraceSet | _Job], "
              "new: str | os.PathLike[str] | Trace | TraceSet | _Job | "
              "collections.abc.Sequence[str | os.PathLike[str] | Trace | TraceSet | _Job], *, "
              "title: str | None = None, limit: int = 2000000, min_effect: float = 0.01, "
              "run_noise: float | None = None) -> Report"));
  module.def(
      "comparison", comparison, "base"_a, "new"_a, nb::kw_only(), "base_name"_a = nb::none(),
      "new_name"_a = nb::none(),
      "What that page draws: the JSON document `tbtrace.comparison/1`. `base_name`, `new_name`: "
      "what\n"
      "it calls a side of one run. Raises what diff() raises. Other threads of Python run\n"
      "meanwhile.\n\n"
      "    json.loads(tbtrace.comparison(\"before.json.gz\", \"after.json.gz\"))[\"schema\"]",
      nb::sig("def comparison(base: str | os.PathLike[str] | Trace | TraceSet | _Job | "
              "collections.abc.Sequence[str | os.PathLike[str] | Trace | TraceSet | _Job], "
              "new: str | os.PathLike[str] | Trace | TraceSet | _Job | "
              "collections.abc.Sequence[str | os.PathLike[str] | Trace | TraceSet | _Job], *, "
              "base_name: str | None = None, new_name: str | None = None) -> bytes"));
}

}  // namespace tbtrace::python
