#include "api/json_members.h"

#include <cstdint>
#include <map>

#include "base/bounded_sum.h"
#include "wire/json_emitter.h"

namespace tbtrace::api {

std::string issues_json(std::span<const Trace* const> traces) {
  std::map<std::string_view, std::uint64_t> counts;
  for (const Trace* trace : traces) {
    for (const Issue& issue : trace->issues()) counts[issue.id] += issue.count;
  }
  std::string text;
  wire::JsonEmitter json(text);
  json.begin_object();
  for (const auto& [id, count] : counts) {
    json.key(id);
    json.integer(count);
  }
  json.end_object();
  return text;
}

std::string links_json(std::span<const Trace* const> traces) {
  LinkReport sum;
  for (const Trace* trace : traces) {
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
  std::string text;
  wire::JsonEmitter json(text);
  const auto member = [&](std::string_view name, auto value) {
    json.key(name);
    json.integer(value);
  };
  json.begin_object();
  json.key("external_ids_valid");
  json.boolean(sum.external_ids_valid);
  member("launch_by_correlation", sum.launch_by_correlation);
  member("launch_by_flow", sum.launch_by_flow);
  member("launch_unknown", sum.launch_unknown);
  member("operator_by_external_id", sum.operator_by_external_id);
  member("operator_by_flow", sum.operator_by_flow);
  member("operator_by_containment", sum.operator_by_containment);
  member("operator_unknown", sum.operator_unknown);
  member("work_over_operator_limit", sum.work_over_operator_limit);
  member("linked_device_time_ns", sum.linked_ns);
  member("unlinked_device_time_ns", sum.unlinked_ns);
  json.end_object();
  return text;
}

}  // namespace tbtrace::api
