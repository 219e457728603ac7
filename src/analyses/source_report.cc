#include "analyses/source_report.h"

#include "base/bounded_sum.h"

namespace tbtrace::analyses {

SourceReport source_report(std::span<const Trace* const> traces) {
  SourceReport report;
  LinkReport& sum = report.links;
  for (const Trace* trace : traces) {
    for (const Issue& issue : trace->issues()) report.issues[std::string(issue.id)] += issue.count;
    if (!trace->device()) continue;  // nothing to link
    const LinkReport& links = trace->links();
    sum.external_ids_valid = sum.external_ids_valid && links.external_ids_valid;
    sum.launch_by_correlation += links.launch_by_correlation;
    sum.launch_by_flow += links.launch_by_flow;
    sum.launch_unknown += links.launch_unknown;
    sum.operator_by_external_id += links.operator_by_external_id;
    sum.operator_by_flow += links.operator_by_flow;
    sum.operator_by_containment += links.operator_by_containment;
    sum.operator_unknown += links.operator_unknown;
    sum.work_over_operator_limit += links.work_over_operator_limit;
    add_bounded(sum.linked_ns, links.linked_ns);
    add_bounded(sum.unlinked_ns, links.unlinked_ns);
  }
  return report;
}

}  // namespace tbtrace::analyses
