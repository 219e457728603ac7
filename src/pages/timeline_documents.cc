// Parts of a timeline, and what a range has, for those who ask while they look at it.
#include <memory>
#include <string>
#include <utility>

#include <tbtrace/views.h>

#include "analyses/timeline/timeline.h"
#include "pages/timeline_text.h"
#include "pages/view_content.h"
#include "wire/json_emitter.h"

namespace tbtrace {

Result<std::string> timeline_part(const Trace& trace, std::int64_t from_ns, std::int64_t to_ns,
                                  const ViewLimits& limits) {
  if (from_ns >= to_ns) {
    return Status(StatusCode::invalid_argument, "a part of a timeline ends after it begins");
  }
  const analyses::TimelinePart part = {from_ns, to_ns};
  pages::ViewContent content{.view = view_named("timeline")};
  content.timeline = std::make_shared<const analyses::Timeline>(analyses::timeline(
      trace, {.part = part, .ranges = limits.ranges, .arguments = limits.range_arguments}));
  content.timeline_part = part;
  return pages::timeline_text(content, limits);
}

Result<std::string> range_document(const Trace& trace, const RangePlace& place) {
  const EventId event = analyses::range_at(
      trace, {place.track, place.start_ns, place.duration_ns, place.name, place.nth});
  if (event == EventId::none) {
    return Status(StatusCode::invalid_argument, "the trace has no such range");
  }
  std::string text;
  wire::JsonEmitter json(text);
  json.begin_object();
  json.member("schema", "tbtrace.range/1");
  json.key("arguments");
  json.begin_array();
  for (const Argument argument : analyses::arguments_of(trace, event)) {
    json.begin_object();
    json.member("key", argument_row(argument).keys.front());
    json.member("unit", argument_row(argument).unit);
    json.key("value");
    json.raw(analyses::argument_json(trace, event, argument));
    json.end_object();
  }
  json.end_array();
  json.end_object();
  text += '\n';
  return text;
}

}  // namespace tbtrace
