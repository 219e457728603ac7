#include <functional>
#include <map>
#include <string>
#include <utility>

#include <tbtrace/analyses.h>
#include <tbtrace/writers.h>

#include "base/bounded_sum.h"
#include "wire/json_emitter.h"

namespace tbtrace {
namespace {

constexpr std::string_view kSchema = "tbtrace.ops/1";

using Members = std::vector<std::pair<std::string, std::string>>;

std::string json_of(const std::function<void(wire::JsonEmitter&)>& emit) {
  std::string text;
  wire::JsonEmitter json(text);
  emit(json);
  return text;
}

std::string issues_json(std::span<const Trace* const> traces) {
  std::map<std::string_view, std::uint64_t> counts;
  for (const Trace* trace : traces) {
    for (const Issue& issue : trace->issues()) counts[issue.id] += issue.count;
  }
  return json_of([&](wire::JsonEmitter& json) {
    json.begin_object();
    for (const auto& [id, count] : counts) {
      json.key(id);
      json.integer(count);
    }
    json.end_object();
  });
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
    add_bounded(sum.linked_ns, links.linked_ns);
    add_bounded(sum.unlinked_ns, links.unlinked_ns);
  }
  return json_of([&](wire::JsonEmitter& json) {
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
    member("linked_device_time_ns", sum.linked_ns);
    member("unlinked_device_time_ns", sum.unlinked_ns);
    json.end_object();
  });
}

std::string threads_json(const OperatorSummary& summary) {
  return json_of([&](wire::JsonEmitter& json) {
    json.begin_array();
    for (const ThreadTotal& thread : summary.threads()) {
      json.begin_object();
      json.key("process");
      json.text(thread.process);
      json.key("thread");
      json.text(thread.thread);
      json.key("name");
      json.text(thread.name);
      json.key("self_cpu_time_total_ns");
      json.integer(thread.self_cpu_time_total_ns);
      json.key("idle_ns");
      json.integer(thread.idle_ns);
      json.end_object();
    }
    json.end_array();
  });
}

std::string_view figures_name(Figures figures) {
  switch (figures) {
    case Figures::torch:
      return "torch";
    case Figures::exact:
      return "exact";
    case Figures::plugin:
      return "plugin";
  }
  return "";
}

}  // namespace

Result<std::string> operator_summary_json(const OperatorSummary& summary,
                                          std::span<const Trace* const> traces,
                                          const TableOptions& options) {
  const Result<Table> table = summary.report(options);
  if (!table.ok()) return table.status();
  Members members;
  members.emplace_back("totals", json_of([&](wire::JsonEmitter& json) {
                         json.begin_object();
                         json.key("self_cpu_time_total_ns");
                         json.integer(summary.self_cpu_time_total().ns);
                         json.key("self_device_time_total_ns");
                         json.integer(summary.self_device_time_total().ns);
                         json.end_object();
                       }));
  members.emplace_back("figures", json_of([&](wire::JsonEmitter& json) {
                         json.text(figures_name(summary.figures()));
                       }));
  if (summary.figures() == Figures::exact) {
    members.emplace_back("window_ns", std::to_string(summary.window_ns()));
    members.emplace_back("threads", threads_json(summary));
  }
  members.emplace_back("issues", issues_json(traces));
  members.emplace_back("links", links_json(traces));
  return table_json(kSchema, *table, members);
}

Result<std::string> event_list_json(const EventList& events, std::span<const Trace* const> traces,
                                    const TableOptions& options) {
  const Result<Table> table = events.report(options);
  if (!table.ok()) return table.status();
  return table_json(kSchema, *table,
                    {{"issues", issues_json(traces)}, {"links", links_json(traces)}});
}

}  // namespace tbtrace
