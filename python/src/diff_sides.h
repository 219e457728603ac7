// The sides of a comparison as Python passes them: a path, a trace, a set of ranks, or a list of
// runs.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <nanobind/nanobind.h>

#include <tbtrace/diff.h>
#include <tbtrace/flame_difference.h>
#include <tbtrace/trace.h>

namespace tbtrace::python {

/// The recordings of one run, kept alive; or paths to read them from.
struct PythonRun {
  std::string name;
  std::vector<std::shared_ptr<const Trace>> ranks = {};
  /// Of a trace, of a folder with those of its ranks, or of a baseline; of a job those of its
  /// files.
  std::vector<std::string> paths = {};
};

/// A side: one run, or a list of them. `what`: the function that was called; `needed`: what it
/// reads of each trace.
std::vector<PythonRun> side_of(nanobind::handle side, const char* what, ArgumentSet needed);

/// What is kept of the runs of a side.
struct SideSums {
  std::vector<RunFigures> figures;
  std::vector<RunStacks> stacks;  ///< without those of baselines, which have none
};

struct BothSums {
  SideSums base;
  SideSums changed;
};

/// Reads the paths, one recording after the other. If one is missing, the Failure names all of both
/// sides that are. Without the GIL.
BothSums sums_of_sides(const std::vector<PythonRun>& base, const std::vector<PythonRun>& changed,
                       bool with_stacks = false);

/// Fails for a share that makes no sense.
DiffOptions diff_options(double min_effect, std::optional<double> run_noise);

}  // namespace tbtrace::python
