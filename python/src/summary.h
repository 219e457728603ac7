// The first page about traces as Python's object.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <tbtrace/arguments.h>
#include <tbtrace/report.h>
#include <tbtrace/stragglers.h>
#include <tbtrace/summary.h>

namespace tbtrace::python {

/// The arguments that summary() cannot do without. Labels of graphs only name more modules.
inline constexpr ArgumentSet kSummaryNeeds =
    (kSummaryArguments | kOperatorArguments) - ArgumentSet{ArgumentGroup::graphs};

/// The page in its three forms.
struct SummaryForms {
  std::string text;
  std::string json;
  AnalysisReport table;
};

struct PythonSummary {
  /// `stragglers`: of the job whose ranks the traces are.
  explicit PythonSummary(const std::vector<TraceSummary>& traces,
                         const std::optional<StragglerResult>& stragglers = {});
  explicit PythonSummary(SummaryForms made)
      : forms(std::make_shared<const SummaryForms>(std::move(made))) {}

  std::shared_ptr<const SummaryForms> forms;
};

}  // namespace tbtrace::python
