#include <string>

#include <tbtrace/analysis_context.h>

#include "analyses/checks/list.h"

namespace tbtrace::analyses {

void add_lost_options(const Trace& trace, std::vector<CheckFinding>& findings) {
  for (const RecordedOptionState& option : recorded_options(trace)) {
    if (!option.is_lost()) continue;
    CheckFinding& finding = findings.emplace_back();
    finding.id = "option_without_data";
    finding.severity = CheckSeverity::warning;
    // Models that are not scripted have no modules to record, and nothing is wrong with that.
    if (option.option == RecordedOption::with_modules) finding.severity = CheckSeverity::info;
    finding.count = 1;
    finding.example = option.name;
    finding.cause = "the file says " + std::string(option.name) + "=1 and has no " +
                    std::string(option.data) + "; known causes: " + std::string(option.causes);
    finding.remedy = option.remedy;
  }
}

}  // namespace tbtrace::analyses
