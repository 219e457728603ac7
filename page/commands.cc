#include <string>
#include <utility>
#include <vector>

#include <tbtrace/report.h>
#include <tbtrace/status.h>
#include <tbtrace/views.h>

#include "command.h"
#include "console.h"
#include "inputs.h"
#include "options.h"
#include "report_command.h"

namespace tbtrace::tools {
namespace {

/// worker.js sends it.
constexpr const char* kFirstPage = "/first.html";

/// The page of a trace with its summary alone, which is made in a fraction of the time of the rest.
void write_first_page(const Trace& trace, const std::string& path) {
  ReportPage page({.views = {"summary"}, .threads = 1});
  if (!page.add(trace, path).ok()) return;  // the whole page says why
  if (const Result<std::string> html = page.html(); html.ok()) {
    (void)write_text(*html, kFirstPage, true);
  }
}

int run_report(const OptionParser& parser) {
  const StandardOptions& standard = parser.standard();
  Console console(standard.console);
  return write_report(parser, standard, console, [&](const Trace& trace, const std::string& path) {
    // The page of several traces begins with a choice, or with the job.
    if (standard.inputs == std::vector{path}) write_first_page(trace, path);
  });
}

}  // namespace

/// The verbs that the page asks. Those that record, write folders or start programs are not for a
/// browser.
std::vector<Command> commands() {
  Command report = report_command();
  report.run = run_report;
  return {std::move(report), diff_command()};
}

}  // namespace tbtrace::tools
