// `tbtrace check` as text: what each input has, then its findings, a paragraph each.
#pragma once

#include <string>
#include <vector>

#include <tbtrace/report.h>
#include <tbtrace/status.h>

namespace tbtrace::tools {

/// What was recorded in an input, as recorded_lines() says it.
struct RecordedInput {
  std::string path;
  std::vector<std::string> lines;
};

/// Inputs with the same records are said together, and so is a finding that several inputs have.
Result<std::string> check_text(const AnalysisReport& report,
                               const std::vector<RecordedInput>& inputs,
                               const ReportOptions& options);

}  // namespace tbtrace::tools
