#include "writers/summary/findings_text.h"

#include <algorithm>
#include <set>
#include <string_view>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/share.h"
#include "report/device_word.h"
#include "writers/summary/pages.h"
#include "writers/tables/report_table.h"

namespace tbtrace::writers {
namespace {

std::string cell(std::string_view column, const Cell& value) { return shown_cell(column, value); }

std::string joined(const std::vector<std::string>& texts) {
  return fmt::format("{}", fmt::join(texts, ", "));
}

std::string evidence_text(const Evidence& evidence) {
  std::string column = "value";
  if (!evidence.unit.empty()) column += "_" + evidence.unit;
  std::string text = evidence.what + " " + cell(column, evidence.value);
  if (!evidence.event.empty()) text += " (" + evidence.event + ")";
  return text;
}

bool has_error(const std::vector<TraceSummary>& summaries) {
  return std::ranges::any_of(summaries, [](const TraceSummary& summary) {
    return !summary.checks.empty() && summary.checks.front().severity == CheckSeverity::error;
  });
}

/// What is a part of another finding follows that one.
std::vector<SharedFinding> with_parts_after(std::vector<SharedFinding> all) {
  std::vector<SharedFinding> ordered;
  std::set<std::string_view> placed;
  const auto id = [](const SharedFinding& shared) { return shared.worst->id; };
  const auto place = [&](const SharedFinding& shared) {
    if (shared.worst->comes_first || placed.insert(shared.worst->id).second) {
      ordered.push_back(shared);
    }
  };
  for (const SharedFinding& shared : all) {
    const auto whole = std::ranges::find(all, shared.worst->part_of, id);
    const SharedFinding& first = whole == all.end() ? shared : *whole;
    place(first);
    for (const SharedFinding& other : all) {
      if (other.worst->part_of == first.worst->id) place(other);
    }
  }
  return ordered;
}

/// Of a device that did next to nothing, there is nothing to find.
std::string little_work_text(const TraceSummary& summary) {
  constexpr double kLittle = 0.01;
  const GpuUse all = all_devices(summary);
  if (all.window_ns == 0 || share(all.busy_ns, summary.run.window_ns) >= kLittle) return {};
  return "The " + std::string(report::device_word(summary.run.device_type)) + " worked for " +
         cell("time_ns", all.busy_ns) + " of " + cell("time_ns", summary.run.window_ns) +
         ": too little to judge. ";
}

/// Findings are about the time from a device's first activity to its last. Without steps, most of a
/// recording may be before that and after it.
std::string beside_text(const TraceSummary& summary) {
  constexpr double kMost = 0.5;
  std::int64_t longest = 0;
  for (const GpuUse& gpu : summary.gpus) longest = std::max(longest, gpu.window_ns);
  const bool is_small = longest > 0 && share(longest, summary.run.window_ns) < kMost;
  if (!is_small || summary.steps.has_steps()) return {};
  return "The " + std::string(report::device_word(summary.run.device_type)) +
         "'s first and last activity are " + cell("time_ns", longest) +
         " apart, in a recording of " + cell("time_ns", summary.run.window_ns) +
         "; findings are about that time. tbtrace ops and tbtrace lines show what the host did "
         "before and after.";
}

/// The first figure is what the others add up to, of the finding about all idle time.
std::string figures_text(const Finding& finding, const std::vector<std::string>& figures) {
  if (finding.id != "low_gpu_utilization" || figures.size() < 2) return joined(figures);
  return figures.front() + ": " + joined({figures.begin() + 1, figures.end()});
}

}  // namespace

std::string findings_text(const std::vector<TraceSummary>& summaries) {
  std::string text;
  const std::vector<std::string> names = names_of(summaries);
  for (const SharedFinding& shared : with_parts_after(shared_findings(summaries))) {
    const Finding& finding = *shared.worst;
    if (finding.comes_first) continue;  // they are above
    const std::string indent = finding.part_of.empty() ? "" : "    ";
    text += "\n" + indent + cell("cost_share", finding.share) +
            std::string(share_of_text(finding.share_of)) + "  " + finding.title + " [" +
            finding.id + "]";
    if (finding.gain_ns) {
      text +=
          ": at most " + cell("gain_ns", *finding.gain_ns) + " to gain (" + finding.gain_how + ")";
    }
    if (summaries.size() > 1) {
      text += ", " + std::to_string(shared.count) + " of " + std::to_string(summaries.size()) +
              " traces, most on " + cell("text", names[shared.worst_summary]);
    }
    text += "\n";
    std::vector<std::string> evidence;
    std::string events;
    for (const Evidence& each : finding.evidence) {
      if (each.event.empty()) {
        evidence.push_back(evidence_text(each));
      } else {
        events += cell("text", indent + "    " + evidence_text(each)) + "\n";
      }
    }
    if (!evidence.empty()) {
      const std::string steps =
          finding.steps > 1 ? "in " + std::to_string(finding.steps) + " steps: " : "";
      text += cell("text", indent + "    " + steps + figures_text(finding, evidence)) + "\n";
    }
    text += events + cell("text", indent + "    -> " + finding.remedy) + "\n";
  }
  const std::string beside = summaries.size() == 1 ? beside_text(summaries.front()) : "";
  const std::string before = beside.empty() ? "" : "\n" + beside + "\n";
  if (!text.empty()) return before + "\nFindings:\n" + text;
  // Nothing is what a damaged trace has most of.
  if (has_error(summaries)) return "\nNo findings, because of the errors above.\n";
  const std::string little = little_work_text(summaries.front());
  return (little.empty() ? before : "") + "\nNo findings. " + little +
         "Looked for: " + joined(summaries.front().looked_for) +
         " (docs/findings.md has the thresholds).\n";
}

}  // namespace tbtrace::writers
