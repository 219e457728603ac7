#include "logdir/findings_card.h"

#include <algorithm>
#include <cstdint>
#include <string_view>
#include <vector>

#include "base/bounded_sum.h"
#include "base/share.h"
#include "writers/tables/shown_cell.h"

namespace tbtrace::logdir {
namespace {

using writers::shown_cell;

/// Names come from files: as code, nothing in them is Markdown or HTML.
std::string as_code(std::string_view name) {
  std::string text = writers::printable(name);
  std::ranges::replace(text, '`', '\'');
  return "`" + text + "`";
}

/// A sentence, which may have names of the file in it: nothing in it is Markdown or HTML.
std::string as_sentence(std::string_view sentence) {
  std::string text;
  for (const char letter : writers::printable(sentence)) {
    if (letter == '<') {
      text += "&lt;";
    } else if (letter == '&') {
      text += "&amp;";
    } else {
      if (std::string_view("\\`*_[]").find(letter) != std::string_view::npos) text += '\\';
      text += letter;
    }
  }
  return text;
}

std::string joined(const std::vector<std::string>& texts) {
  std::string all;
  for (const std::string& text : texts) all += (all.empty() ? "" : ", ") + text;
  return all;
}

std::string facts(const TraceSummary& summary) {
  std::vector<std::string> facts;
  if (summary.run.identity.rank) {
    facts.push_back("rank " + std::to_string(*summary.run.identity.rank));
  }
  for (const DeviceProperties& device : summary.run.devices) {
    if (!device.name.empty()) facts.push_back(as_code(device.name));
  }
  if (summary.run.device_activities == 0) facts.emplace_back("no GPU activities");
  facts.push_back(shown_cell("window_ns", summary.run.window_ns) + " recorded");
  if (summary.steps.has_steps()) {
    facts.push_back("mean step " + shown_cell("mean_ns", summary.steps.mean_duration_ns()));
  }
  WideInteger busy = 0;
  WideInteger window = 0;
  for (const GpuUse& gpu : summary.gpus) {
    busy += gpu.busy_ns;
    window += gpu.window_ns;
  }
  if (window > 0) {
    facts.push_back("GPU busy " + shown_cell("share", share(bounded(busy), bounded(window))));
  }
  return joined(facts);
}

std::string evidence_text(const Evidence& evidence) {
  const std::string column = evidence.unit.empty() ? "value" : "value_" + evidence.unit;
  std::string text = as_sentence(evidence.what) + " " + shown_cell(column, evidence.value);
  if (!evidence.event.empty()) text += " (" + as_code(evidence.event) + ")";
  return text;
}

std::string finding_text(const Finding& finding) {
  const std::string share = finding.comes_first
                                ? ""
                                : shown_cell("cost_share", finding.share) +
                                      std::string(share_of_text(finding.share_of)) + ": ";
  std::string text = "- **" + share + as_sentence(finding.title) + "**";
  if (finding.gain_ns) {
    text += ", at most " + shown_cell("gain_ns", *finding.gain_ns) + " to gain (" +
            as_sentence(finding.gain_how) + ")";
  }
  text += "\n";
  for (const Evidence& evidence : finding.evidence)
    text += "    - " + evidence_text(evidence) + "\n";
  return text + "    - What to do: " + as_sentence(finding.remedy) + "\n";
}

}  // namespace

std::string findings_card(const TraceSummary& summary, const std::string& heading) {
  std::string text = heading + ": " + facts(summary) + "\n\n";
  std::vector<Finding> costly;
  for (const Finding& finding : summary.findings) {
    if (!finding.comes_first) {
      costly.push_back(finding);
      continue;
    }
    text += finding_text(finding) + "\n";
  }
  for (const CheckFinding& check : summary.checks) {
    text += "- **" + std::string(check_severity_name(check.severity)) +
            "**: " + as_sentence(check.cause);
    if (!check.remedy.empty()) text += ". What to do: " + as_sentence(check.remedy);
    text += "\n";
  }
  if (!summary.checks.empty()) text += "\n";
  if (costly.empty()) {
    return text + "No findings. Looked for: " + joined(summary.looked_for) + ".\n";
  }
  text += "What makes it slow, with the share of the time:\n\n";
  for (const Finding& finding : costly) text += finding_text(finding);
  return text;
}

}  // namespace tbtrace::logdir
