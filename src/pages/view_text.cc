#include <string>

#include "pages/stacks_text.h"
#include "pages/table_text.h"
#include "pages/timeline_text.h"
#include "pages/view_content.h"
#include "wire/json_emitter.h"

namespace tbtrace {

std::string pages::view_text(const ViewContent& content, const ViewLimits& limits) {
  if (content.timeline) return timeline_text(content, limits);
  std::string text;
  wire::JsonEmitter json(text);
  json.begin_object();
  json.member("schema", "tbtrace.view/1");
  json.member("view", content.view->name);
  json.member("title", content.view->title);
  json.member("about", content.view->about);
  json.key("tables");
  json.begin_array();
  for (const TableContent& table : content.tables) emit_table(json, table, limits);
  json.end_array();
  json.key("stacks");
  json.begin_array();
  for (const StacksContent& stacks : content.stacks) emit_stacks(json, stacks, limits);
  json.end_array();
  json.end_object();
  text += '\n';
  return text;
}

Result<std::string> view_document(std::string_view name, const Trace& trace,
                                  const ViewLimits& limits) {
  const ViewDescription* const view = view_named(name);
  if (view == nullptr) {
    return Status(StatusCode::invalid_argument, "there is no view '" + std::string(name) + "'");
  }
  const Result<pages::ViewContent> content = pages::view_content(*view, {trace, trace}, limits);
  if (!content.ok()) return content.status();
  return pages::view_text(*content, limits);
}

}  // namespace tbtrace
