#include <functional>
#include <span>
#include <string>
#include <utility>

#include <tbtrace/analyses.h>
#include <tbtrace/writers.h>

#include "wire/json_emitter.h"
#include "writers/tables/json_members.h"

namespace tbtrace {
namespace {

using Members = std::vector<std::pair<std::string, std::string>>;

std::string json_of(const std::function<void(wire::JsonEmitter&)>& emit) {
  std::string text;
  wire::JsonEmitter json(text);
  emit(json);
  return text;
}

std::string threads_json(std::span<const ThreadTotal> threads) {
  return json_of([&](wire::JsonEmitter& json) {
    json.begin_array();
    for (const ThreadTotal& thread : threads) {
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

}  // namespace

Result<std::string> OperatorSummary::json(const TableOptions& options) const {
  const Result<Table> table = report(options);
  if (!table.ok()) return table.status();
  Members members;
  members.emplace_back("totals", json_of([&](wire::JsonEmitter& json) {
                         json.begin_object();
                         json.key("self_cpu_time_total_ns");
                         json.integer(self_cpu_time_total().ns);
                         json.key("self_device_time_total_ns");
                         json.integer(self_device_time_total().ns);
                         json.end_object();
                       }));
  members.emplace_back(
      "figures", json_of([&](wire::JsonEmitter& json) { json.text(figures_name(figures_)); }));
  if (figures_ == Figures::exact) {
    members.emplace_back("window_ns", std::to_string(window_ns_));
    members.emplace_back("threads", threads_json(threads_));
  }
  members.emplace_back("issues", writers::issues_json(source_));
  members.emplace_back("links", writers::links_json(source_));
  return table_json(writers::kOperatorSchema, *table, members);
}

}  // namespace tbtrace
