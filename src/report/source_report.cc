#include "report/source_report.h"

#include "base/bounded_sum.h"

namespace tbtrace::report {

void add_source(SourceReport& sum, const SourceReport& other) {
  for (const auto& [id, count] : other.issues) sum.issues[id] += count;
  LinkReport& links = sum.links;
  links.external_ids_valid = links.external_ids_valid && other.links.external_ids_valid;
  links.launch_by_correlation += other.links.launch_by_correlation;
  links.launch_by_flow += other.links.launch_by_flow;
  links.launch_unknown += other.links.launch_unknown;
  links.operator_by_external_id += other.links.operator_by_external_id;
  links.operator_by_flow += other.links.operator_by_flow;
  links.operator_by_containment += other.links.operator_by_containment;
  links.operator_unknown += other.links.operator_unknown;
  links.work_over_operator_limit += other.links.work_over_operator_limit;
  add_bounded(links.linked_ns, other.links.linked_ns);
  add_bounded(links.unlinked_ns, other.links.unlinked_ns);
}

SourceReport source_report(const Trace& trace) {
  SourceReport report;
  for (const Issue& issue : trace.issues()) report.issues[std::string(issue.id)] += issue.count;
  if (trace.device()) report.links = trace.links();  // otherwise there is nothing to link
  return report;
}

SourceReport source_report(std::span<const Trace* const> traces) {
  SourceReport sum;
  for (const Trace* trace : traces) add_source(sum, source_report(*trace));
  return sum;
}

}  // namespace tbtrace::report
