#include "diff_sides.h"

#include "arguments.h"
#include "python_trace.h"

namespace nb = nanobind;

namespace tbtrace::python {
namespace {

PythonRun run_of(nb::handle one, const char* what, ArgumentSet needed) {
  if (nb::isinstance<PythonTrace>(one)) {
    const auto& trace = nb::cast<const PythonTrace&>(one);
    need(needed, trace, what);
    return {trace.name, {trace.trace}};
  }
  if (nb::isinstance<PythonTraceSet>(one)) {
    const auto& set = nb::cast<const PythonTraceSet&>(one);
    need(needed, set, what);
    PythonRun run;
    for (const TraceOfSet& trace : *set.traces) {
      run.ranks.emplace_back(set.traces, &trace.trace);
      if (run.name.empty()) run.name = trace.path;
    }
    return run;
  }
  wrong_argument(std::string(what) + " takes Trace, TraceSet, or a list of them");
}

}  // namespace

std::vector<PythonRun> side_of(nb::handle side, const char* what, ArgumentSet needed) {
  std::vector<PythonRun> runs;
  if (!nb::isinstance<nb::list>(side) && !nb::isinstance<nb::tuple>(side)) {
    runs.push_back(run_of(side, what, needed));
    return runs;
  }
  for (const nb::handle one : side) runs.push_back(run_of(one, what, needed));
  return runs;
}

std::vector<RunFigures> figures_of_side(const std::vector<PythonRun>& runs) {
  std::vector<RunFigures> figures;
  for (const PythonRun& run : runs) {
    RunSum sum(run.name);
    for (const auto& rank : run.ranks) check(sum.add(*rank), run.name);
    figures.push_back(sum.figures());
  }
  return figures;
}

DiffOptions diff_options(double min_effect, std::optional<double> run_noise) {
  if (!(min_effect >= 0 && min_effect < 1)) wrong_argument("min_effect is from 0 to below 1");
  if (run_noise && !(*run_noise > 0)) wrong_argument("run_noise is above 0");
  return {.min_effect = min_effect, .run_noise = run_noise};
}

}  // namespace tbtrace::python
