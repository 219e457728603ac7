#include "writers/tables/json_members.h"

#include "wire/json_emitter.h"

namespace tbtrace::writers {

std::string issues_json(const SourceReport& source) {
  std::string text;
  wire::JsonEmitter json(text);
  json.begin_object();
  for (const auto& [id, count] : source.issues) {
    json.key(id);
    json.integer(count);
  }
  json.end_object();
  return text;
}

std::string links_json(const SourceReport& source) {
  const LinkReport& sum = source.links;
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

}  // namespace tbtrace::writers
