// The sides of a comparison as Python passes them: a trace, a set of ranks, or a list of runs.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <nanobind/nanobind.h>

#include <tbtrace/diff.h>
#include <tbtrace/trace.h>

namespace tbtrace::python {

/// The recordings of one run, kept alive.
struct PythonRun {
  std::string name;
  std::vector<std::shared_ptr<const Trace>> ranks;
};

/// A side: one run, or a list of them. `what`: the function that was called; `needed`: what it
/// reads of each trace.
std::vector<PythonRun> side_of(nanobind::handle side, const char* what, ArgumentSet needed);

/// Without the GIL.
std::vector<RunFigures> figures_of_side(const std::vector<PythonRun>& runs);

/// Fails for a share that makes no sense.
DiffOptions diff_options(double min_effect, std::optional<double> run_noise);

}  // namespace tbtrace::python
